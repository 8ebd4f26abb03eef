"""Render the blocks of a report as Markdown and as one self-contained HTML page; all texts are escaped.

Here: how headings, tables and plots look. Not here: the content of a report (`report`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]<>|#])")
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d8dee6; --back: #ffffff; --card: #f6f8fa;
  --strong: #0b6bcb; --good: 11, 107, 203; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #313a46; --back: #12161c;
  --card: #1a2028; --strong: #6cb2ff; --good: 108, 178, 255; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 2.5rem 1.25rem 4rem; background: var(--back); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .4rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
p { margin: .3rem 0 .8rem; color: var(--soft); max-width: 78ch; }
.scroll { overflow-x: auto; margin: .6rem 0 1.2rem; background:
  linear-gradient(to left, var(--back) 40%, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(to left, color-mix(in srgb, var(--ink) 25%, transparent), transparent) right / 1rem 100% no-repeat; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { font-size: .78rem; font-weight: 600; color: var(--soft); background: var(--card); }
th:first-child, td:first-child, th.words, td.words { text-align: left; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--back); }
th:first-child { background: var(--card); }
td.words { white-space: normal; }
td.strong { font-weight: 700; }
td small { display: block; color: color-mix(in srgb, var(--ink) 85%, transparent); font-size: .75rem;
  font-weight: 400; }
figure { margin: .6rem 0 1.2rem; padding: .8rem; background: var(--card); border-radius: 8px; }
figure .scroll { --back: var(--card); }
figcaption { font-size: .85rem; font-weight: 600; margin-bottom: .2rem; }
.plot { width: 100%; min-width: 34rem; height: auto; display: block; }
.plot text { font-size: 13px; fill: var(--ink); }
.plot .tick { font-size: 11px; fill: var(--soft); }
.plot .label.strong, .plot .value.strong { font-weight: 700; }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.plot .zero { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 4 3; }
.plot .whisker { stroke: var(--soft); stroke-width: 1.5; }
.plot .dot { fill: var(--soft); }
.plot .whisker.strong { stroke: var(--strong); stroke-width: 2; }
.plot .dot.strong { fill: var(--strong); }
@media (max-width: 600px) {
  th:first-child, td:first-child { min-width: 9rem; max-width: 52vw; white-space: normal;
    overflow-wrap: break-word; }
  .scroll:has(> .intervals) { overflow: hidden; }
  .intervals { min-width: 0; width: 120%; }
  .intervals text { font-size: 21px; }
  .intervals .tick { font-size: 18px; }
  .intervals .value { display: none; }
}
""".strip()


@dataclass(frozen=True, slots=True)
class Cell:
    """One table cell: its text, a smaller second line (`detail`), and a share from 0 to 1 that sets its shading."""

    text: str
    detail: str = ""
    is_strong: bool = False
    is_words: bool = False
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 3."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table with one row of column names."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """An SVG with its caption; Markdown leaves it out, as the table next to it has the same figures."""

    caption: str
    svg: str


Block = Heading | Paragraph | Table | Plot


def escape_markdown(text: str) -> str:
    """Escape a text for Markdown and put it on one line.

    Args:
        text: Any text.

    Returns:
        Text that Markdown prints unchanged.
    """
    return _MARKDOWN_SIGNS.sub(r"\\\1", " ".join(text.split()))


def render_markdown(blocks: Sequence[Block]) -> str:
    """Render blocks as Markdown, without plots.

    Args:
        blocks: Blocks of the report.

    Returns:
        Markdown.
    """
    return "\n\n".join(part for block in blocks if (part := _block_to_markdown(block))) + "\n"


def _block_to_markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {escape_markdown(block.text)}"
        case Paragraph():
            return escape_markdown(block.text)
        case Table():
            head = [" | ".join(map(escape_markdown, block.columns)), " | ".join("---" for _ in block.columns)]
            body = [" | ".join(map(_cell_to_markdown, row)) for row in block.rows]
            return "\n".join(f"| {line} |" for line in [*head, *body])
        case Plot():
            return ""


def _cell_to_markdown(cell: Cell) -> str:
    text = escape_markdown(f"{cell.text} {cell.detail}".strip())
    return f"**{text}**" if cell.is_strong and text else text


def render_html(blocks: Sequence[Block], *, title: str) -> str:
    """Render blocks as one self-contained page.

    Args:
        blocks: Blocks of the report.
        title: Title of the page.

    Returns:
        HTML that loads nothing from the network.
    """
    body = "\n".join(map(_block_to_html, blocks))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _block_to_html(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
        case Paragraph():
            return f"<p>{escape(block.text)}</p>"
        case Table():
            head = "".join(
                f'<th scope="col"{_words_class(block, ix)}>{escape(name)}</th>' for ix, name in enumerate(block.columns)
            )
            body = "\n".join(f"<tr>{''.join(map(_cell_to_html, row))}</tr>" for row in block.rows)
            return (
                f'<div class="scroll" tabindex="0" role="group" aria-label="Table">'
                f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
            )
        case Plot():
            caption = escape(block.caption)
            return (
                f"<figure><figcaption>{caption}</figcaption>\n"
                f'<div class="scroll" tabindex="0" role="group" aria-label="{caption}">{block.svg}</div>\n</figure>'
            )


def _words_class(table: Table, ix: int) -> str:
    """Return the HTML class of a column's name: `words`, which aligns it left, for a column of words."""
    return ' class="words"' if any(row[ix].is_words for row in table.rows) else ""


def _cell_to_html(cell: Cell) -> str:
    names = [name for name, is_on in (("strong", cell.is_strong), ("words", cell.is_words)) if is_on]
    attributes = f' class="{" ".join(names)}"' if names else ""
    if cell.share is not None:
        attributes += f' style="background: rgba(var(--good), {0.38 * min(1.0, max(0.0, cell.share)):.3f})"'
    detail = f"<small>{escape(cell.detail)}</small>" if cell.detail else ""
    return f"<td{attributes}>{escape(cell.text)}{detail}</td>"
