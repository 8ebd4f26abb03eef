"""Amounts go where labels and passages say; a place that is not exactly one line stays open, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.graph.flow_clauses import read_clauses
from taxkg_assets.graph.flow_ends import NO_LABEL, About, End, Lines
from taxkg_assets.graph.flow_lists import read_lead_in
from taxkg_assets.graph.flow_passages import find_heading_form, place_on_form_before
from taxkg_assets.graph.flow_rows import list_rows, make_row
from taxkg_assets.graph.flow_statements import (
    FlowStatement,
    read_code,
    read_item,
    read_label,
    read_passage,
)
from taxkg_assets.graph.flows import _compare, _find_named_lines, find_flow_faults
from taxkg_assets.graph.named_amounts import NamedAmounts, read_placed_amounts
from taxkg_assets.graph.places import Place
from tools.rule_switch import every_rule


def _read_all(text: str, *, heading_kind: str) -> list[FlowStatement]:
    return [*read_passage(text, heading_kind=heading_kind), *read_clauses(text, heading_kind=heading_kind)]


BOX = {"x0_pt": 1.0, "y0_pt": 1.0, "x1_pt": 2.0, "y1_pt": 2.0}


@pytest.fixture(scope="module", autouse=True)
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


def _words(place: Place | None) -> tuple[str, ...]:
    return (*place.forms, *place.keys, place.part, place.column, place.label) if place else ()


@pytest.mark.parametrize(
    ("label", "sources", "targets"),
    [
        ("Add lines 51 and 52. Enter here and on Schedule 7, line 88", [()], [("Schedule 7", "88", "", "", "")]),
        (
            "Harbor dues. Enter here and on Form 2040 or 2040-SR, line 71, or Form 2040-NR, line 72b",
            [()],
            [("2040", "2040-SR", "71", "", "", ""), ("2040-NR", "72b", "", "", "")],
        ),
        (
            "Enter each total here and include on your Schedule P, line 61 (if Box G is checked), or line 62",
            [()],
            [("Schedule P", "61", "", "", ""), ("Schedule P", "62", "", "", "")],
        ),
        ("Also enter this amount on Form 2040, line 55", [()], [("2040", "55", "", "", "")]),
        ("Dues from Form(s) 2849, Part II, line 62, column (g)", [("2849", "62", "II", "g", "")], [()]),
        ("Schedule 7, line 88", [("Schedule 7", "88", "", "", "")], [()]),
        ("Do not enter this amount on Form 2040, line 55", [], []),
        ("Enter the amount from line 64 of the Berth Worksheet in the Instructions for Form 2040, line 12", [], []),
        ("See the instructions for Form 2040, line 55", [], []),
    ],
)
def test_a_label_states_where_its_amount_goes(label: str, sources: list[Any], targets: list[Any]) -> None:
    read = read_label(label)
    assert [_words(each.source) for each in read] == sources * max(1, len(targets)) * bool(sources)
    assert [_words(each.target) for each in read] == targets


@pytest.mark.parametrize(
    ("text", "heading_kind", "source", "target"),
    [
        (
            "Your harbor dues. Report it on the “Harbor dues” line of Form 2040.",
            "boxes",
            (),
            ("2040", "", "", "Harbor dues"),
        ),
        ("Enter this amount on the dues line of your tax return.", "boxes", (), ("return", "", "", "dues")),
        (
            "If you moor two boats, include on Schedule P, line 11, the amount from box 1a of Form 2439.",
            "",
            ("2439", "1a", "", "", ""),
            ("Schedule P", "11", "", "", ""),
        ),
        ("Enter the net dues from Form 2797, line 7.", "lines", ("2797", "7", "", "", ""), ()),
        ("Enter dues, if any, shown on Form W-7, box 6.", "lines", ("W-7", "6", "", "", ""), ()),
        ("A pilot should include all dues as reported on line 2 of Form CT-9.", "lines", ("CT-9", "2", "", "", ""), ()),
        (
            "Report harbor dues (Form 2099, box 1b) on Form 2040, line 3a.",
            "",
            ("2099", "1b", "", "", ""),
            ("2040", "3a", "", "", ""),
        ),
        (
            "Include the amount shown in box 4 on Form 2040, line 25c, as dues withheld.",
            "",
            ("4", "", "", ""),
            ("2040", "25c", "", "", ""),
        ),
        (
            "Enter on Schedule P, line 13, all dues paid to you. This amount is shown in box 2a of Form 2099.",
            "",
            ("2099", "2a", "", "", ""),
            ("Schedule P", "13", "", "", ""),
        ),
        (
            "If an amount is shown in box 9 of Form 2099, you must report it on line 2g of Form 2251.",
            "",
            ("2099", "9", "", "", ""),
            ("2251", "2g", "", "", ""),
        ),
        (
            "Enter your dues on line 31 and include it on Schedule 7, line 3.",
            "",
            ("31", "", "", ""),
            ("Schedule 7", "3", "", "", ""),
        ),
        ("Also, enter this amount on Form 2040, line 12.", "lines", (), ("2040", "12", "", "", "")),
    ],
)
def test_a_passage_states_both_ends_or_is_under_one(text: str, heading_kind: str, source: Any, target: Any) -> None:
    (read,) = _read_all(text, heading_kind=heading_kind)
    assert (_words(read.source), _words(read.target)) == (source, target)


def test_what_is_forbidden_is_no_flow() -> None:
    assert _read_all("Do not include this amount on Form 2040, line 3a.", heading_kind="boxes") == []


@pytest.mark.parametrize(
    "text",
    [
        "Enter on Schedule P, line 8, any dues not reported on Form 2040, line 1a.",
        "Enter the smaller of your dues or the amount from Form 2040, line 1a.",
        "These amounts are reported in box 13 of Schedule K-7.",
    ],
)
def test_what_is_left_out_compared_or_passed_on_is_no_source(text: str) -> None:
    assert read_passage(text, heading_kind="lines") == []


@pytest.mark.parametrize(
    ("item", "target"),
    [
        ("• Line 11 of Schedule 7 (Form 2040).", ("Schedule 7 (Form 2040)", "11", "", "", "")),
        (
            "• If you file Form 2040 or 2040-NR, include this amount on line 25c.",
            ("2040", "2040-NR", "25c", "", "", ""),
        ),
        ("• If you file Form 2040-SS, enter this amount on line 5 of Part I.", ("2040-SS", "5", "I", "", "")),
    ],
)
def test_a_list_names_where_the_amount_of_its_lead_in_goes(item: str, target: tuple[str, ...]) -> None:
    _, source = read_lead_in(
        "Report the total on line 18 as follows, by the kind of your dues return:", heading_kind=""
    )
    assert source is not None
    (read,) = read_item(item, source=source)
    assert (_words(read.source), _words(read.target)) == (("18", "", "", ""), target)


def test_a_sentence_without_a_list_introduces_none() -> None:
    assert read_lead_in("Include the amount from line 18 on Schedule 7, line 11.", heading_kind="lines") == (
        False,
        None,
    )


def test_a_line_introduces_a_list_of_places_for_its_own_amount() -> None:
    assert read_lead_in("Report this amount on the following line of your return:", heading_kind="lines") == (
        True,
        None,
    )
    assert read_lead_in("Report this amount on the following line of your return:", heading_kind="") == (False, None)
    (item,) = read_item("• Form 2041 filers: Form 2041, Schedule G, line 5.", source=None)
    assert item.source is None
    assert item.target is not None
    assert item.target.keys == ("5",)


def test_a_box_without_a_form_is_on_the_form_that_the_passage_named_last() -> None:
    text = "Your bank sends you Form 2099. Include the amount from box 4 on Form 2040, line 25c."
    (read,) = _read_all(text, heading_kind="")
    placed = place_on_form_before(read, text, "2098")
    assert (_words(placed.source), placed.target) == (("2099", "4", "", "", ""), read.target)


def test_a_box_without_any_form_before_it_is_on_the_form_of_its_heading() -> None:
    text = "Enter the cost shown in box 1e in column (e)."
    (read,) = _read_all(text, heading_kind="")
    heading = find_heading_form("Form 2099-Q transactions.", Lines(LINES, DOCUMENTS))
    placed = place_on_form_before(read, text, heading)
    assert (_words(placed.source), _words(placed.target)) == (("2099-Q", "1e", "", "", ""), ("e", "", "", ""))


def test_a_condition_on_the_return_names_the_form_of_the_target_only() -> None:
    (read,) = _read_all("If you file Form 2040-NR, enter the amount from line 11, on line 2.", heading_kind="")
    assert (_words(read.source), _words(read.target)) == (("11", "", "", ""), ("2040-NR", "2", "", "", ""))


def test_an_entry_of_a_box_goes_to_the_form_that_its_code_names() -> None:
    text = "W—Dues paid for your boat. Report on Form 2889."
    (read,) = _read_all(text, heading_kind="boxes")
    assert (read_code(text), read.source, _words(read.target)) == ("W", None, ("2889", "", "", ""))


def test_a_total_of_columns_comes_from_each_of_them() -> None:
    (read,) = read_label("Totals. Add the amounts in columns (d), (e), and (h)")
    assert (read.relation, _words(read.source), read.target) == ("computed_from", ("d", "e", "h", "", "", ""), None)


def test_an_amount_goes_from_the_box_that_shows_it_to_the_line_that_reports_it() -> None:
    amounts = NamedAmounts()
    amounts.add("Your harbor dues, except for those of pilots, are shown in Form 2099, box 1.")
    (placed,) = read_placed_amounts("Generally, you report all your harbor dues on Form 2040, line 2b.")
    (read,) = amounts.join(placed)
    assert (_words(read.source), _words(read.target)) == (("2099", "1", "", "", ""), ("2040", "2b", "", "", ""))
    (other,) = read_placed_amounts("Generally, you report all your river dues on Form 2040, line 2b.")
    assert list(amounts.join(other)) == []


def test_words_that_no_label_has_mean_the_line_that_says_it_is_from_there() -> None:
    known = Lines(LINES, DOCUMENTS)
    queried = _flow("flows_to", 7, 2) | {"target_line": None, "target_key": "dues", "problem": f"target: {NO_LABEL}"}
    queried |= {"source_document_id": "f2040--2030", "source_key": "line_3b"}
    stated = _flow("from_form", 7, 0) | {"document_id": "f2040--2030", "source_key": "line_3b"}
    stated |= {"source_document_id": "f2040--2030"}
    rows = [queried, stated]
    _find_named_lines(rows, known)
    assert (rows[0]["target_key"], rows[0]["problem"], rows[0]["agreement"]) == ("line_3b", "", "one_side")


def _line(document: str, form: str, key: str, label: str = "", part: str = "", fields: int = 1) -> dict[str, Any]:
    ids = {"document_id": document, "form": form, "part": part, "key": key, "kind": key.partition("_")[0]}
    return ids | {"label": label, "column_letters": [], "field_count": fields, "canonical_id": f"{form}/{part}/{key}"}


LINES = [
    _line("f2040--2030", "2040", "line_3b", "Harbor dues"),
    _line("f2040--2031", "2040", "line_4b", "Harbor dues"),
    _line("f2040--2031", "2040", "line_25", "Dues withheld from:", fields=0),
    _line("f2040--2031", "2040", "line_25a", "Form(s) 2099"),
    _line("f2040--2031", "2040", "line_25b", "Form(s) 2098"),
    _line("f2040sp--2031", "Schedule P (Form 2040)", "line_1", part="I"),
    _line("f2040sp--2031", "Schedule P (Form 2040)", "line_1", part="II"),
    _line("f2099--2029", "2099", "box_1a", "Dues"),
]
DOCUMENTS = [
    {
        "document_id": name,
        "form": form,
        "revision": name[-4:],
        "tax_year": None if form == "2099" else int(name[-4:]),
        "is_draft": False,
    }
    for name, form in sorted({(row["document_id"], row["form"]) for row in LINES})
]


def _find(words: str, about: About, *, other_form: str = "") -> End:
    read = read_label(f"Enter here and on {words}")[0].target
    assert read is not None
    key, form = (read.keys or ("",))[0], (read.forms or ("",))[0]
    return Lines(LINES, DOCUMENTS).find(read, about, key=key, form=form, other_form=other_form)


@pytest.mark.parametrize(
    ("words", "year", "document", "key", "is_same_year"),
    [
        ("Form 2040, line 3b", 2030, "f2040--2030", "line_3b", True),
        ("the harbor dues line of Form 2040", 2031, "f2040--2031", "line_4b", True),
        ("Form 2040, line 4b", 2035, "f2040--2031", "line_4b", False),
        ("Schedule P, Part II, line 1", 2031, "f2040sp--2031", "line_1", True),
        ("box 1a of Form 2099", 2031, "f2099--2029", "box_1a", True),
    ],
)
def test_a_place_is_the_line_of_its_year(words: str, year: int, document: str, key: str, is_same_year: bool) -> None:
    end = _find(words, About("2040", year))
    assert end.line is not None
    assert (end.line["document_id"], end.key, end.is_same_year) == (document, key, is_same_year)


@pytest.mark.parametrize(
    ("words", "form", "name"),
    [
        ("Schedule R", "2060", "Schedule R (Form 2040)"),
        ("2041NR", "2060", "2041-NR"),
        ("Schedule J (Form 2041NR)", "2060", "Schedule J (Form 2041-NR)"),
        ("Schedule 9", "1040-NR", "Schedule 9 (Form 1040)"),
        ("Schedule 9", "2060", "Schedule 9"),
        ("Schedule Q", "1040", "Schedule Q"),
    ],
)
def test_a_form_has_one_name_whether_or_not_a_text_names_its_return(words: str, form: str, name: str) -> None:
    booklets = [
        DOCUMENTS[0] | {"document_id": own, "form": own} for own in ("Schedule R (Form 2040)", "2041-NR and 2042")
    ]
    assert Lines(LINES, [*DOCUMENTS, *booklets]).name_form(words, About(form, 2031)) == name


def test_under_a_heading_the_line_for_the_other_form_is_meant() -> None:
    assert _find("the dues withheld line of Form 2040", About("2099", 2031), other_form="2099").key == "line_25a"


def test_a_line_for_another_form_is_not_meant_by_its_first_word() -> None:
    lines = [*LINES, _line("f2040--2031", "2040", "line_9", "Anchorage from Form 2777, line 6")]
    place = read_label("Enter here and on the anchorage line of Form 2040")[0].target
    assert place is not None
    ends = Lines(lines, DOCUMENTS)
    about = About("2040", 2031)
    assert ends.find(place, about, key="", form="2040", other_form="2099").line is None
    assert ends.find(place, about, key="", form="2040", other_form="2777").key == "line_9"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("Form 2041, line 3", "the library does not contain the form"),
        ("Form 2040, line 77", "the form has no such line"),
        ("Schedule P, line 1", "several lines of the form match"),
        ("the applicable line of Form 2040", "the line is not named"),
        ("the anchor tax line of Form 2040", "no line of the form has the label"),
    ],
)
def test_what_is_not_one_line_stays_open(words: str, problem: str) -> None:
    end = _find(words, About("2040", 2031))
    assert (end.line, end.problem) == (None, problem)


def _flow(relation: str, source: int, target: int) -> dict[str, Any]:
    ends = [End(LINES[at]["form"], LINES[at]["key"], LINES[at]["part"], "", LINES[at]) for at in (source, target)]
    stated = {"document_id": LINES[source]["document_id"], "element_id": None, "page": 1, "bbox": BOX}
    return make_row(relation, ends[0], ends[1], stated | {"start": 0, "end": 4, "evidence": "dues", "rule_id": "from"})


def test_evidence_begins_with_a_word() -> None:
    text = "If you are a pilot, report your dues on Form 2040, line 8."
    place = Place(("2040",), ("8",), "line", "", "", "", 40, 57)
    statement = FlowStatement("flows_to", None, place, 18, len(text), "report_named")
    own, about = End("2099", "box_1a", "", "", LINES[7]), About("2099", 2030)
    stated = {"document_id": "f2099--2029", "element_id": None, "page": 1, "bbox": BOX}
    (row,) = list_rows(statement, own, about, known_lines=Lines(LINES, DOCUMENTS), printed_at=stated, text=text)
    assert (row["start"], row["evidence"]) == (20, "report your dues on Form 2040, line 8.")


def test_a_label_on_two_forms_has_the_key_of_the_one_that_is_known() -> None:
    (statement,) = _read_all("Report it on the “Harbor dues” line of Form 2040 or 2040-SR.", heading_kind="boxes")
    own, about = End("2099", "box_1a", "", "", LINES[7]), About("2099", 2030)
    stated = {"document_id": "f2099--2029", "element_id": None, "page": 1, "bbox": BOX}
    rows = list_rows(statement, own, about, known_lines=Lines(LINES, DOCUMENTS), printed_at=stated, text="Report it")
    ends = [(row["target_form"], row["target_key"], row["problem"]) for row in rows]
    assert ends == [("2040", "line_3b", ""), ("2040-SR", "line_3b", "target: the library does not contain the form")]


def test_both_ends_agree_or_the_other_names_another_line() -> None:
    rows = [_flow("flows_to", 5, 1), _flow("from_form", 5, 1), _flow("flows_to", 6, 3), _flow("from_form", 5, 3)]
    _compare(rows)
    assert [row["agreement"] for row in rows] == ["agreed", "agreed", "contradicted", "contradicted"]


def test_no_flow_dangles_and_none_is_its_own_end() -> None:
    rows = [_flow("flows_to", 5, 1), _flow("flows_to", 1, 1), _flow("flows_to", 5, 0)]
    frame = pl.DataFrame(rows, schema=schemas.dtypes(schemas.Flows))
    lines = pl.DataFrame(LINES[1:]).select("document_id", "part", "key")
    faults = find_flow_faults(cast("dy.DataFrame[schemas.Flows]", frame), cast("dy.DataFrame[schemas.Lines]", lines))
    assert faults["fault"].sort().to_list() == ["flow to itself", "target is no line"]
