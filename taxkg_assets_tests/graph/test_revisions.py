"""Changes between invented revisions, and the laws that they keep."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets.graph.revision_checks import find_invalid_changes
from taxkg_assets.graph.revisions import find_consecutive
from taxkg_assets.schemas import Documents, Revisions
from taxkg_assets_tests.graph.corpora import document, frame_of
from taxkg_assets_tests.graph.papers import Paper, changes_between, revisions_of

LONG = "Every owner of a boat that lies in the harbour over night pays dues for each foot of its length."
OTHER = "A pilot who brings in a ship by day may ask for a fee, and by night for twice that fee."


def older(revision: str = "2030") -> Paper:
    return Paper(f"p9--{revision}", revision, doc_type="publication")


def newer(revision: str = "2031") -> Paper:
    return Paper(f"p9--{revision}", revision, doc_type="publication")


def kinds(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["kind"], row["nature"]) for row in rows]


def test_reflow_is_no_change() -> None:
    before = older().heading("Dues").text(f"{LONG} {OTHER}", "Ask the harbour master before you anchor there.")
    after = newer().heading("Dues").text(LONG, page=2).text(OTHER, "Ask the harbour master before you an-chor there.")
    assert changes_between(before, after) == []


def test_another_reading_order_is_no_change() -> None:
    before = older().heading("Dues").text(LONG, OTHER)
    assert changes_between(before, newer().heading("Dues").text(OTHER, LONG)) == []


def test_what_moves_under_another_heading_is_reported_last() -> None:
    before = older().heading("Dues").text(LONG, OTHER).heading("Pilots").text("Pilots need a licence.")
    after = newer().heading("Dues").text(LONG).heading("Pilots").text("Pilots need a licence.", OTHER)
    (row,) = changes_between(before, after)
    assert (row["kind"], row["is_routine"], row["heading_path"]) == ("moved", True, "Pilots")


def test_added_and_removed_text_is_under_its_heading() -> None:
    before = older().heading("Dues").text(LONG).heading("Pilots").text("Pilots need a licence.")
    after = newer().heading("Dues").text(LONG, OTHER).heading("Pilots").text("Every buoy was painted green.")
    assert [(r["kind"], r["heading_path"], r["before"], r["after"]) for r in changes_between(before, after)] == [
        ("text added", "Dues", "", OTHER),
        ("text removed", "Pilots", "Pilots need a licence.", ""),
        ("text added", "Pilots", "", "Every buoy was painted green."),
    ]


def test_a_changed_word_is_reported_with_both_places() -> None:
    before = older().heading("Dues").text(LONG)
    after = newer().heading("Dues").text(LONG.replace("foot", "metre"), page=3)
    (row,) = changes_between(before, after)
    (word,) = row["words"]
    assert row["before"][word["before_start"] : word["before_end"]] == "foot"
    assert row["after"][word["after_start"] : word["after_end"]] == "metre"
    assert ([p["page"] for p in row["before_places"]], [p["page"] for p in row["after_places"]]) == ([1], [3])
    start = LONG.index("foot")
    assert row["evidence"] == f"p9--2030:p0001:e0001:{start}-{start + 4} → p9--2031:p0003:e0001:{start}-{start + 5}"


def test_a_keyed_heading_with_the_same_text_was_renumbered() -> None:
    before = older().heading("Box 14. Other", "box_14", kind="box").text(LONG)
    after = newer().heading("Box 14a. Other", "box_14a", kind="box").text(LONG)
    assert [(r["kind"], r["key"]) for r in changes_between(before, after)] == [("box renumbered", "box_14a")]


def test_text_under_a_box_that_was_rewritten_is_one_change_of_that_box() -> None:
    before = older().heading("Box 2.", "box_2", kind="box").text("Reserved.")
    after = newer().heading("Box 2.", "box_2", kind="box").text(LONG)
    assert [(r["kind"], r["key"], r["before"]) for r in changes_between(before, after)] == [
        ("text changed", "box_2", "Reserved.")
    ]


def test_a_heading_becomes_a_run_in_without_a_change() -> None:
    before = older().heading("Dues for boats").text(LONG)
    assert changes_between(before, newer().text(f"Dues for boats {LONG}")) == []


def test_the_table_of_contents_says_nothing() -> None:
    before = older().heading("Contents").text("Dues . . . . 3").heading("Dues").text(LONG)
    after = newer().heading("Contents").text("Dues . . . . 4").heading("Dues").text(LONG)
    assert changes_between(before, after) == []


def schedule(revision: str, *numbered: str) -> Paper:
    paper = Paper(f"f9--{revision}", revision)
    paper.heading("Part I", "part_I", kind="part")
    for text in numbered:
        number, _, words = text.partition(" ")
        paper.line(number, words)
    return paper


def test_lines_of_a_schedule_are_added_and_renumbered() -> None:
    before = schedule("2030", "1 Harbour dues for boats", "2 Pilot fees", "3 Add lines 1 and 2")
    after = schedule(
        "2031", "1 Harbour dues for boats", "2 Light and buoy tolls", "3 Pilot fees", "4 Add lines 1 through 3"
    )
    assert [(r["kind"], r["key"]) for r in changes_between(before, after)] == [
        ("line added", "line_2"),
        ("line renumbered", "line_3"),
        ("line renumbered", "line_4"),
    ]


def test_a_line_whose_label_grows_under_a_renamed_part_is_the_same_line() -> None:
    before, after = Paper("f9--2030", "2030"), Paper("f9--2031", "2031")
    before.heading("Dues and Fees", "part_I", kind="part").line("14", "Add lines 12 and 13")
    before.line("15", "Dues paid in 2030 and what is left over of the year 2029")
    after.heading("What Is Paid", "part_I", kind="part").line("14", "Add lines 12e, 13a, and 13b")
    after.line(
        "15",
        "Dues paid in 2031 and what is left over of the year 2030. If the former keeper of the boat paid a share "
        "of them, name that keeper here, with the number of each berth and the day on which the boat left it",
    )
    rows = changes_between(before, after)
    assert [(r["kind"], r["key"]) for r in rows if "line" in r["key"]] == [
        ("text changed", "line_14"),
        ("text changed", "line_15"),
    ]


def test_the_answers_below_a_question_are_compared_with_the_line_that_contains_them() -> None:
    answer = "Yes. Fill in the worksheet for boats in the guide before you go on with the next page"
    before = schedule("2030", "1 Harbour dues for boats", "2 Do you own a boat? " + answer, "3 Add lines 1 and 2")
    after = Paper("f9--2031", "2031").heading("Part I", "part_I", kind="part")
    after.line("1", "Harbour dues for boats").line("2", "Do you own a boat?")
    after.text(answer.replace("next page", "last page")).line("3", "Add lines 1 and 2")
    (row,) = changes_between(before, after)
    assert (row["kind"], row["key"], row["after"].count("\n")) == ("text changed", "line_2", 1)


def test_a_line_is_added_where_its_words_were_printed_without_a_number() -> None:
    before = schedule("2030", "1 Harbour dues for boats", "2 Fees").text(
        "Check if Somebody else pays for the berth Nobody sleeps on board Another owner has bought the boat this year"
    )
    after = schedule("2031", "1 Harbour dues for boats", "2 Fees", "3 Somebody else pays for the berth")
    assert ("line added", "line_3") in [(r["kind"], r["key"]) for r in changes_between(before, after)]


def test_a_corrected_list_of_lines_is_a_change_of_substance() -> None:
    before = schedule("2030", "1 Dues", "2 Fees", "3 Add lines 4, 7 through 16, and 18")
    after = schedule("2031", "1 Dues", "2 Fees", "3 Add lines 4, 7 through 16, 18, and 19")
    (row,) = changes_between(before, after)
    assert (row["kind"], row["key"], row["is_routine"]) == ("text changed", "line_3", False)


def test_the_copies_of_a_form_count_once_and_blocks_may_fall_apart() -> None:
    before, after = (Paper(f"f9--{year}", year).box("1", "Dues") for year in ("2030", "2031"))
    for page in (1, 2):
        before.piece("For the captain", x=100, y=10, width=60, page=page)
        before.piece("keep it on board", x=100, y=20, width=60, page=page)
    after.piece("For the captain", x=100, y=10, width=60).piece("keep it on board", x=100, y=60, width=60)
    assert changes_between(before, after) == []


def test_an_address_in_the_margin_is_reported_once_where_the_margin_is_new() -> None:
    before = Paper("f9--2030", "2030").text("Go to IRS.gov/Boats.").margin("irs.gov/Form9").margin("irs.gov/Form9")
    after = Paper("f9--2031", "2031").text("Go to IRS.gov/Boats.")
    for page in (1, 2):
        after.margin("www.irs.gov/Form9", page=page).margin("Page 1 of 2", page=page)
        after.margin("www.irs.gov/Boats", page=page)
    (row,) = changes_between(before, after)
    assert (row["kind"], row["after"], row["is_routine"]) == ("text added", "www.irs.gov/Boats", False)
    revisions, frames = revisions_of(before, after)
    assert find_invalid_changes(revisions, **frames).is_empty()


@pytest.mark.parametrize(
    ("rows", "pairs"),
    [
        ([("f9--2030", "2030"), ("f9--2031", "2031"), ("f9--2033", "2033")], [(0, 1), (1, 2)]),
        ([("f9--2030-12", "2030-12"), ("f9--2031-01", "2031-01"), ("i9--2031", "2031")], [(0, 1)]),
    ],
)
def test_consecutive_revisions_of_one_product_are_compared(
    rows: list[tuple[str, str]], pairs: list[tuple[int, int]]
) -> None:
    documents = frame_of(Documents, [document(name, "9", "form", revision) for name, revision in rows])
    assert find_consecutive(documents) == [(rows[a][0], rows[b][0]) for a, b in pairs]


def test_a_draft_never_represents_a_revision_and_builds_follow_their_dates() -> None:
    documents = frame_of(
        Documents,
        [
            document("f9--2031", "9", "form", "2031") | {"pdf_modified_on": "2031-12-27"},
            document("f9--2031--first", "9", "form", "2031") | {"pdf_modified_on": "2031-12-06"},
            document("f9--2032-draft", "9", "form", "2032", is_draft=True),
            document("town-code", "", "statute", "") | {"irs_name": ""},
        ],
    )
    assert find_consecutive(documents) == [("f9--2031--first", "f9--2031")]


def corpus() -> tuple[Any, Any]:
    before = older().heading("Dues").text(LONG, "In 2030 the toll is $20.")
    after = newer().heading("Dues").text(LONG.replace("foot", "metre"), "In 2031 the toll is $30.")
    return revisions_of(before, after)


def test_the_table_keeps_its_laws_and_is_the_same_when_built_again() -> None:
    revisions, frames = corpus()
    again, _ = corpus()
    assert kinds(revisions.to_dicts()) == [("text changed", "wording"), ("text changed", "amounts")]
    assert revisions.equals(again)
    assert find_invalid_changes(revisions, **frames).is_empty()


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"after": pl.lit("Never printed.")}, "after is not what p9--2031 prints"),
        ({"key": pl.lit("box_99")}, "no key box_99"),
        ({"previous_key": pl.lit("box_98")}, "no older key box_98"),
        ({"evidence": pl.lit("p9--2030:p0001:e0001:0-4 → p9--2031:p0001:e0001:0-999")}, "evidence points nowhere"),
        ({"evidence": pl.lit(" → nowhere")}, "evidence points nowhere"),
        ({"words": pl.lit([], dtype=Revisions.create_empty().schema["words"])}, "nothing changed"),
        ({"to_document_id": pl.lit("p9--2040")}, "no document p9--2040"),
    ],
)
def test_a_change_that_is_not_printed_is_a_fault(changed: dict[str, pl.Expr], fault: str) -> None:
    revisions, frames = corpus()
    broken = Revisions.cast(revisions.head(1).with_columns(**changed))
    assert any(found.startswith(fault) for found in find_invalid_changes(broken, **frames)["fault"])


@pytest.mark.parametrize("name", ["p9; a", "p9 → a", "p9:1-2; a", "p9:0-4 → a → b", "; "])
def test_a_file_name_may_contain_the_separators_of_the_evidence(name: str) -> None:
    before, after = (
        Paper(f"{name}--{year}", year, doc_type="publication").heading("Dues") for year in ("2030", "2031")
    )
    before.text(f"{LONG} {OTHER}", "Ask the master.")
    after.text(f"{LONG.replace('dues', 'a toll')} {OTHER.replace('twice', 'half')}", "A raft pays nothing at all.")
    revisions, frames = revisions_of(before, after)
    assert revisions.height
    assert find_invalid_changes(revisions, **frames).is_empty()
    other_file = Revisions.cast(revisions.head(1).with_columns(evidence=pl.lit("p8:p0001:e0001:0-4 → ")))
    assert find_invalid_changes(other_file, **frames)["fault"].to_list()[0].startswith("evidence points nowhere")


def test_a_draft_in_the_table_is_a_fault() -> None:
    revisions, frames = corpus()
    frames["documents"] = Documents.cast(frames["documents"].with_columns(is_draft=pl.lit(True)))
    assert set(find_invalid_changes(revisions, **frames)["fault"]) == {"a draft counts as a revision"}


def test_a_section_whose_text_two_sections_take_over_was_split() -> None:
    before = older().heading("Harbor rules").text(LONG, OTHER)
    after = newer().heading("Harbor rules").text(LONG).heading("Fees of pilots").text(OTHER)
    rows = changes_between(before, after)
    assert ("section split", "structure") in kinds(rows)
    (row,) = [row for row in rows if row["kind"] == "section split"]
    assert (row["before"], row["after"]) == ("Harbor rules", "Harbor rules\nFees of pilots")


def test_a_reworded_heading_over_the_same_text_was_renamed() -> None:
    before = older().heading("Harbor rules").text(LONG).heading("Pilots").text(OTHER)
    after = newer().heading("What owners owe").text(LONG).heading("Pilots").text(OTHER)
    (row,) = changes_between(before, after)
    assert (row["kind"], row["before"], row["after"]) == ("section renamed", "Harbor rules", "What owners owe")
