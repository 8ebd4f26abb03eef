"""Whether what was said is in the chunks: every text wholly, at least sentence by sentence."""

from __future__ import annotations

import re

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.rules.loader import load_family
from taxkg_assets.rules.sentences import find_sentence_parts


def find_uncovered_sections(
    sections: dy.DataFrame[schemas.Sections], chunks: dy.DataFrame[schemas.Chunks]
) -> pl.DataFrame:
    """Find the rows of `sections` whose text is not wholly in accepted chunks."""
    held: dict[str, list[str]] = {}
    accepted = chunks.filter(pl.col("status") == "accepted").sort("document_id", "chunk_ix")
    for node_ids, text in accepted.select("node_ids", "text").iter_rows():
        for node_id in node_ids:
            held.setdefault(node_id, []).append(text)
    lost = [
        element_id
        for element_id, text in sections.select("element_id", "text").iter_rows()
        if not lies_in(text, held.get(element_id))
    ]
    return sections.filter(pl.col("element_id").is_in(lost)).select("element_id", "document_id", "page", "text")


def lies_in(text: str, chunks: list[str] | None) -> bool:
    if chunks is None:
        return False
    if any(text in chunk for chunk in chunks):
        return True
    return all(any(part in chunk for chunk in chunks) or _is_tiled(part, chunks) for part in split_sentences(text))


def _is_tiled(part: str, chunks: list[str]) -> bool:
    """Whether a sentence ends one chunk and goes on in another: a line of its own may begin there."""
    return any(
        any(chunk.endswith(part[: gap.start()]) for chunk in chunks)
        and any(chunk.startswith(part[gap.end() :]) for chunk in chunks)
        for gap in re.finditer(r"\s+", part)
    )


def split_sentences(text: str) -> list[str]:
    """Split at sentence ends; a sentence that is itself too long is split at spaces."""
    limit = load_family("chunking")["sizes"]["max_words"]
    found: list[str] = []
    for start, end in find_sentence_parts(text):
        sentence = text[start:end]
        words = list(re.finditer(r"\S+", sentence))
        for first in range(0, len(words), limit):
            last = words[min(first + limit, len(words)) - 1]
            found.append(sentence[words[first].start() : last.end()])
    return found
