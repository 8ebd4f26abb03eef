"""Where a list of boxes, sections or forms ends: the first letter of a word after it is no item."""

from __future__ import annotations

import time

import pytest

from taxkg_assets.extraction.references.mentions import Headings, find_mentions, leads_to


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("If you marked box B, C clubs must also register.", ["box_B"]),
        ("Fill in box 2, and C clubs must sign.", ["box_2"]),
        ("Use box 2 or D swarms.", ["box_2"]),
        ("Use box D, E, or F below.", ["box_D", "box_E", "box_F"]),
        ("Use box D or E if you sold honey.", ["box_D", "box_E"]),
        ("If you cannot mark box A or B because you kept no list, ask.", ["box_A", "box_B"]),
        ("Unless box A or B applies, mark box C.", ["box_A", "box_B", "box_C"]),
        ("Fill in Section A and C club rules.", ["Section A"]),
        ("Leave out Section A or B unless you sold honey.", ["Section A", "Section B"]),
        ("Fill in Section A and C only if you sold honey.", ["Section A", "Section C"]),
    ],
)
def test_a_letter_before_a_noun_is_no_item_of_a_list(text: str, targets: list[str]) -> None:
    assert [mention.target for mention in find_mentions(text, headings=Headings({}))] == targets


@pytest.mark.parametrize(
    "gap",
    [
        " (Form 9999), ",
        " (Form 9999 or 9998-S), ",
        " (Forms 9999, 9998, and Form 9997), ",
        " (Form 9999 or Form 9998), ",
    ],
)
def test_forms_in_parentheses_lead_to_a_line(gap: str) -> None:
    assert leads_to(gap)


def test_forms_in_parentheses_without_an_end_take_no_time() -> None:
    started = time.process_time()
    assert not leads_to(f" (Form 9999{' or' * 34} 9998, ")
    assert time.process_time() - started < 1
