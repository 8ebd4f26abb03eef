"""Files of questions: one JSON object a line in, one a line out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.progress import track

from taxkg_assets.retrieval.answer import ask, score_results
from taxkg_assets.retrieval.guardrail import read_confidence
from taxkg_assets.retrieval.search import Searcher
from taxkg_assets.settings import Settings

RESULTS = 50


class BatchError(Exception):
    """A file of questions that cannot be read; the message names the line."""


def read_queries(path: Path) -> list[tuple[str, str]]:
    """Ids and questions of a file with one `{"id", "query"}` a line; other fields do not matter."""
    rows: list[tuple[str, str]] = []
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as broken:
        raise BatchError(f"{path} is not UTF-8 ({broken.reason}): save it as UTF-8 and run it again.") from broken
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            rows.append((str(row["id"]), str(row["query"])))
        except (json.JSONDecodeError, KeyError, TypeError) as broken:
            raise BatchError(
                f'{path}, line {number}: not a JSON object with "id" and "query". Mend the line and run it again.'
            ) from broken
    return rows


def run_line(searcher: Searcher, query_id: str, query: str, *, settings: Settings) -> dict[str, Any]:
    """One line of a run: up to 50 ranked rows, the answer or silence, and the confidence."""
    answer = ask(searcher, query, settings=settings, k=RESULTS)
    return {"id": query_id, **answer.model_dump()}


def search_line(searcher: Searcher, query_id: str, query: str, *, filters: dict[str, Any]) -> dict[str, Any]:
    """One line of a run without an answer: up to 50 ranked rows and how likely they are to hold one."""
    narrowed = {name: filters[name] for name in ("form", "year", "document")}
    ranking = searcher.rank(query, **narrowed)
    results = searcher.assemble(ranking, k=RESULTS, level=filters["level"])
    return {
        "id": query_id,
        "results": [result.model_dump() for result in results],
        "abstained": False,
        "answer": None,
        "confidence": round(read_confidence(score_results(searcher, query, ranking, results=results)), 4),
    }


def run_batch(queries: Path, out: Path, *, line: Callable[[str, str], dict[str, Any]]) -> int:
    """Answer a file of questions into a run file; returns how many."""
    rows = read_queries(queries)
    lines = [
        json.dumps(line(i, q), ensure_ascii=False) for i, q in track(rows, description="questions", transient=True)
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(f"{text}\n" for text in lines), encoding="utf8")
    return len(lines)
