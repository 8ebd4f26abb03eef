"""Tables to retrieval units: whole rows under their repeated headers, each with the rectangle of its rows.

Works on the table's Markdown, whose headers and groups are explicit. Parts printed side by side under headers of their
own are read line by line, as a person does; lists set in two columns one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from taxkg_assets.records import CornersRecord, TableRecord


@dataclass(frozen=True, slots=True)
class TableUnit:
    """A group of table rows with the table's header, and their bounding box in points."""

    lines: tuple[str, ...]
    box: CornersRecord


@dataclass(frozen=True, slots=True)
class _Block:
    """One Markdown table: the header's cells and the body's, line by line."""

    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]


def split_table(table: TableRecord, *, head_words: int, limit: int) -> list[TableUnit]:
    """Split a table into groups of rows up to a number of words, each below the table's headers.

    Args:
        table: Row of `tables`.
        head_words: Words of the caption, which every unit repeats.
        limit: Words of a unit; a row longer than this is not divided.

    Returns:
        At least one unit. A header inside the body precedes the rows below it in every unit.
    """
    blocks, notes = _read_markdown(table["markdown"])
    units: list[TableUnit] = []
    for header, body, rows in _read_parts(blocks, _row_boxes(table)):
        first = _join_header(header)
        groups: list[list[int]] = [[]]
        # Headers of a hundred words must not leave each row alone under them.
        most_words = max(limit - head_words - len(first.split()), limit // 2)
        words = 0
        refined, repeated = "", [""] * len(body)
        for i, line in enumerate(body):
            if _is_header(line):
                refined = _join(line)
            size = len(" ".join(line).split())
            if groups[-1] and words + size > most_words:
                groups.append([])
                words = len(refined.split())
                repeated[i] = "" if _is_header(line) else refined
            groups[-1].append(i)
            words += size
        for group in groups:
            lines = [line for i in group for line in (repeated[i], _join(body[i])) if line]
            box = _hull(rows[i] for i in group if rows) or table["bbox"]
            units.append(TableUnit((*([first] if first.strip("| ") else ()), *lines), box))
    if notes:
        last = units.pop() if units else TableUnit((), table["bbox"])
        units.append(TableUnit((*last.lines, *notes), last.box))
    return units or [TableUnit((), table["bbox"])]


_Part = tuple[tuple[str, ...], tuple[tuple[str, ...], ...], list[CornersRecord]]


def _read_parts(blocks: Sequence[_Block], rows: list[CornersRecord]) -> list[_Part]:
    """Return headers, lines and rectangles to read from top to bottom, parts with equal lines merged."""
    heights = {len(block.body) for block in blocks}
    if len(blocks) > 1 and len(heights) == 1 and all(any(block.header) for block in blocks):
        header = tuple(cell for block in blocks for cell in block.header)
        lines = zip(*(block.body for block in blocks), strict=True)
        body = tuple(tuple(cell for part in line for cell in part) for line in lines)
        return [(header, body, _match_rows(body, rows))]
    if len(blocks) == 1:
        return [(blocks[0].header, blocks[0].body, _match_rows(blocks[0].body, rows))]
    return [(block.header, block.body, []) for block in blocks]


def _match_rows(body: Sequence[tuple[str, ...]], rows: list[CornersRecord]) -> list[CornersRecord]:
    """Return a rectangle for each line; none where lines and rows of the table do not correspond one to one."""
    printed = [i for i, line in enumerate(body) if not _is_header(line)]
    if len(printed) != len(rows) or not rows:
        return []
    by_line = dict(zip(printed, rows, strict=True))
    return [by_line.get(i) or by_line[min(printed, key=lambda other: abs(other - i))] for i in range(len(body))]


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
    """Decide whether a line of the body refines the headers: its cells are set bold."""
    named = [cell for cell in line if cell]
    return bool(named) and all(cell.startswith("**") and cell.endswith("**") for cell in named)


def _join_header(header: Sequence[str]) -> str:
    """Return a header line in which a spanning header is repeated once, over the first of its columns."""
    labels: list[str] = []
    above: list[str] = []
    for cell in header:
        path = cell.split(" > ")
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path[:-1], above, strict=False)))
        labels.append(" > ".join(path[shared:]))
        above = path
    return _join(labels)


def _join(cells: Sequence[str]) -> str:
    return "| ".join(cell.strip("*") if cell.startswith("**") else cell for cell in cells)
