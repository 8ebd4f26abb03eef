"""Numbered lines of returns, schedules and worksheets: a line's number, its words and its amount, read as one.

The face of an information return has boxes (faces.py); the face of a return has lines. The PDF stores a line's
number, its words, the dots that lead to the amount and the number repeated at the amount apart; here they are put
together. Labels in the left margin (Part I, Step 2) head the lines next to them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from taxkg_assets.extraction.forms.line_numbers import (
    LineNumber,
    find_amounts,
    find_repeats,
    join_letters,
    keep_columns,
    plain_number,
    read_line_number,
    split_at_numbers,
)
from taxkg_assets.extraction.forms.margin_labels import (
    MarginLabel,
    cut_leads,
    find_inner_heads,
    find_labels,
    label_key,
    limits,
)
from taxkg_assets.extraction.layout.lines import Line, cut_line, join_row, make_line
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.rules.models.form_lines import load_form_lines


@dataclass(slots=True)
class FormLine:
    """One numbered line, box or column of a form.

    Attributes:
        key: Key, such as `line_4b`, `step_4b`, `box_A` or `column_d`.
        is_part: Whether a letter divides a numbered line: `4b` is a part of line 4.
        lines: Printed lines: the number, then the words.
        label: Words of the line without number, leader dots and amount; "" until line_labels.py sets them.
    """

    key: str
    is_part: bool
    lines: list[Line]
    label: str = ""

    @property
    def kind(self) -> str:
        """Return the kind of numbered unit: `box`, `column` or `line`."""
        kind = self.key.partition("_")[0]
        return kind if kind in ("box", "column") else "line"


@dataclass(slots=True)
class FormLines:
    """The numbered lines of a page, and everything else that is printed there.

    Attributes:
        lines: Numbered lines, boxes and columns.
        labels: Labels in the left margin, such as "Part I", and headings inside a part.
        repeats: Numbers repeated next to the amounts.
        rest: Text that belongs to none of these.
    """

    lines: list[FormLine] = field(default_factory=list)
    labels: list[MarginLabel] = field(default_factory=list)
    repeats: list[Line] = field(default_factory=list)
    rest: list[Line] = field(default_factory=list)


def find_form_lines(
    page: Page,
    lines: Sequence[Line],
    *,
    braces: Sequence[Line] = (),
    stated_keys: Container[str] = (),
    is_option: Callable[[LineNumber], bool] = lambda start: False,
) -> FormLines:
    """Find the numbered lines of a form's page.

    Args:
        page: The page.
        lines: Pieces of printed text without furniture, leaders and text in tables or boxes.
        braces: Tall braces of the page, from `split_brace`.
        stated_keys: Keys of lines that the spoken texts of the page's fields state. With such keys, fewer numbers are
            needed to form a column, and lines may have no words.
        is_option: Whether a number is that of a check box within a line.

    Returns:
        Numbered lines and remaining text; no numbered lines if too few numbers form a column.
    """
    pieces = join_letters(split_at_numbers(lines))
    starts = [start for piece in pieces if (start := read_line_number(piece)) is not None]
    options = [start for start in starts if is_option(start)]
    numbers = _drop_large([start for start in starts if not any(start is option for option in options)])
    repeats = find_repeats(numbers, pieces)
    other_ids = {id(start) for start in (*repeats, *find_amounts(numbers, repeats, pieces))}
    starts = keep_columns([start for start in numbers if id(start) not in other_ids])
    if len(starts) < (limits().stated_lines if stated_keys else limits().lines):
        return FormLines(rest=list(pieces))
    taken_ids = {id(start.piece) for start in repeats}
    free_pieces = _join_options([piece for piece in pieces if id(piece) not in taken_ids], starts, options)
    start_pieces = [start.piece for start in starts]
    free_pieces = cut_leads(page, free_pieces, start_pieces)
    labels = find_labels(page, free_pieces, start_pieces)
    margin_ids = {id(line) for label in labels for line in label.lines}
    inner_heads = find_inner_heads([piece for piece in free_pieces if id(piece) not in margin_ids], start_pieces)
    labels += inner_heads
    taken_ids |= {id(line) for label in labels for line in (*label.title, *label.remarks)}
    free_pieces = [piece for piece in free_pieces if id(piece) not in taken_ids]
    head_heights = [label.y0 for label in inner_heads]
    units = _collect_lines(page, starts, free_pieces, braces=braces, repeats=repeats, labels=labels, ends=head_heights)
    units = _keep_worded(units, stated_keys)
    taken_ids = {id(line) for unit in units for line in unit.lines}
    other_pieces = [piece for piece in free_pieces if id(piece) not in taken_ids]
    for unit in units:
        unit.lines = _join_by_row(unit.lines)
    return FormLines(units, labels, [start.piece for start in repeats], other_pieces)


def _join_options(pieces: Sequence[Line], starts: Sequence[LineNumber], options: Sequence[LineNumber]) -> list[Line]:
    """Join the check boxes of each row from the first one on: further ones reach into the column to the right."""
    start_ids = {id(start.piece) for start in starts}
    joined_pieces = list(pieces)
    for option in sorted(options, key=lambda option: option.x0):
        row = sorted(
            (
                piece
                for piece in joined_pieces
                if abs(piece.base - option.piece.base) < 2 and piece.x0 >= option.x0 and id(piece) not in start_ids
            ),
            key=lambda piece: piece.x0,
        )
        if any(piece is option.piece for piece in row):
            row = _end_row(row, options)
            joined_pieces = [piece for piece in joined_pieces if not any(piece is other for other in row)]
            joined_pieces.append(join_row(row))
    return joined_pieces


def _end_row(row: Sequence[Line], options: Sequence[LineNumber]) -> list[Line]:
    """Cut a row of check boxes behind the words of the last one: what is far to the right belongs to another line."""
    last_ix = max(ix for ix, piece in enumerate(row) if any(piece is option.piece for option in options))
    end_ix = last_ix + 1
    while end_ix < len(row) and row[end_ix].x0 - row[end_ix - 1].x1 < limits().option_gap * row[end_ix].size:
        end_ix += 1
    return list(row[:end_ix])


def _keep_worded(units: Sequence[FormLine], stated_keys: Container[str]) -> list[FormLine]:
    """Keep the lines that have words or fields; a letter before the name of a form is an option of the line above."""
    kept_units: list[FormLine] = []
    for unit in units:
        if _has_words(unit) or unit.key in stated_keys:
            kept_units.append(unit)
        elif unit.is_part and len(unit.lines) > 1 and kept_units and unit.key[:-1] == kept_units[-1].key:
            kept_units[-1].lines += unit.lines
    return kept_units


def _drop_large(numbers: Sequence[LineNumber]) -> list[LineNumber]:
    """Leave out numbers much larger than the others of their page: a form prints its year as two such numbers."""
    sizes = sorted(start.piece.size for start in numbers)
    most_size = limits().number_sizes * sizes[len(sizes) // 2] if sizes else 0.0
    return [start for start in numbers if start.piece.size < most_size]


def holds_form_lines(lines: Sequence[Line], *, x0: float, y0: float, x1: float, y1: float) -> bool:
    """Return whether a rectangle only frames numbered lines, with a number or continued words in each row.

    Args:
        lines: Lines of the page.
        x0: Left edge of the rectangle, in points.
        y0: Upper edge of the rectangle.
        x1: Right edge of the rectangle.
        y1: Lower edge of the rectangle.

    Returns:
        True if the rectangle only frames numbered lines.
    """
    inner_lines = [line for line in lines if x0 - 2 <= line.x0 < x1 and y0 - 1 <= (line.y0 + line.y1) / 2 <= y1 + 1]
    rows = _find_rows(inner_lines)
    first_lines = [
        min((line for line in inner_lines if rows[id(line)] == row), key=lambda line: line.x0)
        for row in {*rows.values()}
    ]
    starts = [start for line in first_lines if (start := read_line_number(line)) is not None]
    if len(starts) < limits().lines_in_table:
        return False
    number_edge = min(start.x0 for start in starts) + limits().number_pt
    start_ids = {id(start.piece) for start in starts}
    return all(id(line) in start_ids or line.x0 > number_edge for line in first_lines)


def _find_rows(lines: Sequence[Line]) -> dict[int, float]:
    """Map each piece, by its identity, to the lowest base of its row: type of several sizes is on one row."""
    rows: dict[int, float] = {}
    row = -100.0
    for line in sorted(lines, key=lambda line: line.base):
        if line.base - row > limits().row_pt:
            row = line.base
        rows[id(line)] = row
    return rows


def split_brace(line: Line) -> tuple[Line | None, Line | None]:
    """Split a printed line into its words and a brace printed next to them.

    Args:
        line: Printed line.

    Returns:
        The words, or None where there are none; the brace, or None.
    """
    brace_spans = [span for span in line.spans if load_form_lines().braces.matches(span.text.strip())]
    if not brace_spans:
        return line, None
    words = make_line(line.page, [span for span in line.spans if not any(span is mark for mark in brace_spans)])
    return (words if words is not None and any(map(str.isalnum, words.text)) else None), make_line(
        line.page, brace_spans
    )


def cut_leader(line: Line) -> tuple[Line, Line | None]:
    """Split a printed line into its words and the leader dots after them.

    Args:
        line: Printed line.

    Returns:
        The words, and the dots; None where there are none.
    """
    for rule in load_form_lines().leader_starts:
        match = rule.pattern.search(line.text)
        if match is not None:
            words, dots = cut_line(line, match.start())
            if words and dots:
                return words[0], dots[0]
    return line, None


def _has_words(unit: FormLine) -> bool:
    """Decide whether a numbered line has words: a number in a check box or at an amount has none."""
    return any(letter.isalpha() for line in unit.lines[1:] for letter in line.text) or " " in unit.lines[0].text


def find_separator_ys(page: Page) -> list[float]:
    """Return the heights of horizontal rules across the page, including those drawn in several strokes.

    Args:
        page: Page with its rules.

    Returns:
        Heights in points, from top to bottom.
    """
    strokes: dict[int, list[tuple[float, float]]] = {}
    for rule in page.rules:
        if rule.is_horizontal and rule.x1 - rule.x0 >= limits().stroke_pt:
            strokes.setdefault(round(rule.y0), []).append((rule.x0, rule.x1))
    separator_ys: list[float] = []
    for height, stroke_ends in strokes.items():
        covered_pt, right_edge = 0.0, 0.0
        for x0, x1 in sorted(stroke_ends):
            covered_pt += max(0.0, x1 - max(x0, right_edge))
            right_edge = max(right_edge, x1)
        if covered_pt >= limits().wall_frac * page.width_pt:
            separator_ys.append(float(height))
    return sorted(separator_ys)


def _collect_lines(
    page: Page,
    starts: Sequence[LineNumber],
    pieces: Sequence[Line],
    *,
    braces: Sequence[Line],
    repeats: Sequence[LineNumber],
    labels: Sequence[MarginLabel],
    ends: Sequence[float],
) -> list[FormLine]:
    """Assign to each number the pieces of its line, down to the next number, rule or heading at one of `ends`."""
    separator_ys = find_separator_ys(page)
    tops = {id(start): _top(start, braces, repeats) for start in starts}
    head_heights = [*ends, *(piece.y0 for piece in pieces if piece.is_bold and label_key(piece.text))]
    number_ids = {id(start.piece) for start in starts}
    placed_pieces = [
        (piece, piece.x0, (piece.y0 + piece.y1) / 2, piece.base) for piece in pieces if id(piece) not in number_ids
    ]
    units: list[FormLine] = []
    column_pt = limits().column_pt
    number = ""
    begun_numbers = {_digits_of(start) for start in starts if start.is_digit}
    for start in starts:
        top, right = tops[id(start)], _right_edge(page, start, starts)
        column_x0 = start.x0 - column_pt
        column = [other for other in starts if column_x0 <= other.x0 < right]
        tops_below = [tops[id(other)] for other in column]
        other_bases = [other.piece.base for other in column if abs(other.piece.base - start.piece.base) >= 2]
        stops = [y for y in tops_below if y > top + 2] + [
            y for y in (*separator_ys, *head_heights) if y > start.piece.base - 2
        ]
        bottom = min(stops, default=page.height_pt)
        line_repeats = [
            repeat
            for repeat in repeats
            if start.x0 < repeat.x0 < right and top - 2 <= repeat.piece.y0 < max(bottom, start.piece.base)
        ]
        right = min([right, *(repeat.x0 - 2 for repeat in line_repeats)])
        left, high, base = start.x0 - 2, top - 2, start.piece.base
        inner_pieces = [
            piece
            for piece, x0, middle, piece_base in placed_pieces
            if left <= x0 < right
            and (high <= middle < bottom or abs(piece_base - base) < 2)
            and not any(abs(piece_base - other) < 2 for other in other_bases)
        ]
        members = _until_margin(start, inner_pieces)
        # The number at an amount further down is that of a line of its own.
        own_repeats = [
            repeat
            for repeat in line_repeats
            if _digits_of(repeat) in (number, "") or _digits_of(repeat) not in begun_numbers
        ]
        key, number = _key_of(start, number, own_repeats, _step_of(start, labels))
        units.append(FormLine(key, not start.is_digit, _in_reading_order(start, members, braces)))
    return units


def _top(start: LineNumber, braces: Sequence[Line], repeats: Sequence[LineNumber]) -> float:
    """Find where a line begins: a brace next to its number may reach above it, up to the last row of another line."""
    top = start.piece.y0
    brace_tops = [brace.y0 for brace in braces if brace.x0 > start.x0 and brace.y0 < start.piece.base < brace.y1]
    if not brace_tops:
        return top
    row_bottoms = [repeat.piece.y1 for repeat in repeats if repeat.x0 > start.x0 and repeat.piece.base < top]
    return min(top, max([min(brace_tops), *row_bottoms]))


def _right_edge(page: Page, start: LineNumber, starts: Sequence[LineNumber]) -> float:
    """Find where another column of numbers begins to the right of a number."""
    least_x0 = start.x0 + limits().repeat_pt
    column_edges = [
        other.x0
        for other in starts
        if other.x0 > least_x0
        and (abs(other.piece.base - start.piece.base) < 5 or _is_adjacent_column(other, start, starts))
    ]
    return min(column_edges, default=page.width_pt) - 2


def _is_adjacent_column(other: LineNumber, start: LineNumber, starts: Sequence[LineNumber]) -> bool:
    column_width = limits().column_pt
    column_bases = [
        column_start.piece.base for column_start in starts if abs(column_start.x0 - other.x0) < column_width
    ]
    return min(column_bases) <= start.piece.base <= max(column_bases)


def _until_margin(start: LineNumber, pieces: Sequence[Line]) -> list[Line]:
    """Keep the pieces up to the first row that begins left of the line's own words, or is far below."""
    line_pieces: list[Line] = []
    last_base = start.piece.base
    rows = _find_rows(pieces)
    for piece in sorted(pieces, key=lambda piece: (rows[id(piece)], piece.x0)):
        row_edges = [other.x0 for other in pieces if rows[id(other)] == rows[id(piece)]]
        is_own_row = abs(piece.base - start.piece.base) < 3
        if not is_own_row and min(row_edges) < start.text_x0 - 4 and piece.base > start.piece.base:
            break
        if piece.base - last_base > limits().row_gap_sizes * piece.size:
            break
        line_pieces.append(piece)
        last_base = max(last_base, piece.base)
    return line_pieces


def _in_reading_order(start: LineNumber, pieces: Sequence[Line], braces: Sequence[Line]) -> list[Line]:
    """Order a line's pieces by rows; the rows next to a brace are read as one row, what is left of the brace first."""

    rows = _find_rows(pieces)

    def is_spanned(piece: Line, brace: Line) -> bool:
        return brace.y0 + 1 <= (piece.y0 + piece.y1) / 2 <= brace.y1 + 1

    def place(piece: Line) -> tuple[float, float, float]:
        if piece is start.piece:
            return (-1.0, 0.0, 0.0)
        for brace in braces:
            if is_spanned(piece, brace):
                row = min(rows[id(other)] for other in pieces if is_spanned(other, brace))
                return (row, float(piece.x0 >= brace.x1 - 3), rows[id(piece)] * 1000 + piece.x0)
        return (rows[id(piece)], 0.0, piece.x0)

    return sorted([start.piece, *pieces], key=place)


def _join_by_row(pieces: Sequence[Line]) -> list[Line]:
    """Join the pieces that follow each other on one row."""
    rows: list[list[Line]] = []
    for piece in pieces:
        last_piece = rows[-1][-1] if rows else None
        if (
            last_piece is not None
            and abs(piece.base - last_piece.base) <= limits().row_pt
            and piece.x0 >= last_piece.x0
        ):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [join_row(row) for row in rows]


def _step_of(start: LineNumber, labels: Sequence[MarginLabel]) -> str:
    """Return the step next to which a number is; empty for none."""
    labels_above = [label for label in labels if label.y0 <= start.piece.base and not label.is_inner]
    key = labels_above[-1].key if labels_above else None
    return key if key is not None and key.startswith("step") else ""


def _digits_of(start: LineNumber) -> str:
    return plain_number(start.number).rstrip("abcdefghijklmnopqrstuvwxyz")


def _key_of(start: LineNumber, number: str, repeats: Sequence[LineNumber], step: str) -> tuple[str, str]:
    """Build the key of a line; return the key, and the number that the letters below divide."""
    plain_text = plain_number(start.number)
    if start.is_digit:
        digits = plain_text.rstrip("abcdefghijklmnopqrstuvwxyz")
        return f"line_{plain_text}", digits
    if step and start.number.startswith("("):
        return f"{step}{plain_text}", number
    repeated_numbers = [plain_number(repeat.number) for repeat in repeats]
    full_number = next(
        (name for name in repeated_numbers if name.endswith(plain_text) and name != plain_text), f"{number}{plain_text}"
    )
    return f"line_{full_number}", number
