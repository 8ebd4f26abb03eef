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
    assert _forms(trace(_release(), ["2040", "line", "7"], depth=1).into) == [("W-9", [])]


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
