"""Baselines of the evaluation: each retriever alone, and the fusion of both, without any further step."""

from __future__ import annotations

from collections.abc import Callable

from taxkg_assets.records import RankedPassageRecord
from taxkg_assets.retrieval.encoding import lexical
from taxkg_assets.retrieval.encoding.encoder import UNSCALED
from taxkg_assets.retrieval.index.fuse import fuse_rankings
from taxkg_assets.retrieval.index.row_filter import RowFilter
from taxkg_assets.retrieval.index.scores import QuestionTerms, RetrieverScores
from taxkg_assets.retrieval.ranking.search import Searcher

DEPTH = 100
"""Rows of each retriever that are fused."""
RESULTS = 50
"""Passages of a baseline."""


def build_baselines(searcher: Searcher) -> dict[str, Callable[[str], list[RankedPassageRecord]]]:
    """Build the baseline systems `bm25`, `dense` and `hybrid` (reciprocal rank fusion) for the evaluation.

    Args:
        searcher: Opened search; the baselines use its index and encoder.

    Returns:
        By name a function that returns for a question at most `RESULTS` passages, best first.
    """
    return {
        "bm25": lambda query: _make_records(searcher, _fuse(_rank_terms(searcher, query))),
        "dense": lambda query: _make_records(searcher, _fuse(_rank_vectors(searcher, query))),
        "hybrid": lambda query: _make_records(
            searcher, _fuse(_rank_terms(searcher, query), _rank_vectors(searcher, query))
        ),
    }


def _rank_terms(searcher: Searcher, query: str) -> list[int]:
    return [int(row) for row in _ask(searcher, query).find_by_terms(RowFilter(), count=DEPTH)]


def _rank_vectors(searcher: Searcher, query: str) -> list[int]:
    return [int(row) for row in _ask(searcher, query).find_by_meaning(RowFilter(), count=DEPTH)]


def _ask(searcher: Searcher, query: str) -> RetrieverScores:
    by_term = searcher.index.score_terms(QuestionTerms(tuple(lexical.find_terms(query))))
    return searcher.index.ask(by_term, searcher.encoder.encode_query(query), scale=UNSCALED)


def _fuse(*rankings: list[int]) -> list[tuple[int, float]]:
    fused = fuse_rankings(list(rankings))
    return sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:RESULTS]


def _make_records(searcher: Searcher, ranked: list[tuple[int, float]]) -> list[RankedPassageRecord]:
    columns = searcher.passages.columns
    return [
        RankedPassageRecord(
            document_id=columns["document_id"][row],
            page=columns["page"][row],
            chunk_id=columns["chunk_id"][row],
            text=columns["text"][row],
            score=score,
        )
        for row, score in ranked
    ]
