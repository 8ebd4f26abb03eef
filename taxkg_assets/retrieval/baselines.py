"""The legs alone and fused, without router, features, graph or windows: what the whole pipeline is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from taxkg_assets.retrieval import lexical, vector
from taxkg_assets.retrieval.fuse import find_top, fuse_rankings
from taxkg_assets.retrieval.search import Searcher

DEPTH = 100
RESULTS = 50
Row = dict[str, Any]


def build_baselines(searcher: Searcher) -> dict[str, Callable[[str], list[Row]]]:
    """The systems `bm25`, `dense` and `hybrid` (reciprocal rank fusion) over the index's own chunks."""
    return {
        "bm25": lambda query: _rows(searcher, _fuse(_rank_terms(searcher, query))),
        "dense": lambda query: _rows(searcher, _fuse(_rank_vectors(searcher, query))),
        "hybrid": lambda query: _rows(searcher, _fuse(_rank_terms(searcher, query), _rank_vectors(searcher, query))),
    }


def _rank_terms(searcher: Searcher, query: str) -> list[int]:
    scores = searcher.index.lexical.score_rows(lexical.find_terms(query))
    return [int(row) for row in find_top(scores, DEPTH, floor=0.0)]


def _rank_vectors(searcher: Searcher, query: str) -> list[int]:
    scores = vector.score_rows(searcher.index.vectors, searcher.encoder.encode_query(query))
    return [int(row) for row in find_top(np.asarray(scores), DEPTH, floor=-1.0)]


def _fuse(*rankings: list[int]) -> list[tuple[int, float]]:
    fused = fuse_rankings(list(rankings))
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:RESULTS]


def _rows(searcher: Searcher, ranked: list[tuple[int, float]]) -> list[Row]:
    held = searcher.index.rows.select("document_id", "page", "chunk_id", "text")
    return [{**held.row(row, named=True), "score": score} for row, score in ranked]
