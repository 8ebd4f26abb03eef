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
# Pieces with a narrower gap meet.
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
    """One printed line of one column with its spans from left to right; `first` and `last` are not blank."""

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


# Not frozen for the same reason as spans; never changed all the same.
@dataclass(slots=True)
class Piece:
    """A range of an element's text and the rectangle that prints it."""

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


def make_line(page: int, spans: Sequence[Span]) -> Line | None:
    """Build a line from spans; None if all are blank.

    Args:
        page: 1-based page.
        spans: Spans of one line in reading order.

    Returns:
        The line.
    """
    if len(spans) == 1:
        return _plain_line(page, spans[0])
    shown = [span for span in spans if span.text and not span.text.isspace()]
    if not shown:
        return None
    first, last = shown[0], shown[-1]
    main, longest, y0, y1 = first, len(first.text), first.y0, first.y1
    is_marked = False
    for span in shown:
        # Faster than the least and the greatest of two.
        count = len(span.text)
        if count > longest:
            main, longest = span, count
        y0 = span.y0 if span.y0 < y0 else y0
        y1 = span.y1 if span.y1 > y1 else y1
        is_marked = is_marked or span.is_bold or span.is_italic
    lettered = [span for span in shown if any(map(str.isalnum, span.text))] if is_marked else []
    text = "".join(span.text for span in spans).strip()
    if "  " in text or "\t" in text:
        text = " ".join(text.split())
    x0 = first.x0
    blanks = len(first.text) - len(first.text.lstrip())
    if blanks:
        x0 += (first.x1 - first.x0) * blanks / len(first.text)
    return Line(
        page,
        list(spans),
        first,
        last,
        text,
        x0,
        y0,
        last.x1,
        y1,
        main.size_pt,
        main.y1,
        bool(lettered) and all(span.is_bold for span in lettered),
        bool(lettered) and all(span.is_italic for span in lettered),
    )


def _plain_line(page: int, span: Span) -> Line | None:
    """Build a line of one span: nine of ten lines are, so it is done without loops."""
    stored = span.text
    text = stored.strip()
    if not text:
        return None
    if "  " in text:
        text = " ".join(text.split())
    x0 = span.x0
    if stored[0] != text[0]:
        x0 += (span.x1 - span.x0) * (len(stored) - len(stored.lstrip())) / len(stored)
    bold, italic = span.is_bold, span.is_italic
    if bold or italic:
        has_letters = any(map(str.isalnum, text))
        bold, italic = bold and has_letters, italic and has_letters
    return Line(page, [span], span, span, text, x0, span.y0, span.x1, span.y1, span.size_pt, span.y1, bold, italic)


def find_lines(page: Page) -> list[Line]:
    """Return the upright lines of a page in the order in which the PDF stores them.

    Args:
        page: Page with its spans.
    """
    stored: list[list[Span]] = []
    block_ix = line_ix = -1
    for span in page.spans:
        if span.line_ix == line_ix and span.block_ix == block_ix:
            stored[-1].append(span)
        else:
            stored.append([span])
            block_ix, line_ix = span.block_ix, span.line_ix
    number = page.page
    found = [_plain_line(number, spans[0]) if len(spans) == 1 else make_line(number, spans) for spans in stored]
    return [line for line in found if line is not None]


def is_upright(line: Line) -> bool:
    """Return whether a line runs from left to right; watermarks and edge prints do not.

    Args:
        line: A line with its direction.
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
    ordered = sorted(lines, key=_PLACE)
    if all(line.base - above.base >= _SAME_BASE_FRAC * line.size for above, line in pairwise(ordered)):
        return ordered
    rows: list[list[Line]] = []
    lowest = -inf
    for line in ordered:
        # Nothing is lower than the line before: most lines are too far below it to stand in any row.
        is_near = line.base - lowest < _SAME_BASE_FRAC * line.size
        lowest = line.base
        for row in reversed(rows[-4:]) if is_near else ():
            last = row[-1]
            if abs(last.base - line.base) < _SAME_BASE_FRAC * min(last.size, line.size):
                row.append(line)
                break
        else:
            rows.append([line])
    merged: list[Line] = []
    for row in rows:
        if len(row) == 1:
            merged.append(row[0])
            continue
        row.sort(key=lambda line: line.x0)
        if _is_justified(row):
            merged.append(join_row(row))
            continue
        run = [row[0]]
        for line in row[1:]:
            gap = line.x0 - run[-1].x1
            if gap <= _LINE_GAP_SIZES * max(line.size, run[-1].size) or _LEADER.search(run[-1].text):
                run.append(line)
            else:
                merged.append(join_row(run))
                run = [line]
        merged.append(join_row(run))
    return merged


def _is_justified(row: list[Line]) -> bool:
    """Decide whether the words of one line were only driven apart: equal wide gaps, as no table has them."""
    gaps = [right.x0 - left.x1 for left, right in pairwise(row)]
    if len(gaps) < 2:
        return False
    return min(gaps) > 0 and max(gaps) - min(gaps) < 1.5 and max(gaps) < _JUSTIFIED_GAP_SIZES * row[0].size


def join_row(run: list[Line]) -> Line:
    """Return the pieces of one printed line as one line.

    Args:
        run: Pieces from left to right.
    """
    if len(run) == 1:
        return run[0]
    spans: list[Span] = list(run[0].spans)
    text = run[0].text
    for before, line in pairwise(run):
        is_apart = not _touches(before, line)
        if is_apart:
            # A blank where the PDF stores none, so that any part of the line reads as printed.
            spans.append(_blank_after(spans[-1], line.x0))
        spans += line.spans
        text = f"{text} {line.text}" if is_apart else text + line.text
    joined = make_line(run[0].page, spans)
    assert joined is not None, "lines of visible spans join to a visible line"
    joined.text = text
    return joined


def _touches(before: Line, line: Line) -> bool:
    """Decide whether two pieces of a line meet without a blank, as a link does with the comma after it."""
    if before.text in _CENTURIES and line.text.isdigit() and len(line.text) == 2:
        # The year of an annual product, in two typefaces.
        return abs(line.x0 - before.x1) < _JOINED_SIZES * max(before.size, line.size)
    if before.spans[-1].text[-1:].isspace() or line.spans[0].text[:1].isspace():
        return False
    return are_joined(before.text, line.text, gap=line.x0 - before.x1, size=max(before.size, line.size))


def are_joined(before: str, after: str, *, gap: float, size: float) -> bool:
    """Return whether two texts are set without a space between them.

    False if letters or digits are on both sides of a gap.

    Args:
        before: Text on the left.
        after: Text on the right.
        gap: Distance between them in points.
        size: Type size in points.
    """
    return abs(gap) < _JOINED_SIZES * size and not (before[-1:].isalnum() and after[:1].isalnum())


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


def cut_line(line: Line, at: int) -> tuple[list[Line], list[Line]]:
    """Split a line at a character; a blank side yields no line.

    Args:
        line: Line to cut.
        at: Character of its text before which it is cut.

    Returns:
        Lines before and after the cut.
    """
    left: list[Span] = []
    right: list[Span] = []
    room = _find_stored(line, at)
    for span in line.spans:
        if room >= len(span.text):
            left.append(span)
        elif room <= 0:
            right.append(span)
        else:
            middle = span.x0 + (span.x1 - span.x0) * room / len(span.text)
            left.append(replace(span, text=span.text[:room], x1=middle))
            right.append(replace(span, text=span.text[room:], x0=middle))
        room -= len(span.text)
    sides = [make_line(line.page, spans) for spans in (left, right)]
    return ([sides[0]] if sides[0] else []), ([sides[1]] if sides[1] else [])


def _find_stored(line: Line, at: int) -> int:
    """Find the place in a line's stored spans of a character of its text, which has one blank for several."""
    stored = "".join(span.text for span in line.spans)
    blanks = len(stored) - len(stored.lstrip())
    if len(line.text) == len(stored.strip()):
        return at + blanks
    place = blanks
    for _ in range(at):
        is_blank = stored[place : place + 1].isspace()
        place += 1
        while is_blank and stored[place : place + 1].isspace():
            place += 1
    return place


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
    before = lines[0].text
    for line in lines[1:]:
        text = line.text
        # A blank parts them, unless the line ends in one of a few signs.
        glue = _glue(before, text, words) if before[-1] in _TIES else " "
        if glue == " ":
            before += " "
        elif glue == "-":
            before = before[:-1]
        parts.append(before)
        length += len(before)
        starts.append(length)
        before = text
    parts.append(before)
    length += len(before)
    pieces = [
        Piece(start, end, line.page, line.x0, line.y0, line.x1, line.y1)
        for start, end, line in zip(starts, [*starts[1:], length], lines, strict=True)
    ]
    return "".join(parts), pieces


def _glue(before: str, after: str, words: Container[str]) -> str:
    """Decide what is between two lines: a space, nothing, or '-' for a hyphen that must go."""
    end = before[-1]
    if end == "\u00ad":
        return "-"
    if after[0] in LIST_MARKS:
        return " "
    if end in "/—–" or (end == ")" and _SUBDIVISION.match(after) and _is_divided(before)):
        return ""
    if end != "-":
        return " "
    left, right = _LEFT_PART.search(before.rpartition(" ")[2]), _RIGHT_PART.match(after)
    if left is None or right is None:
        return ""
    whole = (left[0] + right[0]).lower()
    is_hyphenated = f"{left[0]}-{right[0]}".lower() in words
    if right[0][0].islower():
        return "" if is_hyphenated and whole not in words else "-"
    # Capitals with a hyphen may be a code: only a word that is printed whole elsewhere is joined.
    is_split = min(len(left[0]), len(right[0])) > 1 and left[0].isupper() and right[0].isupper()
    return "-" if is_split and not is_hyphenated and whole in words else ""


def _is_divided(before: str) -> bool:
    """Decide whether a line ends with the subdivision of a law, which the next one may divide further."""
    return load_roles().tight_joins.matches(before)
