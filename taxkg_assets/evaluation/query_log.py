"""Query log: rows of `query_log`, and a report of the questions, of failed ones and of ratings."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.records import QueryLogRecord
from taxkg_assets.schemas import Feedback, QueryLog

SHOWN = 20
"""Questions listed under one heading of the report."""
_ABSTAINED = ("abstention", "silence")


def build_query_log(entries: Iterable[QueryLogRecord]) -> dy.DataFrame[QueryLog]:
    """Build the table of logged questions.

    Args:
        entries: Logged questions.

    Returns:
        One row per question, sorted by `entry_id`.
    """
    rows = pl.DataFrame(list(entries), schema=QueryLog.create_empty().schema)
    return QueryLog.validate(rows.sort("entry_id"))


def summarize_usage(query_log: dy.DataFrame[QueryLog], feedback: dy.DataFrame[Feedback]) -> dict[str, int | float]:
    """Count the questions of a query log, how they were answered, and how their answers were rated.

    Args:
        query_log: Questions received.
        feedback: Ratings of answers.

    Returns:
        Figures by name; times in milliseconds.
    """
    questions = query_log.filter(pl.col("kind") == "ask")
    rated = feedback.join(query_log.select("entry_id"), on="entry_id")
    return {
        "questions": query_log.height,
        "questions for an answer": questions.height,
        "answered": questions.filter(pl.col("outcome") == "answer").height,
        "general guidance": questions.filter(pl.col("outcome").is_in(("guidance", "general"))).height,
        "abstained": questions.filter(pl.col("outcome").is_in(_ABSTAINED)).height,
        "latency p50 (ms)": _quantile(query_log["latency_ms"], 0.5),
        "latency p95 (ms)": _quantile(query_log["latency_ms"], 0.95),
        "judged": rated.height,
        "judged helpful": rated.filter("is_helpful").height,
    }


def render_usage(query_log: dy.DataFrame[QueryLog], feedback: dy.DataFrame[Feedback]) -> str:
    """Render the usage report as Markdown: figures, topics, unanswered questions, unhelpful answers.

    Args:
        query_log: Questions received.
        feedback: Ratings of answers.

    Returns:
        Markdown with all texts escaped.
    """
    abstained = query_log.filter(pl.col("outcome").is_in(_ABSTAINED))
    unhelpful = query_log.join(feedback.filter(~pl.col("is_helpful")), on="entry_id")
    documents = query_log.select(document=pl.col("documents").list.first()).drop_nulls()
    parts = [
        "# Questions and answers",
        _table("", [{"figure": name, "": value} for name, value in summarize_usage(query_log, feedback).items()]),
        _table("Subjects", _count_routes(query_log)),
        _table("Documents on top", _count_values(documents, "document")),
        _table("Most frequent questions", _count_values(query_log.select("question"), "question")),
        _table("Without an answer", _count_values(abstained.select("question"), "question")),
        _table("Not helpful", unhelpful.select("question", "comment").head(SHOWN).to_dicts()),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _count_routes(query_log: pl.DataFrame) -> list[dict[str, Any]]:
    """Count how often questions name each form, year, box and state."""
    pairs = [
        {"what": name, "value": str(value)}
        for route in query_log["route"]
        for name, values in json.loads(route).items()
        for value in (values if isinstance(values, list) else [values])
    ]
    frame = pl.DataFrame(pairs, schema={"what": pl.String, "value": pl.String})
    return (
        frame.group_by("what", "value")
        .len("times")
        .sort("times", "what", "value", descending=[True, False, False])
        .head(SHOWN)
        .to_dicts()
    )


def _count_values(frame: pl.DataFrame, column: str) -> list[dict[str, Any]]:
    counted = frame.group_by(column).len("times").sort("times", column, descending=[True, False])
    return counted.head(SHOWN).to_dicts()


def _quantile(values: pl.Series, share: float) -> float:
    return round(float(values.quantile(share) or 0.0), 1)


def _table(title: str, rows: list[dict[str, Any]]) -> str:
    """Return a Markdown table under its title; empty without rows."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cell(row[name]) for name in names) + " |" for row in rows]
    return "\n".join([*([f"## {title}", ""] if title else []), *lines])


def _cell(value: Any) -> str:
    """Escape a value so that it cannot break out of the table, as strangers write the questions."""
    text = " ".join(str(value).split())
    for mark in "\\|<>`[]":
        text = text.replace(mark, f"\\{mark}" if mark != "<" else "&lt;")
    return text
