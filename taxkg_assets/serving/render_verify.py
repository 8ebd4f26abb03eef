"""A report on a draft as tables of the terminal, the worst first."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taxkg_assets.verification.report import summarize, tone_of
from taxkg_assets.verification.verdicts import NAMES, Finding, Report

_HEADINGS = 2  # the nearest ones: a passage may name its subject only there
_COLORS = {"bad": "red", "warn": "yellow", "good": "green", "plain": "default"}


def print_report(report: Report, *, out: Console) -> None:
    """Print the findings of a draft, the most severe first, each with its passage.

    Args:
        report: Report of the draft checker.
        out: Console to print to.
    """
    table = Table("verdict", "draft", "passage", title=escape(report.name), title_justify="left", show_lines=True)
    for finding in report.findings:
        color = _COLORS[tone_of(finding)]
        name = NAMES[finding.verdict]
        table.add_row(f"[{color}]{name}[/]", _format_draft_cell(finding), _format_passage_cell(finding))
    if report.findings:
        out.print(table)
    out.print(escape(summarize(report)), highlight=False)


def _format_draft_cell(finding: Finding) -> str:
    location = f"page {finding.page}" if finding.page else f"characters {finding.start}–{finding.end}"
    return f"{escape(finding.text)}\n[dim]{finding.kind}, {location}[/]"


def _format_passage_cell(finding: Finding) -> str:
    parts = [escape(finding.reason)]
    parts += [
        f"[dim]{escape(value.stated or '–')} → {escape(value.found or 'not stated')}[/]"
        for value in finding.compared
        if not value.is_equal and value.kind not in ("polarity", "contrary")
    ]
    if finding.evidence is not None:
        passage = finding.evidence
        parts.append(f"“{escape(passage.text)}”")
        headings = " › ".join(passage.heading_path.split(" > ")[-_HEADINGS:])
        parts.append(f"[dim]{escape(headings)}[/]")
        parts.append(f"[dim]{escape(passage.document)}, page {passage.page}[/]")
    return "\n".join(parts)
