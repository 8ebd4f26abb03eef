"""Where the tables of a page are: connected rulings, stacked horizontals, aligned amounts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.extraction.layout.ruling import Ruling, merge_rules
from taxkg_assets.extraction.layout.text_runs import (
    Run,
    find_lines,
    find_runs,
    is_amount,
    is_caption,
    is_filing_note,
    split_leaders,
)
from taxkg_assets.extraction.pdf.model import Fill, Page
from taxkg_assets.extraction.tables.grid import Drawing, Rectangle, find_slabs
from taxkg_assets.extraction.tables.printed_worksheets import find_worksheet_boxes
from taxkg_assets.extraction.tables.unruled import find_leaders, find_open_boxes
from taxkg_assets.rules.models.tables import load_tables


def find_drawings(page: Page, *, is_face: bool) -> tuple[list[Drawing], list[Run]]:
    """Find candidate table regions of a page with the text and lines in them, except form faces and fields.

    Args:
        page: The page.
        is_face: Whether the page is a form's face with boxes, which are no tables.

    Returns:
        Regions, and all text runs of the page.
    """
    if is_face:
        return [], []
    spans = split_leaders(page.spans)
    leaders = find_leaders(spans)
    shape_count = len(page.rules) + len(page.fills)
    if shape_count > load_tables().drawings.max_rules:
        return [], []
    if not shape_count and not leaders and not _has_amounts(page):
        return [], []
    all_ruling = merge_rules(page.rules)
    runs = find_runs(spans, ruling=all_ruling)
    ruling = _without_underlines(all_ruling, runs, page)
    boxes = _stack(_connect(ruling, page.fills), runs)
    # A frame around fields is no table, and takes nothing from one inside it.
    closed_boxes = [box for box in boxes if box.height < 0.9 * page.height_pt and not _holds_field(page, box)]
    open_boxes = find_open_boxes(page, runs, leaders, table_boxes=closed_boxes)
    boxes += open_boxes
    if leaders:
        boxes += find_worksheet_boxes(runs, table_boxes=boxes)
    boxes = _split_at_captions(boxes, runs, ruling)
    drawings = []
    for box in boxes:
        if _holds_field(page, box):
            continue
        inner_boxes = [other for other in boxes if other is not box and _contains(box, other)]
        own_runs = [
            run
            for run in runs
            if not is_filing_note(run.text) and not any(_claims(other, run) for other in inner_boxes)
        ]
        drawing = _cut_out(box, own_runs, ruling, page.fills)
        if len(drawing.runs) >= 4:
            drawings.append(replace(drawing, is_open=box in open_boxes))
    return drawings, runs


def _holds_field(page: Page, box: Rectangle) -> bool:
    return any(box.x0 < w.x1 and w.x0 < box.x1 and box.y0 < w.y1 and w.y0 < box.y1 for w in page.widgets)


def _has_amounts(page: Page) -> bool:
    """Decide whether a page prints enough amounts by themselves for a table without any line."""
    least_amounts = int(load_tables().regions.open_amounts)
    return sum(span.text[-1:].isdigit() and is_amount(span.text) for span in page.spans) >= least_amounts


def _without_underlines(ruling: Ruling, runs: Sequence[Run], page: Page) -> Ruling:
    """Drop lines that underline a word or a link, and what is drawn outside of the page."""
    other_lines = []
    by_foot = sorted(runs, key=lambda run: run.y1)
    feet = [run.y1 for run in by_foot]
    tallest = max((run.y1 - run.y0 for run in runs), default=0.0)
    for line in ruling.horizontals:
        if not 5 < line.at < page.height_pt - 5:
            continue
        near_runs = by_foot[bisect_left(feet, line.at - 1.5) : bisect_right(feet, line.at + tallest)]
        is_underline = line.length < 260 and any(
            run.x0 - 1.5 <= line.start and line.end <= run.x1 + 1.5 and run.middle < line.at <= run.y1 + 1.5
            for run in near_runs
        )
        if not is_underline:
            other_lines.append(line)
    return Ruling(tuple(other_lines), ruling.verticals)


def _connect(ruling: Ruling, fills: Sequence[Fill]) -> list[Rectangle]:
    """Join lines and shadings that touch into rectangles; a grid inside a frame stays a rectangle of its own."""
    shapes = [Rectangle(line.start, line.at, line.end, line.at) for line in ruling.horizontals]
    shapes += [Rectangle(line.at, line.start, line.at, line.end) for line in ruling.verticals]
    shapes += [Rectangle(fill.x0, fill.y0, fill.x1, fill.y1) for fill in fills if fill.y1 - fill.y0 < 400]
    shapes.sort(key=lambda box: (box.y0, box.x0))
    group_boxes = [(_hull(group), _is_grid(group)) for group in _touching_groups(shapes)]
    boxes: list[Rectangle] = []
    for box, is_grid in sorted(group_boxes, key=lambda pair: -pair[0].width * pair[0].height):
        if is_grid or not any(_contains(other, box) for other in boxes):
            boxes.append(box)
    return sorted(boxes, key=lambda box: (round(box.y0), box.x0))


def _touching_groups(shapes: Sequence[Rectangle]) -> list[list[Rectangle]]:
    """Group shapes, sorted by their tops, that touch directly or through others."""
    touch = load_tables().regions.touch_pt
    parent = list(range(len(shapes)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    reaching: list[int] = []
    for i, shape in enumerate(shapes):
        reaching = [k for k in reaching if shapes[k].y1 >= shape.y0 - touch]
        for k in reaching:
            other = shapes[k]
            if other.x0 <= shape.x1 + touch and shape.x0 <= other.x1 + touch:
                parent[root(k)] = root(i)
        reaching.append(i)
    groups: dict[int, list[Rectangle]] = {}
    for i, shape in enumerate(shapes):
        groups.setdefault(root(i), []).append(shape)
    return list(groups.values())


def _is_grid(group: Sequence[Rectangle]) -> bool:
    """Decide whether touching shapes draw cells: verticals at three places and horizontals at two."""
    verticals = {round(shape.x0 / 3) for shape in group if shape.height > 3 * shape.width}
    horizontals = {round(shape.y0 / 3) for shape in group if shape.width > 3 * shape.height}
    return len(verticals) >= 3 and len(horizontals) >= 2


def _hull(group: Sequence[Rectangle]) -> Rectangle:
    return Rectangle(
        min(shape.x0 for shape in group),
        min(shape.y0 for shape in group),
        max(shape.x1 for shape in group),
        max(shape.y1 for shape in group),
    )


def _claims(inner: Rectangle, run: Run) -> bool:
    """Decide whether a grid inside a frame holds a run or has it as a caption to its left."""
    gap = load_tables().regions.left_caption_pt
    is_adjacent = inner.y0 - 3 <= run.middle <= inner.y1 and -3 <= inner.x0 - run.x1 <= gap
    return inner.holds(run) or (is_adjacent and is_caption(run.text))


def _contains(outer: Rectangle, inner: Rectangle) -> bool:
    return (
        outer.x0 - 3 <= inner.x0 and inner.x1 <= outer.x1 + 3 and outer.y0 - 3 <= inner.y0 and inner.y1 <= outer.y1 + 3
    )


def _stack(boxes: list[Rectangle], runs: Sequence[Run]) -> list[Rectangle]:
    """Join pieces of equal width that follow each other with rows of several cells between them."""
    limits = load_tables().regions
    stacked: list[Rectangle] = []
    for box in sorted(boxes, key=lambda box: (box.y0, box.x0)):
        if box.width < limits.min_width_pt:
            continue
        above = next(
            (
                other
                for other in reversed(stacked)
                if abs(other.x0 - box.x0) <= limits.stack_slack_pt
                and abs(other.x1 - box.x1) <= limits.stack_slack_pt
                and box.y0 >= other.y1
                and _is_tabular(strip := Rectangle(box.x0, other.y1, box.x1, box.y0), runs)
                and (strip.height <= limits.stack_gap_pt or _is_ledger(strip, runs))
            ),
            None,
        )
        if above is None:
            stacked.append(box)
        else:
            stacked[stacked.index(above)] = _union(above, box)
    return [box for box in stacked if box.height >= limits.min_height_pt]


def _split_at_captions(boxes: Sequence[Rectangle], runs: Sequence[Run], ruling: Ruling) -> list[Rectangle]:
    """Cut a frame that holds several captioned tables into one box for each, caption excluded."""
    split: list[Rectangle] = []
    for box in boxes:
        captions = [run for run in runs if run.is_bold and box.holds(run) and is_caption(run.text)]
        if len(captions) < 2:
            split.append(box)
            continue
        drawing = Drawing(box, (), ruling, ())
        for x0, x1 in find_slabs(drawing):
            captions_of_slab = sorted((run for run in captions if x0 <= run.center <= x1), key=lambda run: run.y0)
            ends = [*(run.y0 - 1 for run in captions_of_slab[1:]), box.y1]
            split += [Rectangle(x0, run.y1, x1, end) for run, end in zip(captions_of_slab, ends, strict=True)]
    return sorted(split, key=lambda box: (round(box.y0), box.x0))


def _is_tabular(strip: Rectangle, runs: Sequence[Run]) -> bool:
    """Decide whether the lines of a strip have several cells or amounts, so that it is no prose and no caption.

    A short line by itself supports neither: it may be the name of a group, a wrapped name or a spanning header.
    """
    lines = find_lines(run for run in runs if strip.holds(run))
    several = sum(len(line) >= 2 and (len(line) >= 3 or any(is_amount(run.text) for run in line)) for line in lines)
    is_wide = strip.width >= load_tables().regions.wide_pt
    short = sum(is_wide and len(line) == 1 and line[0].x1 - line[0].x0 < 0.5 * strip.width for line in lines)
    return several > 0 and several >= 0.7 * (len(lines) - short) and several >= 0.4 * len(lines)


def _is_ledger(strip: Rectangle, runs: Sequence[Run]) -> bool:
    """Decide whether a long strip holds nothing but rows of amounts and names of groups: it is one table."""
    lines = find_lines(run for run in runs if strip.holds(run))
    rows = [line for line in lines if len(line) >= 2 and any(is_amount(run.text) for run in line)]
    names = [line for line in lines if len(line) == 1 and line[0].x1 - line[0].x0 < 0.5 * strip.width]
    return len(rows) + len(names) == len(lines) and not any(is_caption(line[0].text) for line in lines)


def _cut_out(box: Rectangle, runs: Sequence[Run], ruling: Ruling, fills: Sequence[Fill]) -> Drawing:
    return Drawing(
        box,
        tuple(run for run in runs if box.holds(run)),
        Ruling(
            tuple(
                line for line in ruling.horizontals if _crosses(Rectangle(line.start, line.at, line.end, line.at), box)
            ),
            tuple(
                line for line in ruling.verticals if _crosses(Rectangle(line.at, line.start, line.at, line.end), box)
            ),
        ),
        tuple(fill for fill in fills if _crosses(Rectangle(fill.x0, fill.y0, fill.x1, fill.y1), box)),
    )


def _crosses(inner: Rectangle, box: Rectangle) -> bool:
    return (
        inner.x0 <= box.x1 + 1.5 and inner.x1 >= box.x0 - 1.5 and inner.y0 <= box.y1 + 1.5 and inner.y1 >= box.y0 - 1.5
    )


def _union(a: Rectangle, b: Rectangle) -> Rectangle:
    return Rectangle(min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1))
