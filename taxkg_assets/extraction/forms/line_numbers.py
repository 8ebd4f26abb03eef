"""Printed line numbers: which pieces of a page begin with one, and which of them number a line.

A number may also repeat the number of its line next to the amount, or be an amount that was filled in. The words of a
numbered line are put together in form_lines.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.layout.lines import Line, cut_line, make_line
from taxkg_assets.extraction.layout.paragraphs import first_shown
from taxkg_assets.extraction.layout.rows import LinesByBase
from taxkg_assets.rules.models.form_lines import load_form_lines


@dataclass(frozen=True, slots=True)
class LineNumber:
    """A printed line number.

    Attributes:
        piece: Piece of text that begins with the number.
        number: Number as printed, without blanks: "4b", "(3)".
        text_x0: Left edge of the words after the number, in points.
        x0: Left edge of the number.
    """

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
        Pieces; none of them contains both a label and a number.
    """
    number_places = Counter(round(line.x0) for line in lines if line.is_bold and line.text.isdigit())
    parts: list[Line] = []
    for line in lines:
        last_span = line.spans[-1]
        is_number = (
            len(line.spans) > 1 and last_span.is_bold and last_span.text.strip().isdigit() and line.spans[0].is_bold
        )
        if is_number and sum(number_places[round(last_span.x0) + shift] for shift in (-1, 0, 1)) >= 2:
            cut_parts = (make_line(line.page, line.spans[:-1]), make_line(line.page, [last_span]))
            parts += [part for part in cut_parts if part is not None]
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
    joined_pieces: list[Line] = []
    letters = [piece for piece in pieces if len(piece.text) == 1 and piece.text.islower() and piece.is_bold]
    used_ids: set[int] = set()
    for piece in pieces:
        letter = None
        if piece.text.isdigit() and len(piece.text) <= 2 and piece.is_bold:
            near_letters = [
                other for other in letters if abs(other.base - piece.base) < 1 and abs(other.x0 - piece.x1) < 4
            ]
            letter = near_letters[0] if near_letters else None
        if letter is None:
            joined_pieces.append(piece)
            continue
        used_ids.add(id(letter))
        joined_piece = make_line(piece.page, [*piece.spans, *letter.spans])
        assert joined_piece is not None, "a number and a letter show ink"
        joined_piece.text = piece.text + letter.text
        joined_pieces.append(joined_piece)
    return [piece for piece in joined_pieces if id(piece) not in used_ids]


def read_line_number(piece: Line) -> LineNumber | None:
    """Parse the bold line number at the beginning of a piece.

    Args:
        piece: Piece of a page.

    Returns:
        The number; None if the piece begins with none.
    """
    first_span = first_shown(piece)
    if not first_span.is_bold:
        return None
    for rule in load_form_lines().numbers:
        match = rule.pattern.match(piece.text)
        if match is not None:
            _, words = cut_line(piece, match.end())
            text_x0 = words[0].x0 if words else piece.x1 + 1.0
            return LineNumber(piece, match["number"].replace(" ", ""), text_x0, piece.x0)
    return None


def find_repeats(numbers: Sequence[LineNumber], pieces: Sequence[Line] = ()) -> list[LineNumber]:
    """Find the numbers repeated next to the amounts, which do not begin a line.

    Args:
        numbers: Numbers at the start of pieces.
        pieces: All pieces of the page.

    Returns:
        The repeated numbers.
    """
    sure_repeats = [start for start in numbers if _is_repeat(start, numbers)]
    reach = limits().repeat_column_pt

    def is_repeat(start: LineNumber) -> bool:
        if any(start is other for other in sure_repeats):
            return True
        is_in_column_of_repeats = sum(abs(start.x0 - other.x0) <= reach for other in sure_repeats) >= 2
        return _is_alone(start) and is_in_column_of_repeats and not _counts_on(start, numbers, pieces)

    return [start for start in numbers if is_repeat(start)]


def _counts_on(start: LineNumber, numbers: Sequence[LineNumber], pieces: Sequence[Line]) -> bool:
    """Decide whether a number follows another number of the page and has words to its right: `4 [ ] Widow`."""
    number = plain_number(start.number)
    other_numbers = {plain_number(other.number) for other in numbers if other is not start}
    if not number.isdigit() or number in other_numbers or str(int(number) - 1) not in other_numbers:
        return False
    base, right = start.piece.base, start.piece.x1
    return any(
        right < piece.x0 <= right + limits().words_pt
        and abs(piece.base - base) <= limits().row_pt
        and any(map(str.isalpha, piece.text))
        for piece in pieces
    )


def find_amounts(
    numbers: Sequence[LineNumber], repeats: Sequence[LineNumber], pieces: Sequence[Line]
) -> list[LineNumber]:
    """Find filled-in numbers right after a line's repeated number, which do not begin a line.

    Args:
        numbers: Numbers at the start of pieces.
        repeats: Numbers repeated next to the amounts.
        pieces: All pieces of the page.

    Returns:
        The numbers that were filled in.
    """
    number_ids = {id(start.piece) for start in numbers}
    repeat_ids = {id(repeat.piece) for repeat in repeats}
    pieces_by_base, row_pt = LinesByBase(pieces), limits().row_pt

    def is_filled_in(start: LineNumber) -> bool:
        if not (start.is_digit and _is_alone(start)):
            return False
        base = start.piece.base
        row = [piece for piece in pieces_by_base.find_near(base, row_pt) if abs(piece.base - base) <= row_pt]
        before = max((piece for piece in row if piece.x0 < start.x0), key=lambda piece: piece.x0, default=None)
        after = min((piece for piece in row if piece.x0 > start.x0), key=lambda piece: piece.x0, default=None)
        is_last = after is None or id(after) in number_ids
        return is_last and before is not None and id(before) in repeat_ids

    return [start for start in numbers if is_filled_in(start)]


def keep_columns(starts: Sequence[LineNumber]) -> list[LineNumber]:
    """Drop candidates that are not line numbers.

    A candidate is kept in a column of ascending numbers, where letters may be indented, and where it continues a row of
    kept numbers, as the number of a further field does.

    Args:
        starts: Candidates: printed numbers and letters that may begin a line.

    Returns:
        Line numbers from top to bottom, those of one row from left to right.
    """
    reach = limits().column_pt
    kept_numbers: list[LineNumber] = []
    column: list[LineNumber] = []
    for start in sorted(starts, key=lambda start: (start.x0, start.piece.y0)):
        if column and start.x0 - column[0].x0 > reach:
            kept_numbers += _in_order(column)
            column = []
        column.append(start)
    kept_numbers += _in_order(column)
    # Further fields of a row are lettered or numbered on, row by row or column by column.
    numbers_left = [start for start in starts if not any(start is other for other in kept_numbers)]
    while further_numbers := [start for start in numbers_left if _continues(start, kept_numbers)]:
        kept_numbers += further_numbers
        numbers_left = [start for start in numbers_left if not any(start is other for other in further_numbers)]
    return _by_rows(kept_numbers)


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


def _is_repeat(start: LineNumber, numbers: Sequence[LineNumber]) -> bool:
    """Decide whether a number is printed at an amount: it repeats the number of a line to its left."""
    if not _is_alone(start):
        return False
    own_number = plain_number(start.number)
    top = start.piece.y0
    most_x0 = start.x0 - limits().repeat_pt
    # A letter by itself is one of many: it repeats that of its own line only, which may be wrapped.
    reach = inf if start.is_digit else limits().letter_repeat_pt
    numbers_before = [
        other
        for other in numbers
        if other.piece.x0 < most_x0 and other.piece.y0 <= top + 4 and top - other.piece.y0 <= reach
    ]
    return any(
        own_number == plain_number(other.number)
        or (own_number[0].isdigit() and not other.is_digit and own_number.endswith(plain_number(other.number)))
        for other in numbers_before
    )


def _continues(start: LineNumber, kept_numbers: Sequence[LineNumber]) -> bool:
    """Decide whether a number to the right of a kept number of its row is the next after a kept number nearby."""
    base = start.piece.base
    own_number = plain_number(start.number)
    row = [other for other in kept_numbers if abs(other.piece.base - base) < 2 and other.x0 < start.x0]
    if start.is_digit:
        return own_number.isdigit() and any(plain_number(other.number) == str(int(own_number) - 1) for other in row)
    near_numbers = [other for other in kept_numbers if abs(other.piece.base - base) <= limits().letter_repeat_pt]
    return (
        bool(row)
        and len(own_number) == 1
        and any(plain_number(other.number)[-1] == chr(ord(own_number) - 1) for other in near_numbers)
    )


def _in_order(column: Sequence[LineNumber]) -> list[LineNumber]:
    """Keep the numbers of a column, and the letters that rise after a number: a, b, c."""
    kept_numbers: list[LineNumber] = []
    letters = {False: "", True: ""}
    for start in sorted(column, key=lambda start: (start.piece.base, start.x0)):
        plain_text = plain_number(start.number)
        is_bracketed = start.number.startswith("(")
        if start.is_digit:
            letters = {False: plain_text.lstrip("0123456789"), True: ""}
            kept_numbers.append(start)
            continue
        letter_before = letters[is_bracketed]
        if (
            plain_text == "a"
            or (letter_before and plain_text > letter_before)
            or (not letter_before and plain_text.isupper())
        ):
            letters[is_bracketed] = plain_text
            kept_numbers.append(start)
    return kept_numbers if len(kept_numbers) >= 2 else []
