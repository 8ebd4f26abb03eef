"""Printed line numbers: which pieces of a page begin with one, and which of them number a line.

A number may only repeat that of its line next to the amount, or may have been filled in. What a numbered line says is
put together in form_lines.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.layout.lines import Line, cut_line, make_line
from taxkg_assets.extraction.layout.paragraphs import first_shown
from taxkg_assets.rules.models.form_lines import load_form_lines


@dataclass(frozen=True, slots=True)
class LineNumber:
    """A printed line number with the piece of text that begins with it, and its position."""

    piece: Line
    number: str
    text_x0: float
    x0: float

    @property
    def is_digit(self) -> bool:
        """Return whether the number begins with a digit, as 4b does and C does not."""
        return self.number[0].isdigit()


def split_at_numbers(lines: Sequence[Line]) -> list[Line]:
    """Split pieces in which a label and a line number are stored together, if other numbers stand alone in that column.

    Args:
        lines: Pieces of a page.

    Returns:
        Pieces of which none contains a label and a number.
    """
    places = Counter(round(line.x0) for line in lines if line.is_bold and line.text.isdigit())
    parts: list[Line] = []
    for line in lines:
        ends = line.spans[-1]
        is_number = len(line.spans) > 1 and ends.is_bold and ends.text.strip().isdigit() and line.spans[0].is_bold
        if is_number and sum(places[round(ends.x0) + shift] for shift in (-1, 0, 1)) >= 2:
            cut = (make_line(line.page, line.spans[:-1]), make_line(line.page, [ends]))
            parts += [part for part in cut if part is not None]
        else:
            parts.append(line)
    return parts


def join_letters(pieces: Sequence[Line]) -> list[Line]:
    """Join a number with the letter stored next to it: 4 and b to 4b.

    Args:
        pieces: Pieces of a page.

    Returns:
        Pieces with whole numbers.
    """
    joined: list[Line] = []
    letters = [piece for piece in pieces if len(piece.text) == 1 and piece.text.islower() and piece.is_bold]
    used: set[int] = set()
    for piece in pieces:
        mate = None
        if piece.text.isdigit() and len(piece.text) <= 2 and piece.is_bold:
            adjacent = [other for other in letters if abs(other.base - piece.base) < 1 and abs(other.x0 - piece.x1) < 4]
            mate = adjacent[0] if adjacent else None
        if mate is None:
            joined.append(piece)
            continue
        used.add(id(mate))
        both = make_line(piece.page, [*piece.spans, *mate.spans])
        assert both is not None, "a number and a letter show ink"
        both.text = piece.text + mate.text
        joined.append(both)
    return [piece for piece in joined if id(piece) not in used]


def read_line_number(piece: Line) -> LineNumber | None:
    """Parse the bold line number at the beginning of a piece.

    Args:
        piece: Piece of a page.

    Returns:
        Start of a line; None if there is none.
    """
    first = first_shown(piece)
    if not first.is_bold:
        return None
    for rule in load_form_lines().numbers:
        match = rule.pattern.match(piece.text)
        if match is not None:
            _, rest = cut_line(piece, match.end())
            text_x0 = rest[0].x0 if rest else piece.x1 + 1.0
            return LineNumber(piece, match["number"].replace(" ", ""), text_x0, piece.x0)
    return None


def find_repeats(numbered: Sequence[LineNumber], pieces: Sequence[Line] = ()) -> list[LineNumber]:
    """Find the numbers repeated next to the amounts, which do not begin a line.

    Args:
        numbered: Pieces that begin with a number.
        pieces: All pieces of the page.

    Returns:
        Those that begin no line.
    """
    sure = [start for start in numbered if _is_repeat(start, numbered)]
    reach = limits().repeat_column_pt
    return [
        start
        for start in numbered
        if any(start is other for other in sure)
        or (
            _is_alone(start)
            and sum(abs(start.x0 - other.x0) <= reach for other in sure) >= 2
            and not _counts_on(start, numbered, pieces)
        )
    ]


def _counts_on(start: LineNumber, numbered: Sequence[LineNumber], pieces: Sequence[Line]) -> bool:
    """Decide whether a number of its own, the next after one to its left, has words behind it: `4 [ ] Widow`."""
    number = plain_number(start.number)
    others = {plain_number(other.number) for other in numbered if other is not start}
    if not number.isdigit() or number in others or str(int(number) - 1) not in others:
        return False
    base, right = start.piece.base, start.piece.x1
    return any(
        right < piece.x0 <= right + limits().words_pt
        and abs(piece.base - base) <= limits().row_pt
        and any(map(str.isalpha, piece.text))
        for piece in pieces
    )


def find_amounts(
    numbered: Sequence[LineNumber], repeats: Sequence[LineNumber], pieces: Sequence[Line]
) -> list[LineNumber]:
    """Find filled-in numbers right after a line's repeated number, which do not begin a line.

    Args:
        numbered: Pieces that begin with a number.
        repeats: Those at the amounts.
        pieces: All pieces of the page.

    Returns:
        Those that begin no line.
    """
    begun = {id(start.piece) for start in numbered}
    repeated = {id(repeat.piece) for repeat in repeats}

    def is_filled_in(start: LineNumber) -> bool:
        if not (start.is_digit and _is_alone(start)):
            return False
        row = [piece for piece in pieces if abs(piece.base - start.piece.base) <= limits().row_pt]
        before = max((piece for piece in row if piece.x0 < start.x0), key=lambda piece: piece.x0, default=None)
        after = min((piece for piece in row if piece.x0 > start.x0), key=lambda piece: piece.x0, default=None)
        is_last = after is None or id(after) in begun
        return is_last and before is not None and id(before) in repeated

    return [start for start in numbered if is_filled_in(start)]


def keep_columns(starts: Sequence[LineNumber]) -> list[LineNumber]:
    """Drop candidates that are not line numbers.

    Kept are those in a column of ascending numbers (letters may be indented), and fields that continue a kept row.

    Args:
        starts: Candidates: printed numbers and letters that may begin a line.

    Returns:
        Line numbers from top to bottom, those of one row from left to right.
    """
    reach = limits().column_pt
    kept: list[LineNumber] = []
    column: list[LineNumber] = []
    for start in sorted(starts, key=lambda start: (start.x0, start.piece.y0)):
        if column and start.x0 - column[0].x0 > reach:
            kept += _in_order(column)
            column = []
        column.append(start)
    kept += _in_order(column)
    # Further fields of a row are lettered or numbered on, row by row or column by column.
    left = [start for start in starts if not any(start is other for other in kept)]
    while found := [start for start in left if _continues(start, kept)]:
        kept += found
        left = [start for start in left if not any(start is other for other in found)]
    return _by_rows(kept)


def _by_rows(starts: Sequence[LineNumber]) -> list[LineNumber]:
    """Order numbers from top to bottom, those of one row from left to right."""
    rows: list[list[LineNumber]] = []
    for start in sorted(starts, key=lambda start: start.piece.base):
        if rows and start.piece.base - rows[-1][0].piece.base < 2:
            rows[-1].append(start)
        else:
            rows.append([start])
    return [start for row in rows for start in sorted(row, key=lambda start: start.x0)]


def plain_number(number: str) -> str:
    """Normalize a line number without parentheses: `1(a)` to `1a`.

    Args:
        number: Number as printed, such as `(3)` or `1(a)`.

    Returns:
        Number without parentheses, such as `1a`.
    """
    return number.strip("()").replace("(", "").replace(")", "")


def _is_alone(start: LineNumber) -> bool:
    return not any(map(str.isalnum, start.piece.text[len(start.number) :]))


def _is_repeat(start: LineNumber, numbered: Sequence[LineNumber]) -> bool:
    """Decide whether a number is at an amount: it repeats that of a line to its left."""
    if not _is_alone(start):
        return False
    own, top, farthest = plain_number(start.number), start.piece.y0, start.x0 - limits().repeat_pt
    # A letter by itself is one of many: it repeats that of its own line only, which may be wrapped.
    reach = inf if start.is_digit else limits().letter_repeat_pt
    before = [
        other
        for other in numbered
        if other.piece.x0 < farthest and other.piece.y0 <= top + 4 and top - other.piece.y0 <= reach
    ]
    return any(
        own == plain_number(other.number)
        or (own[0].isdigit() and not other.is_digit and own.endswith(plain_number(other.number)))
        for other in before
    )


def _continues(start: LineNumber, kept: Sequence[LineNumber]) -> bool:
    """Decide whether a number to the right of another of its row is the next after one nearby."""
    base, own = start.piece.base, plain_number(start.number)
    row = [other for other in kept if abs(other.piece.base - base) < 2 and other.x0 < start.x0]
    if start.is_digit:
        return own.isdigit() and any(plain_number(other.number) == str(int(own) - 1) for other in row)
    near = [other for other in kept if abs(other.piece.base - base) <= limits().letter_repeat_pt]
    return bool(row) and len(own) == 1 and any(plain_number(other.number)[-1] == chr(ord(own) - 1) for other in near)


def _in_order(column: Sequence[LineNumber]) -> list[LineNumber]:
    """Keep the numbers of a column that count on, and the letters that count on after a number."""
    kept: list[LineNumber] = []
    letters = {False: "", True: ""}
    for start in sorted(column, key=lambda start: (start.piece.base, start.x0)):
        plain, is_bracketed = plain_number(start.number), start.number.startswith("(")
        if start.is_digit:
            letters = {False: plain.lstrip("0123456789"), True: ""}
            kept.append(start)
            continue
        before = letters[is_bracketed]
        if plain == "a" or (before and plain > before) or (not before and plain.isupper()):
            letters[is_bracketed] = plain
            kept.append(start)
    return kept if len(kept) >= 2 else []
