"""Answers with the place of each quote: the rectangles of its own words, and the text around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.answering.answer import Answer, ask
from taxkg_assets.retrieval.answering.units import Piece
from taxkg_assets.retrieval.results import Result
from taxkg_assets.serving.cell_places import place_cells
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.text_places import place_texts
from taxkg_assets.settings import Settings

CONTEXT_CHARS = 120
"""Most characters that an excerpt has before its quote."""
FULL_LINE = 0.6
"""Share of the width of the lines above from which a line is no short last one."""


def answer_with_places(released: Released, question: str, *, settings: Settings, **options: Any) -> Answer:
    """Answer a question; each quote has the page rectangles of its own words.

    Args:
        released: Release that answers.
        question: The user's question.
        settings: Thresholds of the guardrail, and what a model is used for.
        options: Number and size of the passages, and filters, as `ask` takes them.

    Returns:
        The answer.
    """
    answer = ask(released.searcher, question, settings=settings, with_rectangles=True, **options)
    return place_texts(place_cells(answer, released), released)


def find_quotes(answer: Answer, rank: int) -> list[Piece]:
    """Return the pieces of an answer that quote a passage, without labels and notes of the program.

    Args:
        answer: The answer.
        rank: Rank of the passage.
    """
    return [
        piece
        for unit in answer.units
        if unit.rank == rank
        for piece in unit.pieces
        if piece.role not in ("label", "note")
    ]


def find_regions(answer: Answer, rank: int) -> list[BoundingBox]:
    """Return the rectangles of the words that an answer quotes from a passage, one for each block of printed lines.

    Args:
        answer: The answer, with places.
        rank: Rank of the passage.

    Returns:
        Rectangles in the order of the quotes; empty if no quote has a known place.
    """
    return join_lines(box for piece in find_quotes(answer, rank) for box in piece.bboxes)


def join_lines(boxes: Iterable[BoundingBox]) -> list[BoundingBox]:
    """Join the rectangles of printed lines that follow one another in a column.

    Args:
        boxes: Rectangles of lines in reading order.

    Returns:
        One rectangle for each block of lines, in the same order.
    """
    regions: list[BoundingBox] = []
    last_line: BoundingBox | None = None
    for box in boxes:
        if last_line is not None and _continues(regions[-1], last_line, box):
            region = regions[-1]
            regions[-1] = BoundingBox(
                page=region.page,
                x0=min(region.x0, box.x0),
                y0=min(region.y0, box.y0),
                x1=max(region.x1, box.x1),
                y1=max(region.y1, box.y1),
            )
        elif box not in regions:
            regions.append(box)
        last_line = box
    return regions


def _continues(region: BoundingBox, last_line: BoundingBox, line: BoundingBox) -> bool:
    """Return whether a line overlaps a region or is the next one below it: less than a line's height apart.

    Below a short last line begins a new region, as the lines of a column do below a line across the page: the rectangle
    around all of them would cover the next column, too.
    """
    gap = line.y0 - region.y1
    is_below = line.y0 >= last_line.y1 - (line.y1 - line.y0) / 2
    is_last_short = last_line.x1 - last_line.x0 < FULL_LINE * (region.x1 - region.x0)
    return (
        region.page == line.page
        and line.x0 < region.x1
        and line.x1 > region.x0
        and line.y0 >= region.y0
        and gap < line.y1 - line.y0
        and not (is_below and is_last_short)
    )


def excerpt(row: Result, quotes: Sequence[Piece], *, max_chars: int) -> str:
    """Return a short passage whole; of a long one, the first quote, or else the part that matches, with text around it.

    Args:
        row: The passage.
        quotes: What an answer quotes from it; may be empty.
        max_chars: Maximum number of characters; … marks where text is left out.

    Returns:
        Text in one line.
    """
    text = row.text
    whole_text = " ".join(text.split())
    if len(whole_text) <= max_chars:
        return whole_text
    matches = [re.search(r"\s+".join(map(re.escape, piece.text.split())), text) for piece in quotes]
    starts = [match.start() for match in matches if match]
    # The hit of a document or a page is its summary, which comes first.
    hit_start = 0 if row.via.unit else row.via.hit_start
    first_kept = _find_word_start(text, min(starts)) if starts else hit_start
    kept_text = " ".join(text[first_kept:].split())
    opening = "… " if first_kept else ""
    if len(opening) + len(kept_text) <= max_chars:
        return opening + kept_text
    return opening + kept_text[: max_chars - len(opening)].rsplit(" ", 1)[0] + " …"


def _find_word_start(text: str, start: int) -> int:
    """Return where the context before a quote begins: its line, or the nearest word if the line is long."""
    line_start = text.rfind("\n", 0, start) + 1
    if start - line_start <= CONTEXT_CHARS:
        return line_start
    return text.find(" ", start - CONTEXT_CHARS, start) + 1
