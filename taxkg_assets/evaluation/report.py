"""Evaluation report: metrics of each system by query set and type of question, abstention, ablation and floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.eval_report import ALL
from taxkg_assets.evaluation.metrics import LOWER_IS_BETTER, METRICS
from taxkg_assets.evaluation.page import Block, Cell, Heading, Paragraph, Plot, Table, render_html, render_markdown
from taxkg_assets.evaluation.plots import SHARES, Curve, Mark, find_gain_axis, render_curves, render_intervals
from taxkg_assets.rules.floors import Floor
from taxkg_assets.schemas import EvalQueries, EvalReport

Row = Mapping[str, Any]
PLOTTED = ("recall@5", "recall@2000tok", "mrr")
PER_TYPE = ("recall@5", "recall@2000tok", "mrr", "hit@1", "ndcg@10", "near_miss@1", "wrong_document@1")
RANKED_BY = "recall@2000tok"
NOTHING = "–"
_READING = (
    "Every figure is a mean over questions. Brackets hold the 95 % bootstrap interval, drawn by whole families of "
    "documents and no narrower than if questions were independent; it is left out where all questions are about one "
    "family. p is the two-sided paired randomization test against the strongest baseline. Near miss, wrong document "
    "and abstention on answerable questions are better when low."
)


@dataclass(frozen=True, slots=True)
class RenderedReport:
    """A report as Markdown and as HTML."""

    markdown: str
    html: str


# arguments: one per table of figures, and options with a default
def render_report(
    eval_report: dy.DataFrame[EvalReport],
    *,
    ablation: pl.DataFrame,
    abstention: pl.DataFrame,
    eval_queries: dy.DataFrame[EvalQueries],
    floors: Sequence[Floor] = (),
    families: pl.DataFrame | None = None,
    released: str = "full",
    unmeasured: Mapping[str, str] | None = None,
    guide_at: float | None = None,
    title: str = "Retrieval report",
) -> RenderedReport:
    """Render the evaluation report: systems, question types, abstention and ablation by query set, then floors.

    Args:
        eval_report: Metrics of all systems.
        ablation: Rows from `score_ablation`; may be empty.
        abstention: Rows from `score_abstention` for the released system.
        eval_queries: Questions with their gold passages.
        floors: Floors to list.
        families: Rows from `compare_groups`; None to leave the section out.
        released: System that the floors apply to.
        unmeasured: Optional components that no comparison measured, with the reason.
        guide_at: Confidence below which the system abstains, marked in the plot.
        title: Title of the report.

    Returns:
        The report as Markdown and HTML.
    """
    blocks: list[Block] = [Heading(title, level=1), Paragraph(_READING)]
    for query_set in eval_report["query_set"].unique().sort():
        rows = list(eval_report.filter(pl.col("query_set") == query_set).iter_rows(named=True))
        blocks += [Heading(f"Query set {query_set}"), Paragraph(_count_questions(eval_queries, query_set))]
        blocks += _write_systems(rows, released)
        blocks += _write_types(rows, released)
        set_abstention = abstention.filter(pl.col("query_set") == query_set)
        blocks += _write_abstention(list(set_abstention.iter_rows(named=True)), guide_at)
        set_ablation = list(ablation.filter(pl.col("query_set") == query_set).iter_rows(named=True))
        blocks += _write_ablation(set_ablation, unmeasured or {})
    blocks += _write_floors(eval_report, floors, released)
    blocks += _write_families(families)
    blocks += _write_unresolved(eval_queries)
    return RenderedReport(markdown=render_markdown(blocks), html=render_html(blocks, title=title))


def _count_questions(eval_queries: dy.DataFrame[EvalQueries], query_set: str) -> str:
    questions = eval_queries.filter(pl.col("query_set") == query_set)
    scored = questions.filter(pl.col("is_resolved"))
    unanswerable_count = scored.filter(pl.col("type") == "unanswerable").height
    return (
        f"{questions.height} questions, of which {scored.height} are scored ({unanswerable_count} of them have no "
        f"answer here) and {questions.height - scored.height} are left out because this home lacks their gold passages."
    )


# ---------------------------------------------------------------------------------------------- systems and types


def _write_systems(rows: Sequence[Row], released: str) -> list[Block]:
    cells = {(row["system"], row["metric"]): row for row in rows if row["slice"] == ALL}
    systems = _rank_systems({system for system, _ in cells}, cells)
    metrics = [name for name in METRICS if any(cells.get((system, name)) for system in systems)]
    best = {name: _find_best([cells[place] for place in cells if place[1] == name]) for name in metrics}
    table = Table(
        columns=("System", *metrics),
        rows=tuple(
            (
                Cell(system, is_strong=system == released),
                *(_figure_cell(cells.get((system, name)), best=best[name]) for name in metrics),
            )
            for system in systems
        ),
    )
    plots = [
        Plot(f"{name} by system", render_intervals(marks, SHARES, title=f"{name} by system"))
        for name in PLOTTED
        if (marks := [_mark(cells[system, name], released) for system in systems if _has_value(cells, system, name)])
    ]
    return [Heading("Systems", level=3), table, *plots]


def _rank_systems(systems: set[str], cells: Mapping[tuple[str, str], Row]) -> list[str]:
    def strength(system: str) -> float:
        value = cells.get((system, RANKED_BY), {}).get("value")
        return -1.0 if value is None else float(value)

    return sorted(systems, key=lambda system: (-strength(system), system))


def _has_value(cells: Mapping[tuple[str, str], Row], system: str, metric: str) -> bool:
    return (row := cells.get((system, metric))) is not None and row["value"] is not None


def _find_best(rows: Sequence[Row]) -> float | None:
    values = [row["value"] for row in rows if row["value"] is not None]
    if len(set(values)) < 2:
        return None
    return float(min(values) if rows[0]["metric"] in LOWER_IS_BETTER else max(values))


def _figure_cell(row: Row | None, *, best: float | None, is_shaded: bool = False) -> Cell:
    if row is None or row["value"] is None:
        return Cell(NOTHING)
    details = [f"[{row['low']:.2f}, {row['high']:.2f}]"] if row["low"] is not None else []
    details += [f"p {_print_p(row['p_value'])}"] if row["p_value"] is not None else []
    share = row["value"] if is_shaded and row["metric"] not in LOWER_IS_BETTER else None
    return Cell(f"{row['value']:.3f}", detail=" ".join(details), is_strong=row["value"] == best, share=share)


def _print_p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _mark(row: Row, released: str) -> Mark:
    interval = f" [{row['low']:.2f}, {row['high']:.2f}]" if row["low"] is not None else ""
    note = f"{row['value']:.3f}{interval}"
    return Mark(row["system"], row["value"], row["low"], row["high"], note, is_strong=row["system"] == released)


def _write_types(rows: Sequence[Row], released: str) -> list[Block]:
    cells = {(row["slice"], row["metric"]): row for row in rows if row["system"] == released and row["slice"] != ALL}
    slices = sorted({slice_name for slice_name, metric in cells if metric in PER_TYPE})
    if not slices:
        return []
    table = Table(
        columns=("Type", "Questions", *PER_TYPE),
        rows=tuple(
            (
                Cell(slice_name),
                Cell(str(cells[slice_name, RANKED_BY]["n"])),
                *(_figure_cell(cells.get((slice_name, name)), best=None, is_shaded=True) for name in PER_TYPE),
            )
            for slice_name in slices
        ),
    )
    return [Heading(f"By type of question ({released})", level=3), table]


# ------------------------------------------------------------------------------------------------------ ablation


def _write_abstention(rows: Sequence[Row], guide_at: float | None) -> list[Block]:
    """Return plot and table of abstention by threshold; empty for a set without unanswerable questions."""
    if not any(row["abstained_unanswerable"] for row in rows):
        return []
    lines = [
        Curve(label, tuple((row["bound"], row[name]) for row in rows if row[name] is not None), is_strong=is_strong)
        for label, name, is_strong in (
            ("unanswerable, abstained", "abstained_unanswerable", True),
            ("answerable, abstained", "abstained_answerable", False),
            ("risk of what is answered", "risk", False),
        )
    ]
    caption = "Abstention below each bound on confidence"
    table = Table(
        columns=("Bound", "Answered", "Risk", "Unanswerable abstained", "Answerable abstained"),
        rows=tuple(
            (
                Cell(
                    f"{row['bound']:.2f}",
                    is_strong=guide_at is not None and isclose(row["bound"], guide_at, abs_tol=0.01),
                ),
                *(
                    Cell(NOTHING if row[name] is None else f"{row[name]:.3f}")
                    for name in ("coverage", "risk", "abstained_unanswerable", "abstained_answerable")
                ),
            )
            for row in rows
            if row["bound"] <= _LAST_BOUND
        ),
    )
    text = (
        "Risk is the share of answered questions that either have no answer in this home, or whose gold passage is not "
        "among the first five. The dashed line is the current threshold."
    )
    plot = Plot(caption, render_curves(lines, title=caption, x_label="bound on confidence", marked_x=guide_at))
    return [Heading("Abstention", level=3), Paragraph(text), plot, table]


_LAST_BOUND = 0.8


def _write_ablation(rows: Sequence[Row], unmeasured: Mapping[str, str]) -> list[Block]:
    if not rows:
        return []
    table = Table(
        columns=("Component", "Without", "With", "Metric", "Without it", "With it", "Gain", "Interval", "p", "n"),
        rows=tuple(
            (
                Cell(row["component"]),
                Cell(row["system_without"]),
                Cell(row["system_with"]),
                Cell(row["metric"]),
                Cell(f"{row['without']:.3f}"),
                Cell(f"{row['with']:.3f}"),
                Cell(f"{row['gain']:+.3f}", is_strong=_is_significant(row)),
                Cell(NOTHING if row["low"] is None else f"[{row['low']:+.3f}, {row['high']:+.3f}]"),
                Cell(_print_p(row["p_value"])),
                Cell(str(row["n"])),
            )
            for row in rows
        )
        + tuple((Cell(name), Cell(state), *(Cell(NOTHING) for _ in range(8))) for name, state in unmeasured.items()),
    )
    plots = []
    for name in (metric for metric in PLOTTED if any(row["metric"] == metric for row in rows)):
        marks = [_gain_mark(row) for row in rows if row["metric"] == name]
        caption = f"What each component adds to {name}"
        plots.append(Plot(caption, render_intervals(marks, find_gain_axis(marks), title=caption)))
    return [Heading("What each component adds", level=3), table, *plots]


def _is_significant(row: Row) -> bool:
    return row["low"] is not None and (row["low"] > 0 or row["high"] < 0)


def _gain_mark(row: Row) -> Mark:
    note = f"{row['gain']:+.3f}, p {_print_p(row['p_value'])}"
    return Mark(row["component"], row["gain"], row["low"], row["high"], note, is_strong=_is_significant(row))


# ------------------------------------------------------------------------------------------- floors and left out


def _write_floors(eval_report: dy.DataFrame[EvalReport], floors: Sequence[Floor], released: str) -> list[Block]:
    released_figures = eval_report.filter(pl.col("slice") == ALL, pl.col("system") == released)
    rows = [
        _write_floor(floor, row)
        for floor in floors
        for row in released_figures.filter(pl.col("metric") == floor.metric).iter_rows(named=True)
        if floor.binds(row["query_set"])
    ]
    if not rows:
        return []
    return [
        Heading("Floors"),
        Table(columns=("Floor", "Query set", "Bound", "Measured", "Questions", "Verdict"), rows=tuple(rows)),
    ]


def _write_floor(floor: Floor, row: Mapping[str, Any]) -> tuple[Cell, ...]:
    """Return the table row of one floor: its bound, the measured value in a row of `eval_report`, and the verdict."""
    value = row["value"]
    if value is None:
        measured, verdict = NOTHING, "not measured"
    else:
        measured = f"{value:.4f}"
        verdict = "kept" if floor.holds(value) else "BROKEN"
    return (
        Cell(floor.id),
        Cell(row["query_set"]),
        Cell(floor.describe(), is_words=True),
        Cell(measured),
        Cell(str(row["n"])),
        Cell(verdict),
    )


def _write_families(families: pl.DataFrame | None) -> list[Block]:
    """Return the table of development and left-out families; empty if nothing was measured."""
    if families is None or families.filter(pl.col("n_development") + pl.col("n_left_out") > 0).is_empty():
        return []
    rows = tuple(
        (
            Cell(row["metric"]),
            *(Cell(NOTHING if row[name] is None else f"{row[name]:.3f}") for name in ("development", "left_out")),
            Cell(NOTHING if row["gap"] is None else f"{row['gap']:+.3f}"),
            Cell(f"{row['floor']:.2f}"),
            *(Cell(str(row[name])) for name in ("n_development", "n_left_out")),
            Cell("kept" if row["is_within_bound"] else "BROKEN") if row["is_judged"] else Cell("not measured"),
        )
        for row in families.iter_rows(named=True)
    )
    text = (
        "Development families have labels that support the rules; of left-out families no label does. Figures of "
        "each family are in the table family_figures."
    )
    names = ("Figure", "Development", "Left out", "Difference", "At most", "n", "n left out", "Verdict")
    return [Heading("Left-out families"), Paragraph(text), Table(columns=names, rows=rows)]


def _write_unresolved(eval_queries: dy.DataFrame[EvalQueries]) -> list[Block]:
    rows = list(eval_queries.filter(~pl.col("is_resolved")).sort("query_set", "query_id").iter_rows(named=True))
    if not rows:
        return []
    table = Table(
        columns=("Query set", "Question", "Why it is left out"),
        rows=tuple(
            (
                Cell(row["query_set"]),
                Cell(row["query_id"], detail=row["query"], is_words=True),
                Cell(row["note"], is_words=True),
            )
            for row in rows
        ),
    )
    return [Heading("Questions left out"), table]
