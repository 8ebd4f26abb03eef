"""Printed pieces of a form put together as lines and blocks."""

from __future__ import annotations

from taxkg_assets.graph.form_lines import Fragment, find_blocks, find_lines
from taxkg_assets.graph.passages import Part


def piece(text: str, x: float, y: float, width: float = 40.0) -> Fragment:
    box = {"page": 1, "x0_pt": x, "y0_pt": y, "x1_pt": x + width, "y1_pt": y + 8.0}
    return Fragment(f"{y:05.0f}{x:05.0f}", text, Part("e", text, ({"start": 0, "end": len(text), **box},)), box)


def lines(*pieces: Fragment) -> list[tuple[str, str]]:
    return [(line.key, " / ".join(f.text for f in line.fragments)) for line in find_lines(pieces)]


def test_a_line_is_its_key_and_its_words_without_the_entry() -> None:
    assert lines(
        piece("9", 500, 20, 8),
        piece("8", 36, 10, 8),
        piece("9", 36, 20, 8),
        piece("Harbour dues", 55, 10),
        piece("8", 500, 10, 8),
        piece("Pilot fees, when the pilot", 55, 20),
        piece("was paid in cash", 55, 30),
    ) == [("8", "Harbour dues"), ("9", "Pilot fees, when the pilot / was paid in cash")]


def test_a_letter_counts_on_from_the_number_above_it() -> None:
    found = lines(
        piece("2 Boats:", 36, 10),
        piece("a Sailing", 44, 20),
        piece("b Rowing", 44, 30),
        piece("3 Total", 36, 40),
        piece("of all boats", 55, 50),
        piece("kept at sea", 55, 60),
    )
    assert [key for key, _ in found] == ["2", "2a", "2b", "3"]


def test_words_that_begin_like_a_key_stay_words_where_words_begin() -> None:
    found = lines(
        piece("2 Three boats. Complete lines 2a and", 36, 10, 200),
        piece("2c below. Otherwise stop", 55, 20, 120),
        piece("and go ashore", 55, 30, 90),
        piece("after noon", 55, 40, 90),
        piece("3 Total", 36, 50),
    )
    assert [key for key, _ in found] == ["2", "3"]


def test_an_indented_letter_is_a_key_where_its_entry_says_so() -> None:
    found = lines(
        piece("1 Boats", 36, 10),
        piece("kept", 55, 18),
        piece("a Sailing", 55, 30),
        piece("1a $", 500, 30, 12),
        piece("2 Total", 36, 40),
        piece("of all", 55, 48),
    )
    assert [key for key, _ in found] == ["1", "1a", "2"]


def test_notes_in_the_margin_are_no_part_of_the_lines() -> None:
    found = lines(
        piece("Note: ask", 10, 10, 60),
        piece("1", 110, 10, 8),
        piece("Name the boat", 130, 10, 90),
        piece("the pilot", 10, 20, 60),
        piece("2", 110, 20, 8),
        piece("Name the port", 130, 20, 90),
    )
    assert found == [("", "Note: ask / the pilot"), ("1", "Name the boat"), ("2", "Name the port")]


def test_pieces_stacked_closely_are_one_block() -> None:
    stacked = [piece("Copy B", 100, 10), piece("For the captain", 90, 20, 60), piece("Far below", 100, 90)]
    found = find_blocks([*stacked, piece("Elsewhere", 300, 12)])
    assert [[f.text for f in block] for block in found] == [["Copy B", "For the captain"], ["Elsewhere"], ["Far below"]]
