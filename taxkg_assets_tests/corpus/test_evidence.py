"""Evidence of edges against the pages themselves: the PDF is opened again and queried what is at the rectangle."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pymupdf
import pytest

pytestmark = pytest.mark.slow


_SLACK_PT = 1.0


def _letters(text: str) -> Counter[str]:
    return Counter(re.sub(r"\W", "", text.casefold()))


def test_the_words_of_every_semantic_edge_stand_at_its_rectangles(corpus: Path, real_graph: dict[str, Any]) -> None:
    edges = real_graph["edges"].filter(pl.col("created_by") != "structural")
    places = (
        edges.select("element_id", "start", "end", "evidence")
        .unique()
        .join(real_graph["sections"].select("element_id", "document_id", "pieces"), on="element_id")
    )
    assert set(edges["element_id"]) == set(places["element_id"])
    absent, by_document = [], defaultdict(list)
    for row in places.iter_rows(named=True):
        by_document[row["document_id"]].append(row)
    for document_id, rows in by_document.items():
        with pymupdf.open(corpus / "corpus" / f"{document_id}.pdf") as document:  # type: ignore[no-untyped-call]
            words = [page.get_text("words") for page in document]
        for row in rows:
            printed: Counter[str] = Counter()
            for piece in row["pieces"]:
                if piece["start"] < row["end"] and piece["end"] > row["start"]:
                    printed += _read_at(words[piece["page"] - 1], piece)
            if _letters(row["evidence"]) - printed:
                absent.append((row["element_id"], row["start"], row["evidence"][:60]))
    assert places.height > 1000
    assert absent == []


def _read_at(words: list[Any], place: dict[str, float]) -> Counter[str]:
    """Count the letters of the words whose middle is in a rectangle."""
    left, right = place["x0_pt"] - _SLACK_PT, place["x1_pt"] + _SLACK_PT
    top, bottom = place["y0_pt"] - _SLACK_PT, place["y1_pt"] + _SLACK_PT
    inside = [text for x0, y0, x1, y1, text, *_ in words if x1 > left and x0 < right and top <= (y0 + y1) / 2 <= bottom]
    return _letters(" ".join(inside))
