"""Files of questions: one JSON object a line in, one a line out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from rich.progress import track

from taxkg_assets.retrieval.answering.answer_kind import state_confidence
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.serving.quotes import answer_with_places
from taxkg_assets.serving.released import Released
from taxkg_assets.settings import Settings

RESULTS = 50


class BatchError(Exception):
    """A file of questions that cannot be read; the message names the line."""


class SearchFilters(TypedDict):
    """Filters of a search, each None where it does not restrict, and the level of its passages."""

    form: str | None
    year: int | None
    document: str | None
    tag: str | None
    level: str


def read_queries(path: Path) -> list[tuple[str, str]]:
    """Read ids and questions from a JSON Lines file with `id` and `query`; other fields are ignored.

    Args:
        path: File to read.

    Returns:
        Id and question of each line.
    """
    rows: list[tuple[str, str]] = []
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as broken:
        raise BatchError(
            f"{path} is not UTF-8 ({broken.reason}). Save it as UTF-8, and run the command again."
        ) from broken
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            rows.append((str(row["id"]), str(row["query"])))
        except (json.JSONDecodeError, KeyError, TypeError) as broken:
            raise BatchError(
                f'{path}, line {number}: not a JSON object with "id" and "query". Correct the line, and run '
                "the command again."
            ) from broken
    return rows


def run_line(released: Released, query_id: str, query: str, *, settings: Settings) -> dict[str, Any]:
    """Answer one question of a batch run.

    Args:
        released: Release that answers.
        query_id: Id of the question.
        query: Its words.
        settings: Thresholds of the guardrail, and what a model is used for.

    Returns:
        JSON object with up to 50 ranked rows, the answer or null, each quote with the rectangles of its words, and the
        confidence from 0 to 1.
    """
    answer = answer_with_places(released, query, settings=settings, k=RESULTS)
    return {"id": query_id, **answer.model_dump()}


def search_line(searcher: Searcher, query_id: str, query: str, *, filters: SearchFilters) -> dict[str, Any]:
    """Search for one question of a batch run, without composing an answer.

    Args:
        searcher: Opened search.
        query_id: Id of the question.
        query: Its words.
        filters: Filters of the search.

    Returns:
        JSON object with up to 50 ranked rows and the probability that they contain an answer.
    """
    ranking = searcher.rank(
        query, form=filters["form"], year=filters["year"], document=filters["document"], tag=filters["tag"]
    )
    results = searcher.assemble(ranking, k=RESULTS, level=filters["level"])
    return {
        "id": query_id,
        "results": [result.model_dump() for result in results],
        "abstained": False,
        "answer": None,
        "confidence": round(state_confidence(searcher, query, ranking, results=results), 4),
    }


def run_batch(queries: Path, out: Path, *, make_line: Callable[[str, str], dict[str, Any]]) -> int:
    """Answer a file of questions and write one JSON object per line.

    Args:
        queries: File of questions with `id` and `query`.
        out: File to write, one result per line.
        make_line: Function that takes the id and the words of a question and returns the line of its result.

    Returns:
        Number of questions.
    """
    rows = read_queries(queries)
    lines = [
        json.dumps(make_line(query_id, query), ensure_ascii=False)
        for query_id, query in track(rows, description="questions", transient=True)
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(f"{text}\n" for text in lines), encoding="utf8")
    return len(lines)
