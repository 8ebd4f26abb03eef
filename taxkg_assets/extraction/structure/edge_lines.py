"""Lines that look like page furniture by their place or their text alone, and are part of the text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.paragraphs import thresholds
from taxkg_assets.extraction.layout.roles import is_artifact
from taxkg_assets.extraction.layout.style import Style
from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.rules.models.roles import load_roles

# Words after a run-in heading on its line, and the line right below them.
_ROW_PT, _NEXT_WORDS_SIZES, _NEXT_LINE_SIZES = 1.0, 2.0, 1.4
# A full stop touches the word before it; the dots of a leader are this near to each other.
_TOUCHING_SIZES, _LEADER_SIZES = 0.1, 3.0
_CLOSING = ")]’”\"'"


def find_lines_into_foot(page: Page, lines: Sequence[Line], style: Style) -> set[int]:
    """Find lines in the footer area that continue a paragraph above, so that they are text.

    Args:
        page: The page.
        lines: Its lines.
        style: Type sizes of the document.

    Returns:
        Python ids of the lines.
    """
    foot = thresholds().lone_foot_frac * page.height_pt
    low = [line for line in lines if line.y0 > foot]
    kept: set[int] = set()
    for line in sorted(low, key=lambda line: line.base):
        if line.is_bold or load_roles().artifacts.matches(line.text):
            continue
        above = [
            other
            for other in lines
            if abs(other.x0 - line.x0) < 1.5
            and abs(other.size - line.size) < 0.1
            and 0 < line.base - other.base < 1.3 * line.size
            and not other.is_bold
        ]
        if above and all(id(other) in kept or not is_artifact(other, page, style) for other in above):
            kept.add(id(line))
    return kept


def find_lines_from_head(page: Page, lines: Sequence[Line], style: Style) -> set[int]:
    """Find lines in the header area that begin a paragraph, so that they are text.

    The paragraph continues next to them and on the line right below. A short run-in heading at the top of a column
    recurs on many pages, as a running header does.

    Args:
        page: The page.
        lines: Its lines.
        style: Type sizes of the document.

    Returns:
        Python ids of the lines.
    """
    head = thresholds().head_frac * page.height_pt
    kept: set[int] = set()
    for line in lines:
        if line.y1 >= head or not line.is_bold or load_roles().artifacts.matches(line.text):
            continue
        after = [
            other
            for other in lines
            if abs(other.base - line.base) < _ROW_PT
            and 0 < other.x0 - line.x1 < _NEXT_WORDS_SIZES * line.size
            and not other.is_bold
        ]
        below = [
            other
            for other in lines
            if 0 < other.base - line.base < _NEXT_LINE_SIZES * line.size and other.x0 <= line.x0 + _ROW_PT < other.x1
        ]
        if after and below and not any(is_artifact(other, page, style) for other in (*after, *below)):
            kept.add(id(line))
    return kept


def find_full_stops(lines: Sequence[Line]) -> set[int]:
    """Find full stops that are stored separately behind their sentence, as after a link.

    The first dot of a leader is followed by more dots.

    Args:
        lines: Lines of a page.

    Returns:
        Python ids of the lines.
    """
    alone = sorted((line for line in lines if line.text == "."), key=lambda line: (round(line.base), line.x0))
    found: set[int] = set()
    for stop, after in zip_longest(alone, alone[1:]):
        # Of a leader that is stored dot by dot, only the last dot can be one.
        if after is not None and abs(after.base - stop.base) < _ROW_PT and _leads_on(stop, after):
            continue
        low, high = stop.base - _ROW_PT, stop.base + _ROW_PT
        row = [line for line in lines if low < line.base < high and line is not stop]
        if any(_is_touched(stop, line) for line in row) and not any(_leads_on(stop, line) for line in row):
            found.add(id(stop))
    return found


def _is_touched(stop: Line, line: Line) -> bool:
    is_word = line.text[-1].isalnum() or line.text[-1] in _CLOSING
    return is_word and abs(stop.x0 - line.x1) < _TOUCHING_SIZES * stop.size


def _leads_on(stop: Line, line: Line) -> bool:
    return line.text[0] == "." and 0 < line.x0 - stop.x1 < _LEADER_SIZES * stop.size
