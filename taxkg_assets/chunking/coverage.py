"""Check that the chunks contain the text of every section, as a whole or sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.rules.models.chunking import load_chunking
from taxkg_assets.rules.sentences import find_sentence_parts


def find_uncovered_sections(
    sections: dy.DataFrame[schemas.Sections], chunks: dy.DataFrame[schemas.Chunks]
) -> pl.DataFrame:
    """Find the rows of `sections` whose text is not fully contained in accepted chunks.

    Args:
        sections: Rows with `element_id`, `document_id`, `page` and `text`.
        chunks: Chunks with `node_ids`, `status`, `document_id`, `chunk_ix` and `text`; only accepted ones count.

    Returns:
        `element_id`, `document_id`, `page` and `text` of the uncovered sections, in the order of `sections`.
    """
    texts_by_node: dict[str, list[str]] = {}
    accepted_chunks = chunks.filter(pl.col("status") == "accepted").sort("document_id", "chunk_ix")
    for node_ids, text in accepted_chunks.select("node_ids", "text").iter_rows():
        for node_id in node_ids:
            texts_by_node.setdefault(node_id, []).append(text)
    uncovered_ids = [
        element_id
        for element_id, text in sections.select("element_id", "text").iter_rows()
        if not is_covered(text, texts_by_node.get(element_id))
    ]
    return sections.filter(pl.col("element_id").is_in(uncovered_ids)).select(
        "element_id", "document_id", "page", "text"
    )


def find_documents_without_passages(
    documents: dy.DataFrame[schemas.Documents], chunks: dy.DataFrame[schemas.Chunks]
) -> pl.DataFrame:
    """Find documents without any accepted chunk.

    Args:
        documents: Documents of the home.
        chunks: Chunks with `status` and `document_id`; only accepted ones count.

    Returns:
        `document_id` and `page_count` of these documents.
    """
    accepted_chunks = chunks.filter(pl.col("status") == "accepted")
    return documents.join(accepted_chunks, on="document_id", how="anti").select("document_id", "page_count")


def is_covered(text: str, chunks: list[str] | None) -> bool:
    """Return whether some chunks contain a text, as a whole or sentence by sentence.

    Args:
        text: Text of a section.
        chunks: Texts of the accepted chunks that contain the section; None if there are none.
    """
    if chunks is None:
        return False
    if any(text in chunk for chunk in chunks):
        return True
    ix = 0
    for sentence in split_sentences(text):
        found_ix = _find_chunk(sentence, chunks, first_ix=ix)
        if found_ix is None:
            return False
        ix = found_ix
    return True


def _find_chunk(sentence: str, chunks: Sequence[str], *, first_ix: int) -> int | None:
    """Return where to look for the sentence after this one; None where no chunk, and no two of them, contain this one.

    Sentences and chunks have the same order, so the chunk of the sentence before and the next one are searched first.
    """
    adjacent_chunks = chunks[first_ix : first_ix + 2]
    for ix, chunk in enumerate(adjacent_chunks, first_ix):
        if sentence in chunk:
            return ix
    if _is_across_chunks(sentence, adjacent_chunks):
        return first_ix + len(adjacent_chunks) - 1
    for ix, chunk in enumerate(chunks):
        if sentence in chunk:
            return ix
    return first_ix if _is_across_chunks(sentence, chunks) else None


def _is_across_chunks(sentence: str, chunks: Sequence[str]) -> bool:
    """Return whether a sentence begins at the end of one chunk and ends at the beginning of another."""
    return any(
        any(chunk.endswith(sentence[: gap.start()]) for chunk in chunks)
        and any(chunk.startswith(sentence[gap.end() :]) for chunk in chunks)
        for gap in re.finditer(r"\s+", sentence)
    )


def split_sentences(text: str) -> list[str]:
    """Split a text at sentence ends, and overlong sentences at spaces.

    Args:
        text: Text of a section.

    Returns:
        Sentences in order, without surrounding blanks and bullets, each of at most `sizes.max_words` words
        (rules/chunking.yaml).
    """
    limit = load_chunking().sizes.max_words
    sentences: list[str] = []
    for start, end in find_sentence_parts(text):
        sentence = text[start:end]
        words = list(re.finditer(r"\S+", sentence))
        for first_ix in range(0, len(words), limit):
            last_word = words[min(first_ix + limit, len(words)) - 1]
            sentences.append(sentence[words[first_ix].start() : last_word.end()])
    return sentences
