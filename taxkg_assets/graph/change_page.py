"""A change report as one self-contained HTML page; every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from taxkg_assets.graph.change_report import ADDED, GROUPS, REMOVED, ChangeReport, Item, order_by_heading

_STYLE = """
:root { color-scheme: light dark; --ink: #1b2430; --soft: #5d6878; --line: #dfe4ea; --back: #f4f6f8; --card: #ffffff;
  --accent: #0b5cad; --new: #0a6b3d; --new-back: #dcf4e6; --old: #a3232b; --old-back: #fbe3e4; --warn: #8a5a00;
  --warn-back: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5eaf0; --soft: #98a4b3; --line: #2e3743; --back: #11161c;
  --card: #1a2129; --accent: #74b7ff; --new: #7ee0a8; --new-back: #123524; --old: #ff9ba1; --old-back: #421a1d;
  --warn: #ffd27a; --warn-back: #3a2c0c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 15px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 2.6rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; letter-spacing: -.01em; }
.span { font-size: 1.1rem; color: var(--soft); margin: .35rem 0 1.4rem; }
.span b { color: var(--ink); font-weight: 600; }
.note { background: var(--warn-back); color: var(--warn); border-radius: 8px; padding: .55rem .9rem;
  margin: 0 0 .8rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(135px, 1fr)); gap: .7rem; margin: 0 0 2.4rem;
  padding: 0; list-style: none; }
.tiles a { display: block; background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: .7rem .9rem; color: inherit; text-decoration: none; }
.tiles a:hover { border-color: var(--accent); }
.tiles strong { display: block; font-size: 1.6rem; line-height: 1.15; font-variant-numeric: tabular-nums; }
.tiles .none { background: transparent; }
.tiles .none strong { color: var(--soft); font-weight: 400; }
.tiles span { color: var(--soft); font-size: .85rem; }
section { margin: 0 0 2.4rem; }
h2 { font-size: 1.15rem; margin: 0; }
h2 small { color: var(--soft); font-weight: 400; margin-left: .35rem; }
.why { color: var(--soft); margin: .1rem 0 .8rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden;
  margin: 0 0 .8rem; }
.path { font-size: .82rem; color: var(--soft); padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
.item { display: grid; grid-template-columns: 9.5rem 1fr; gap: .2rem 1.1rem; padding: .75rem 1rem; }
.item + .item { border-top: 1px solid var(--line); }
.name { font-weight: 650; overflow-wrap: anywhere; }
.what { font-size: .8rem; color: var(--soft); }
.words { white-space: pre-wrap; overflow-wrap: anywhere; }
ins { background: var(--new-back); color: var(--new); text-decoration: none; border-radius: 3px; padding: .05em .2em; }
del { background: var(--old-back); color: var(--old); border-radius: 3px; padding: .05em .2em; }
summary { cursor: pointer; color: var(--accent); margin: 0 0 .8rem; }
footer { color: var(--soft); font-size: .82rem; border-top: 1px solid var(--line); padding-top: .9rem; }
.same { font-size: 1.05rem; background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1.2rem; }
@media (max-width: 640px) { .item { grid-template-columns: 1fr; } }
@media print { body { background: none; } .card, .tiles a { break-inside: avoid; } }
""".strip()


def render_change_page(report: ChangeReport) -> str:
    """Render a change report as HTML.

    Args:
        report: Report of one pair of documents.

    Returns:
        A self-contained page.
    """
    parts = [f"<h1>{escape(report.title)}</h1>"]
    parts.append(f'<p class="span"><b>{escape(report.older)}</b> → <b>{escape(report.newer)}</b></p>')
    parts += [f'<p class="note">{escape(note)}</p>' for note in report.notes]
    if report.items:
        parts.append(_tiles(report))
        parts += [_section(name, why, [i for i in report.items if i.group == name]) for name, why in GROUPS]
    else:
        parts.append('<p class="same">No change: both print the same text.</p>')
    older, newer = report.documents
    parts.append(f"<footer>Compared {escape(older)} with {escape(newer)}. Pages are those of the PDFs.</footer>")
    title = f"{report.title}, {report.older} to {report.newer}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _tiles(report: ChangeReport) -> str:
    tiles = [
        f'<li><a href="#{_slug(name)}"{"" if count else " class=none"}><strong>{count}</strong>'
        f"<span>{escape(name)}</span></a></li>"
        for name, count in report.counts.items()
    ]
    return f'<ul class="tiles">{"".join(tiles)}</ul>'


def _section(name: str, why: str, items: Sequence[Item]) -> str:
    if not items:
        return ""
    cards = "\n".join(_card(path, rows) for path, rows in order_by_heading(items))
    if name == "Routine":
        cards = f"<details><summary>Show all {len(items)}</summary>\n{cards}\n</details>"
    head = f'<h2>{escape(name)} <small>{len(items)}</small></h2>\n<p class="why">{escape(why)}</p>'
    return f'<section id="{_slug(name)}">\n{head}\n{cards}\n</section>'


def _card(path: str, items: Sequence[Item]) -> str:
    head = f'<div class="path">{escape(path)}</div>' if path else ""
    return f'<div class="card">{head}\n' + "\n".join(map(_row, items)) + "\n</div>"


def _row(item: Item) -> str:
    tags = {REMOVED: "<del>{}</del>", ADDED: "<ins>{}</ins>"}
    words = "".join(tags.get(op, "{}").format(escape(_one_line(text))) for op, text in item.words)
    name = f'<div class="name">{escape(item.name)}</div>' if item.name else ""
    what = escape(item.what if not item.places else f"{item.what}, {item.places}")
    return f'<div class="item"><div>{name}<div class="what">{what}</div></div><div class="words">{words}</div></div>'


def _one_line(text: str) -> str:
    return text.replace("\n", " ")


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")
