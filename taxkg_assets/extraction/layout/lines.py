"""Spans to printed lines, and lines to running text with a rectangle for each of its ranges.

A line here is what a reader sees as one line of one column: the pieces that a PDF stores apart (a bullet and its
text, the words next to a wide gap) are one line. Columns and paragraphs are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from operator import attrgetter

from taxkg_assets.extraction.pdf.model import Page, Span
from taxkg_assets.rules.models.roles import load_roles

# Two pieces are one printed line when their lower edges differ by less than this share of the type size.
_SAME_BASE_FRAC = 0.35
# Widest gap inside a line, in type sizes: justified lines and hanging bullets stay below it.
_LINE_GAP_SIZES = 2.6
_JUSTIFIED_GAP_SIZES = 5.0
# Pieces with a narrower gap are set without a blank between them.
_JOINED_SIZES = 0.1
_LEADER = re.compile(r"(?:\s*\.\s*){4,}")
_LEFT_PART = re.compile(r"[^\W\d_]+(?=-$)")
_RIGHT_PART = re.compile(r"^[^\W\d_]+")
_PLACE = attrgetter("base", "x0")
_TIES = "\u00ad-/—–)"
# A subdivision of a law, which continues without a blank; longer words in parentheses have one before them.
_SUBDIVISION = re.compile(r"\(\w{1,5}\)")
_CENTURIES = ("19", "20")
LIST_MARKS = frozenset("•●▪■◦‣∙·►▶")
"""Signs that begin a list item: no line is tied to them, whatever it ends with."""


@dataclass(slots=True)
class Line:
    """One printed line of one column.

    Attributes:
        page: Number of the page, from 1.
        spans: Spans in reading order.
        first: First span that is not blank.
        last: Last span that is not blank.
        text: Text of the line, with single blanks.
        x0: Left edge of the leftmost character, in points.
        y0: Upper edge.
        x1: Right edge.
        y1: Lower edge.
        size: Type size of the longest span, in points.
        base: Lower edge of the longest span: lines with equal values are set side by side.
        is_bold: Whether all letters and digits are bold.
        is_italic: Whether all letters and digits are italic.
    """

    page: int
    spans: list[Span]
    first: Span
    last: Span
    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    base: float
    is_bold: bool
    is_italic: bool

    @property
    def height(self) -> float:
        """Return the height of the printed line, in points."""
        return self.y1 - self.y0


# Not frozen, because frozen instances are slower to make; never changed.
@dataclass(slots=True)
class Piece:
    """A range of an element's text, and the rectangle where that range is printed.

    Attributes:
        start: First character of the range.
        end: Character after the range.
        page: Number of the page, from 1.
        x0: Left edge, in points.
        y0: Upper edge.
        x1: Right edge.
        y1: Lower edge.
    """

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


def make_line(page: int, spans: Sequence[Span]) -> Line | None:
    """Build a line from spans.

    Args:
        page: 1-based page.
        spans: Spans of one line in reading order.

    Returns:
        The line; None if all spans are blank.
    """
    if len(spans) == 1:
        return _plain_line(page, spans[0])
    shown_spans = [span for span in spans if span.text and not span.text.isspace()]
    if not shown_spans:
        return None
    first_span, last_span = shown_spans[0], shown_spans[-1]
    longest_span = first_span
    most_letters = len(first_span.text)
    y0 = first_span.y0
    y1 = first_span.y1
    x0, x1 = first_span.x0, first_span.x1
    blank_count = len(first_span.text) - len(first_span.text.lstrip())
    if blank_count:
        x0 += (x1 - x0) * blank_count / len(first_span.text)
    is_marked = False
    for span in shown_spans:
        # Faster than `min` and `max`.
        count = len(span.text)
        if count > most_letters:
            longest_span, most_letters = span, count
        y0 = span.y0 if span.y0 < y0 else y0
        y1 = span.y1 if span.y1 > y1 else y1
        # Text that is read from right to left begins with its rightmost span.
        x0 = span.x0 if span.x0 < x0 and span is not first_span else x0
        x1 = span.x1 if span.x1 > x1 else x1
        is_marked = is_marked or span.is_bold or span.is_italic
    letter_spans = [span for span in shown_spans if any(map(str.isalnum, span.text))] if is_marked else []
    text = "".join(span.text for span in spans).strip()
    if "  " in text or "\t" in text:
        text = " ".join(text.split())
    return Line(
        page,
        list(spans),
        first_span,
        last_span,
        text,
        x0,
        y0,
        x1,
        y1,
        longest_span.size_pt,
        longest_span.y1,
        bool(letter_spans) and all(span.is_bold for span in letter_spans),
        bool(letter_spans) and all(span.is_italic for span in letter_spans),
    )


def _plain_line(page: int, span: Span) -> Line | None:
    """Build a line of one span: nine of ten lines are, so it is done without loops."""
    stored_text = span.text
    text = stored_text.strip()
    if not text:
        return None
    if "  " in text:
        text = " ".join(text.split())
    x0 = span.x0
    if stored_text[0] != text[0]:
        x0 += (span.x1 - span.x0) * (len(stored_text) - len(stored_text.lstrip())) / len(stored_text)
    is_bold, is_italic = span.is_bold, span.is_italic
    if is_bold or is_italic:
        has_letters = any(map(str.isalnum, text))
        is_bold, is_italic = is_bold and has_letters, is_italic and has_letters
    return Line(
        page, [span], span, span, text, x0, span.y0, span.x1, span.y1, span.size_pt, span.y1, is_bold, is_italic
    )


def find_lines(page: Page) -> list[Line]:
    """Return the upright lines of a page in the order in which the PDF stores them.

    Args:
        page: Page with its spans.
    """
    line_spans: list[list[Span]] = []
    block_ix = line_ix = -1
    for span in page.spans:
        if span.line_ix == line_ix and span.block_ix == block_ix:
            line_spans[-1].append(span)
        else:
            line_spans.append([span])
            block_ix, line_ix = span.block_ix, span.line_ix
    number = page.page
    lines = [_plain_line(number, spans[0]) if len(spans) == 1 else make_line(number, spans) for spans in line_spans]
    return [line for line in lines if line is not None]


def is_upright(line: Line) -> bool:
    """Return whether a line runs from left to right; watermarks and texts on the edge of a page do not.

    Args:
        line: Line to test: one that is much higher than its type is set upward or across.
    """
    if line.y1 - line.y0 <= 2.2 * line.size or len(line.text) < 4:
        return True
    return line.height <= 2.2 * max(span.size_pt for span in line.spans)


def merge_lines(lines: list[Line]) -> list[Line]:
    """Return the printed lines of one column from top to bottom, with their stored pieces joined.

    Args:
        lines: Stored lines of the column.
    """
    if len(lines) == 1:
        return list(lines)
    lines_by_place = sorted(lines, key=_PLACE)
    if all(line.base - above.base >= _SAME_BASE_FRAC * line.size for above, line in pairwise(lines_by_place)):
        return lines_by_place
    rows: list[list[Line]] = []
    lowest_base = -inf
    for line in lines_by_place:
        # Nothing is lower than the line before: most lines are too far below it to stand in any row.
        is_near = line.base - lowest_base < _SAME_BASE_FRAC * line.size
        lowest_base = line.base
        for row in reversed(rows[-4:]) if is_near else ():
            last_piece = row[-1]
            if abs(last_piece.base - line.base) < _SAME_BASE_FRAC * min(last_piece.size, line.size):
                row.append(line)
                break
        else:
            rows.append([line])
    merged_lines: list[Line] = []
    for row in rows:
        if len(row) == 1:
            merged_lines.append(row[0])
            continue
        row.sort(key=lambda line: line.x0)
        if _is_justified(row):
            merged_lines.append(join_row(row))
            continue
        pieces = [row[0]]
        for line in row[1:]:
            gap = line.x0 - pieces[-1].x1
            if gap <= _LINE_GAP_SIZES * max(line.size, pieces[-1].size) or _LEADER.search(pieces[-1].text):
                pieces.append(line)
            else:
                merged_lines.append(join_row(pieces))
                pieces = [line]
        merged_lines.append(join_row(pieces))
    return merged_lines


def _is_justified(row: list[Line]) -> bool:
    """Decide whether the words of one line were only driven apart: equal wide gaps, as no table has them."""
    gaps = [right.x0 - left.x1 for left, right in pairwise(row)]
    if len(gaps) < 2:
        return False
    return min(gaps) > 0 and max(gaps) - min(gaps) < 1.5 and max(gaps) < _JUSTIFIED_GAP_SIZES * row[0].size


def join_row(pieces: list[Line]) -> Line:
    """Return the pieces of one printed line as one line.

    Args:
        pieces: Pieces of one printed line, from left to right.
    """
    if len(pieces) == 1:
        return pieces[0]
    spans: list[Span] = list(pieces[0].spans)
    text = pieces[0].text
    for piece_before, piece in pairwise(pieces):
        is_apart = not _touches(piece_before, piece)
        if is_apart:
            # A blank where the PDF stores none, so that any part of the line reads as printed.
            spans.append(_blank_after(spans[-1], piece.x0))
        spans += piece.spans
        text = f"{text} {piece.text}" if is_apart else text + piece.text
    joined_line = make_line(pieces[0].page, spans)
    assert joined_line is not None, "lines of visible spans join to a visible line"
    joined_line.text = text
    return joined_line


def _touches(piece_before: Line, piece: Line) -> bool:
    """Decide whether two pieces of a line meet without a blank, as a link does with the comma after it."""
    if piece_before.text in _CENTURIES and piece.text.isdigit() and len(piece.text) == 2:
        # The year of an annual product, in two typefaces.
        return abs(piece.x0 - piece_before.x1) < _JOINED_SIZES * max(piece_before.size, piece.size)
    if piece_before.spans[-1].text[-1:].isspace() or piece.spans[0].text[:1].isspace():
        return False
    return are_joined(
        piece_before.text, piece.text, gap_pt=piece.x0 - piece_before.x1, size_pt=max(piece_before.size, piece.size)
    )


def are_joined(text_before: str, text_after: str, *, gap_pt: float, size_pt: float) -> bool:
    """Return whether two texts are set without a space between them.

    False if letters or digits are on both sides of a gap.

    Args:
        text_before: Text on the left.
        text_after: Text on the right.
        gap_pt: Distance between the texts, in points.
        size_pt: Larger of their type sizes, in points.

    Returns:
        False where the gap is wide, and where letters or digits are on both sides of a gap.
    """
    return abs(gap_pt) < _JOINED_SIZES * size_pt and not (text_before[-1:].isalnum() and text_after[:1].isalnum())


def _blank_after(span: Span, x1: float) -> Span:
    """Make a blank in the type of a span that reaches from its end to a place behind it."""
    return Span(
        span.span_ix,
        span.block_ix,
        span.line_ix,
        " ",
        span.font,
        span.size_pt,
        span.is_bold,
        span.is_italic,
        span.color,
        span.x1,
        span.y0,
        max(span.x1, x1),
        span.y1,
        span.tag_ix,
    )


def cut_line(line: Line, char_ix: int) -> tuple[list[Line], list[Line]]:
    """Split a line at a character; a blank side yields no line.

    Args:
        line: Line to cut.
        char_ix: Number of the character in the line's text that begins the second part.

    Returns:
        Lines before and after the cut; a blank part yields an empty list.
    """
    left_spans: list[Span] = []
    right_spans: list[Span] = []
    char_count = _find_stored(line, char_ix)
    for span in line.spans:
        if char_count >= len(span.text):
            left_spans.append(span)
        elif char_count <= 0:
            right_spans.append(span)
        else:
            cut_x = span.x0 + (span.x1 - span.x0) * char_count / len(span.text)
            left_spans.append(replace(span, text=span.text[:char_count], x1=cut_x))
            right_spans.append(replace(span, text=span.text[char_count:], x0=cut_x))
        char_count -= len(span.text)
    sides = [make_line(line.page, spans) for spans in (left_spans, right_spans)]
    return ([sides[0]] if sides[0] else []), ([sides[1]] if sides[1] else [])


def _find_stored(line: Line, char_ix: int) -> int:
    """Find the place in a line's stored spans of a character of its text, which has one blank for several."""
    stored_text = "".join(span.text for span in line.spans)
    blank_count = len(stored_text) - len(stored_text.lstrip())
    if len(line.text) == len(stored_text.strip()):
        return char_ix + blank_count
    stored_ix = blank_count
    for _ in range(char_ix):
        is_blank = stored_text[stored_ix : stored_ix + 1].isspace()
        stored_ix += 1
        while is_blank and stored_text[stored_ix : stored_ix + 1].isspace():
            stored_ix += 1
    return stored_ix


def join_lines(lines: Sequence[Line], *, words: Container[str]) -> tuple[str, list[Piece]]:
    """Join lines to running text, undoing hyphenation inside words.

    Args:
        lines: Lines of one paragraph from top to bottom.
        words: Words of the document, used to decide whether two parts are one word.

    Returns:
        The text, and for each piece its range of characters and its rectangle.
    """
    if len(lines) == 1:
        (line,) = lines
        return line.text, [Piece(0, len(line.text), line.page, line.x0, line.y0, line.x1, line.y1)]
    parts: list[str] = []
    starts = [0]
    length = 0
    text_before = lines[0].text
    for line in lines[1:]:
        text = line.text
        # A blank parts them, unless the line ends in one of a few signs.
        joint = _find_joint(text_before, text, words) if text_before[-1] in _TIES else " "
        if joint == " ":
            text_before += " "
        elif joint == "-":
            text_before = text_before[:-1]
        parts.append(text_before)
        length += len(text_before)
        starts.append(length)
        text_before = text
    parts.append(text_before)
    length += len(text_before)
    pieces = [
        Piece(start, end, line.page, line.x0, line.y0, line.x1, line.y1)
        for start, end, line in zip(starts, [*starts[1:], length], lines, strict=True)
    ]
    return "".join(parts), pieces


def _find_joint(text_before: str, text_after: str, words: Container[str]) -> str:
    """Decide what joins two lines: a space, nothing, or '-' where the hyphen at the line end must be removed."""
    last_letter = text_before[-1]
    if last_letter == "\u00ad":
        return "-"
    if text_after[0] in LIST_MARKS:
        return " "
    if last_letter in "/—–" or (
        last_letter == ")" and _SUBDIVISION.match(text_after) and _ends_with_subdivision(text_before)
    ):
        return ""
    if last_letter != "-":
        return " "
    left_part = _LEFT_PART.search(text_before.rpartition(" ")[2])
    right_part = _RIGHT_PART.match(text_after)
    if left_part is None or right_part is None:
        return ""
    joined_word = (left_part[0] + right_part[0]).lower()
    is_hyphenated = f"{left_part[0]}-{right_part[0]}".lower() in words
    if right_part[0][0].islower():
        return "" if is_hyphenated and joined_word not in words else "-"
    # Capitals with a hyphen may be a code: only a word that is printed whole elsewhere is joined.
    is_split = min(len(left_part[0]), len(right_part[0])) > 1 and left_part[0].isupper() and right_part[0].isupper()
    return "-" if is_split and not is_hyphenated and joined_word in words else ""


def _ends_with_subdivision(line_text: str) -> bool:
    """Decide whether a line ends with the subdivision of a law, which the next one may divide further."""
    return load_roles().tight_joins.matches(line_text)
