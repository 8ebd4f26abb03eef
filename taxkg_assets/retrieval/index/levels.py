"""Documents, pages and sections as units of the search: made of their passages, and ranked by their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.encoder import DECIMALS, Vectors
from taxkg_assets.retrieval.encoding.vector import list_vectors, stack_vectors
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever, build_lexical_of_column
from taxkg_assets.retrieval.index.top_rows import find_top
from taxkg_assets.rules.models.levels import load_levels

UNIT_LEVELS = ("document", "page", "section")
_KEYS = {"document": ("document_id",), "page": ("document_id", "page"), "section": ("document_id", "anchor_id")}
_LEAST_LIFT = 1e-6
_OF_DOCUMENT = ("irs_name", "document_form", "doc_type", "revision", "tax_year", "is_draft", "title")


def build_units(rows: pl.DataFrame, *, summaries: pl.DataFrame) -> pl.DataFrame:
    """Build one row per document, page and section, for searches that return these larger units.

    Args:
        rows: Passages of an index, in reading order, with terms and vectors.
        summaries: Table `summaries`.

    Returns:
        Units with their summary or text, the terms and the mean vector of their passages, and the ids of these as
        `children`.
    """
    if rows.is_empty():
        return pl.DataFrame(schema={**rows.schema, "children": pl.List(pl.String)})
    texts = dict(summaries.select("unit_id", "text").iter_rows())
    vectors, others = stack_vectors(rows["vector"]), rows.drop("vector")
    return pl.concat([_units_of(level, others, vectors=vectors, texts=texts) for level in UNIT_LEVELS])


def _units_of(level: str, rows: pl.DataFrame, *, vectors: Vectors, texts: Mapping[str, str]) -> pl.DataFrame:
    sizes = load_levels()
    grouped = (
        rows.with_row_index("row")
        .drop_nulls(_KEYS[level][-1])
        .group_by(*_KEYS[level], maintain_order=True)
        .agg(
            pl.col("chunk_ix", "heading_path", "form", "perspective", *_OF_DOCUMENT).first(),
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
    named = grouped.with_columns(chunk_id=ids[level], level=pl.lit(level))
    if level == "section":
        unit_texts = [" ".join(text.split(None, sizes.unit_words)[: sizes.unit_words]) for text in named["text"]]
    else:
        unit_texts = [texts.get(unit_id, "") for unit_id in named["chunk_id"]]
    terms = [" ".join(text.split(" ", sizes.unit_terms)[: sizes.unit_terms]) for text in named["terms"]]
    columns = ["chunk_id", "level", "document_id", "page", "anchor_id", "chunk_ix", "heading_path", "form"]
    return named.with_columns(
        text=pl.Series(unit_texts, dtype=pl.String),
        terms=pl.Series(terms, dtype=pl.String),
        vector=list_vectors(_sum_vectors(vectors, named["row"])),
    ).select(*columns, "perspective", *_OF_DOCUMENT, "text", "terms", "vector", "children")


def _sum_vectors(vectors: Vectors, members: pl.Series) -> Vectors:
    """Return unit vectors of the sums over each list of rows: no text is encoded again."""
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
        unit_index: Number of the unit of each passage; -1 for none.
    """

    units: pl.DataFrame
    vectors: Vectors
    unit_index: Ints

    @cached_property
    def lexical(self) -> LexicalRetriever:
        """Return BM25 postings of the units' terms."""
        return build_lexical_of_column(self.units["terms"])

    def read(self, unit_id: str) -> str:
        """Return the summary of a unit, or the text of a section without one.

        Args:
            unit_id: Id of the unit.
        """
        return str(self.units.row(by_predicate=pl.col("chunk_id") == unit_id, named=True)["text"])

    def rank(
        self, terms: Sequence[str], query_vector: Vectors, *, rows: Ints, scores: Floats
    ) -> list[tuple[int, float]]:
        """Rank units by their best passage, their passages together, and their own vector and words.

        Args:
            terms: Terms of the question.
            query_vector: Vector of the question, shape (dimension,).
            rows: Ranked passages, best first.
            scores: Their scores by the ranker.

        Returns:
            (unit number, score) pairs, best first.
        """
        weights = load_levels().weights
        owners = self.unit_index[rows]
        has_owner = owners >= 0
        count = self.units.height
        if not has_owner.any():
            return []
        # The last one of the ranking counts a little, too: it may be the only one.
        owners, lift = owners[has_owner], (scores - float(scores.min()))[has_owner] + _LEAST_LIFT
        best, mass = np.zeros(count), np.zeros(count)
        np.maximum.at(best, owners, lift)
        np.add.at(mass, owners, lift**2)
        total = weights.best * _against_best(best) + weights.mass * _against_best(np.sqrt(mass))
        if weights.vector:
            total += weights.vector * _against_best(np.clip(self.vectors @ query_vector, 0.0, None).astype(np.float64))
        if weights.lexical:
            total += weights.lexical * _against_best(self.lexical.score_rows(terms).astype(np.float64))
        total[best == 0.0] = 0.0
        order = find_top(total.astype(np.float32), count, floor=0.0)
        return [(int(number), float(total[number])) for number in order]


def _against_best(values: Floats) -> Floats:
    share: Floats = values / max(float(values.max(initial=0.0)), 1e-9)
    return share


def open_level(
    level: str, *, units: pl.DataFrame, vectors: Vectors, rows: pl.DataFrame, unit_index: Ints | None = None
) -> Level:
    """Select the units of one level.

    Passages before the first heading belong to no section.

    Args:
        level: `document`, `page` or `section`.
        units: Units of all levels.
        vectors: Unit vectors of shape (units, dimension).
        rows: Passages of the index.
        unit_index: Number of the unit of each passage; None to compute it.

    Returns:
        The level.
    """
    keep = (units["level"] == level).to_numpy()
    of_level = units.filter(pl.Series(keep))
    return Level(
        of_level, vectors[keep], find_units(of_level, chunk_ids=rows["chunk_id"]) if unit_index is None else unit_index
    )


def find_units(units: pl.DataFrame, *, chunk_ids: pl.Series) -> Ints:
    """Find the unit of one level that each passage belongs to.

    Args:
        units: Units of one level with their `children`.
        chunk_ids: Ids of the passages.

    Returns:
        Numbers of units of shape (passages,); -1 for none.
    """
    number = {child: place for place, children in enumerate(units["children"].to_list()) for child in children}
    return np.array([number.get(chunk_id, -1) for chunk_id in chunk_ids], dtype=np.int64)


def list_top_children(level: Level, number: int, *, ranked: Sequence[Any]) -> list[str]:
    """List the best passages of a unit.

    Args:
        level: Opened level.
        number: Number of the unit.
        ranked: Row and chunk id of ranked passages, best first.

    Returns:
        Chunk ids, best first.
    """
    most = load_levels().children
    return [chunk_id for row, chunk_id in ranked if level.unit_index[row] == number][:most]
