"""Lines that look like page furniture by their place or their text alone, and are part of the text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.paragraphs import thresholds
from taxkg_assets.extraction.layout.roles import is_artifact
from taxkg_assets.extraction.layout.rows import LinesByBase
from taxkg_assets.extraction.layout.style import Style
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.rules.models.roles import load_roles

# Words after a run-in heading on its line, and the line right below them.
_ROW_PT, _NEXT_WORDS_SIZES, _NEXT_LINE_SIZES = 1.0, 2.0, 1.4
# A full stop touches the word before it; the dots of a leader are this near to each other.
_TOUCHING_SIZES, _LEADER_SIZES = 0.1, 3.0
# Two words of a row are less than this apart.
_BLANK_SIZES = 0.5
_CLOSING = ")]’”\"'"


def find_lines_into_foot(page: Page, lines: Sequence[Line], style: Style) -> set[int]:
    """Find lines in the footer area of a page that continue the paragraph above them, so that they are text.

    Args:
        page: The page.
        lines: Printed lines of the page.
        style: Type sizes of the document.

    Returns:
        Python ids of the lines.
    """
    footer_y = thresholds().lone_foot_frac * page.height_pt
    footer_lines = [line for line in lines if line.y0 > footer_y]
    text_lines: set[int] = set()
    for line in sorted(footer_lines, key=lambda line: line.base):
        if line.is_bold or load_roles().artifacts.matches(line.text):
            continue
        lines_above = [
            other
            for other in lines
            if abs(other.x0 - line.x0) < 1.5
            and abs(other.size - line.size) < 0.1
            and 0 < line.base - other.base < 1.3 * line.size
            and not other.is_bold
        ]
        if lines_above and all(id(other) in text_lines or not is_artifact(other, page, style) for other in lines_above):
            text_lines.add(id(line))
    return text_lines


def find_lines_from_head(page: Page, lines: Sequence[Line], style: Style) -> set[int]:
    """Find bold lines in the header area of a page that begin a paragraph, so that they are text.

    Such a run-in heading recurs on many pages, as a running header does. But the paragraph continues right of it and on
    the line right below.

    Args:
        page: The page.
        lines: Printed lines of the page.
        style: Type sizes of the document.

    Returns:
        Python ids of the lines.
    """
    header_y = thresholds().head_frac * page.height_pt
    text_lines: set[int] = set()
    for line in lines:
        if line.y1 >= header_y or not line.is_bold or load_roles().artifacts.matches(line.text):
            continue
        next_words = [
            other
            for other in lines
            if abs(other.base - line.base) < _ROW_PT
            and 0 < other.x0 - line.x1 < _NEXT_WORDS_SIZES * line.size
            and not other.is_bold
        ]
        lines_below = [
            other
            for other in lines
            if 0 < other.base - line.base < _NEXT_LINE_SIZES * line.size and other.x0 <= line.x0 + _ROW_PT < other.x1
        ]
        if (
            next_words
            and lines_below
            and not any(is_artifact(other, page, style) for other in (*next_words, *lines_below))
        ):
            text_lines.add(id(line))
    return text_lines


def find_full_stops(lines: Sequence[Line]) -> set[int]:
    """Find full stops that the file stores apart from the sentence that they end, for example after a link.

    The dots of a leader (`Total . . . . 5`) are no full stops.


    Args:
        lines: Lines of a page.

    Returns:
        Python ids of the lines.
    """
    lone_dots = sorted((line for line in lines if line.text == "."), key=lambda line: (round(line.base), line.x0))
    if not lone_dots:
        return set()
    full_stops: set[int] = set()
    lines_by_base = LinesByBase(lines)
    for stop, next_dot in zip_longest(lone_dots, lone_dots[1:]):
        # Of a leader that is stored dot by dot, only the last dot can be one.
        if next_dot is not None and abs(next_dot.base - stop.base) < _ROW_PT and _leads_on(stop, next_dot):
            continue
        low, high = stop.base - _ROW_PT, stop.base + _ROW_PT
        near_lines = lines_by_base.find_near(stop.base, _ROW_PT)
        row = [line for line in near_lines if low < line.base < high and line is not stop]
        if any(_is_touched(stop, line) for line in row) and not any(_leads_on(stop, line) for line in row):
            full_stops.add(id(stop))
    return full_stops


def find_dates_in_sentences(lines: Sequence[Line]) -> set[int]:
    """Find dates that continue the words left of them, as where a sentence sets its due date in bold.

    A date alone on its row is the day of release.

    Args:
        lines: Lines of a page.

    Returns:
        Python ids of the lines.
    """
    dates = [line for line in lines if load_roles().artifacts.release_date.search(line.text)]
    return {
        id(date)
        for date in dates
        if any(
            abs(line.base - date.base) < _ROW_PT
            and abs(line.size - date.size) < _ROW_PT
            and -_TOUCHING_SIZES < (date.x0 - line.x1) / date.size < _BLANK_SIZES
            and line.text[-1].isalpha()
            for line in lines
        )
    }


def _is_touched(stop: Line, line: Line) -> bool:
    is_word = line.text[-1].isalnum() or line.text[-1] in _CLOSING
    return is_word and abs(stop.x0 - line.x1) < _TOUCHING_SIZES * stop.size


def _leads_on(stop: Line, line: Line) -> bool:
    return line.text[0] == "." and 0 < line.x0 - stop.x1 < _LEADER_SIZES * stop.size
