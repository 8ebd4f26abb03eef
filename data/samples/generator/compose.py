"""Blocks to lines: how a heading, a paragraph, a list item, a callout and a table are set in a column."""

from __future__ import annotations

from .grid import set_table
from .manuscript import Block
from .typeset import Line, Measure, Run, join_runs, wrap

_ICON_LINES, _ICON_WIDTH = 3, 36.0


def _set_heading(block: Block, measure: Measure, *, width: float) -> list[Line]:
    size = measure.headings_pt[block.kind]
    gap = {"section": 10.0, "subsection": 9.0, "minor": 8.0}[block.kind]
    lines = wrap(block.text, size_pt=size, width=lambda _: width, style="bold")
    return [
        Line(join_runs(line, size_pt=size, x=0), size * 1.2, 0.0 if ix else gap, True) for ix, line in enumerate(lines)
    ]


def _set_callout(block: Block, measure: Measure, *, width: float) -> list[Line]:
    def left(ix: int) -> float:
        return _ICON_WIDTH if ix < _ICON_LINES else 0.0

    lines = wrap(block.text, size_pt=measure.body_pt, width=lambda ix: width - left(ix), style="italic")
    lines += [[]] * (_ICON_LINES - len(lines))
    out = []
    for ix, line in enumerate(lines):
        runs = join_runs(line, size_pt=measure.body_pt, x=left(ix))
        is_top, is_last = ix == 0, ix == len(lines) - 1
        out.append(Line(runs, measure.leading_pt, 6.0 if is_top else 0.0, not is_last, block.kind if is_top else ""))
    return out


def _set_paragraph(block: Block, measure: Measure, *, width: float, is_first: bool) -> list[Line]:
    """A paragraph: the first after a heading and one with a run-in heading begin flush, others with an indent."""
    text = f"**{block.run_in}** {block.text}" if block.run_in else block.text
    is_flush = block.run_in or (is_first and measure.is_first_flush)
    indent = 0.0 if is_flush else measure.first_line_pt
    lines = wrap(text, size_pt=measure.body_pt, width=lambda ix: width - (indent if ix == 0 else 0.0))
    gap = 0.5 if is_first else measure.paragraph_gap_pt
    out = []
    for ix, line in enumerate(lines):
        runs = join_runs(line, size_pt=measure.body_pt, x=0.0 if ix else indent)
        out.append(Line(runs, measure.leading_pt, 0.0 if ix else gap, ix == 0 and len(lines) > 1))
    return out


def _set_item(block: Block, measure: Measure, *, width: float) -> list[Line]:
    """A list item with a hanging indent; the marker is in the indent."""
    hang = 12.0 if block.marker == "•" else 16.0
    lines = wrap(block.text, size_pt=measure.body_pt, width=lambda _: width - hang)
    out = []
    for ix, line in enumerate(lines):
        marker = (Run(2.0, block.marker, "regular", measure.body_pt),) if not ix else ()
        gap = 0.0 if ix else (1.5 if block.marker == "•" else 3.0)
        out.append(Line(marker + join_runs(line, size_pt=measure.body_pt, x=hang), measure.leading_pt, gap))
    return out


def set_block(block: Block, measure: Measure, *, width: float, is_first: bool) -> list[Line]:
    """Lines of one block in a column of the given width."""
    if block.kind in measure.headings_pt:
        return _set_heading(block, measure, width=width)
    if block.kind in ("tip", "caution"):
        return _set_callout(block, measure, width=width)
    if block.kind == "item":
        return _set_item(block, measure, width=width)
    if block.kind == "table":
        return set_table(block, measure, width=width)
    return _set_paragraph(block, measure, width=width, is_first=is_first)
