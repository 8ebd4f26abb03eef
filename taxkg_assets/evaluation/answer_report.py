"""Report on answers: metrics by type of question, reliability of the stated confidence, risk by coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.answer_metrics import (
    ANSWER_METRICS,
    FIGURES,
    NamedQuestion,
    Reply,
    find_calibration_floor,
    list_answer_outcomes,
    score_answers,
    score_calibration_error,
    score_reliability,
    score_risk_coverage,
)
from taxkg_assets.evaluation.eval_report import ALL, find_families
from taxkg_assets.evaluation.page import Block, Cell, Heading, Paragraph, Plot, Table, render_html, render_markdown
from taxkg_assets.evaluation.plots import Curve, render_curves
from taxkg_assets.evaluation.report import NOTHING, RenderedReport
from taxkg_assets.records import EvalQueryRecord, iter_records
from taxkg_assets.schemas import Documents, EvalQueries

SYSTEM = "answer"
_READING = (
    "Every figure is a mean over questions; brackets hold the 95 % bootstrap interval, drawn by whole families of "
    "documents. Abstention contains nothing. Off point is the share of an answer's words in no run of three words that "
    "a gold passage has too: better when low, and never 0 where the gold is one sentence."
)
Queries = dy.DataFrame[EvalQueries]


def score_replies(queries: Queries, replies: Mapping[str, Mapping[str, Reply]], documents: Any) -> pl.DataFrame:
    """Compute answer metrics by query set and type, with intervals.

    Args:
        queries: Questions with their gold passages.
        replies: Answers by query set and question id, one for every resolved question.
        documents: Documents of the corpus, for the families.

    Returns:
        One row per query set, slice and metric, with the columns `FIGURES`, `system` and `query_set`.
    """
    families = find_families(queries, Documents.cast(documents))
    figures = [pl.DataFrame(schema={**FIGURES, "system": pl.String, "query_set": pl.String})]
    for query_set, questions in _list_sets(queries):
        set_families = families.filter(pl.col("query_set") == query_set)
        family_by_question = {str(row["query_id"]): str(row["family"]) for row in set_families.iter_rows(named=True)}
        scores = score_answers(questions, replies[query_set], families=family_by_question)
        figures.append(scores.with_columns(system=pl.lit(SYSTEM), query_set=pl.lit(query_set)))
    return pl.concat(figures)


def render_answers(
    queries: Queries, replies: Mapping[str, Mapping[str, Reply]], figures: pl.DataFrame, *, title: str
) -> RenderedReport:
    """Render for each query set the metrics by type, the reliability of the stated confidence, and risk by coverage.

    Args:
        queries: Questions with their gold passages.
        replies: Answers by query set and question id.
        figures: Figures from `score_replies`.
        title: Title of the report.

    Returns:
        The report as Markdown and HTML.
    """
    blocks: list[Block] = [Heading(title, level=1), Paragraph(_READING)]
    for query_set, questions in _list_sets(queries):
        blocks += [Heading(f"Query set {query_set}"), _write_metrics(figures.filter(pl.col("query_set") == query_set))]
        blocks += _write_reliability(list_answer_outcomes(questions, replies[query_set]))
        blocks += _write_risk(score_risk_coverage(questions, replies[query_set]))
    return RenderedReport(markdown=render_markdown(blocks), html=render_html(blocks, title=title))


def _list_sets(queries: Queries) -> list[tuple[str, list[NamedQuestion]]]:
    """Return the resolved questions of each set."""
    resolved = queries.filter(pl.col("is_resolved")).sort("query_set", "query_id")
    return [
        (
            str(name),
            [
                NamedQuestion(id=row["query_id"], type=row["type"], gold=row["gold"])
                for row in iter_records(rows, EvalQueryRecord)
            ],
        )
        for (name,), rows in resolved.partition_by("query_set", as_dict=True).items()
    ]


def _write_metrics(figures: pl.DataFrame) -> Table:
    cells = {(row["slice"], row["metric"]): row for row in figures.iter_rows(named=True)}
    slices = sorted({slice_name for slice_name, _ in cells}, key=lambda slice_name: (slice_name != ALL, slice_name))
    return Table(
        columns=("Kind", *(metric.replace("_", " ") for metric in ANSWER_METRICS)),
        rows=tuple(
            (
                Cell(slice_name, is_strong=slice_name == ALL),
                *(_write_figure(cells.get((slice_name, metric))) for metric in ANSWER_METRICS),
            )
            for slice_name in slices
        ),
    )


def _write_figure(row: Mapping[str, Any] | None) -> Cell:
    if row is None:
        return Cell(NOTHING)
    interval = "" if row["low"] is None else f"[{row['low']:.2f}, {row['high']:.2f}] "
    return Cell(f"{row['value']:.3f}", detail=f"{interval}n={row['n']}")


def _write_reliability(pairs: Sequence[tuple[float, bool]]) -> list[Block]:
    """Return plot and table of the share of right answers by stated confidence."""
    error = score_calibration_error(pairs)
    floor = find_calibration_floor([confidence for confidence, _ in pairs])
    if error is None or floor is None:
        return []
    rows = score_reliability(pairs)
    lines = [
        Curve(
            "right",
            tuple((mean_confidence, right_share) for _, _, _, mean_confidence, right_share in rows),
            is_strong=True,
        ),
        Curve("as stated", ((0.0, 0.0), (1.0, 1.0))),
    ]
    caption = "Share of answers that contain a needed passage by stated confidence"
    text = (
        f"Expected calibration error {error:.3f} over {len(pairs)} answers given; "
        f"if every stated probability were exact, {floor:.3f} would be expected of so few."
    )
    table = Table(
        columns=("Confidence", "Answers", "Mean confidence", "Right"),
        rows=tuple(
            (Cell(f"{low:.1f} to {high:.1f}"), Cell(str(n)), Cell(f"{mean_confidence:.3f}"), Cell(f"{right_share:.3f}"))
            for low, high, n, mean_confidence, right_share in rows
        ),
    )
    plot = Plot(caption, render_curves(lines, title=caption, x_label="stated confidence"))
    return [Heading("Reliability", level=3), Paragraph(text), plot, table]


def _write_risk(curve: Sequence[tuple[float, float, float]]) -> list[Block]:
    """Return plot and table of the share of wrong answers by the share of questions answered, most confident first."""
    if not curve:
        return []
    caption = "Risk by coverage"
    line = Curve("risk", tuple((coverage, risk) for _, coverage, risk in curve), is_strong=True)
    plot = Plot(caption, render_curves([line], title=caption, x_label="share of questions answered, the surest first"))
    text = "Risk is the share of the answers given that contain no needed passage, those to unanswerable questions too."
    steps = {round(coverage * 10): (bound, coverage, risk) for bound, coverage, risk in curve}
    table = Table(
        columns=("Confidence from", "Answered", "Risk"),
        rows=tuple(tuple(Cell(f"{value:.3f}") for value in step) for _, step in sorted(steps.items())),
    )
    return [Heading(caption, level=3), Paragraph(text), plot, table]
