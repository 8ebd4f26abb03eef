"""Titles above tables: whole ones, and none where a sentence ends in bold words."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.layout.text_runs import Run
from taxkg_assets.extraction.tables.grid import Rectangle
from taxkg_assets.extraction.tables.tables import find_caption

_BOX = Rectangle(60.0, 150.0, 300.0, 220.0)


def _lines(*lines: tuple[str, bool]) -> list[Run]:
    top = _BOX.y0 - 4 - 11 * len(lines)
    return [
        Run(text, 64.0, top + 11 * ix, 64.0 + 4.5 * len(text), top + 11 * ix + 10, 9.0, is_bold)
        for ix, (text, is_bold) in enumerate(lines)
    ]


def test_the_end_of_a_sentence_in_bold_is_no_title() -> None:
    assert find_caption(_lines(("Take these steps to", False), ("raise your fee.", True)), _BOX) == ""


def test_a_title_of_three_lines_is_whole_and_without_hyphens() -> None:
    lines = _lines(("Most Fees for Boats in Har-", True), ("bors of the State and of", True), ("other Owners", True))
    assert find_caption(lines, _BOX) == "Most Fees for Boats in Harbors of the State and of other Owners"


def test_bold_words_with_a_small_letter_alone_above_a_table_are_its_title() -> None:
    assert find_caption(_lines(("per-diem fees", True)), _BOX) == "per-diem fees"


def test_plain_lines_are_no_title_though_one_begins_with_a_small_letter() -> None:
    assert find_caption(_lines(("Show the following kinds", False), ("of boats here.", False)), _BOX) == ""


def test_a_sentence_below_a_heading_is_no_part_of_the_title() -> None:
    lines = _lines(("Where To Moor", True), ("Moor the boat at the quay below.", False))
    assert find_caption(lines, _BOX) == "Where To Moor"


@pytest.mark.parametrize("words", ["By Length and Harbor", "Exemption."])
def test_plain_words_below_a_heading_that_are_no_sentence_belong_to_the_title(words: str) -> None:
    assert find_caption(_lines(("Dues of Boats", True), (words, False)), _BOX) == f"Dues of Boats {words}"


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("Dues of Boats", "(In thousands of dollars.)"),
        ("Dues of Boats", "(In thousands of dollars)."),
        ("Dues of Boats", "Is the boat one of yours?"),
        ("Schedule X", "Use if your filing status is:"),
    ],
)
def test_a_remark_a_question_or_a_lead_below_a_heading_belongs_to_the_title(heading: str, words: str) -> None:
    assert find_caption(_lines((heading, True), (words, False)), _BOX) == f"{heading} {words}"


@pytest.mark.parametrize(
    "sentence", ["Moor the boat at the quay (or at sea).", "Moor the boat. (See the map.)", "(Now) moor at the quay!"]
)
def test_a_sentence_with_a_remark_is_no_part_of_the_title(sentence: str) -> None:
    lines = _lines(("Where To Moor", True), (sentence, False))
    assert find_caption(lines, _BOX) == "Where To Moor"


def test_a_note_below_a_heading_is_no_part_of_the_title_though_its_label_is_bold() -> None:
    lines = _lines(("Dues of Boats", True), ("Note.", True))
    note = Run("The dues are those of one year.", 100.0, lines[-1].y0, 240.0, lines[-1].y1, 9.0, False)
    assert find_caption([*lines, note], _BOX) == "Dues of Boats"
