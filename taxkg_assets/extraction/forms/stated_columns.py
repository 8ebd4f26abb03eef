"""Heads of the columns of a form's tables: the words printed above the fields that state a column letter.

A head has several short rows above a narrow column, and the PDF often stores it in one line with the head of the next
column; the fields below show how wide the column is. Check boxes are narrower than their column, and centered in it.
Fields that state no letter are in the column whose head is printed above them.
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

# The edges of the fields of one column differ by less than this.
_SAME_EDGE_PT = 1.0


@dataclass(slots=True)
class _Column:
    """The rectangle around the fields of one column of a table, in points.

    Attributes:
        x0: Left edge.
        x1: Right edge.
        y0: Upper edge of the first field.
        y1: Lower edge of the last field.
        letter: Letter that the fields state; "" for none.
        has_checks: Whether all fields are check boxes.
    """

    x0: float
    x1: float
    y0: float
    y1: float
    letter: str
    has_checks: bool


# A column, and its fields from top to bottom.
_Chain = tuple[_Column, list[StatedField]]


def name_printed_columns(stated_fields: Sequence[StatedField], lines: Sequence[Line]) -> list[StatedField]:
    """Give the fields of a page that state nothing the letter of the column that they are printed in.

    Args:
        stated_fields: Fields of the page with the information in their spoken texts.
        lines: Lines of the page.

    Returns:
        The same fields; those of a table of at least two rows and two lettered columns have a column.
    """
    silent_fields = [
        stated_field
        for stated_field in stated_fields
        if not (stated_field.field.spoken or stated_field.field.caption or stated_field.key or stated_field.column)
    ]
    letter_by_field: dict[int, str] = {}
    for table in _find_silent_tables(silent_fields):
        columns = _with_whole_cells([column for column, _ in table])
        pieces = [part for line in lines for part in _split(line, columns)]
        heads = [_find_head(column, pieces) for column in columns]
        letters = [_letter_of(head[0].text) if head else "" for head in heads]
        if len({*letters} - {""}) < 2:
            continue
        for letter, (_, fields) in zip(letters, table, strict=True):
            letter_by_field |= {id(stated_field): letter for stated_field in fields}
    return [
        replace(stated_field, spoken=replace(stated_field.spoken, column=letter_by_field[id(stated_field)]))
        if letter_by_field.get(id(stated_field))
        else stated_field
        for stated_field in stated_fields
    ]


def _find_silent_tables(silent_fields: Sequence[StatedField]) -> list[list[_Chain]]:
    """Find tables of fields that state nothing: fields right below each other with the same edges are a column."""
    chains: list[list[StatedField]] = []
    for silent_field in sorted(silent_fields, key=lambda silent_field: silent_field.field.y0):
        chain = next((chain for chain in chains if _is_right_below(chain[-1].field, silent_field.field)), None)
        if chain is None:
            chains.append([silent_field])
        else:
            chain.append(silent_field)
    tables: list[list[_Chain]] = []
    for chain in chains:
        if len(chain) < 2:
            continue
        first_field = chain[0].field
        has_checks = chain[0].field.kind == "checkbox"
        column = _Column(first_field.x0, first_field.x1, first_field.y0, chain[-1].field.y1, "", has_checks)
        if not tables or column.y0 - tables[-1][0][0].y0 > limits().row_pt:
            tables.append([])
        tables[-1].append((column, chain))
    return [sorted(table, key=lambda silent_field: silent_field[0].x0) for table in map(_end_table, tables)]


def _end_table(table: Sequence[_Chain]) -> list[_Chain]:
    """End a table at its last row with fields of two columns; a column may run on into the lines below the table."""
    tops = [[silent_field.field.y0 for silent_field in chain] for _, chain in table]
    common_tops = [
        top
        for ix, column_tops in enumerate(tops)
        for top in column_tops
        if any(
            abs(top - other) <= limits().row_pt
            for jx, other_tops in enumerate(tops)
            if jx != ix
            for other in other_tops
        )
    ]
    last_top = max(common_tops, default=0.0) + limits().row_pt
    cut_chains = [
        (column, [silent_field for silent_field in chain if silent_field.field.y0 <= last_top])
        for column, chain in table
    ]
    return [(replace(column, y1=chain[-1].field.y1), chain) for column, chain in cut_chains if len(chain) > 1]


def _is_right_below(above: FormField, below: FormField) -> bool:
    is_aligned = max(abs(above.x0 - below.x0), abs(above.x1 - below.x1)) < _SAME_EDGE_PT
    return is_aligned and above.kind == below.kind and below.y0 - above.y1 < above.y1 - above.y0


def find_column_heads(lines: Sequence[Line], stated_fields: Sequence[StatedField]) -> tuple[list[FormLine], list[Line]]:
    """Find the printed heads of the columns that the fields of a page mention.

    Args:
        lines: Lines of the page that are in no table or box.
        stated_fields: Fields of the page with the information in their spoken texts.

    Returns:
        One unit per printed head, and the remaining lines.
    """
    columns = [
        column
        for table in _find_tables([stated_field for stated_field in stated_fields if stated_field.column])
        for column in table
    ]
    if not columns:
        return [], list(lines)
    parts = [(line, _split(line, columns)) for line in lines]
    pieces = [part for _, line_parts in parts for part in line_parts]
    units: list[FormLine] = []
    head_ids: set[int] = set()
    for column in columns:
        head = [piece for piece in _find_head(column, pieces) if id(piece) not in head_ids]
        if head:
            head_ids |= {id(piece) for piece in head}
            units.append(FormLine(f"column_{_letter_of(head[0].text)}", False, head))
    other_lines: list[Line] = []
    for line, line_parts in parts:
        parts_left = [part for part in line_parts if id(part) not in head_ids]
        # A line that holds no head stays whole.
        other_lines += parts_left if len(parts_left) < len(line_parts) else [line]
    return units, other_lines


def _find_tables(stated_fields: Sequence[StatedField]) -> list[list[_Column]]:
    """Group the fields of each table into columns by their positions: the letters that they state may be wrong."""
    tables: list[list[_Column]] = []
    table_y1 = 0.0
    for stated_field in stated_fields:
        pdf_field = stated_field.field
        if not tables or pdf_field.y0 - table_y1 > limits().table_gap_pt:
            tables.append([])
        table = tables[-1]
        middle = (pdf_field.x0 + pdf_field.x1) / 2
        column = next((stated_field for stated_field in table if stated_field.x0 <= middle <= stated_field.x1), None)
        if column is None:
            column = _Column(
                pdf_field.x0,
                pdf_field.x1,
                pdf_field.y0,
                pdf_field.y1,
                stated_field.column,
                pdf_field.kind == "checkbox",
            )
            table.append(column)
        column.x0, column.x1 = min(column.x0, pdf_field.x0), max(column.x1, pdf_field.x1)
        column.y0, column.y1 = min(column.y0, pdf_field.y0), max(column.y1, pdf_field.y1)
        column.has_checks &= pdf_field.kind == "checkbox"
        table_y1 = max(table_y1, pdf_field.y1)
    return [_with_whole_cells(table) for table in tables]


def _with_whole_cells(table: Sequence[_Column]) -> list[_Column]:
    """Join columns of check boxes with the same letter, and widen each to its cell, in whose middle the boxes are."""
    columns: list[_Column] = []
    for column in sorted(table, key=lambda column: column.x0):
        last_column = columns[-1] if columns else None
        if (
            last_column is not None
            and last_column.has_checks
            and column.has_checks
            and last_column.letter == column.letter != ""
        ):
            last_column.x1, last_column.y0, last_column.y1 = (
                column.x1,
                min(last_column.y0, column.y0),
                max(last_column.y1, column.y1),
            )
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
    columns_below = [
        column for column in columns if line.y0 < column.y0 and line.x0 < column.x1 and line.x1 > column.x0
    ]
    if len(columns_below) < 2 or len(line.spans) < 2:
        return [line]
    groups: dict[float, list[Span]] = {}
    for span in line.spans:
        x = (span.x0 + span.x1) / 2
        groups.setdefault(max((column.x0 for column in columns_below if column.x0 <= x), default=0.0), []).append(span)
    parts = [make_line(line.page, spans) for spans in groups.values()]
    return [part for part in parts if part is not None]


def _find_head(column: _Column, pieces: Sequence[Line]) -> list[Line]:
    """Find the rows of a column's head, from its letter down to the first field."""
    pieces_above = sorted(
        (
            piece
            for piece in pieces
            if column.x0 - 1 <= (piece.x0 + piece.x1) / 2 <= column.x1 + 1
            and piece.x1 - piece.x0 <= column.x1 - column.x0 + limits().head_room_pt
            and piece.y0 < column.y0
        ),
        key=lambda piece: (piece.base, piece.x0),
    )
    start_ixs = [ix for ix, piece in enumerate(pieces_above) if _letter_of(piece.text)]
    if not start_ixs:
        return []
    first_ix = start_ixs[-1]
    if column.y0 - pieces_above[first_ix].base > limits().head_height_pt:
        return []
    head = [pieces_above[first_ix]]
    for piece in pieces_above[first_ix + 1 :]:
        if piece.size > head[0].size + 1:
            # Larger type is the number of the line next to the head.
            continue
        if piece.base - head[-1].base > limits().row_gap_sizes * piece.size:
            break
        head.append(piece)
    return head


def _letter_of(text: str) -> str:
    """Read the letter in brackets that the head of a column begins with; empty for none."""
    match = load_form_lines().column_numbers.column_number.pattern.match(text)
    return match["letter"].lower() if match is not None else ""
