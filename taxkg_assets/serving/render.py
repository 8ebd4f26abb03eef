"""Results as tables for the terminal. Document text is escaped: it can never style the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taxkg_assets.serving.build import BuildResult
from taxkg_assets.serving.status import TableStatus

HIDDEN_FIGURES = {"rows checked", "offending rows", "table version", "first offending rows"}


def build_result(result: BuildResult, *, out: Console) -> None:
    """Gates, counts and times of a build."""
    gates = Table("gate on", "law", "", "rows", "offending", "figures", title="Gates", title_justify="left")
    for gate in result.gates:
        figures = ", ".join(f"{k} {_short(v)}" for k, v in gate.figures.items() if k not in HIDDEN_FIGURES)
        gates.add_row(
            gate.table,
            gate.check.replace("_", " "),
            "[green]passed" if gate.is_passed else "[bold red]FAILED",
            str(gate.figures.get("rows checked", "")),
            str(gate.figures.get("offending rows", "")),
            escape(figures),
        )
    tables = Table("table", "rows", "seconds", "", title="Tables", title_justify="left")
    for name in result.rows:
        seconds = result.step_seconds.get(name, result.step_seconds.get("intake", 0.0))
        tables.add_row(name, str(result.rows[name]), f"{seconds:.1f}", "built" if name in result.built else "unchanged")
    out.print(tables)
    out.print(gates)
    for gate in result.gates:
        if not gate.is_passed:
            out.print(f"[bold red]{gate.table}: {gate.check}[/] found")
            out.print(
                escape(str(gate.figures.get("first offending rows", gate.figures.get("note", "")))), highlight=False
            )
    for error in result.errors:
        out.print(f"[bold red]failed[/] {escape(error)}", highlight=False)
    quarantine(result.quarantine, out=out)
    word = "[green]Built" if result.is_done else "[bold red]Stopped: nothing downstream of the failure was touched"
    out.print(f"{word}[/] in {result.seconds:.1f} s.")


def quarantine(rows: Sequence[Mapping[str, Any]], *, out: Console) -> None:
    """Documents that had to stay out, with stage, reason and remedy."""
    if not rows:
        return
    shown = Table("document", "stage", "reason", "remedy", title="Quarantine", title_justify="left")
    for row in rows:
        shown.add_row(*(escape(str(row[c])) for c in ("document_id", "stage", "reason", "remedy")))
    out.print(shown)


def statuses(tables: Sequence[TableStatus], refused: Sequence[Mapping[str, Any]], *, home: str, out: Console) -> None:
    """What the home holds."""
    shown = Table("table", "state", "rows", "version", "gates", title=home, title_justify="left")
    colours = {"current": "green", "stale": "yellow", "missing": "dim"}
    for row in tables:
        gates = "; ".join(f"{g} {why}" for g, why in row.failing.items()) or (
            f"{row.gates} passed" if row.gates else ""
        )
        shown.add_row(
            row.table,
            f"[{colours[row.state]}]{row.state}",
            "" if row.rows is None else str(row.rows),
            "" if row.version is None else str(row.version),
            escape("" if row.state == "missing" else gates),
        )
    out.print(shown)
    quarantine(refused, out=out)


def _short(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
