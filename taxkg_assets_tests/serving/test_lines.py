"""Words that name a line: forms, schedules of several returns, parts and kinds; exports without a field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from taxkg_assets.serving.lines import LineNotFoundError, find_form, find_lines, list_fields
from taxkg_assets.serving.render_lines import check_totals, formula, list_other_ends
from taxkg_assets.serving.replies import FlowRow, FormulaRow, LineRow

FORMS = (
    "2040",
    "2060",
    "W-9",
    "Schedule D (Form 2040)",
    "Schedule K-1 (Form 2041)",
    "Schedule K-1 (Form 2065)",
)


class Released:
    """A release with one line 7 for each form, and one in its Part 3."""

    def __init__(self, *, has_lines: bool = True) -> None:
        self.has_lines = has_lines
        rows = [
            {"document_id": form, "form": form, "part": part, "anchor_id": f"{form}#{part}", **self._row()}
            for form in FORMS
            for part in ("", "3")
        ]
        self.tables = {
            "lines": pl.DataFrame(rows),
            "documents": pl.DataFrame(
                {"document_id": FORMS, "form": FORMS, "is_draft": [False] * len(FORMS), "doc_type": "form"}
            ),
        }

    @staticmethod
    def _row() -> dict[str, object]:
        row = {"revision": "2031", "key": "line_7", "kind": "line", "label": "Berths", "line_ix": 0}
        return {**row, "section": "", "page": 1}

    def holds(self, name: str) -> bool:
        return name in self.tables and self.has_lines

    def table(self, name: str) -> pl.DataFrame:
        return self.tables[name]

    def read_documents(self, name: str, document_ids: list[str]) -> pl.DataFrame:
        columns = ("document_id", "name", "key", "part", "column", "row", "copy", "kind", "label")
        texts = dict.fromkeys(columns, pl.String)
        return pl.DataFrame(schema={**texts, "page": pl.Int32, "field_ix": pl.Int32, "bbox": pl.Struct({})})

    def flags_of(self, document_id: str) -> list[str]:
        return []


@pytest.mark.parametrize(
    ("words", "form", "parts"),
    [
        ("2060 7", "2060", {"", "3"}),
        ("2060 lines 7", "2060", {"", "3"}),
        ("W-9 Part 3 7", "W-9", {"3"}),
        ("W-9 Part III 7", "W-9", {"3"}),
        ("Schedule D 7", "Schedule D (Form 2040)", {"", "3"}),
        ("Form 2040 Schedule D 7", "Schedule D (Form 2040)", {"", "3"}),
        ("Schedule D (Form 2040) line 7", "Schedule D (Form 2040)", {"", "3"}),
        ("Schedule K-1 (Form 2065) 7", "Schedule K-1 (Form 2065)", {"", "3"}),
        ("2065 Schedule K-1 7", "Schedule K-1 (Form 2065)", {"", "3"}),
    ],
)
def test_a_line_is_named_as_people_name_it(words: str, form: str, parts: set[str]) -> None:
    rows = find_lines(Released(), words.split())  # type: ignore[arg-type]
    assert {row.form for row in rows} == {form}
    assert {row.part for row in rows} == parts


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Schedule D (Form 2041) 7", "No form with lines"),
        ("Schedule K-1 7", "matches several forms"),
        ("2060 99", "has no line"),
        ("2060 berths of all kinds", "has no line .2060 berths of all kinds."),
    ],
)
def test_the_line_of_another_form_is_never_given(words: str, said: str) -> None:
    with pytest.raises(LineNotFoundError, match=said):
        find_lines(Released(), words.split())  # type: ignore[arg-type]


def test_a_release_of_an_older_version_is_refused_in_one_line() -> None:
    with pytest.raises(LineNotFoundError, match="no table `lines`"):
        find_lines(Released(has_lines=False), ["2060", "7"])  # type: ignore[arg-type]


def test_words_after_a_form_are_not_ignored() -> None:
    with pytest.raises(LineNotFoundError, match="--revision"):
        find_form(Released(), ["2060", "berths"])  # type: ignore[arg-type]
    with pytest.raises(LineNotFoundError, match="no revision '2019'"):
        find_form(Released(), ["2060", "2019"])  # type: ignore[arg-type]
    assert find_form(Released(), ["2060", "2031"])  # type: ignore[arg-type]


def test_uses_of_a_line_are_those_of_its_part() -> None:
    released = Released()
    keys = [("", "line_7"), ("3", "line_7"), ("", "line_8"), ("3", "line_8")]
    row = {"document_id": "2060", "form": "2060", "anchor_id": None, **Released._row()}
    released.tables["lines"] = pl.DataFrame({**row, "part": part, "key": key} for part, key in keys)
    formulas = [
        {"document_id": "2060", "part": part, "key": "line_8", "operands": ["line_7"], "operand_parts": [of]}
        | {"operation": "copy", "evidence": "the amount on line 7"}
        for part, of in (("", "3"), ("3", "3"))
    ]
    released.tables["formulas"] = pl.DataFrame(formulas)
    read = released.read_documents
    released.read_documents = (  # type: ignore[method-assign]
        lambda name, document_ids: released.tables[name] if name == "formulas" else read(name, document_ids)
    )
    rows = {row.part: row.used_in for row in find_lines(released, ["2060", "7"])}  # type: ignore[arg-type]
    assert rows == {"": [], "3": ["line_8", "line_8"]}


def _release_with(*lines: tuple[str, str], drafts: Sequence[str] = ()) -> Any:
    """Make a release whose documents of one form print one line each; a draft is in the revision of 2031."""
    released = Released()
    row = {"form": "2060", "part": "", "anchor_id": None, **Released._row()}
    rows = [
        {**row, "document_id": f"f2060--{name}", "revision": name[:4], "key": key, "kind": key.partition("_")[0]}
        for name, key in lines
    ]
    released.tables["lines"] = pl.DataFrame(rows)
    names = sorted({f"f2060--{name}" for name, _ in lines})
    released.tables["documents"] = pl.DataFrame(
        {"document_id": names, "form": "2060", "is_draft": [name in drafts for name in names], "doc_type": "form"}
    )
    return released


def test_a_number_is_also_found_where_a_revision_prints_it_with_letters() -> None:
    printed = [("2030", "box_12"), ("2031", "box_12a"), ("2031", "box_12b"), ("2031", "box_1"), ("2031", "column_12c")]
    released = _release_with(*printed)
    assert [(row.revision, row.key) for row in find_lines(released, ["2060", "12"])] == [
        ("2031", "box_12a"),
        ("2031", "box_12b"),
        ("2030", "box_12"),
    ]
    assert [row.key for row in find_lines(released, ["2060", "12b"])] == ["box_12b"]


def test_final_revisions_come_before_drafts() -> None:
    draft = "f2060--2031-draft20310704"
    released = _release_with(("2031-draft20310704", "line_7"), ("2031", "line_7"), ("2030", "line_7"), drafts=[draft])
    rows = find_lines(released, ["2060", "7"])
    assert [row.document_id for row in rows] == ["f2060--2031", "f2060--2030", draft]


def test_a_line_is_explained_by_the_passages_below_its_headings() -> None:
    released = Released()
    edge = {"source_id": "2060#3", "target_id": "i2060#1", "relation": "same_field"}
    older = {**edge, "target_id": "i2060#old", "relation": "same_field_other_revision"}
    released.tables["edges"] = pl.DataFrame([edge, older, {**edge, "relation": "parent_of"}])
    place = {
        "perspective": "filer",
        "document_id": "i2060",
        "page": 4,
        "official_url": "https://example.org/i2060#1",
        "bbox": {"x0_pt": 1.0, "y0_pt": 2.0, "x1_pt": 3.0, "y1_pt": 4.0},
    }
    released.tables["anchors"] = pl.DataFrame(
        [
            {"anchor_id": "i2060#1", "heading": "Line 7", "parent_anchor_id": None, **place},
            {"anchor_id": "i2060#2", "heading": "Berths", "parent_anchor_id": "i2060#1", **place},
            {"anchor_id": "i2060#old", "heading": "7 Berths", "parent_anchor_id": None, **place, "perspective": "face"},
        ]
    )
    passages = [
        ("i2060:1", "i2060#1", "What a berth is."),
        ("i2060:2", "i2060#2", "Where it is."),
        ("i2060:3", None, "-"),
    ]
    released.tables["sections"] = pl.DataFrame(
        {"document_id": "i2060", "element_id": element, "anchor_id": anchor, "page": 4, "text": text}
        for element, anchor, text in passages
    )
    read = released.read_documents
    released.read_documents = (  # type: ignore[method-assign]
        lambda name, document_ids: (
            released.tables[name] if name in ("anchors", "sections") else read(name, document_ids)
        )
    )
    rows = {row.part: row.explanations for row in find_lines(released, ["2060", "7"])}  # type: ignore[arg-type]
    assert rows[""] == []
    (heading,) = rows["3"]
    assert (heading.heading, heading.relation, heading.official_url, heading.perspective) == (
        "Line 7",
        "same_field",
        "https://example.org/i2060#1",
        "filer",
    )
    assert [passage.text for passage in heading.passages] == ["What a berth is.", "Where it is."]


def test_a_form_without_fields_is_exported_with_its_columns() -> None:
    rows = find_form(Released(), ["2060"])  # type: ignore[arg-type]
    exported = list_fields(rows).write_csv().splitlines()
    assert len(exported) == 1
    assert exported[0].startswith("document_id,name,key,part")
    assert exported[0].endswith("x0_pt,y0_pt,x1_pt,y1_pt")


def test_a_form_says_whether_its_totals_use_every_line_once() -> None:
    def row(key: str, **formula: object) -> LineRow:
        own = {"operation": "sum", "operands": [], "evidence": "Add lines", **formula}
        place = {"document_id": "2060", "form": "2060", "revision": "2031", "part": "", "section": "", "page": 1}
        return LineRow(**place, key=key, kind="line", label="Berths", formula=own)

    assert check_totals([row("line_1").model_copy(update={"formula": None})]) == ""
    assert check_totals([row("line_3")]) == "1 total uses every line once."
    assert "except line 3: line 1 twice" in check_totals([row("line_3", repeated_lines=["line_1 twice"])])
    apart = check_totals([row("line_4", also_added_in=["line_16"])])
    assert "add some of the same lines: line 4 and line 16." in apart
    both = [row("line_16", also_added_in=["line_4"]), row("line_4", also_added_in=["line_16"])]
    assert check_totals(both).endswith("add some of the same lines: line 4 and line 16.")


def _flow(source: tuple[str, str, str], target: tuple[str, str, str], document_id: str, **own: str) -> FlowRow:
    stated: dict[str, Any] = {"relation": "flows_to", "agreement": "one_side", "evidence": "Enter here", "page": 2}
    for end, line in (("source", source), ("target", target)):
        stated[f"{end}_document_id"] = None
        stated |= {f"{end}_{name}": value for name, value in zip(("form", "part", "key"), line, strict=True)}
    return FlowRow(**stated, document_id=document_id, **own)


def test_forms_that_one_statement_names_for_a_line_are_shown_once() -> None:
    berth = ("2060", "", "line_7")
    flows = [_flow(berth, (form, "", "line_9"), "f2060--2031") for form in ("2040-SR", "2040")]
    flows += [
        _flow(berth, ("Schedule 7", "II", "box_12"), f"i2060--{year}", target_code="W") for year in range(2020, 2026)
    ]
    flows += [_flow(berth, ("2889", "", ""), "f2060--2031", source_code="D")]
    places = ", ".join(f"i2060--{year} p. 2" for year in range(2020, 2024))
    assert list_other_ends(flows, "target") == [
        f"Schedule 7 Part II box 12 code W  {places} and 2 more",
        "2040 line 9 (also 2040-SR)  f2060--2031 p. 2",
        "2889, for code D  f2060--2031 p. 2",
    ]


def test_a_formula_of_one_column_names_it() -> None:
    total: dict[str, Any] = {
        "operation": "sum",
        "operands": ["line_1", "line_2"],
        "evidence": "Combine lines 1 and 2",
        "column": "c",
    }
    assert formula(FormulaRow(**total, bound="at_least_zero")) == "line 1 + line 2, in column c, at least 0"


def test_a_formula_that_is_not_parsed_does_not_repeat_the_label_next_to_it() -> None:
    found = FormulaRow(
        operation="unparsed", operands=[], evidence="Add the tolls", problem="no rule reads it", bound=""
    )
    assert formula(found, label="Total. Add the tolls") == "not parsed (no rule reads it)"
    assert formula(found) == "not parsed (no rule reads it): Add the tolls"
