"""Run every system on every question, and record the ranked results.

A system is a function that the caller passes; no index and no model is used here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.rules.floors import LOCATED
from taxkg_assets.rules.models.matching import load_matching
from taxkg_assets.schemas import EvalQueries, EvalRuns

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranked results of a system for one question, whether it would abstain, and its confidence."""

    results: Sequence[Row]
    is_abstained: bool = False
    confidence: float | None = None


System = Callable[[str], Ranking | Sequence[Row]]


def build_eval_runs(
    eval_queries: dy.DataFrame[EvalQueries], systems: Mapping[str, System], *, ablated_systems: Collection[str] = ()
) -> dy.DataFrame[EvalRuns]:
    """Run every system on every resolved question.

    Args:
        eval_queries: Questions with their gold passages.
        systems: Functions by name, from a question to a `Ranking` or to its result rows. A row has `document` (or
            `document_id`), `page`, `chunk_id`, `text` and `score`.
        ablated_systems: Systems that lack one component. They are not run on questions whose gold was found by
            locators, as other passages may be right there, too.

    Returns:
        One row per (system, query_set, query_id, rank), down to the last rank that metrics count; an empty ranking is
        one row with rank 0.

    Raises:
        ValueError: A result row lacks its document or its text.
    """
    queries = list(eval_queries.filter(pl.col("is_resolved")).sort("query_set", "query_id").iter_rows(named=True))
    rows = [
        {"system": system, "query_set": query["query_set"], "query_id": query["query_id"], **row}
        for query in queries
        for system, answer in sorted(systems.items())
        if not (system in ablated_systems and query["query_set"].endswith(LOCATED))
        for row in _read_ranking(system, answer(query["query"]))
    ]
    frame = pl.DataFrame(rows, schema=EvalRuns.create_empty().schema)
    return EvalRuns.validate(frame.sort("system", "query_set", "query_id", "rank"), cast=True)


def _read_ranking(system: str, answer: Ranking | Sequence[Row]) -> list[dict[str, Any]]:
    ranking = answer if isinstance(answer, Ranking) else Ranking(results=answer)
    confidence = ranking.confidence if ranking.confidence is not None else float(bool(ranking.results))
    shared = {"is_abstained": ranking.is_abstained, "confidence": min(1.0, max(0.0, confidence))}
    depth = load_matching().thresholds.results_counted
    rows = [
        {"rank": rank, **_read_result(system, result), **shared}
        for rank, result in enumerate(ranking.results[:depth], start=1)
    ]
    empty = {"document_id": None, "page": None, "chunk_id": None, "text": "", "score": None}
    return rows or [{"rank": 0, **empty, **shared}]


def _read_result(system: str, result: Row) -> dict[str, Any]:
    document = result.get("document", result.get("document_id"))
    if document is None or result.get("text") is None:
        raise ValueError(
            f"The system {system} returned a result without document or text; it has only {sorted(result)}."
        )
    score = result.get("score")
    return {
        "document_id": document,
        "page": result.get("page"),
        "chunk_id": result.get("chunk_id"),
        "text": result["text"],
        "score": None if score is None else float(score),
    }
