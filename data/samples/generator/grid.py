"""Ruled tables inside a column or across the page: shaded header rows, one rule under every row."""

from __future__ import annotations

from .manuscript import Block
from .typeset import Line, Measure, Run, width_of, wrap

_PAD = 3.0
_SIZE = 8.5
_LEADING = 10.0


def _column_edges(block: Block, width: float) -> list[float]:
    """Left edges and the last right edge: columns share the width by their longest cell, within bounds."""
    columns = range(len(block.header))
    longest = [
        max(width_of(row[c], "regular", _SIZE) for row in [*block.rows, [h[-1] for h in block.header]]) for c in columns
    ]
    weight = [min(max(w, 0.14 * width), 0.55 * width) for w in longest]
    edges = [0.0]
    for w in weight:
        edges.append(edges[-1] + width * w / sum(weight))
    return edges


def _row_line(cells: list[str], edges: list[float], *, style: str, gap: float = 0.0, top_rule: bool = False) -> Line:
    wrapped = [
        wrap(cell, size_pt=_SIZE, width=lambda _, c=c: edges[c + 1] - edges[c] - 2 * _PAD, style=style)
        for c, cell in enumerate(cells)
    ]
    height = max(len(lines) for lines in wrapped) * _LEADING + 2 * _PAD
    runs = tuple(
        Run(edges[c] + _PAD, "".join(text for text, _ in line), style, _SIZE, dy=_PAD + ix * _LEADING)
        for c, lines in enumerate(wrapped)
        for ix, line in enumerate(lines)
        if line
    )
    rules = [(edges[0], height, edges[-1], height), *((x, 0.0, x, height) for x in edges)]
    if top_rule:
        rules.append((edges[0], 0.0, edges[-1], 0.0))
    shaded = ((edges[0], 0.0, edges[-1], height),) if style == "bold" else ()
    return Line(runs, height, gap, True, shaded=shaded, rules=tuple(rules))


def _spanning_line(block: Block, edges: list[float]) -> Line:
    """The upper header row: each spanning header is centered over its columns."""
    height = _LEADING + 2 * _PAD
    runs, inner = [], [edges[0], edges[-1]]
    spans: dict[str, list[int]] = {}
    for c, path in enumerate(block.header):
        if len(path) > 1:
            spans.setdefault(path[0], []).append(c)
    rules = [(edges[0], 0.0, edges[-1], 0.0)]
    for name, columns in spans.items():
        left, right = edges[columns[0]], edges[columns[-1] + 1]
        runs.append(Run((left + right - width_of(name, "bold", _SIZE)) / 2, name, "bold", _SIZE, dy=_PAD))
        rules.append((left, height, right, height))
        inner += [left, right]
    rules += [
        (x, 0.0, x, height)
        for x in sorted({*inner, *edges} - {e for cs in spans.values() for e in edges[cs[0] + 1 : cs[-1] + 1]})
    ]
    return Line(tuple(runs), height, 3.0, True, shaded=((edges[0], 0.0, edges[-1], height),), rules=tuple(rules))


def set_table(block: Block, measure: Measure, *, width: float) -> list[Line]:
    """A bold title, the header rows and the body rows, never broken over columns."""
    edges = _column_edges(block, width)
    title = Line((Run(0.0, block.text, "bold", measure.body_pt),), measure.leading_pt, 8.0, True)
    lines = [title]
    has_spans = any(len(path) > 1 for path in block.header)
    if has_spans:
        lines.append(_spanning_line(block, edges))
    lines.append(
        _row_line(
            [path[-1] for path in block.header],
            edges,
            style="bold",
            gap=0.0 if has_spans else 3.0,
            top_rule=not has_spans,
        )
    )
    lines += [_row_line(row, edges, style="regular") for row in block.rows]
    last = lines[-1]
    lines[-1] = Line(last.runs, last.height, last.gap, False, rules=last.rules)
    return [*lines, Line((), 6.0)]
