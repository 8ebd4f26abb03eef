"""Rectangles of quotes whose element is unknown, such as headings, summaries and changes: found in their document."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.records import AnchorRecord, SectionRecord, iter_records
from taxkg_assets.retrieval.answering.answer import Answer
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.results import Result
from taxkg_assets.serving.released import Released

UNPLACED_ROLES = ("lead_in", "sentence", "item")
"""Roles of quoted running text; table cells are placed by their headers."""


def place_texts(answer: Answer, released: Released) -> Answer:
    """Add page rectangles to quotes of running text that have none.

    Args:
        answer: Answer; most of its pieces already have rectangles.
        released: Release that answered.

    Returns:
        The answer; a quote that its document does not print in one paragraph or heading keeps no rectangle.
    """
    results = {row.rank: row for row in answer.results}
    ranks = {unit.rank for unit in answer.units for piece in unit.pieces if _lacks_rectangles(piece)} & set(results)
    if not ranks:
        return answer
    places = _Places(released, sorted({results[rank].document for rank in ranks}))
    units = [_place_unit(unit, results[unit.rank], places) if unit.rank in ranks else unit for unit in answer.units]
    return answer.model_copy(update={"units": units})


def _lacks_rectangles(piece: Piece) -> bool:
    return piece.role in UNPLACED_ROLES and not piece.bboxes


def _place_unit(unit: Unit, result: Result, places: _Places) -> Unit:
    pieces = [
        piece.model_copy(update={"bboxes": places.find(piece.text, result)}) if _lacks_rectangles(piece) else piece
        for piece in unit.pieces
    ]
    return unit.model_copy(update={"pieces": pieces})


class _Places:
    """Paragraphs and headings of some documents, to find a text in them."""

    def __init__(self, released: Released, documents: list[str]) -> None:
        sections = released.read_documents("sections", documents)
        anchors = released.read_documents("anchors", documents).filter(pl.col("bbox").is_not_null())
        self._sections = list(iter_records(sections, SectionRecord))
        self._anchors = list(iter_records(anchors, AnchorRecord))

    def find(self, text: str, result: Result) -> list[BoundingBox]:
        """Return the rectangles of a text in the document of a passage, on the page nearest to the passage."""
        places = [(boxes, is_whole) for boxes, is_whole in self._find_all(text, result.document) if boxes]
        best = min(places, key=lambda place: (abs(place[0][0].page - result.page), not place[1]), default=None)
        return best[0] if best else []

    def _find_all(self, text: str, document: str) -> Iterator[tuple[list[BoundingBox], bool]]:
        """Yield the rectangles of each place of a text, and whether it is a whole heading or paragraph."""
        as_words = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
        for anchor in self._anchors:
            if anchor["document_id"] == document and anchor["heading"] == text:
                yield [BoundingBox.of_row(anchor["bbox"], page=anchor["page"])], True
        for section in self._sections:
            if section["document_id"] != document or text not in section["text"]:
                continue  # much faster than the search for whole words
            if match := as_words.search(section["text"]):
                start, end = match.span()
                lines = [line for line in section["pieces"] if line["start"] < end and line["end"] > start]
                yield [BoundingBox.of_row(line) for line in lines], section["text"] == text
