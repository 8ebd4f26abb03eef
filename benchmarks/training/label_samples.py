"""What is to be labeled next: pairs of each kind and negatives of each source that no one has read yet, with texts.

The texts are for who reads them; the label files take the other columns and the label alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from benchmarks.training.corpus import Corpus
from benchmarks.training.labels import NAIVE, OURS, name_pair, name_query
from taxkg_assets.retrieval.encoding.lexical import find_terms

Row = Mapping[str, Any]


def draw_pairs(pairs: pl.DataFrame, labels: Sequence[Row], *, of_kind: int) -> list[dict[str, Any]]:
    """As many unread pairs of each kind as are missing to N labeled ones."""
    rows = [
        {
            "kind": row["kind"],
            "query": name_query(row["query"]),
            "element": row["passage_node_id"],
            "from": row["query_node_id"] or "",
            "relation": row["relation"],
            "is_valid": None,
            "texts": [row["query"], row["passage"]],
        }
        for row in pairs.iter_rows(named=True)
    ]
    return _draw(rows, labels, count=of_kind, group="kind", name=name_pair)


def draw_negatives(
    hard_negatives: pl.DataFrame, labels: Sequence[Row], *, pairs: pl.DataFrame, of_source: int
) -> list[dict[str, Any]]:
    """As many unread negatives of each source as are missing to N labeled ones."""
    queried = {row["pair_id"]: row for row in pairs.iter_rows(named=True)}
    rows = [
        {
            "query": name_query(queried[row["pair_id"]]["query"]),
            "element": row["node_id"],
            "set": OURS,
            "source": row["source"],
            "label": None,
            "texts": [queried[row["pair_id"]]["query"], row["passage"], queried[row["pair_id"]]["passage"]],
        }
        for row in hard_negatives.iter_rows(named=True)
        if row["pair_id"] in queried
    ]
    own = [label for label in labels if label["set"] == OURS]
    return _draw(rows, own, count=of_source, group="source", name=_name_negative)


def draw_naive(corpus: Corpus, queried: Sequence[Row], *, depth: int) -> list[dict[str, Any]]:
    """The best hits of BM25 that are not the answering passage itself, which is what naive negatives are.

    Args: queried: rows with `query`, `passage` and `chunk_id`.
    """
    rows = []
    for row in queried:
        scores = corpus.searcher.index.lexical.score_rows(find_terms(row["query"]))
        order = [int(place) for place in np.argsort(-scores, kind="stable")[: depth + 1]]
        hits = [place for place in order if place != corpus.row_of[row["chunk_id"]]][:depth]
        rows += [
            {
                "query": name_query(row["query"]),
                "element": corpus.rows["node_ids"][hit][0],
                "set": NAIVE,
                "source": "bm25",
                "label": None,
                "texts": [row["query"], corpus.passages[hit], row["passage"]],
            }
            for hit in hits
        ]
    return rows


def _draw(
    rows: Sequence[dict[str, Any]],
    labels: Sequence[Row],
    *,
    count: int,
    group: str,
    name: Callable[[Row], tuple[str, ...]],
) -> list[dict[str, Any]]:
    """At random, the same whatever else the tables hold; of labels those count that stand in these tables."""
    known = {name(label) for label in labels}
    read = [row for row in rows if name(row) in known]
    drawn = []
    for value in sorted({row[group] for row in rows}):
        missing = count - len({name(row) for row in read if row[group] == value})
        unread = {name(row): row for row in rows if row[group] == value and name(row) not in known}
        drawn += [unread[key] for key in sorted(unread, key=_lot)[: max(0, missing)]]
    return drawn


def _lot(key: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(key).encode()).hexdigest()


def _name_negative(label: Row) -> tuple[str, ...]:
    return label["query"], label["element"]
