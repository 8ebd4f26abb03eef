"""A trace follows flows both ways, cuts cycles and keeps to its depth; its picture names every line once a layer."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from taxkg_assets.serving.lines import LineNotFoundError
from taxkg_assets.serving.replies import TraceStep
from taxkg_assets.serving.trace import draw, name_line, trace
from taxkg_assets_tests.serving.test_lines import Released

PAIRS = [("2040", "W-9"), ("W-9", "2060"), ("2060", "2040"), ("2060", "Schedule D (Form 2040)")]


def _release() -> Any:
    released = Released()
    rows = []
    for at, (source, target) in enumerate(PAIRS):
        row: dict[str, Any] = {
            "flow_id": str(at),
            "relation": "flows_to",
            "evidence": "Enter here",
            "document_id": source,
        }
        row |= {"page": 1, "start": 0, "bbox": None, "is_same_year": True, "agreement": "one_side", "problem": ""}
        for end, form in (("source", source), ("target", target)):
            names = {"document_id": form, "form": form, "part": "", "key": "line_7", "column": "", "code": ""}
            row |= {f"{end}_{name}": value for name, value in names.items()}
        rows.append(row)
    released.tables["flows"] = pl.DataFrame(rows)
    return released


def _forms(steps: list[TraceStep]) -> list[Any]:
    return [(step.form, _forms(step.steps)) for step in steps]


def test_flows_are_followed_both_ways_and_cycles_are_cut() -> None:
    traced = trace(_release(), ["2040", "line", "7"])
    assert _forms(traced.into) == [("W-9", [("2060", [("2040", []), ("Schedule D (Form 2040)", [])])])]
    assert _forms(traced.out_of) == [("2060", [("W-9", [("2040", [])])])]
    assert traced.into[0].statement.evidence == "Enter here"


def test_a_trace_keeps_to_its_depth() -> None:
    cut = trace(_release(), ["2040", "line", "7"], depth=1).into
    assert _forms(cut) == [("W-9", [])]
    assert [step.has_more for step in cut] == [True]


def test_a_trace_that_ends_by_itself_has_no_more_steps() -> None:
    (step,) = trace(_release(), ["2040", "line", "7"], depth=3).into[0].steps
    assert [(end.form, end.has_more) for end in step.steps] == [("2040", False), ("Schedule D (Form 2040)", False)]


def test_the_picture_shows_every_line() -> None:
    root = ElementTree.fromstring(draw(trace(_release(), ["2040", "line", "7"])))
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"W-9 line 7", "2060 line 7", "Schedule D (Form 2040) line 7"} <= set(texts)


def test_a_release_without_flows_says_so() -> None:
    with pytest.raises(LineNotFoundError, match="taxkg build"):
        trace(Released(has_lines=False), ["2040", "7"])  # type: ignore[arg-type]


def _outside_release() -> Any:
    released = _release()
    flows = released.tables["flows"]
    box = {"source_document_id": None, "source_form": "W-8", "source_key": "box_12", "target_document_id": None}
    rows = [
        flows.row(0, named=True) | box | {"flow_id": code, "source_code": code, "target_form": form}
        for code, form in (("W", "2889"), ("R", "2853"))
    ]
    released.tables["flows"] = pl.concat([flows, pl.DataFrame(rows, schema=flows.schema)])
    return released


def test_a_box_outside_the_library_is_traced_by_what_documents_state_and_by_its_code() -> None:
    both = trace(_outside_release(), ["W-8", "12"])
    assert (both.document_id, {step.form for step in both.into}) == ("", {"2889", "2853"})
    traced = trace(_outside_release(), ["W-8", "12", "code", "W"])
    assert ([step.form for step in traced.into], name_line(traced)) == (["2889"], "W-8 box 12 code W")


def test_a_form_that_no_document_names_is_the_edge_of_the_library() -> None:
    with pytest.raises(LineNotFoundError, match=r"has no form for.*taxkg build"):
        trace(_release(), ["5498-SA", "2"])


def _labeled(form: str, document: str, label: str, key: str = "line_9") -> dict[str, Any]:
    row = {"document_id": document, "form": form, "part": "", "anchor_id": None, **Released._row(), "label": label}
    return {**row, "key": key, "revision": document.partition("--")[2]}


@pytest.mark.parametrize(
    ("label", "is_named"),
    [
        ("Dues of pilots from Form 2060 or Form 2061", True),
        ("Harbor tax. Attach Form 2060", True),
        ("Harbor tax from Form 2060, line 7", False),
        ("Harbor tax from Form 2059 or 2060, line 7", False),
        ("Dues from lines 3 and 4 of Form 2060", False),
        ("Dues from Schedule 3 (Form 2060), line 1", False),
        ("Dues from the instructions for Form 2060", False),
        ("Dues from the Form 2060 Harbor Worksheet", False),
        ("If Form 2060 is blank, check here", False),
    ],
)
def test_lines_that_name_a_form_without_a_line_end_a_trace_on_it(label: str, is_named: bool) -> None:
    released = _release()
    released.tables["flows"] = released.tables["flows"].filter(pl.col("source_form") != "2060")
    rows = [_labeled("2070", "f2070--2031", label), _labeled("2070", "f2070--2012", "Dues from Form 2060", "line_8")]
    released.tables["lines"] = pl.concat([released.tables["lines"], pl.DataFrame(rows)], how="diagonal_relaxed")
    documents = pl.DataFrame([{"document_id": row["document_id"], "form": "2070", "is_draft": False} for row in rows])
    released.tables["documents"] = pl.concat([released.tables["documents"], documents], how="diagonal_relaxed")
    named = trace(released, ["2060", "7"]).named_by
    assert [(row.document_id, row.key) for row in named] == ([("f2070--2031", "line_9")] if is_named else [])
    assert trace(released, ["2040", "7"]).named_by == []


def test_lines_that_name_a_form_do_not_depend_on_the_depth_of_the_trace() -> None:
    released = _release()
    first = released.tables["flows"].filter(pl.col("source_form") == "2040")
    within = first.with_columns(
        flow_id=pl.lit("own"),
        target_document_id=pl.lit("2040"),
        target_form=pl.lit("2040"),
        target_key=pl.lit("line_8"),
    )
    further = first.with_columns(source_key=pl.lit("line_8"))
    released.tables["flows"] = pl.concat([within, further])
    row = _labeled("2070", "f2070--2031", "Dues of pilots from Form 2040")
    released.tables["lines"] = pl.concat([released.tables["lines"], pl.DataFrame([row])], how="diagonal_relaxed")
    documents = pl.DataFrame([{"document_id": "f2070--2031", "form": "2070", "is_draft": False}])
    released.tables["documents"] = pl.concat([released.tables["documents"], documents], how="diagonal_relaxed")
    assert trace(released, ["2040", "7"], depth=1).named_by == []
    released.tables["flows"] = within
    assert [row.key for row in trace(released, ["2040", "7"], depth=1).named_by] == ["line_9"]


def test_a_statement_of_the_same_year_is_shown_before_one_of_the_lines_own_document() -> None:
    released = _release()
    first = released.tables["flows"].row(0, named=True)
    own = first | {"flow_id": "a", "is_same_year": False, "evidence": "Enter it there"}
    of_year = first | {"flow_id": "b", "document_id": "W-9", "evidence": "Enter it here"}
    flows = pl.DataFrame([own, of_year], schema=released.tables["flows"].schema)
    released.tables["flows"] = flows
    assert [step.statement.evidence for step in trace(released, ["2040", "7"]).into] == ["Enter it here"]
