"""Tables to chunks: whole rows under the repeated headers, each with the rectangle of its rows.

The table's Markdown states headers and groups. Parts of a table that are printed side by side, each with its own
headers, are read line by line across the parts; lists in two columns are read one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import NamedTuple

from taxkg_assets.records import CornersRecord, TableRecord


@dataclass(frozen=True, slots=True)
class TableUnit:
    """A group of table rows.

    Attributes:
        lines: Lines of text: the table's header, then the rows.
        box: Rectangle around the rows, in points.
    """

    lines: tuple[str, ...]
    box: CornersRecord


@dataclass(frozen=True, slots=True)
class _Block:
    """One Markdown table: the cells of the header, and the cells of each line below."""

    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]


def split_table(table: TableRecord, *, head_words: int, limit: int) -> list[TableUnit]:
    """Split a table into groups of rows up to a number of words, each below the table's headers.

    Args:
        table: Row of `tables`.
        head_words: Number of words of the caption, which every unit repeats.
        limit: Maximum number of words of a unit; a longer row stays whole.

    Returns:
        At least one unit. A header inside the body precedes the rows below it in every unit.
    """
    blocks, notes = _read_markdown(table["markdown"])
    units: list[TableUnit] = []
    for header, body, row_boxes in _read_parts(blocks, _row_boxes(table)):
        header_line = _join_header(header)
        header_lines = (header_line,) if header_line.strip("| ") else ()
        # Under a header of a hundred words, a unit still gets several rows.
        max_words = max(limit - head_words - len(header_line.split()), limit // 2)
        for group in _group_rows(body, max_words):
            lines = [_join(body[row_ix]) for row_ix in group.row_ixs]
            repeated_header = [group.inner_header] if group.inner_header else []
            box = _hull(row_boxes[row_ix] for row_ix in group.row_ixs if row_boxes) or table["bbox"]
            units.append(TableUnit((*header_lines, *repeated_header, *filter(None, lines)), box))
    if notes:
        last_unit = units.pop() if units else TableUnit((), table["bbox"])
        units.append(TableUnit((*last_unit.lines, *notes), last_unit.box))
    return units or [TableUnit((), table["bbox"])]


class _RowGroup(NamedTuple):
    """Consecutive rows of a table that are in one unit.

    Attributes:
        row_ixs: Their numbers in the body, from 0.
        inner_header: Header inside the body that they are under, if it is in an earlier unit; else empty.
    """

    row_ixs: list[int]
    inner_header: str


def _group_rows(body: Sequence[tuple[str, ...]], max_words: int) -> list[_RowGroup]:
    """Divide the rows of a table into groups of at most `max_words` words; a longer row is a group of its own."""
    groups = [_RowGroup([], "")]
    inner_header, word_count = "", 0
    for row_ix, row in enumerate(body):
        if _is_header(row):
            inner_header = _join(row)
        row_words = len(" ".join(row).split())
        if groups[-1].row_ixs and word_count + row_words > max_words:
            groups.append(_RowGroup([], "" if _is_header(row) else inner_header))
            word_count = len(inner_header.split())
        groups[-1].row_ixs.append(row_ix)
        word_count += row_words
    return groups


_Part = tuple[tuple[str, ...], tuple[tuple[str, ...], ...], list[CornersRecord]]


def _read_parts(blocks: Sequence[_Block], row_boxes: list[CornersRecord]) -> list[_Part]:
    """Return the headers, lines and row rectangles of each part of a table; parts side by side are merged."""
    heights = {len(block.body) for block in blocks}
    if len(blocks) > 1 and len(heights) == 1 and all(any(block.header) for block in blocks):
        header = tuple(cell for block in blocks for cell in block.header)
        lines = zip(*(block.body for block in blocks), strict=True)
        body = tuple(tuple(cell for part in line for cell in part) for line in lines)
        return [(header, body, _match_rows(body, row_boxes))]
    if len(blocks) == 1:
        return [(blocks[0].header, blocks[0].body, _match_rows(blocks[0].body, row_boxes))]
    return [(block.header, block.body, []) for block in blocks]


def _match_rows(body: Sequence[tuple[str, ...]], row_boxes: list[CornersRecord]) -> list[CornersRecord]:
    """Return a rectangle for each line; an empty list if lines and rows do not correspond one to one."""
    row_line_ixs = [line_ix for line_ix, line in enumerate(body) if not _is_header(line)]
    if len(row_line_ixs) != len(row_boxes) or not row_boxes:
        return []
    box_by_line = dict(zip(row_line_ixs, row_boxes, strict=True))
    return [
        box_by_line.get(line_ix) or box_by_line[min(row_line_ixs, key=lambda other: abs(other - line_ix))]
        for line_ix in range(len(body))
    ]


def _row_boxes(table: TableRecord) -> list[CornersRecord]:
    cells = sorted((cell for cell in table["cells"] if cell["col_ix"] >= 0), key=lambda cell: cell["row_ix"])
    hulls = (_hull(cell["bbox"] for cell in row) for _, row in groupby(cells, key=lambda cell: cell["row_ix"]))
    return [hull for hull in hulls if hull is not None]


def _hull(boxes: Iterable[CornersRecord]) -> CornersRecord | None:
    rectangles = list(boxes)
    if not rectangles:
        return None
    return {
        "x0_pt": min(box["x0_pt"] for box in rectangles),
        "y0_pt": min(box["y0_pt"] for box in rectangles),
        "x1_pt": max(box["x1_pt"] for box in rectangles),
        "y1_pt": max(box["y1_pt"] for box in rectangles),
    }


def _read_markdown(markdown: str) -> tuple[list[_Block], list[str]]:
    """Parse the Markdown tables of a text, and the lines of notes after them."""
    blocks: list[_Block] = []
    notes: list[str] = []
    for block in markdown.split("\n\n"):
        lines = block.splitlines()
        if not all(line.startswith("|") for line in lines):
            notes += lines
        elif lines:
            cells = [_split_line(line) for line in lines]
            has_header = len(cells) > 1 and all(cell and set(cell) <= set("-: ") for cell in cells[1])
            blocks.append(_Block(cells[0], tuple(cells[2:])) if has_header else _Block((), tuple(cells)))
    return blocks, notes


def _split_line(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|").removesuffix("|").replace("\\|", "\0")
    return tuple(cell.strip().replace("\0", "|") for cell in inner.split("|"))


def _is_header(line: Sequence[str]) -> bool:
    """Return whether a line of the body is a header of the lines below: all its cells are bold."""
    filled_cells = [cell for cell in line if cell]
    return bool(filled_cells) and all(cell.startswith("**") and cell.endswith("**") for cell in filled_cells)


def _join_header(header: Sequence[str]) -> str:
    """Return a header line with each spanning header only once, at the first of its columns."""
    labels: list[str] = []
    path_before: list[str] = []
    for cell in header:
        path = cell.split(" > ")
        common_count = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path[:-1], path_before, strict=False))
        )
        labels.append(" > ".join(path[common_count:]))
        path_before = path
    return _join(labels)


def _join(cells: Sequence[str]) -> str:
    return "| ".join(cell.strip("*") if cell.startswith("**") else cell for cell in cells)
