"""Tables without a frame: rows whose label runs over a dotted leader to an amount, one amount below the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.layout.text_runs import Run, find_lines, is_amount, is_caption
from taxkg_assets.extraction.pdf.model import Page, Span
from taxkg_assets.extraction.tables.condition_tables import find_condition_tables
from taxkg_assets.extraction.tables.grid import Rectangle
from taxkg_assets.extraction.tables.row_cells import bounding_box_of
from taxkg_assets.rules.models.tables import load_tables

# Left end, right end and height of a dotted leader.
Leader = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class _LeaderRow:
    """A label, a dotted leader and the amount that it leads to."""

    label: Run
    amount: Run


def find_open_boxes(
    page: Page, runs: Sequence[Run], leaders: Sequence[Leader], *, table_boxes: Sequence[Rectangle]
) -> list[Rectangle]:
    """Find tables without rules whose columns are connected by leader dots; tables of contents are excluded.

    A page with fields only has tables of conditions.

    Args:
        page: The page.
        runs: Runs of the page.
        leaders: Dotted leaders of the page: left end, right end and height of each.
        table_boxes: Rectangles of the tables found before, which are left out.

    Returns:
        Rectangles in points.
    """
    if page.widgets:
        free_runs = [run for run in runs if not any(box.holds(run) for box in table_boxes)]
        return [
            bounding_box_of([run for row in rows for cell in row for run in cell.runs])
            for rows in find_condition_tables(free_runs)
        ]
    rows = [row for row in _find_leader_rows(leaders, runs) if not any(box.holds(row.amount) for box in table_boxes)]
    chains: list[list[_LeaderRow]] = []
    for row in sorted(rows, key=lambda row: (row.amount.middle, row.amount.x0)):
        chain_above = next((chain for chain in chains if _continues(chain[-1], row)), None)
        if chain_above is None:
            chains.append([row])
        else:
            chain_above.append(row)
    boxes: list[Rectangle] = []
    leader_boxes = [_box_of(chain, runs) for chain in chains if _is_table(chain)]
    for box in (*leader_boxes, *_find_amount_boxes(runs, table_boxes=[*table_boxes, *leader_boxes])):
        overlapped_boxes = [other for other in boxes if _overlap(other, box)]
        boxes = [other for other in boxes if other not in overlapped_boxes]
        boxes.append(_hull([box, *overlapped_boxes]))
    return boxes


def _find_amount_boxes(runs: Sequence[Run], *, table_boxes: Sequence[Rectangle]) -> list[Rectangle]:
    """Find rectangles of rows that print two or more amounts each, in the same places, below each other."""
    limits = load_tables().regions
    free_runs = [run for run in runs if not any(box.holds(run) for box in table_boxes)]
    # Too few amounts for the rows of a table: most pages of text are spared the search.
    if sum(is_amount(run.text) for run in free_runs) < 2 * limits.open_min_rows:
        return []
    chains: list[list[list[Run]]] = []
    for line in find_lines(free_runs):
        amounts = [run for run in line if is_amount(run.text)]
        is_counting = all(run.text.strip().isdigit() for run in amounts)
        label = next((run for run in reversed(line) if run.x1 < amounts[0].x0), None) if amounts else None
        is_whole_line = len(line) == len(amounts) + (label is not None) >= 3
        if len(amounts) < 2 or (amounts[-1].x1 - amounts[0].x0 > limits.open_width_pt and not is_whole_line):
            continue
        is_near = label is not None and amounts[0].x0 - label.x1 < limits.open_label_pt
        row = ([label] if label and (is_near or is_whole_line) else []) + amounts
        chain_above = next((chain for chain in chains if _is_next_row(chain[-1], row)), None)
        if chain_above is not None:
            chain_above.append(row)
        elif not is_counting:
            chains.append([row])
    return [_with_headers(chain, free_runs) for chain in chains if len(chain) >= limits.open_min_rows]


def _is_next_row(row_above: Sequence[Run], row: Sequence[Run]) -> bool:
    gap = row[-1].middle - row_above[-1].middle
    is_near = 0 < gap <= load_tables().regions.open_gap_pt
    return is_near and all(abs(a.center - b.center) <= 12 for a, b in zip(row_above[-2:], row[-2:], strict=True))


def _with_headers(chain: Sequence[Sequence[Run]], runs: Sequence[Run]) -> Rectangle:
    """Return the rectangle of rows of amounts with the short lines above that head them."""
    limits = load_tables().regions
    rows = _hull([Rectangle(run.x0, run.y0, run.x1, run.y1) for row in chain for run in row])
    x0, y0, x1 = rows.x0 - 2, rows.y0, rows.x1 + 14
    for line in reversed(find_lines(run for run in runs if run.middle < y0 and x0 < run.center < x1)):
        # Bold words over several columns may stand farther off, and reach over the last one's amounts.
        is_strong = len(line) > 1 and all(run.is_bold and not is_caption(run.text) for run in line)
        right_limit = rows.x1 + 14 + (0.5 * max(run.x1 - run.x0 for run in line) if is_strong else 3)
        is_head = all(run.x0 >= x0 - 3 and run.x1 <= right_limit and run.x1 - run.x0 < 0.6 * (x1 - x0) for run in line)
        reach_pt = (limits.strong_head_sizes if is_strong else limits.head_sizes) * line[0].size_pt
        if not is_head or y0 - max(run.y1 for run in line) > reach_pt:
            break
        y0, x1 = min(run.y0 for run in line), max(x1, *(run.x1 for run in line))
    return Rectangle(x0, y0, x1, rows.y1)


def _overlap(a: Rectangle, b: Rectangle) -> bool:
    return a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1


def _hull(boxes: Sequence[Rectangle]) -> Rectangle:
    return Rectangle(
        min(box.x0 for box in boxes),
        min(box.y0 for box in boxes),
        max(box.x1 for box in boxes),
        max(box.y1 for box in boxes),
    )


def _find_leader_rows(leaders: Sequence[Leader], runs: Sequence[Run]) -> list[_LeaderRow]:
    rows = []
    for x0, x1, middle in leaders:
        line = [run for run in runs if abs(run.middle - middle) <= 3.0]
        labels = [run for run in line if run.x1 <= x0 + 4 and x0 - run.x1 <= 24]
        amounts = [run for run in line if run.x0 >= x1 - 4 and run.x0 - x1 <= 60]
        if labels and amounts:
            amount = min(amounts, key=lambda run: run.x0)
            if is_amount(amount.text):
                rows.append(_LeaderRow(max(labels, key=lambda run: run.x1), amount))
    return rows


def find_leaders(spans: Iterable[Span]) -> list[Leader]:
    """Find the dotted leaders among the spans of a page.

    Args:
        spans: Spans of the page.

    Returns:
        Left end, right end and height of each leader, in points.
    """
    leaders: list[Leader] = []
    spans = [*spans]
    # Most pages have none.
    if not any("." in span.text and _count_dots(span.text) for span in spans):
        return leaders
    leader_place, dot_count, x0, x1, middle = (-1, -1), 0, 0.0, 0.0, 0.0
    for span in (*spans, None):
        place = (span.block_ix, span.line_ix) if span else (-2, -2)
        span_dot_count = _count_dots(span.text) if span else 0
        is_blank = span is not None and not span.text.strip()
        if place != leader_place or not (span_dot_count or is_blank):
            if dot_count >= load_tables().regions.leader_dots:
                leaders.append((x0, x1, middle))
            leader_place, dot_count = place, 0
        if span is not None and span_dot_count:
            if not dot_count:
                x0 = span.x0
            dot_count, x1, middle = dot_count + span_dot_count, span.x1, (span.y0 + span.y1) / 2
    return leaders


def _count_dots(text: str) -> int:
    """Count the dots of a text that holds nothing else but blanks."""
    count = text.count(".")
    return count if count and (count == len(text) or text.replace(".", "").isspace()) else 0


def _continues(row_above: _LeaderRow, row: _LeaderRow) -> bool:
    gap = row.amount.middle - row_above.amount.middle
    is_aligned = abs(row.amount.x1 - row_above.amount.x1) <= 4
    return bool(
        is_aligned and 0 < gap <= load_tables().regions.open_gap_pt and abs(row.label.x0 - row_above.label.x0) <= 40
    )


def _is_table(chain: Sequence[_LeaderRow]) -> bool:
    """Decide whether leader rows hold amounts rather than the page numbers of a list of contents."""
    numbers = [row.amount.text for row in chain]
    if all(number.strip().isdigit() for number in numbers):
        return False
    return len(chain) >= int(load_tables().regions.open_min_rows)


def _box_of(chain: Sequence[_LeaderRow], runs: Sequence[Run]) -> Rectangle:
    """Return the rectangle of a chain: wrapped labels and the header line above included."""
    x0 = min(row.label.x0 for row in chain)
    x1 = max(row.amount.x1 for row in chain)
    y0, y1 = min(row.label.y0 for row in chain), max(row.amount.y1 for row in chain)
    nearby_runs = [run for run in runs if run.x0 >= x0 - 26 and run.x1 <= x1 + 6 and run.x0 < x1]
    x0 = min([x0, *(run.x0 for run in nearby_runs if y0 - 2 <= run.middle <= y1)])
    for run in sorted(nearby_runs, key=lambda run: -run.middle):
        gap = y0 - run.y1
        if run.middle < y0 and gap <= 0.35 * run.size_pt and run.x0 >= x0 - 3:
            y0 = min(y0, run.y0)
    header_runs = [run for run in nearby_runs if run.middle < y0 and y0 - run.y1 <= 1.1 * run.size_pt]
    if len(header_runs) >= 2 and all(run.is_bold for run in header_runs):
        y0 = min(run.y0 for run in header_runs)
    return Rectangle(x0 - 2, y0, x1 + 2, y1)
