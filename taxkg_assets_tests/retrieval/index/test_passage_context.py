"""Every item of a list knows the lines that lead it in, also over passages, paragraphs and tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.lines import Line
from taxkg_assets.retrieval.index.passage_context import add_lead_ins, open_contexts
from taxkg_assets_tests.retrieval.answering.conftest import Section, make_facts


def read_lines(*sections: Section) -> list[Line]:
    facts = make_facts(*sections)
    return (
        open_contexts([0], facts)[0].lines
        if len(sections) == 1
        else open_contexts(range(len(sections)), facts)[0].lines
    )


def lead_texts(lines: Sequence[Line]) -> dict[str, list[str]]:
    return {line.text: [lines[place].text for place in line.intro_ixs] for line in lines}


def test_items_hang_on_the_line_before_their_list() -> None:
    lines = read_lines(("Box 1", ["Do not include:", "• Barns,", "• Stalls.", "Send it by May."]))
    assert lead_texts(lines) == {
        "Do not include:": [],
        "• Barns,": ["Do not include:"],
        "• Stalls.": ["Do not include:"],
        "Send it by May.": [],
    }


def test_items_of_another_passage_hang_on_it_too() -> None:
    lines = read_lines(("Box 1", ["Do not include:", "• Barns,"]), ("Box 1", ["• Stalls."]))
    assert lead_texts(lines)["• Stalls."] == ["Do not include:"]


def test_lists_within_lists_hang_on_both() -> None:
    lines = read_lines(("Box 1", ["Leave out:", "1. Rent of:", "a. Barns, and", "b. Stalls.", "2. Duty.", "a. Tide."]))
    found = lead_texts(lines)
    assert found["b. Stalls."] == ["Leave out:", "1. Rent of:"]
    assert found["2. Duty."] == ["Leave out:"]
    assert found["a. Tide."] == ["Leave out:", "2. Duty."]


def test_a_paragraph_between_numbered_items_does_not_tear_the_list() -> None:
    lines = read_lines(("Box 1", ["These do not count:", "1. Barns.", "A stall is a barn.", "2. Boats."]))
    assert lead_texts(lines)["2. Boats."] == ["These do not count:"]


def test_a_paragraph_that_announces_a_list_opens_another() -> None:
    lines = read_lines(("Box 1", ["Do not include:", "• Barns.", "Include the following.", "• Boats."]))
    assert lead_texts(lines)["• Boats."] == ["Include the following."]


def test_a_heading_ends_a_list() -> None:
    lines = read_lines(("Box 1", ["Do not include:", "• Barns."]), ("Box 2", ["Box 2", "• Boats."]))
    assert lead_texts(lines)["• Boats."] == []


def test_a_table_within_a_list_does_not_tear_it() -> None:
    facts = make_facts(("Box 1", ["Do not include:", "• Barns,"]), ("Box 1", ["Rent| 3"]), ("Box 1", ["• Stalls."]))
    facts.__dict__["is_table"] = np.array([0.0, 1.0, 0.0])
    lines = open_contexts(range(3), facts)[0].lines
    assert lead_texts(lines)["• Stalls."] == ["Do not include:"]


@pytest.mark.parametrize(
    ("text", "is_item"),
    [("Rent of barns, or", True), ("a whole paragraph of " + "many " * 60 + "words", False)],
)
def test_a_short_line_after_a_colon_is_an_item_without_a_mark(text: str, is_item: bool) -> None:
    lines = read_lines(("Box 1", ["Do not include:", text, "Stalls.", "Enter the rest."]))
    found = lead_texts(lines)
    assert (found[text] == ["Do not include:"]) is is_item
    assert found["Enter the rest."] == []


def test_lines_know_their_elements() -> None:
    facts = make_facts(("Box 1", ["Do not include:", "• Barns,"]))
    context = open_contexts([0], facts)[0]
    assert [context.node(line) for line in context.lines] == ["e0-0", "e0-1"]


def test_a_passage_that_opens_with_an_item_is_handed_over_with_its_lead_in() -> None:
    facts = make_facts(
        ("Box 1", ["Do not include:", "• Barns,"]),
        ("Box 1", ["• Stalls,"]),
        ("Box 1", ["• Boats."]),
        ("Box 2", ["Rent."]),
    )
    assert add_lead_ins([[2], [0, 1], [3]], facts) == [[0, 2], [0, 1], [3]]


def test_a_late_item_of_a_long_list_keeps_its_lead_in() -> None:
    items = [f"({number}) what is said of pier {number} in the first place," for number in range(1, 15)]
    facts = make_facts(("Piers", ["Do not include:"]), *(("Piers", [item]) for item in items))
    row = len(items)
    context = open_contexts([row], facts)[row]
    (item,) = context.lines_by_row[row]
    assert [context.lines[place].text for place in item.intro_ixs] == ["Do not include:"]


def test_the_rest_of_an_item_in_the_next_passage_keeps_its_lead_in() -> None:
    facts = make_facts(
        ("Piers", ["Do not include:"]), ("Piers", ["(1) rent of piers, which is due"]), ("Piers", ["July first."])
    )
    rows = facts.rows.with_columns(node_ids=pl.Series([["e0"], ["e1"], ["e1"]]))
    context = open_contexts([2], PassageFacts(rows))[2]
    (rest,) = context.lines_by_row[2]
    assert (rest.is_item, [context.lines[place].text for place in rest.intro_ixs]) == (True, ["Do not include:"])


def test_a_list_continues_below_a_table() -> None:
    facts = make_facts(("Piers", ["Do not pay:"]), ("Piers", ["When | Due", "first | June"]), ("Piers", ["1. rent;"]))
    rows = facts.rows.with_columns(level=pl.Series(["paragraph", "table", "paragraph"]))
    context = open_contexts([2], PassageFacts(rows))[2]
    (item,) = context.lines_by_row[2]
    assert [context.lines[place].text for place in item.intro_ixs] == ["Do not pay:"]


def test_a_letter_after_small_numerals_continues_with_the_outer_list() -> None:
    lines = ["(a) None of these:", "(i) piers,", "(ii) barns.", "(b) All berths."]
    context = open_contexts([0], make_facts(("Duty", lines)))[0]
    assert [line.intro_ixs for line in context.lines] == [(), (0,), (0,), ()]


def test_a_short_item_and_a_table_row_are_one_sentence_and_prose_is_split() -> None:
    lines = read_lines(("Box 1", ["A barn is exempt here. A stall is not exempt here.", "• A boat. A raft."]))
    assert [[line.read_sentence(number) for number in range(len(line.sentences))] for line in lines] == [
        ["A barn is exempt here.", "A stall is not exempt here."],
        ["• A boat. A raft."],
    ]
