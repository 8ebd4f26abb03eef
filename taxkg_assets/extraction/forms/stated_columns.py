"""Heads of the columns of a form's tables: what is printed above the fields that say which column they are in.

A head is set in short rows over a narrow column, often with the head of the next column in one stored line; the
fields below it tell how far it reaches. Check boxes are narrower than their column: they are centered in it. Fields
that say nothing are in the column whose head is printed above them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from taxkg_assets.extraction.authored.form_fields import FormField
from taxkg_assets.extraction.forms.form_lines import FormLine
from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.layout.lines import Line, make_line
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.rules.models.form_lines import load_form_lines

# Fields of one column have the same edges up to this.
_SAME_EDGE_PT = 1.0


@dataclass(slots=True)
class _Column:
    """The fields of one column of one table: how far they reach, and where the first of them begins."""

    x0: float
    x1: float
    y0: float
    y1: float
    letter: str
    has_checks: bool


# A column and its fields from the top.
_Chain = tuple[_Column, list[StatedField]]


def name_printed_columns(stated: Sequence[StatedField], lines: Sequence[Line]) -> list[StatedField]:
    """Give the fields of a page that say nothing the letter of the column that they are printed in.

    Args:
        stated: Fields of the page with the information in their spoken texts.
        lines: Lines of the page.

    Returns:
        The same fields; those of a table of at least two rows and two lettered columns have a column.
    """
    silent = [one for one in stated if not (one.field.spoken or one.field.caption or one.key or one.column)]
    named: dict[int, str] = {}
    for table in _find_silent_tables(silent):
        columns = _with_whole_cells([column for column, _ in table])
        pieces = [part for line in lines for part in _split(line, columns)]
        heads = [_find_head(column, pieces) for column in columns]
        letters = [_letter_of(head[0].text) if head else "" for head in heads]
        if len({*letters} - {""}) < 2:
            continue
        for letter, (_, fields) in zip(letters, table, strict=True):
            named |= {id(one): letter for one in fields}
    return [
        replace(one, spoken=replace(one.spoken, column=named[id(one)])) if named.get(id(one)) else one for one in stated
    ]


def _find_silent_tables(silent: Sequence[StatedField]) -> list[list[_Chain]]:
    """Find the tables of fields of the same edges right below each other, their columns from left to right."""
    chains: list[list[StatedField]] = []
    for one in sorted(silent, key=lambda one: one.field.y0):
        chain = next((chain for chain in chains if _is_right_below(chain[-1].field, one.field)), None)
        if chain is None:
            chains.append([one])
        else:
            chain.append(one)
    tables: list[list[_Chain]] = []
    for chain in chains:
        if len(chain) < 2:
            continue
        first, has_checks = chain[0].field, chain[0].field.kind == "checkbox"
        column = _Column(first.x0, first.x1, first.y0, chain[-1].field.y1, "", has_checks)
        if not tables or column.y0 - tables[-1][0][0].y0 > limits().row_pt:
            tables.append([])
        tables[-1].append((column, chain))
    return [sorted(table, key=lambda one: one[0].x0) for table in map(_end_table, tables)]


def _end_table(table: Sequence[_Chain]) -> list[_Chain]:
    """End a table at its last row with fields of two columns; a column may run on into the lines below the table."""
    tops = [[one.field.y0 for one in chain] for _, chain in table]
    shared = [
        top
        for ix, own in enumerate(tops)
        for top in own
        if any(abs(top - other) <= limits().row_pt for jx, others in enumerate(tops) if jx != ix for other in others)
    ]
    last = max(shared, default=0.0) + limits().row_pt
    kept = [(column, [one for one in chain if one.field.y0 <= last]) for column, chain in table]
    return [(replace(column, y1=chain[-1].field.y1), chain) for column, chain in kept if len(chain) > 1]


def _is_right_below(above: FormField, below: FormField) -> bool:
    is_aligned = max(abs(above.x0 - below.x0), abs(above.x1 - below.x1)) < _SAME_EDGE_PT
    return is_aligned and above.kind == below.kind and below.y0 - above.y1 < above.y1 - above.y0


def find_column_heads(lines: Sequence[Line], stated: Sequence[StatedField]) -> tuple[list[FormLine], list[Line]]:
    """Find the printed heads of the columns that the fields of a page mention.

    Args:
        lines: The loose lines of the page.
        stated: Fields of the page with the information in their spoken texts.

    Returns:
        One unit per column of each table whose head is printed, and the remaining lines.
    """
    columns = [column for table in _find_tables([one for one in stated if one.column]) for column in table]
    if not columns:
        return [], list(lines)
    parts = [(line, _split(line, columns)) for line in lines]
    pieces = [part for _, own in parts for part in own]
    units: list[FormLine] = []
    taken: set[int] = set()
    for column in columns:
        head = [piece for piece in _find_head(column, pieces) if id(piece) not in taken]
        if head:
            taken |= {id(piece) for piece in head}
            units.append(FormLine(f"column_{_letter_of(head[0].text)}", False, head))
    rest: list[Line] = []
    for line, own in parts:
        left = [part for part in own if id(part) not in taken]
        # A line that holds no head stays whole.
        rest += left if len(left) < len(own) else [line]
    return units, rest


def _find_tables(stated: Sequence[StatedField]) -> list[list[_Column]]:
    """Put the fields of each column together, table by table, by where they stand: what they say may err."""
    tables: list[list[_Column]] = []
    low = 0.0
    for one in stated:
        place = one.field
        if not tables or place.y0 - low > limits().table_gap_pt:
            tables.append([])
        table = tables[-1]
        middle = (place.x0 + place.x1) / 2
        column = next((one for one in table if one.x0 <= middle <= one.x1), None)
        if column is None:
            column = _Column(place.x0, place.x1, place.y0, place.y1, one.column, place.kind == "checkbox")
            table.append(column)
        column.x0, column.x1 = min(column.x0, place.x0), max(column.x1, place.x1)
        column.y0, column.y1 = min(column.y0, place.y0), max(column.y1, place.y1)
        column.has_checks &= place.kind == "checkbox"
        low = max(low, place.y1)
    return [_with_whole_cells(table) for table in tables]


def _with_whole_cells(table: Sequence[_Column]) -> list[_Column]:
    """Join the check boxes of one letter, and widen each column of them to its cell, in whose middle they stand."""
    columns: list[_Column] = []
    for column in sorted(table, key=lambda column: column.x0):
        last = columns[-1] if columns else None
        if last is not None and last.has_checks and column.has_checks and last.letter == column.letter != "":
            last.x1, last.y0, last.y1 = column.x1, min(last.y0, column.y0), max(last.y1, column.y1)
        else:
            columns.append(replace(column))
    # A gap between two columns of check boxes belongs to both in equal shares.
    gaps = [
        (right.x0 - left.x1) / (2 if left.has_checks and right.has_checks else 1) for left, right in pairwise(columns)
    ]
    for ix, column in enumerate(columns):
        if column.has_checks:
            margin = max(0.0, min(gaps[max(0, ix - 1) : ix + 1], default=0.0))
            column.x0, column.x1 = column.x0 - margin, column.x1 + margin
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
        if piece.size > head[0].size + 1:
            # The number of the line next to it, not a word of the head.
            continue
        if piece.base - head[-1].base > limits().row_gap_sizes * piece.size:
            break
        head.append(piece)
    return head


def _letter_of(text: str) -> str:
    """Read the letter in brackets that the head of a column begins with; empty for none."""
    match = load_form_lines().column_numbers.column_number.pattern.match(text)
    return match["letter"].lower() if match is not None else ""
