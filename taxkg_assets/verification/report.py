"""A report on a draft as a self-contained HTML page and as Markdown; every text is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from taxkg_assets.verification.verdicts import NAMES, ComparedValue, Evidence, Finding, Report, Verdict

_STYLE = """
:root { color-scheme: light dark; --ink: #1b2430; --soft: #56616f; --line: #dfe4ea; --back: #f4f6f8; --card: #ffffff;
  --accent: #0b5cad; --good: #0a6b3d; --good-back: #dcf4e6; --bad: #a3232b; --bad-back: #fbe3e4; --warn: #7a4f00;
  --warn-back: #fff0cc; --plain-back: #e8ecf1; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5eaf0; --soft: #a3aebb; --line: #2e3743; --back: #11161c;
  --card: #1a2129; --accent: #74b7ff; --good: #7ee0a8; --good-back: #123524; --bad: #ff9ba1; --bad-back: #421a1d;
  --warn: #ffd27a; --warn-back: #3a2c0c; --plain-back: #2a333e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 15px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 2.2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
.soft { color: var(--soft); margin: .1rem 0 1.2rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(118px, 1fr)); gap: .7rem; margin: 0; padding: 0;
  list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .6rem .8rem; }
.tiles strong { display: block; font-size: 1.5rem; line-height: 1.15; font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .85rem; }
.tiles .none { background: transparent; }
.tiles .none strong { color: var(--soft); font-weight: 400; }
.draft, .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.draft { padding: 1rem 1.2rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.draft a { color: inherit; text-decoration: none; border-radius: 3px; padding: .05em .1em; border-bottom: 2px solid; }
.draft a:hover, .draft a:focus { outline: 2px solid var(--accent); }
.good { background: var(--good-back); border-color: var(--good) !important; }
.bad { background: var(--bad-back); border-color: var(--bad) !important; }
.warn { background: var(--warn-back); border-color: var(--warn) !important; }
.plain { background: var(--plain-back); border-color: var(--soft) !important; }
.card { padding: .9rem 1.1rem; margin: 0 0 .8rem; border-left-width: 5px; background: var(--card); }
.card.good, .card.bad, .card.warn, .card.plain { background: var(--card); border-color: var(--line) !important; }
.card.good { border-left-color: var(--good) !important; } .card.bad { border-left-color: var(--bad) !important; }
.card.warn { border-left-color: var(--warn) !important; }
.card:target { outline: 2px solid var(--accent); }
.verdict { font-weight: 650; border-radius: 1rem; padding: .05rem .6rem; font-size: .85rem; }
.verdict.good { color: var(--good); } .verdict.bad { color: var(--bad); } .verdict.warn { color: var(--warn); }
blockquote { margin: .5rem 0; padding: .1rem 0 .1rem .8rem; border-left: 3px solid var(--line);
  overflow-wrap: anywhere; }
p { margin: .4rem 0; overflow-wrap: anywhere; }
.path { color: var(--soft); font-size: .85rem; }
.id { display: inline-block; max-width: 100%; }
table { border-collapse: collapse; font-size: .9rem; margin: .5rem 0; }
th, td { border: 1px solid var(--line); padding: .2rem .6rem; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
a { color: var(--accent); }
footer { color: var(--soft); font-size: .85rem; margin-top: 2rem; border-top: 1px solid var(--line);
  padding-top: .9rem; }
@media print { body { background: none; } .card { break-inside: avoid; } }
""".strip()

_TONES = {
    Verdict.contradicted: "bad",
    Verdict.other_year: "bad",
    Verdict.other_form: "bad",
    Verdict.not_found: "plain",
    Verdict.unclear: "warn",
    Verdict.supported: "good",
    Verdict.verbatim: "good",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|])")


def tone_of(finding: Finding) -> str:
    """Return the color class of a finding: good, warn, bad or plain.

    Args:
        finding: The finding.
    """
    return "bad" if finding.is_fault else _TONES[finding.verdict]


def render_page(report: Report, text: str) -> str:
    """Render a report as HTML.

    Args:
        report: Findings of a draft.
        text: Text of the draft.

    Returns:
        A page that needs no other file and no network.
    """
    numbers = {id(finding): number for number, finding in enumerate(report.findings, 1)}
    parts = [
        f"<h1>{escape(report.name)}</h1>",
        f'<p class="soft">{escape(summarize(report))}</p>',
        _tiles(report),
        f'<h2>Draft</h2>\n<div class="draft">{_mark(report.findings, text, numbers)}</div>',
        "<h2>Findings</h2>",
        *(_card(finding, numbers[id(finding)]) for finding in report.findings),
    ]
    parts.append(f"<footer>Checked with taxkg against release {report.release}. Pages are those of the PDFs.</footer>")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(report.name)} – checked</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def summarize(report: Report) -> str:
    """Summarize a report in one or two sentences.

    Args:
        report: Findings of a draft.

    Returns:
        The summary.
    """
    faults = sum(finding.is_fault for finding in report.findings)
    checked = len(report.findings)
    outcome = "no changes needed" if not faults else f"{faults} must be changed"
    words = [f"{_count(checked, 'finding')}, {outcome}."]
    if report.skipped:
        words.append(
            f"{_count(report.skipped, 'sentence')} without a form, box, line, amount, date or rule: not checked."
        )
    if report.unchecked:
        words.append(
            f"{_count(report.unchecked, 'statement')} not checked: the time or the number of statements is used up; "
            "split the draft."
        )
    return " ".join(words)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _tiles(report: Report) -> str:
    tiles = [
        f"<li{'' if report.counts.get(verdict) else ' class=none'}><strong>{report.counts.get(verdict, 0)}</strong>"
        f"<span>{escape(name)}</span></li>"
        for verdict, name in NAMES.items()
    ]
    return f'<ul class="tiles">{"".join(tiles)}</ul>'


def _mark(findings: Sequence[Finding], text: str, numbers: dict[int, int]) -> str:
    """Return the draft with each finding marked; of two that overlap the worse one is marked."""
    chosen: list[Finding] = []
    for finding in findings:
        if not any(other.start < finding.end and finding.start < other.end for other in chosen):
            chosen.append(finding)
    parts, place = [], 0
    for finding in sorted(chosen, key=lambda row: row.start):
        parts.append(escape(text[place : finding.start]))
        name = NAMES[finding.verdict]
        words = escape(text[finding.start : finding.end])
        number = numbers[id(finding)]
        parts.append(f'<a class="{tone_of(finding)}" href="#f{number}" title="{escape(name)}">{words}</a>')
        place = finding.end
    return "".join([*parts, escape(text[place:])])


def _card(finding: Finding, number: int) -> str:
    tone = tone_of(finding)
    head = f'<span class="verdict {tone}">{escape(NAMES[finding.verdict])}</span> '
    place = f" <span class=path>page {finding.page} of the draft</span>" if finding.page else ""
    parts = [f"<p>{head}{escape(finding.text)}{place}</p>", f"<p>{escape(finding.reason)}</p>"]
    if finding.compared:
        parts.append(_compared(finding.compared))
    if finding.evidence is not None:
        parts.append(f"<blockquote>{escape(finding.evidence.text)}</blockquote>")
        parts.append(f'<p class="path">{_source(finding.evidence)}</p>')
    return f'<div class="card {tone}" id="f{number}">\n' + "\n".join(parts) + "\n</div>"


def _compared(rows: Sequence[ComparedValue]) -> str:
    cells = "".join(
        f"<tr><td>{escape(row.stated or '–')}</td><td>{escape(row.found or '–')}</td><td>{_say_equal(row)}</td></tr>"
        for row in rows
        if row.kind != "polarity"
    )
    head = "<tr><th>Draft</th><th>Passage</th><th>Result</th></tr>"
    return f"<table>{head}{cells}</table>" if cells else ""


def _say_equal(row: ComparedValue) -> str:
    return "equal" if row.is_equal else "differs" if row.found else "not stated"


def _source(evidence: Evidence) -> str:
    place = escape(f"{evidence.heading_path}, page {evidence.page} ")
    words = f'{place}<span class="id">({escape(evidence.document)})</span>'
    if evidence.official_url and evidence.official_url.startswith("https://"):
        return f'{words} · <a href="{escape(evidence.official_url)}" rel="noreferrer">official document</a>'
    return words


def render_markdown(report: Report) -> str:
    """Return a report as Markdown.

    Args:
        report: Findings of a draft.
    """
    lines = [f"# {_plain(report.name)}", "", summarize(report), ""]
    lines += ["| verdict | number |", "|---|---|"]
    lines += [f"| {name} | {report.counts.get(verdict, 0)} |" for verdict, name in NAMES.items()]
    for finding in report.findings:
        lines += ["", f"## {NAMES[finding.verdict]}: {_plain(finding.text)}", "", _plain(finding.reason)]
        rows = [row for row in finding.compared if row.kind != "polarity"]
        if rows:
            lines += ["", "| draft | passage | |", "|---|---|---|"]
            lines += [
                f"| {_plain(row.stated) or '–'} | {_plain(row.found) or '–'} | {_say_equal(row)} |" for row in rows
            ]
        if finding.evidence is not None:
            own = finding.evidence
            source = _plain(f"{own.heading_path}, page {own.page} ({own.document})")
            link = f" [official document]({own.official_url})" if own.official_url else ""
            lines += ["", f"> {_plain(own.text)}", "", f"{source}{link}"]
    return "\n".join([*lines, "", f"Checked with taxkg against release {report.release}.", ""])


def _plain(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
