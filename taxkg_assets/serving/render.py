"""Results as tables for the terminal. Document text is escaped: it can never style the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taxkg_assets.rules.models.prices import load_prices

if TYPE_CHECKING:  # each command imports what it alone prints
    from taxkg_assets.chunking.reviews import WaitingRecord
    from taxkg_assets.defs.home.proposers import ProposerStatus
    from taxkg_assets.defs.retention import ReclaimedFiles
    from taxkg_assets.records import QuarantineRecord
    from taxkg_assets.serving.build import BuildResult, GateResult
    from taxkg_assets.serving.estimate import TableEstimate
    from taxkg_assets.serving.release import ListedRelease
    from taxkg_assets.serving.sources import ListedSource
    from taxkg_assets.serving.status import FlagRecord, TableStatus
    from taxkg_assets.serving.train import TrainedRecord
    from taxkg_assets.sources.documents import FoundTextRecord

REVIEW_CHARACTERS = 160
_STYLES = {"passed": "green", "not measured": "dim", "warned": "yellow", "blocked": "bold red"}
MOST_FLAGGED = 40
HIDDEN_FIGURES = {"rows checked", "offending rows", "table versions", "code and labels"}


def print_build_result(result: BuildResult, *, out: Console, is_whole: bool = False) -> None:
    """Print the outcome of a build: tables, gates and time.

    Args:
        result: Result of the build.
        out: Console to print to.
        is_whole: Whether to list every table and gate, not only new tables and failed gates.
    """
    _print_built_tables(result, out=out, is_whole=is_whole)
    _print_gates(result, out=out, is_whole=is_whole)
    for gate in result.gates:
        if not gate.is_passed:
            _print_failed_gate(gate, out=out)
    for error in result.errors:
        out.print(f"[bold red]failed[/] {escape(error)}", highlight=False, soft_wrap=True)
    for unreadable_source in result.closed:
        out.print(f"[bold red]not scanned[/] {escape(unreadable_source)}", highlight=False, soft_wrap=True)
    for skipped_table in result.skipped:
        out.print(f"[yellow]skipped[/] {escape(skipped_table)}", highlight=False, soft_wrap=True)
    print_quarantine(result.quarantine, out=out)
    print_flagged(result.flagged, out=out)
    if result.is_done:
        out.print(f"[green]Built[/] in {result.seconds:.1f} s.")
    else:
        served = "The last release still answers questions." if result.is_released else "There is no release yet."
        stopped = f"[bold red]Stopped[/] after {result.seconds:.1f} s."
        out.print(f"{stopped} Tables downstream of the failure are unchanged. {served}")


def _print_failed_gate(gate: GateResult, *, out: Console) -> None:
    """Print which check failed, on which rows of which documents, and what to do."""
    out.print(f"[bold red]Failed:[/] the check {gate.check} on {gate.table}. Offending rows:")
    print_offending_rows(gate.figures, out=out)
    rows = gate.figures.get("first offending rows", [])
    names = sorted({str(row["document_id"]) for row in rows if row.get("document_id")})
    if names:
        remedy = "Remove their files from the sources and build again, or report the check with these rows."
        out.print(f"Documents: {escape(', '.join(names))}. {remedy}", highlight=False)
    else:
        out.print("Report the check with these rows: no single document causes it.", highlight=False)


def _print_built_tables(result: BuildResult, *, out: Console, is_whole: bool) -> None:
    listed_tables = [name for name in result.rows if is_whole or name in result.built]
    title = "Tables" if is_whole else "Tables built"
    tables = Table("table", title=title, title_justify="left")
    for heading in ("rows", "seconds"):
        tables.add_column(heading, justify="right")
    if is_whole:
        tables.add_column("state")
    for name in listed_tables:
        seconds = result.step_seconds.get(name, result.step_seconds.get("extraction", 0.0))
        state = ["built" if name in result.built else "unchanged"] if is_whole else []
        tables.add_row(name, f"{result.rows[name]:,}", f"{seconds:.1f}", *state)
    if listed_tables:
        out.print(tables)
    if len(listed_tables) < len(result.rows):
        out.print(f"{len(result.rows) - len(listed_tables)} tables unchanged.")


def _print_gates(result: BuildResult, *, out: Console, is_whole: bool) -> None:
    relevant_gates = [gate for gate in result.gates if not (gate.table == "document_quality" and gate.word == "passed")]
    listed_gates = [gate for gate in relevant_gates if is_whole or gate.word not in ("passed", "not measured")]
    gates = Table("gate on", "check", "", "rows", "offending", "figures", title="Gates", title_justify="left")
    for gate in listed_gates:
        figures = {
            name: value
            for name, value in gate.figures.items()
            if name not in HIDDEN_FIGURES and not isinstance(value, list)
        }
        gates.add_row(
            gate.table,
            gate.check.replace("_", " "),
            f"[{_STYLES[gate.word]}]{gate.word}",
            str(gate.figures.get("rows checked", "")),
            str(gate.figures.get("offending rows", "")),
            escape(", ".join(f"{name} {_format_figure(value)}" for name, value in figures.items())),
        )
    if listed_gates:
        out.print(gates)
    words = Counter(gate.word for gate in result.gates)
    if not is_whole and words:
        counts = ", ".join(f"{count} {word}" for word, count in words.items())
        out.print(f"Gates: {counts}. `--verbose` lists them all.", highlight=False)


def print_offending_rows(figures: Mapping[str, Any], *, out: Console) -> None:
    """Print the first rows on which a gate failed, or its note if a single figure decides.

    Args:
        figures: Metadata of the gate's result.
        out: Console to print to.
    """
    rows = figures.get("first offending rows", [])
    if not rows:
        out.print(escape(str(figures.get("note", ""))), highlight=False)
        return
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(escape(str(value)) for value in row.values()))
    out.print(table)


def print_quarantine(rows: Sequence[QuarantineRecord], *, out: Console) -> None:
    """Print the documents that could not be processed, with stage, reason and remedy.

    Args:
        rows: Rows of `quarantine`.
        out: Console to print to.
    """
    if not rows:
        return
    table = Table("document", "stage", "reason", "remedy", title="Quarantine", title_justify="left")
    for row in rows:
        table.add_row(*map(escape, (row["document_id"], row["stage"], row["reason"], row["remedy"])))
    out.print(table)


def print_flagged(rows: Sequence[FlagRecord], *, out: Console) -> None:
    """Print the documents that are served with a quality flag: failed check, result, example.

    Args:
        rows: Flags.
        out: Console to print to.
    """
    if not rows:
        return
    table = Table("document", "check", "result", "example", title="Served with a flag", title_justify="left")
    for row in rows[:MOST_FLAGGED]:
        law = row["law"].replace("_", " ")
        example = next(iter(row["examples"]), "")
        table.add_row(escape(row["document_id"]), law, escape(row["message"]), escape(example))
    out.print(table)
    if len(rows) > MOST_FLAGGED:
        out.print(f"… and {len(rows) - MOST_FLAGGED} more: `taxkg status --json` lists all.", highlight=False)


def print_statuses(
    tables: Sequence[TableStatus], quarantine: Sequence[QuarantineRecord], *, home: str, out: Console
) -> None:
    """Print what the home contains.

    Args:
        tables: Status of each table.
        quarantine: Rows of `quarantine`.
        home: Address of the home.
        out: Console to print to.
    """
    table = Table("table", "state", "rows", "version", "gates", title=escape(home), title_justify="left")
    colors = {"current": "green", "stale": "yellow", "missing": "dim"}
    for row in tables:
        gates = "; ".join(f"{gate} {reason}" for gate, reason in row.failing.items()) or (
            f"{row.gates} passed" if row.gates else ""
        )
        table.add_row(
            row.table,
            f"[{colors[row.state]}]{row.state}",
            "" if row.rows is None else str(row.rows),
            "" if row.version is None else str(row.version),
            escape("" if row.state == "missing" else gates),
        )
    out.print(table)
    if any(row.is_trained and row.state == "missing" for row in tables):
        out.print("The missing tables are used only for training; `taxkg train` builds them.", highlight=False)
    print_quarantine(quarantine, out=out)


def print_hidden_texts(rows: Sequence[FoundTextRecord], *, out: Console) -> None:
    """Print invisible text and prompt injections.

    Args:
        rows: Hidden texts with document and page.
        out: Console to print to.
    """
    if not rows:
        return
    table = Table("document", "page", "kind", "", "text", title="Removed: hidden text and prompt injections")
    for row in rows:
        words = " ".join(row["text"].split())[:60]
        injection = "[red]prompt injection" if row["is_order"] else ""
        table.add_row(escape(row["document_id"]), str(row["page"]), row["kind"], injection, escape(words))
    out.print(table)


def print_metrics(rows: pl.DataFrame, *, out: Console) -> None:
    """Print the metrics of the pipeline.

    Args:
        rows: Rows of `metrics`.
        out: Console to print to.
    """
    if rows.is_empty():
        return
    from taxkg_assets.evaluation.metrics import render_metrics  # loaded here: answers show no metrics
    from taxkg_assets.schemas import Metrics

    table = Table("metric", "of", "figure", "K", "n", "", title="Metrics", title_justify="left")
    for row in render_metrics(Metrics.cast(rows)).iter_rows():
        table.add_row(*(escape(str(cell)) for cell in row))
    out.print(table)


def print_proposer(status: ProposerStatus, *, out: Console) -> None:
    """Print the language model in use and its calls so far.

    Args:
        status: The model and the cost of its calls.
        out: Console to print to.
    """
    models = " ".join(f"{task or 'all'}={','.join(ids)}" for task, ids in status.models.items() if ids)
    spent = f"{status.spent.calls} calls recorded, {status.spent.input_tokens} + {status.spent.output_tokens} tokens"
    cost = f"${status.spent.cost_usd:.2f}"
    out.print(escape(f"Language models: {status.provider} {models}".rstrip() + f"; {spent}, {cost}."), highlight=False)


def print_estimates(rows: Sequence[TableEstimate], *, out: Console) -> None:
    """Print the estimated model calls of the next build.

    Args:
        rows: Estimates by table and task.
        out: Console to print to.
    """
    if not rows:
        out.print("No language model is configured. Rules do its tasks at no cost.")
        return
    table = Table(
        "table", "task", "model", "items", "calls", "recorded", "tokens in", "tokens out, at most", "USD, at most"
    )
    for row in rows:
        estimate = row.estimate
        if estimate is None:
            table.add_row(row.table, escape(row.note))
            continue
        usd = "no price" if estimate.most_usd is None else str(estimate.most_usd)
        figures = (estimate.items, estimate.calls, estimate.cached, estimate.input_tokens, estimate.most_output_tokens)
        table.add_row(row.table, estimate.task, escape(estimate.model), *map(str, figures), usd)
    out.print(table)
    as_of = load_prices().as_of
    out.print(f"Prices as published in {as_of}; TAXKG_LLM_PRICES can name a file with newer prices.", highlight=False)


def print_waiting(rows: Sequence[WaitingRecord], *, out: Console) -> None:
    """Print the chunks that need review.

    Args:
        rows: Chunks under review.
        out: Console to print to.
    """
    if not rows:
        out.print("No chunks need review.")
        return
    table = Table("tier", "chunk", "page", "status", "quality", "reason", "text")
    for row in rows:
        text = row["text"] if len(row["text"]) <= REVIEW_CHARACTERS else row["text"][: REVIEW_CHARACTERS - 1] + "…"
        cells = (
            row["tier"],
            row["chunk_id"],
            row["page"],
            row["status"],
            _format_figure(row["quality"]),
            row["reason"],
            text,
        )
        table.add_row(*(escape(str(cell)) for cell in cells))
    out.print(table)


def _format_figure(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def print_figures(report: pl.DataFrame, *, path: str, out: Console) -> None:
    """Print the evaluation report, one row per metric and one column per system.

    Args:
        report: Rows of `eval_report`.
        path: Path of the report.
        out: Console to print to.
    """
    for query_set in report["query_set"].unique().sort():
        rows = report.filter(pl.col("query_set") == query_set, pl.col("slice") == "all")
        systems = rows["system"].unique().sort().to_list()
        table = Table("metric", *systems, title=escape(f"Query set {query_set}"), title_justify="left")
        for metric in rows["metric"].unique(maintain_order=True):
            cells = {row["system"]: row for row in rows.filter(pl.col("metric") == metric).iter_rows(named=True)}
            table.add_row(metric, *(_format_interval(cells.get(system)) for system in systems))
        out.print(table)
    out.print(escape(f"Report: {path}"), highlight=False)


def _format_interval(row: Mapping[str, Any] | None) -> str:
    if row is None or row["value"] is None:
        return "not measured"
    span = "" if row["low"] is None else f"\\[{row['low']:.2f}, {row['high']:.2f}] "
    return f"{row['value']:.3f} {span}n={row['n']}"


def print_releases(rows: Sequence[ListedRelease], *, out: Console) -> None:
    """Print releases, newest first.

    Args:
        rows: Rows of `release`.
        out: Console to print to.
    """
    table = Table("release", "", "released at", "index", "model", title="Releases", title_justify="left")
    for row in rows:
        word = "withdrawn" if row["is_rolled_back"] else ""
        if row["is_current"]:
            word = "[green]served"
        released_at = f"{row['released_at']:%Y-%m-%d %H:%M} UTC"
        table.add_row(str(row["release_ix"]), word, released_at, row["index_version"], escape(row["model_name"]))
    out.print(table)


def print_sources(rows: Sequence[ListedSource], *, out: Console) -> None:
    """Print recorded sources, with the number of documents in each.

    Args:
        rows: Sources.
        out: Console to print to.
    """
    table = Table("source", "documents", "", title="Sources", title_justify="left")
    for row in rows:
        words = [word for word, is_so in (("inbox", row["is_inbox"]), ("not there", not row["is_there"])) if is_so]
        table.add_row(escape(row["source"]), str(row["documents"]), ", ".join(words))
    out.print(table)


def print_freed(rows: Sequence[ReclaimedFiles], *, is_dry: bool, out: Console) -> None:
    """Print the deleted files and bytes of each table, without tables that lost none.

    Args:
        rows: Deleted files by table.
        is_dry: Whether nothing was deleted yet.
        out: Console to print to.
    """
    for row in rows:
        if row.files:
            out.print(f"{row.table:<14}{row.files:>6} files {row.bytes / 1e6:>10.1f} MB", highlight=False)
    word = "would be deleted" if is_dry else "deleted"
    count = sum(row.files for row in rows)
    megabytes = sum(row.bytes for row in rows) / 1e6
    out.print(f"{count} files {word}, {megabytes:.1f} MB.", highlight=False)


def print_models(rows: Sequence[TrainedRecord], *, out: Console) -> None:
    """Print trained models with their gain on held-out form families, and whether they are in use.

    Args:
        rows: Rows of `model` and `reranker`.
        out: Console to print to.
    """
    table = Table("model", "base", "questions", "nDCG@10", "gain", "interval", "", title="Models", title_justify="left")
    for row in rows:
        low, high = row["gain_low"], row["gain_high"]
        interval = "–" if low is None or high is None else f"{low:+.3f} … {high:+.3f}"
        word = "[green]chosen" if row["is_chosen"] else escape(f"base kept: {row['reason']}")
        score = f"{row['base_score']:.3f} → {row['candidate_score']:.3f}"
        table.add_row(
            row["name"], escape(row["base"]), str(row["dev_questions"]), score, f"{row['gain']:+.3f}", interval, word
        )
    if rows:
        out.print(table)
    else:
        out.print(
            "No model was trained: there are too few training pairs, or too few form families to measure the model on. "
            "Add documents of more forms with `taxkg build`, then run `taxkg train` again.",
            highlight=False,
        )
