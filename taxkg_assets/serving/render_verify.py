"""A report on a draft as tables of the terminal, the worst first."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taxkg_assets.verification.report import summarize, tone_of
from taxkg_assets.verification.verdicts import NAMES, Finding, Report

_COLORS = {"bad": "red", "warn": "yellow", "good": "green", "plain": "default"}


def print_report(found: Report, *, out: Console) -> None:
    """Print the findings of a draft, the most severe first, each with its passage.

    Args:
        found: Report of the draft checker.
        out: Console.
    """
    shown = Table("verdict", "draft", "passage", title=escape(found.name), title_justify="left", show_lines=True)
    for finding in found.findings:
        color = _COLORS[tone_of(finding)]
        name = NAMES[finding.verdict]
        shown.add_row(f"[{color}]{name}[/]", _say_draft(finding), _say_passage(finding))
    if found.findings:
        out.print(shown)
    out.print(escape(summarize(found)), highlight=False)


def _say_draft(finding: Finding) -> str:
    place = f"page {finding.page}" if finding.page else f"characters {finding.start}–{finding.end}"
    return f"{escape(finding.text)}\n[dim]{finding.kind}, {place}[/]"


def _say_passage(finding: Finding) -> str:
    parts = [escape(finding.reason)]
    parts += [
        f"[dim]{escape(value.stated or '–')} → {escape(value.found or 'not stated')}[/]"
        for value in finding.compared
        if not value.is_equal and value.kind not in ("polarity", "contrary")
    ]
    if finding.evidence is not None:
        own = finding.evidence
        parts.append(f"“{escape(own.text)}”")
        parts.append(f"[dim]{escape(own.document)}, page {own.page}[/]")
    return "\n".join(parts)
