"""Numbered lines of returns, schedules and worksheets: a line's number, its words and its amount, read as one.

The face of an information return has boxes (faces.py); the face of a return has lines. The PDF stores a line's
number, its words, the dots that lead to the amount and the number repeated at the amount apart; here they are put
together. Labels in the left margin (Part I, Step 2) head the lines next to them.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
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
    """One numbered line, box or column; `key` is line_4b, step_4b, box_A, column_d.

    is_part: it divides a numbered one. label: its printed words alone (line_labels.py).
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
    """The numbered lines of a page with their margin labels, the repeated numbers, and the remaining text."""

    lines: list[FormLine] = field(default_factory=list)
    labels: list[MarginLabel] = field(default_factory=list)
    repeats: list[Line] = field(default_factory=list)
    rest: list[Line] = field(default_factory=list)


def find_form_lines(
    page: Page, lines: Sequence[Line], *, braces: Sequence[Line] = (), stated: Container[str] = ()
) -> FormLines:
    """Find the numbered lines of a form's page.

    Args:
        page: The page.
        lines: Pieces of printed text without furniture, leaders and text in tables or boxes.
        braces: Tall braces of the page, from `split_brace`.
        stated: Keys in the spoken texts of its fields. With them, one column of numbers suffices, and lines may have no
            words.

    Returns:
        The lines; empty if too few numbers form a column.
    """
    pieces = join_letters(split_at_numbers(lines))
    numbered = _drop_large([start for piece in pieces if (start := read_line_number(piece)) is not None])
    repeats = find_repeats(numbered, pieces)
    others = {id(start) for start in (*repeats, *find_amounts(numbered, repeats, pieces))}
    starts = keep_columns([start for start in numbered if id(start) not in others])
    if len(starts) < (limits().stated_lines if stated else limits().lines):
        return FormLines(rest=list(pieces))
    taken = {id(start.piece) for start in repeats}
    free = [piece for piece in pieces if id(piece) not in taken]
    begun = [start.piece for start in starts]
    free = cut_leads(page, free, begun)
    labels = find_labels(page, free, begun)
    margin = {id(line) for label in labels for line in label.lines}
    inner = find_inner_heads([piece for piece in free if id(piece) not in margin], begun)
    labels += inner
    taken |= {id(line) for label in labels for line in (*label.title, *label.remarks)}
    free = [piece for piece in free if id(piece) not in taken]
    ends = [label.y0 for label in inner]
    found = _collect(page, starts, free, braces=braces, repeats=repeats, labels=labels, ends=ends)
    found = _keep_worded(found, stated)
    taken = {id(line) for unit in found for line in unit.lines}
    rest = [piece for piece in free if id(piece) not in taken]
    for unit in found:
        unit.lines = _joined_by_row(unit.lines)
    return FormLines(found, labels, [start.piece for start in repeats], rest)


def _keep_worded(found: Sequence[FormLine], stated: Container[str]) -> list[FormLine]:
    """Keep the lines that have words, or fields; a letter before a form's number is an option of the line it is in."""
    kept: list[FormLine] = []
    for unit in found:
        if _has_words(unit) or unit.key in stated:
            kept.append(unit)
        elif unit.is_part and len(unit.lines) > 1 and kept and unit.key[:-1] == kept[-1].key:
            kept[-1].lines += unit.lines
    return kept


def _drop_large(numbered: Sequence[LineNumber]) -> list[LineNumber]:
    """Leave out numbers much larger than the others of their page: a form sets its year in two of them."""
    sizes = sorted(start.piece.size for start in numbered)
    most = limits().number_sizes * sizes[len(sizes) // 2] if sizes else 0.0
    return [start for start in numbered if start.piece.size < most]


def holds_form_lines(lines: Sequence[Line], *, x0: float, y0: float, x1: float, y1: float) -> bool:
    """Return whether a rectangle only frames numbered lines, with a number or continued words in each row.

    Args:
        lines: Lines of the page.
        x0: Left edge of the rectangle, in points.
        y0: Its upper edge.
        x1: Its right edge.
        y1: Its lower edge.

    Returns:
        True if the rectangle only frames numbered lines.
    """
    inside = [line for line in lines if x0 - 2 <= line.x0 < x1 and y0 - 1 <= (line.y0 + line.y1) / 2 <= y1 + 1]
    rows = _find_rows(inside)
    firsts = [
        min((line for line in inside if rows[id(line)] == row), key=lambda line: line.x0) for row in {*rows.values()}
    ]
    starts = [start for line in firsts if (start := read_line_number(line)) is not None]
    if len(starts) < limits().lines_in_table:
        return False
    edge = min(start.x0 for start in starts) + limits().number_pt
    begun = {id(start.piece) for start in starts}
    return all(id(line) in begun or line.x0 > edge for line in firsts)


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
    """Split a printed line into its words and a brace set with them.

    Args:
        line: Printed line.

    Returns:
        The words and the brace; None for what is missing.
    """
    marks = [span for span in line.spans if load_form_lines().braces.matches(span.text.strip())]
    if not marks:
        return line, None
    rest = make_line(line.page, [span for span in line.spans if not any(span is mark for mark in marks)])
    return (rest if rest is not None and any(map(str.isalnum, rest.text)) else None), make_line(line.page, marks)


def cut_leader(line: Line) -> tuple[Line, Line | None]:
    """Split a printed line into its words and the leader dots set with them.

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
    """Decide whether a numbered line says anything: a number in a check box or at an amount does not."""
    return any(letter.isalpha() for line in unit.lines[1:] for letter in line.text) or " " in unit.lines[0].text


def find_separator_ys(page: Page) -> list[float]:
    """Return the heights of horizontal rules across the page, including those drawn in several strokes.

    Args:
        page: The page.

    Returns:
        Heights in points, from top to bottom.
    """
    strokes: dict[int, list[tuple[float, float]]] = {}
    for rule in page.rules:
        if rule.is_horizontal and rule.x1 - rule.x0 >= limits().stroke_pt:
            strokes.setdefault(round(rule.y0), []).append((rule.x0, rule.x1))
    separator_ys: list[float] = []
    for height, parts in strokes.items():
        covered, reach = 0.0, 0.0
        for x0, x1 in sorted(parts):
            covered += max(0.0, x1 - max(x0, reach))
            reach = max(reach, x1)
        if covered >= limits().wall_frac * page.width_pt:
            separator_ys.append(float(height))
    return sorted(separator_ys)


def _collect(
    page: Page,
    starts: Sequence[LineNumber],
    pieces: Sequence[Line],
    *,
    braces: Sequence[Line],
    repeats: Sequence[LineNumber],
    labels: Sequence[MarginLabel],
    ends: Sequence[float],
) -> list[FormLine]:
    """Assign to each number the pieces of its line; `ends`: heights where a heading ends the line above."""
    separator_ys = find_separator_ys(page)
    tops = {id(start): _top(start, braces, repeats) for start in starts}
    heads = [*ends, *(piece.y0 for piece in pieces if piece.is_bold and label_key(piece.text))]
    numbers = {id(start.piece) for start in starts}
    found: list[FormLine] = []
    number, begun = "", {_digits_of(start) for start in starts if start.is_digit}
    for start in starts:
        top, right = tops[id(start)], _right_edge(page, start, starts)
        column = [other for other in starts if start.x0 - limits().column_pt <= other.x0 < right]
        below = [tops[id(other)] for other in column]
        others = [other.piece.base for other in column if abs(other.piece.base - start.piece.base) >= 2]
        stops = [y for y in below if y > top + 2] + [y for y in (*separator_ys, *heads) if y > start.piece.base - 2]
        bottom = min(stops, default=page.height_pt)
        here = [
            repeat
            for repeat in repeats
            if start.x0 < repeat.x0 < right and top - 2 <= repeat.piece.y0 < max(bottom, start.piece.base)
        ]
        right = min([right, *(repeat.x0 - 2 for repeat in here)])
        left, base = start.x0 - 2, start.piece.base
        inside = [
            piece
            for piece in pieces
            if left <= piece.x0 < right
            and (top - 2 <= (piece.y0 + piece.y1) / 2 < bottom or abs(piece.base - base) < 2)
            and id(piece) not in numbers
            and not any(abs(piece.base - other) < 2 for other in others)
        ]
        members = _until_margin(start, inside)
        # The number at an amount further down is that of a line of its own.
        own = [repeat for repeat in here if _digits_of(repeat) in (number, "") or _digits_of(repeat) not in begun]
        key, number = _key_of(start, number, own, _step_of(start, labels))
        found.append(FormLine(key, not start.is_digit, _in_reading_order(start, members, braces)))
    return found


def _top(start: LineNumber, braces: Sequence[Line], repeats: Sequence[LineNumber]) -> float:
    """Find where a line begins: a brace next to its number may reach above it, up to the last row of another line."""
    top = start.piece.y0
    adjacent = [brace.y0 for brace in braces if brace.x0 > start.x0 and brace.y0 < start.piece.base < brace.y1]
    if not adjacent:
        return top
    ends = [repeat.piece.y1 for repeat in repeats if repeat.x0 > start.x0 and repeat.piece.base < top]
    return min(top, max([min(adjacent), *ends]))


def _right_edge(page: Page, start: LineNumber, starts: Sequence[LineNumber]) -> float:
    """Find where another column of numbers begins to the right of a number."""
    left = start.x0 + limits().repeat_pt
    columns = [
        other.x0
        for other in starts
        if other.x0 > left
        and (abs(other.piece.base - start.piece.base) < 5 or _is_adjacent_column(other, start, starts))
    ]
    return min(columns, default=page.width_pt) - 2


def _is_adjacent_column(other: LineNumber, start: LineNumber, starts: Sequence[LineNumber]) -> bool:
    reach = limits().column_pt
    mates = [mate.piece.base for mate in starts if abs(mate.x0 - other.x0) < reach]
    return min(mates) <= start.piece.base <= max(mates)


def _until_margin(start: LineNumber, pieces: Sequence[Line]) -> list[Line]:
    """Keep the pieces up to the first row that begins left of the line's own words, or is far below."""
    kept: list[Line] = []
    last = start.piece.base
    rows = _find_rows(pieces)
    for piece in sorted(pieces, key=lambda piece: (rows[id(piece)], piece.x0)):
        row = [other.x0 for other in pieces if rows[id(other)] == rows[id(piece)]]
        is_own_row = abs(piece.base - start.piece.base) < 3
        if not is_own_row and min(row) < start.text_x0 - 4 and piece.base > start.piece.base:
            break
        if piece.base - last > limits().row_gap_sizes * piece.size:
            break
        kept.append(piece)
        last = max(last, piece.base)
    return kept


def _in_reading_order(start: LineNumber, pieces: Sequence[Line], braces: Sequence[Line]) -> list[Line]:
    """Order a line's pieces by rows; what a brace spans is read as one row: first what is left of it."""

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


def _joined_by_row(pieces: Sequence[Line]) -> list[Line]:
    """Join the pieces that follow each other on one row."""
    joined: list[list[Line]] = []
    for piece in pieces:
        last = joined[-1][-1] if joined else None
        if last is not None and abs(piece.base - last.base) <= limits().row_pt and piece.x0 >= last.x0:
            joined[-1].append(piece)
        else:
            joined.append([piece])
    return [join_row(row) for row in joined]


def _step_of(start: LineNumber, labels: Sequence[MarginLabel]) -> str:
    """Return the step next to which a number is; empty for none."""
    above = [label for label in labels if label.y0 <= start.piece.base and not label.is_inner]
    key = above[-1].key if above else None
    return key if key is not None and key.startswith("step") else ""


def _digits_of(start: LineNumber) -> str:
    return plain_number(start.number).rstrip("abcdefghijklmnopqrstuvwxyz")


def _key_of(start: LineNumber, number: str, repeats: Sequence[LineNumber], step: str) -> tuple[str, str]:
    """Build the key of a line, letters after the number that they divide; gives it and the number."""
    plain = plain_number(start.number)
    if start.is_digit:
        digits = plain.rstrip("abcdefghijklmnopqrstuvwxyz")
        return f"line_{plain}", digits
    if step and start.number.startswith("("):
        return f"{step}{plain}", number
    printed = [plain_number(repeat.number) for repeat in repeats]
    full = next((name for name in printed if name.endswith(plain) and name != plain), f"{number}{plain}")
    return f"line_{full}", number
