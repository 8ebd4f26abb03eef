"""Heads of the columns of a form's tables: what is printed above the fields that say which column they are in.

A head is set in short rows over a narrow column, often with the head of the next column in one stored line; the
fields below it tell how far it reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.forms.form_lines import FormLine
from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.layout.lines import Line, make_line
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.rules.models.form_lines import load_form_lines


@dataclass(slots=True)
class _Column:
    """The fields of one column of one table: how far they reach, and where the first of them begins."""

    x0: float
    x1: float
    y0: float


def find_column_heads(lines: Sequence[Line], stated: Sequence[StatedField]) -> tuple[list[FormLine], list[Line]]:
    """Find the printed heads of the columns that the fields of a page mention.

    Args:
        lines: The loose lines of the page.
        stated: Fields of the page with the information in their spoken texts.

    Returns:
        One unit per column of each table whose head is printed, and the remaining lines.
    """
    columns = _find_columns(stated)
    if not columns:
        return [], list(lines)
    pieces = [part for line in lines for part in _split(line, columns)]
    units: list[FormLine] = []
    taken: set[int] = set()
    for column in columns:
        head = [piece for piece in _find_head(column, pieces) if id(piece) not in taken]
        if head:
            taken |= {id(piece) for piece in head}
            units.append(FormLine(f"column_{_letter_of(head[0].text)}", False, head))
    return units, [piece for piece in pieces if id(piece) not in taken]


def _find_columns(stated: Sequence[StatedField]) -> list[_Column]:
    """Put the fields of each column together, table by table, by where they stand: what they say may err."""
    columns: list[_Column] = []
    table: list[_Column] = []
    low = 0.0
    for place in (one.field for one in stated if one.column):
        if place.y0 - low > limits().table_gap_pt:
            table = []
        middle = (place.x0 + place.x1) / 2
        column = next((one for one in table if one.x0 <= middle <= one.x1), None)
        if column is None:
            column = _Column(place.x0, place.x1, place.y0)
            table.append(column)
            columns.append(column)
        column.x0, column.x1 = min(column.x0, place.x0), max(column.x1, place.x1)
        column.y0 = min(column.y0, place.y0)
        low = max(low, place.y1)
    return columns


def _split(line: Line, columns: Sequence[_Column]) -> list[Line]:
    """Cut a stored line that runs over several columns above their fields."""
    over = [column for column in columns if line.y0 < column.y0 and line.x0 < column.x1 and line.x1 > column.x0]
    if len(over) < 2 or len(line.spans) < 2:
        return [line]
    groups: dict[float, list[Span]] = {}
    for span in line.spans:
        x = (span.x0 + span.x1) / 2
        groups.setdefault(max((column.x0 for column in over if column.x0 <= x), default=0.0), []).append(span)
    parts = [make_line(line.page, spans) for spans in groups.values()]
    return [part for part in parts if part is not None]


def _find_head(column: _Column, pieces: Sequence[Line]) -> list[Line]:
    """Find the rows of a column's head, from its letter down to the first field."""
    above = sorted(
        (
            piece
            for piece in pieces
            if column.x0 - 1 <= (piece.x0 + piece.x1) / 2 <= column.x1 + 1
            and piece.x1 - piece.x0 <= column.x1 - column.x0 + limits().head_room_pt
            and piece.y0 < column.y0
        ),
        key=lambda piece: (piece.base, piece.x0),
    )
    starts = [ix for ix, piece in enumerate(above) if _letter_of(piece.text)]
    if not starts:
        return []
    first = starts[-1]
    if column.y0 - above[first].base > limits().head_height_pt:
        return []
    head = [above[first]]
    for piece in above[first + 1 :]:
        if piece.base - head[-1].base > limits().row_gap_sizes * piece.size:
            break
        head.append(piece)
    return head


def _letter_of(text: str) -> str:
    """Read the letter in brackets that the head of a column begins with; empty for none."""
    match = load_form_lines().column_numbers.column_number.pattern.match(text)
    return match["letter"].lower() if match is not None else ""
