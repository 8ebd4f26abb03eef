"""Accuracy: the release's answers to every query set, on both halves of the document families.

Tune on the development half only; the other half is a check. The split depends on the families alone, so it stays the
same while the search changes.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

from benchmarks.questions import draw_folds, find_form_families
from benchmarks.results import open_home, write_results
from taxkg_assets.defs.wiring.gold import open_query_sets
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.evaluation.eval_queries import build_eval_queries
from taxkg_assets.evaluation.eval_runs import Ranking, System, build_eval_runs
from taxkg_assets.evaluation.metrics import METRICS, score_runs
from taxkg_assets.records import EvalQueryRecord, iter_records
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.schemas import Anchors, Documents, EvalQueries, Sections
from taxkg_assets.serving.released import Released
from taxkg_assets.settings import Settings

HALVES = ("development", "check")
RESULTS = 50


@dataclass(frozen=True, slots=True)
class Report:
    """Means by query set, half and metric, each with the number of its questions; means by type over both halves."""

    means: dict[str, dict[str, dict[str, tuple[float, int]]]]

    def write(self, folder: Path) -> str:
        """Write `accuracy.json` and `accuracy.md`; gives the Markdown."""
        return write_results(self, render(self), folder=folder, name="accuracy")


def render(report: Report) -> str:
    """One table a query set: a row a metric, a column a half."""
    lines = ["# accuracy"]
    for name, slices in report.means.items():
        lines += ["", f"## {name}", "", f"| | {' | '.join(slices)} |", "|---" * (1 + len(slices)) + "|"]
        for metric in METRICS:
            cells = [f"{own[metric][0]:.3f} ({own[metric][1]})" if metric in own else "" for own in slices.values()]
            lines.append(f"| {metric} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def run(*, repeat: int, rival_repeat: int) -> Report:
    """Ask the release of TAXKG_HOME the questions of all query sets, those of TAXKG_GOLD among them; no repetitions."""
    settings = Settings()
    released = open_home(settings.home)
    documents = Documents.cast(released.table("documents"))
    queries = read_queries(released, settings)
    scores = score_runs(queries, build_eval_runs(queries, {"full": _open_system(released, settings)}))
    scores = scores.join(split_by_family(queries, documents.rows(named=True)), on=["query_set", "query_id"])
    means = {
        str(name): {
            **{half: _average(own.filter(pl.col("half") == half)) for half in HALVES},
            "both": _average(own),
            **{str(kind): _average(mine) for (kind,), mine in sorted(own.partition_by("type", as_dict=True).items())},
        }
        for (name,), own in sorted(scores.partition_by("query_set", as_dict=True).items())
    }
    return Report(means)


def read_queries(released: Released, settings: Settings) -> dy.DataFrame[EvalQueries]:
    """The questions of all query sets, resolved on a release."""
    return build_eval_queries(
        open_query_sets(Home(home=settings.home)),
        Documents.cast(released.table("documents")),
        sections=Sections.cast(released.table("sections")),
        anchors=Anchors.cast(released.table("anchors")),
    )


def ask_systems(
    released: Released, settings: Settings, *, rivals: Mapping[str, System]
) -> dict[str, dict[str, dict[str, float]]]:
    """Means of every metric by query set and system, for the release's own search and its rivals."""
    queries = read_queries(released, settings)
    systems = {"search": _open_system(released, settings), **rivals}
    scores = score_runs(queries, build_eval_runs(queries, systems))
    return {
        str(name): {
            system: {metric: mean for metric, (mean, _) in _average(own.filter(pl.col("system") == system)).items()}
            for system in systems
        }
        for (name,), own in sorted(scores.partition_by("query_set", as_dict=True).items())
    }


def render_gains(gains: pl.DataFrame) -> str:
    """Rows of `score_ablation` as a table."""
    lines = ["| set | component | metric | without | with | gain | p |", "|---" * 7 + "|"]
    for row in gains.iter_rows(named=True):
        span = "" if row["low"] is None else f" ({row['low']:+.3f} to {row['high']:+.3f})"
        figures = f"{row['without']:.3f} | {row['with']:.3f} | {row['gain']:+.3f}{span} | {row['p_value']:.3f}"
        lines.append(f"| {row['query_set']} | {row['component']} | {row['metric']} | {figures} |")
    return "\n".join(lines) + "\n"


def _open_system(released: Released, settings: Settings) -> Any:
    def answer(question: str) -> Ranking:
        found = ask(released.searcher, question, settings=settings, k=RESULTS, with_text=False)
        return Ranking([row.model_dump() for row in found.results], found.abstained, found.confidence)

    return answer


def split_by_family(queries: dy.DataFrame[EvalQueries], documents: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The half of each question: families of the document that answers it, or tempts to, the largest first."""
    known = find_form_families(documents)
    rows = []
    for query in iter_records(queries, EvalQueryRecord):
        passages = query["gold"] or query["near_miss"]
        document = passages[0]["document"] if passages else query["query_id"]
        rows.append((query["query_set"], query["query_id"], known.get(document, document.split("--")[0])))
    frame = pl.DataFrame(rows, schema=["query_set", "query_id", "family"], orient="row")
    development = {
        str(name): draw_folds(own["family"].to_list(), 2)[0]
        for (name,), own in frame.partition_by("query_set", as_dict=True).items()
    }
    halves = [HALVES[family not in development[name]] for name, family in frame.select("query_set", "family").rows()]
    return frame.with_columns(half=pl.Series(halves, dtype=pl.String))


def _average(scores: pl.DataFrame) -> dict[str, tuple[float, int]]:
    found = scores.drop_nulls("value").partition_by("metric", as_dict=True)
    return {str(metric): (statistics.fmean(own["value"]), own.height) for (metric,), own in sorted(found.items())}
