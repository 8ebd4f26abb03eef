"""Micro-blocks are sentences and lines of their own, each a verbatim slice with the rectangles of its lines."""

from __future__ import annotations

from taxkg_assets.chunking.micro_blocks import find_micro_blocks
from taxkg_assets_tests.chunking.plain import CARS, DEPOSITS, RENT, section_of


def test_blocks_are_verbatim_slices_that_lose_nothing() -> None:
    sections = [section_of([*RENT, *DEPOSITS]), section_of(CARS, number=2)]
    texts = {row["element_id"]: row["text"] for row in sections}
    blocks = find_micro_blocks(sections)
    assert all(texts[block.element_id][block.start : block.end] == block.text for block in blocks)
    assert [block.text for block in blocks] == [*RENT, *DEPOSITS, *CARS]
    assert all(block.pieces for block in blocks)


def test_a_short_line_is_alone_even_without_a_full_stop() -> None:
    blocks = find_micro_blocks([section_of([*RENT, *CARS])])
    assert [block.text for block in blocks if block.is_own_line] == [RENT[0], CARS[0]]


def test_a_short_line_that_continues_in_small_letters_is_no_end() -> None:
    (block,) = find_micro_blocks(
        [section_of(["The rent", "of a furnished flat counts in full, with what is paid for it."])]
    )
    assert block.text.startswith("The rent of a furnished")
