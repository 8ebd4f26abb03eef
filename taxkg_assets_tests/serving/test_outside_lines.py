"""Lines of forms that the library does not contain: what its instructions and other documents state about them."""

from __future__ import annotations

from io import StringIO
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from taxkg_assets.serving.agent_replies import choose_revision, reply_line
from taxkg_assets.serving.lines import LineNotFoundError, find_form, find_lines
from taxkg_assets.serving.render_lines import print_lines, print_trace
from taxkg_assets.serving.trace import trace
from taxkg_assets_tests.serving.test_lines import Released

BOOKLETS = ("i2070--2031", "i2070--2030")


def _heading(document: str, number: int, text: str, parent: int | None = None, kind: str = "line") -> dict[str, Any]:
    place = {"document_id": document, "element_id": f"{document}:e{number:03d}", "page": number, "form": "2070"}
    above = None if parent is None else f"{document}#{parent}"
    return {
        **place,
        "anchor_id": f"{document}#{number}",
        "heading": text,
        "kind": kind,
        "key": "line_" + text.split()[1].strip(".") if kind == "line" else None,
        "parent_anchor_id": above,
        "perspective": "filer",
        "official_url": None,
        "bbox": None,
    }


def _statement(flow_id: str, source: tuple[str, str, str], target: tuple[str, str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"flow_id": flow_id, "relation": "flows_to", "evidence": "Enter it there", "page": 1}
    row |= {"document_id": "i2070--2031", "start": 0, "bbox": None, "is_same_year": True, "agreement": "one_side"}
    row["problem"] = ""
    for end, (form, part, key) in (("source", source), ("target", target)):
        document = form if form in ("2040", "2060") else None
        names = {"document_id": document, "form": form, "part": part, "key": key, "column": "", "code": ""}
        row |= {f"{end}_{name}": value for name, value in names.items()}
    return row


def _release() -> Any:
    released = Released()
    booklets = pl.DataFrame(
        {"document_id": BOOKLETS, "form": "2070", "is_draft": False, "doc_type": "filer_instructions"}
    )
    released.tables["documents"] = pl.concat([released.tables["documents"], booklets]).with_columns(
        revision=pl.col("document_id").str.extract(r"--(\d{4})")
    )
    released.tables["anchors"] = pl.DataFrame(
        [
            _heading(document, *heading)
            for document in BOOKLETS
            for heading in (
                (1, "Line 4. Dues"),
                (2, "Schedule B. Berths", None, "section"),
                (3, "Line 4. Berths", 2),
                (4, "Lines 5 through 9 of Schedule C. Tolls"),
            )
        ]
    )
    released.tables["sections"] = pl.DataFrame(
        {"document_id": d, "element_id": f"{d}:p1", "anchor_id": f"{d}#1", "page": 1, "text": "All dues."}
        for d in BOOKLETS
    )
    b_7 = ("Schedule B (Form 2070)", "", "line_7")
    flows = [
        _statement("a", ("2070", "", "line_4"), ("2040", "", "line_7")),
        _statement("b", ("2070", "II", "line_4"), ("2060", "", "line_7")),
        _statement("c", b_7, ("Schedule B (Form 2080)", "", "line_7")),
        _statement("d", ("Schedule B (Form 2080)", "", "line_8"), b_7),
    ]
    released.tables["flows"] = pl.DataFrame(flows)
    read = released.read_documents
    released.read_documents = (  # type: ignore[method-assign]
        lambda name, document_ids: (
            released.tables[name].filter(pl.col("document_id").is_in(document_ids))
            if name in ("anchors", "sections")
            else read(name, document_ids)
        )
    )
    return released


def test_instructions_and_statements_tell_of_a_line_of_an_absent_form() -> None:
    (line,) = find_lines(_release(), ["2070", "line", "4"])
    assert (line.document_id, line.form, line.revision, line.key) == ("", "2070", "", "line_4")
    assert [(row.target_form, row.target_key) for row in line.flows_out] == [("2040", "line_7"), ("2060", "line_7")]
    assert [(row.document_id, row.heading) for row in line.explanations] == [
        ("i2070--2031", "Line 4. Dues"),
        ("i2070--2030", "Line 4. Dues"),
    ]
    assert [passage.text for passage in line.explanations[0].passages] == ["All dues."]


def test_a_line_below_the_heading_of_a_schedule_is_the_schedules() -> None:
    (line,) = find_lines(_release(), ["Schedule", "B", "(Form", "2070)", "4"])
    assert {row.heading for row in line.explanations} == {"Line 4. Berths"}
    (line,) = find_lines(_release(), ["Schedule", "C", "(Form", "2070)", "6"])
    assert {row.heading for row in line.explanations} == {"Lines 5 through 9 of Schedule C. Tolls"}
    with pytest.raises(LineNotFoundError, match="does not contain 2070"):
        find_lines(_release(), ["2070", "6"])


def test_a_schedule_of_several_forms_is_named_with_its_form() -> None:
    with pytest.raises(LineNotFoundError, match=r"Schedule B \(Form 2070\), Schedule B \(Form 2080\)"):
        find_lines(_release(), ["Schedule", "B", "7"])
    (line,) = find_lines(_release(), ["Schedule", "B", "8"])
    assert line.form == "Schedule B (Form 2080)"


def test_a_trace_begins_at_a_schedule_without_its_form_and_joins_parts() -> None:
    traced = trace(_release(), ["Schedule", "B", "8"])
    assert [(step.form, [deeper.form for deeper in step.steps]) for step in traced.into] == [
        ("Schedule B (Form 2070)", ["Schedule B (Form 2080)"])
    ]
    both = trace(_release(), ["2070", "4"])
    assert (both.part, [step.form for step in both.into]) == ("II", ["2040", "2060"])


def test_the_form_itself_is_absent_and_its_lines_can_be_looked_up() -> None:
    with pytest.raises(LineNotFoundError, match=r"does not contain 2070\. .* `taxkg line FORM KEY`"):
        find_form(_release(), ["Form", "2070"])


def _release_with_two_parts() -> Any:
    released = _release()
    more = [
        _statement("e", ("2070", "III", "line_4"), ("2040", "", "line_8")),
        _statement("f", ("2070", "III", "line_5"), ("2040", "", "line_9")),
    ]
    released.tables["flows"] = pl.concat([released.tables["flows"], pl.DataFrame(more)])
    return released


@pytest.mark.parametrize(
    ("words", "part", "flows"),
    [
        ("2070 Part II 4", "II", ["line_7", "line_7"]),
        ("2070 Part 2 4", "II", ["line_7", "line_7"]),
        ("2070 Part III 4", "III", ["line_7", "line_8"]),
        ("2070 Part 3 5", "III", ["line_9"]),
    ],
)
def test_only_statements_about_the_part_of_a_query_are_given(words: str, part: str, flows: list[str]) -> None:
    released = _release_with_two_parts()
    (line,) = find_lines(released, words.split())
    assert (line.part, [row.target_key for row in line.flows_out]) == (part, flows)
    traced = trace(released, words.split())
    assert (traced.part, [step.key for step in traced.into]) == (part, flows)


def test_a_trace_asks_for_the_part_where_several_have_the_line() -> None:
    with pytest.raises(LineNotFoundError, match="Name the part: II, III"):
        trace(_release_with_two_parts(), ["2070", "4"])


def test_a_line_that_is_only_explained_is_not_said_to_have_flows() -> None:
    released = _release()
    released.tables["flows"] = released.tables["flows"].filter(pl.col("flow_id").is_in(["c", "d"]))
    out = Console(width=200, record=True, file=StringIO())
    print_trace(trace(released, ["2070", "4"]), out=out)
    assert "has 2070 line 4." in out.export_text()
    print_trace(trace(released, ["Schedule", "B", "8"]), out=out)
    assert "but other documents state where" in out.export_text()


@pytest.mark.parametrize(
    "words",
    [
        "Schedule B 2080 line 7",
        "2080 Schedule B 7",
        "Form 2080 Schedule B line 7",
        "Schedule B (2080) 7",
        "Schedule B (Form 2080) 7",
    ],
)
def test_a_schedule_outside_the_library_is_named_with_its_return_in_any_way(words: str) -> None:
    (line,) = find_lines(_release(), words.split())
    assert (line.form, line.key) == ("Schedule B (Form 2080)", "line_7")


def test_the_return_of_an_absent_schedule_is_not_taken_for_the_form() -> None:
    released = _release()
    more = _statement("e", ("Schedule E (Form 2040)", "", "line_7"), ("2060", "", "line_7"))
    released.tables["flows"] = pl.concat([released.tables["flows"], pl.DataFrame([more])])
    (line,) = find_lines(released, ["2040", "Schedule", "E", "7"])
    assert line.form == "Schedule E (Form 2040)"
    (line,) = find_lines(released, ["2070", "Schedule", "C", "6"])
    assert {row.heading for row in line.explanations} == {"Lines 5 through 9 of Schedule C. Tolls"}


def test_a_trace_takes_no_schedule_because_only_that_one_has_flows() -> None:
    released = _release()
    released.tables["flows"] = pl.concat(
        [
            released.tables["flows"],
            pl.DataFrame([_statement("e", ("Schedule B (Form 2080)", "", "line_4"), ("2040", "", "line_7"))]),
        ]
    )
    for read in (find_lines, trace):
        with pytest.raises(LineNotFoundError, match=r"Schedule B \(Form 2070\), Schedule B \(Form 2080\)"):
            read(released, ["Schedule", "B", "4"])


def test_another_form_of_a_line_is_no_branch_though_its_statement_has_other_words() -> None:
    released = _release()
    source = ("2070", "", "line_4")
    more = [
        {
            **_statement("e", source, ("2040-SR", "", "line_7")),
            "evidence": "Include it on Form 2040 or 2040-SR, line 7",
        },
        {**_statement("f", source, ("2080-SR", "", "line_7")), "evidence": "Include it on Form 2080-SR, line 7"},
    ]
    released.tables["flows"] = pl.concat([released.tables["flows"], pl.DataFrame(more)])
    out = Console(width=200, record=True, file=StringIO())
    print_trace(trace(released, ["2070", "4"]), out=out)
    shown = out.export_text()
    assert "2040 line 7 (also 2040-SR)" in shown
    assert "── 2080-SR line 7" in shown


def test_the_codes_of_a_box_that_is_printed_with_letters_are_shown_with_its_number() -> None:
    released = _release()
    row = {"document_id": "2060", "form": "2060", "part": "", "anchor_id": None, **Released._row()}
    boxes = [{**row, "key": f"box_12{letter}", "kind": "box", "line_ix": ix} for ix, letter in enumerate("ab")]
    released.tables["lines"] = pl.concat([released.tables["lines"], pl.DataFrame(boxes)], how="diagonal_relaxed")
    coded = _statement("e", ("2060", "", "box_12"), ("2889", "", "line_9"))
    coded |= {"source_document_id": None, "source_code": "W"}
    released.tables["flows"] = pl.concat([released.tables["flows"], pl.DataFrame([coded])], how="vertical_relaxed")
    number, *lettered = find_lines(released, ["2060", "12"])
    assert (number.document_id, [flow.source_code for flow in number.flows_out]) == ("", ["W"])
    assert [line.key for line in lettered] == ["box_12a", "box_12b"]
    assert trace(released, ["2060", "12"]).key == "box_12"
    assert trace(released, ["2060", "12"], revision="2031").key == "box_12a"
    assert choose_revision([number, *lettered], "") is number
    reply = reply_line([number, *lettered], revision="")
    assert (reply.revisions, [flow.line for flow in reply.goes_to]) == (["2031"], ["2889 line 9"])
    assert choose_revision([number, *lettered], "2031").key == "box_12a"
    out = Console(width=200, record=True, file=StringIO())
    print_lines([number, *lettered], out=out)
    assert "2060 box 12  revisions print it only with letters" in out.export_text()


@pytest.mark.parametrize(("newest", "is_outside"), [("2033", False), ("2030", True)])
def test_a_number_that_the_newest_revision_prints_is_that_line(newest: str, is_outside: bool) -> None:
    released = _release()
    row = {**Released._row(), "form": "2060", "part": "", "anchor_id": None, "kind": "box"}
    boxes = [
        {**row, "document_id": "f2060--2032", "revision": "2032", "key": "box_12a", "line_ix": 0},
        {**row, "document_id": f"f2060--{newest}", "revision": newest, "key": "box_12", "line_ix": 1},
    ]
    released.tables["lines"] = pl.concat([released.tables["lines"], pl.DataFrame(boxes)], how="diagonal_relaxed")
    statement = {**_statement("e", ("2060", "", "box_12"), ("2889", "", "line_9")), "source_document_id": None}
    released.tables["flows"] = pl.concat([released.tables["flows"], pl.DataFrame([statement])], how="vertical_relaxed")
    assert (find_lines(released, ["2060", "12"])[0].document_id == "") is is_outside
    assert (trace(released, ["2060", "12"]).document_id == "") is is_outside
