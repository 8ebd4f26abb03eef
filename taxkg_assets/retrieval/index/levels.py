"""Documents, pages and sections as units that a search may return: built from passages and ranked by these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from taxkg_assets.digests import find_unchanged
from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.encoder import DECIMALS, Vectors
from taxkg_assets.retrieval.encoding.vector import list_vectors, stack_vectors
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever, build_lexical_of_column
from taxkg_assets.retrieval.index.top_rows import find_top
from taxkg_assets.rules.models.levels import load_levels

UNIT_LEVELS = ("document", "page", "section")
_KEYS = {"document": ("document_id",), "page": ("document_id", "page"), "section": ("document_id", "anchor_id")}
_LEAST_SCORE = 1e-6
"""Score of the last ranked passage, whose lead over the last is 0."""
_DOCUMENT_COLUMNS = ("irs_name", "document_form", "doc_type", "revision", "tax_year", "is_draft", "title")


@dataclass(frozen=True, slots=True)
class StoredUnits:
    """The units of an index that was built before.

    Attributes:
        digests: Digest of what the units of each document were built from, by its id.
        units: Units without their vectors.
        vectors: Vectors of the units, shape (units, dimension).
    """

    digests: Mapping[str, str]
    units: pl.DataFrame
    vectors: Vectors


def build_units(rows: pl.DataFrame, *, summaries: pl.DataFrame) -> pl.DataFrame:
    """Build one row per document, page and section, for searches that return these larger units.

    Args:
        rows: Passages of an index, in reading order, with terms and vectors.
        summaries: Table `summaries`.

    Returns:
        Units with their summary or text, the terms of their passages, the mean vector of these, and their ids as
        `children`.
    """
    if rows.is_empty():
        return pl.DataFrame(schema={**rows.schema, "children": pl.List(pl.String)})
    texts = dict(summaries.select("unit_id", "text").iter_rows())
    vectors, other_columns = stack_vectors(rows["vector"]), rows.drop("vector")
    return pl.concat([_build_level(level, other_columns, vectors=vectors, summaries=texts) for level in UNIT_LEVELS])


def update_units(
    rows: pl.DataFrame, *, summaries: pl.DataFrame, digests: Mapping[str, str], stored: StoredUnits | None
) -> pl.DataFrame:
    """Build the units of changed documents, and take over those of the others: a unit depends on its document alone.

    Args:
        rows: Passages of an index, in reading order, with terms and vectors.
        summaries: Table `summaries`.
        digests: Digest of the rows and summaries of each document, by its id.
        stored: Units of an older index; None to build all units.

    Returns:
        The units that `build_units` returns, by level, document and position.
    """
    kept_documents = [] if stored is None else find_unchanged(digests, stored.digests)
    changed_rows = rows.filter(~pl.col("document_id").is_in(kept_documents))
    parts = [] if changed_rows.is_empty() and kept_documents else [build_units(changed_rows, summaries=summaries)]
    if stored is not None and kept_documents:
        is_kept = stored.units["document_id"].is_in(kept_documents)
        vectors = list_vectors(stored.vectors[is_kept.to_numpy()]).alias("vector")
        parts.append(stored.units.filter(is_kept).select(pl.exclude("children"), vectors, "children"))
    return pl.concat(parts).sort("level", "document_id", "chunk_ix", "chunk_id")


def _build_level(level: str, rows: pl.DataFrame, *, vectors: Vectors, summaries: Mapping[str, str]) -> pl.DataFrame:
    """Return the units of one level; `summaries` has the summaries by unit id."""
    sizes = load_levels()
    grouped = (
        rows.with_row_index("row")
        .drop_nulls(_KEYS[level][-1])
        .group_by(*_KEYS[level], maintain_order=True)
        .agg(
            pl.col("chunk_ix", "heading_path", "form", "perspective", *_DOCUMENT_COLUMNS).first(),
            *([pl.col("page").first()] if level != "page" else []),
            *([pl.col("anchor_id").first()] if level != "section" else []),
            pl.col("text").str.join("\n"),
            pl.col("terms").str.join(" "),
            pl.col("row"),
            children=pl.col("chunk_id"),
        )
    )
    ids = {
        "document": pl.concat_str(pl.lit("document:"), "document_id"),
        "page": pl.concat_str(
            pl.lit("page:"), "document_id", pl.lit(":p"), pl.col("page").cast(pl.String).str.zfill(4)
        ),
        "section": pl.concat_str(pl.lit("section:"), "anchor_id"),
    }
    identified = grouped.with_columns(chunk_id=ids[level], level=pl.lit(level))
    if level == "section":
        unit_texts = [" ".join(text.split(None, sizes.unit_words)[: sizes.unit_words]) for text in identified["text"]]
    else:
        unit_texts = [summaries.get(unit_id, "") for unit_id in identified["chunk_id"]]
    terms = [" ".join(text.split(" ", sizes.unit_terms)[: sizes.unit_terms]) for text in identified["terms"]]
    columns = ["chunk_id", "level", "document_id", "page", "anchor_id", "chunk_ix", "heading_path", "form"]
    return identified.with_columns(
        text=pl.Series(unit_texts, dtype=pl.String),
        terms=pl.Series(terms, dtype=pl.String),
        vector=list_vectors(_sum_vectors(vectors, identified["row"])),
    ).select(*columns, "perspective", *_DOCUMENT_COLUMNS, "text", "terms", "vector", "children")


def _sum_vectors(vectors: Vectors, members: pl.Series) -> Vectors:
    """Return for each list of rows the normalized sum of their vectors, so that no text of a unit is encoded."""
    starts = members.list.len().cum_sum().to_numpy() - members.list.len().to_numpy()
    rows = members.explode().to_numpy()
    sums: Vectors = np.add.reduceat(vectors[rows], starts, axis=0) if len(rows) else vectors[:0]
    unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return unit.round(DECIMALS)


@dataclass(frozen=True)
class Level:
    """The units of one level with their vectors, and the unit of each passage.

    Attributes:
        units: Rows from `build_units` of one level.
        vectors: Unit vectors of shape (units, dimension).
        number_by_row: Number of the unit of each passage; -1 for none.
    """

    units: pl.DataFrame
    vectors: Vectors
    number_by_row: Ints

    @cached_property
    def lexical(self) -> LexicalRetriever:
        """Return BM25 postings of the units' terms."""
        return build_lexical_of_column(self.units["terms"])

    def read_text(self, unit_id: str) -> str:
        """Return the summary of a document or page, or the beginning of a section.

        Args:
            unit_id: Id of the unit.
        """
        return str(self.units.row(by_predicate=pl.col("chunk_id") == unit_id, named=True)["text"])

    def rank(
        self, terms: Sequence[str], query_vector: Vectors, *, rows: Ints, scores: Floats
    ) -> list[tuple[int, float]]:
        """Rank units by their best passage, the sum over their passages, and the unit's own vector and terms.

        Args:
            terms: Terms of the question.
            query_vector: Vector of the question, shape (dimension,).
            rows: Ranked passages, best first.
            scores: Scores of these passages by the ranker.

        Returns:
            (unit number, score) pairs, best first.
        """
        weights = load_levels().weights
        unit_numbers = self.number_by_row[rows]
        has_unit = unit_numbers >= 0
        count = self.units.height
        if not has_unit.any():
            return []
        # The last passage of the ranking has a score above 0, too, because it may be the only one.
        unit_numbers, passage_scores = unit_numbers[has_unit], (scores - float(scores.min()))[has_unit] + _LEAST_SCORE
        best_scores, squared_sums = np.zeros(count), np.zeros(count)
        np.maximum.at(best_scores, unit_numbers, passage_scores)
        np.add.at(squared_sums, unit_numbers, passage_scores**2)
        total = weights.best * _divide_by_max(best_scores) + weights.mass * _divide_by_max(np.sqrt(squared_sums))
        if weights.vector:
            total += weights.vector * _divide_by_max(np.clip(self.vectors @ query_vector, 0.0, None).astype(np.float64))
        if weights.lexical:
            total += weights.lexical * _divide_by_max(self.lexical.score_rows(terms).astype(np.float64))
        total[best_scores == 0.0] = 0.0
        order = find_top(total.astype(np.float32), count, floor=0.0)
        return [(int(number), float(total[number])) for number in order]


def _divide_by_max(values: Floats) -> Floats:
    """Return values as shares of the largest one."""
    share: Floats = values / max(float(values.max(initial=0.0)), 1e-9)
    return share


def open_level(
    level: str, *, units: pl.DataFrame, vectors: Vectors, rows: pl.DataFrame, unit_index: Ints | None = None
) -> Level:
    """Select the units of one level.

    Passages before the first heading of a document belong to no section.

    Args:
        level: `document`, `page` or `section`.
        units: Units of all levels.
        vectors: Unit vectors of shape (units, dimension).
        rows: Passages of the index.
        unit_index: Number of the unit of each passage; None to compute it.

    Returns:
        The units of the level with their vectors.
    """
    is_level = (units["level"] == level).to_numpy()
    level_units = units.filter(pl.Series(is_level))
    return Level(
        level_units,
        vectors[is_level],
        find_units(level_units, chunk_ids=rows["chunk_id"]) if unit_index is None else unit_index,
    )


def find_units(units: pl.DataFrame, *, chunk_ids: pl.Series) -> Ints:
    """Find the unit of one level that each passage belongs to.

    Args:
        units: Units of one level with their `children`.
        chunk_ids: Ids of the passages.

    Returns:
        Numbers of units of shape (passages,); -1 for none.
    """
    children = enumerate(units["children"].to_list())
    number_by_chunk = {chunk_id: number for number, unit_chunks in children for chunk_id in unit_chunks}
    return np.array([number_by_chunk.get(chunk_id, -1) for chunk_id in chunk_ids], dtype=np.int64)


def list_top_children(unit_level: Level, unit_number: int, *, ranked: Sequence[Any]) -> list[str]:
    """List the best passages of a unit.

    Args:
        unit_level: The documents, pages or sections of the index.
        unit_number: Number of the unit in this level.
        ranked: Row number and chunk id of ranked passages, best first.

    Returns:
        Chunk ids, best first.
    """
    max_count = load_levels().children
    return [chunk_id for row, chunk_id in ranked if unit_level.number_by_row[row] == unit_number][:max_count]
