"""Lines of one column to paragraphs: where a new one begins is decided by gap, indent, list mark and type.

What a paragraph is (heading, list item, callout, …) is decided in roles.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from taxkg_assets.extraction.layout.entries import begins_entry, find_entries
from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.rules.anchored_search import Search, compile_search
from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.roles import Thresholds, load_roles

LONE_MARKS = tuple("•●▪■")
"""Marks of lists that the PDF may store as lines of their own."""
_NOTHING = r"(?!)"
"""Pattern without a match; an empty one matches everything."""
_GROUP_NAME = re.compile(r"\(\?P<\w+>")


@cache
def thresholds() -> Thresholds:
    """Return the thresholds of `rules/roles.yaml`."""
    return load_roles().thresholds


@cache
def search_for(rules: RuleList[Rule]) -> Search:
    """Compile a list of rules into one search function, for speed.

    Args:
        rules: List of `rules/roles.yaml`.

    Returns:
        Function of a text that returns the first match, or None; always None if all rules of the list are off.
    """
    patterns = [_GROUP_NAME.sub("(?:", rule.pattern.pattern) for rule in rules]
    return compile_search(re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or _NOTHING))


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together, with the column that they are in.

    Attributes:
        lines: Printed lines, from top to bottom.
        column_x0: Left edge of the column, in points.
        column_x1: Right edge of the column.
        column_ix: Number of the column, from 0.
        is_listed: Whether the first line begins with the mark of a list item.
        gap_before: Distance of the first line from the line above, in points.
        is_last: Whether the paragraph is the last one of its column.
        heads_table: Whether a table follows.
        is_under_title: Whether the paragraph is between a table and the table's title.
        is_caption: Whether the paragraph is the title of a table.
        level: Level by the structure tags: 1 to 6 for a heading, 0 for other text; −1 where layout decides.
        path: Path of the structure tag that the paragraph is in.
        is_item: Whether the structure tags put the paragraph into a list item.
    """

    lines: list[Line]
    column_x0: float
    column_x1: float
    column_ix: int
    is_listed: bool
    gap_before: float
    is_last: bool = False
    heads_table: bool = False
    is_under_title: bool = False
    is_caption: bool = False
    level: int = -1
    path: tuple[int, ...] = ()
    is_item: bool = False

    @property
    def first(self) -> Line:
        """Return the topmost line."""
        return self.lines[0]


def find_leading(pages_lines: Sequence[Sequence[Line]]) -> dict[int, float]:
    """Measure the usual distance between baselines for each type size in a document.

    Args:
        pages_lines: Lines of each page, from top to bottom.

    Returns:
        Distance in points by type size in whole points.
    """
    # A document has few sizes and many equal steps: each is rounded once.
    steps: dict[float, list[float]] = {}
    for lines in pages_lines:
        for above, below in pairwise(lines):
            size = above.size
            if size == below.size and 0.9 * size < (step := below.base - above.base) < 1.7 * size:
                steps.setdefault(size, []).append(step)
    counts: dict[int, Counter[float]] = {}
    for size, size_steps in steps.items():
        counter = counts.setdefault(round(size), Counter())
        for step, count in Counter(size_steps).items():
            counter[round(step, 1)] += count
    return {size: min(counter.items(), key=lambda kv: (-kv[1], kv[0]))[0] for size, counter in counts.items()}


def find_paragraphs(
    lines: Sequence[Line],
    *,
    column_x0: float,
    column_x1: float,
    column_ix: int,
    leading: dict[int, float],
    is_cell: bool = False,
) -> list[Paragraph]:
    """Group lines into paragraphs by spacing, indents and list marks; indents are ignored in ruled cells.

    Args:
        lines: Lines of one column, from top to bottom.
        column_x0: Left edge of the column, in points.
        column_x1: Right edge of the column, in points.
        column_ix: Number of the column, from 0.
        leading: Usual distance of lines in points, by type size in whole points.
        is_cell: Whether the lines are in a ruled cell.

    Returns:
        Paragraphs from top to bottom.
    """
    paragraphs: list[Paragraph] = []
    is_ragged = is_cell or _is_flush_right(lines)
    entries = find_entries(lines)
    limit = thresholds()
    for ix, line in enumerate(lines):
        current = paragraphs[-1] if paragraphs else None
        is_item = is_list_start(line)
        if current is None:
            paragraphs.append(Paragraph([line], column_x0, column_x1, column_ix, is_item, 0.0))
            continue
        gap = line.base - current.lines[-1].base
        if is_cell and gap < -line.size:
            # The caption next to the one that ends above.
            paragraphs.append(Paragraph([line], column_x0, column_x1, column_ix, is_item, 0.0))
            continue
        if not (is_item or ix in entries) and _is_plain_next(line, current, gap, leading, limit):
            current.lines.append(line)
            continue
        is_new = _begins(line, current, gap=gap, is_item=is_item, leading=leading, is_ragged=is_ragged or ix in entries)
        if is_new or (ix in entries and begins_entry(line, current.lines)):
            is_item = is_item or (load_roles().lists.matches(line.text) and line.text[0] not in "–*")
            paragraphs.append(Paragraph([line], column_x0, column_x1, column_ix, is_item, gap))
        else:
            current.lines.append(line)
    if paragraphs:
        paragraphs[-1].is_last = True
    return paragraphs


def first_shown(line: Line) -> Span:
    """Return the first span of a line that is not blank.

    Args:
        line: Printed line.
    """
    return line.first


def text_x0(line: Line) -> float:
    """Return the left edge of a list item's text, after the list mark.

    Args:
        line: First line of the list item.

    Returns:
        Left edge in points.
    """
    first_span, *spans_after = [span for span in line.spans if span.text.strip()]
    mark_length = len(line.text) - len(line.text.split(None, 1)[-1])
    first_length = len(first_span.text.strip())
    if spans_after and first_length <= mark_length:
        return spans_after[0].x0
    # Mark and text are one span: assume equally wide characters.
    return line.x0 + (first_span.x1 - line.x0) * mark_length / max(1, first_length)


def is_list_start(line: Line) -> bool:
    """Return whether a line begins with a list mark followed by a gap.

    Args:
        line: Printed line.
    """
    mark = first_shown(line).text.strip()
    if len(mark) > 5:
        return line.text[0] in "•●▪■◦‣∙·►▶" and load_roles().lists.matches(line.text)
    return load_roles().lists.matches(mark + " ") if mark != line.text else mark in LONE_MARKS


def _is_flush_right(lines: Sequence[Line]) -> bool:
    """Decide whether a column's lines end at one edge and begin at many, as labels at a page's right side do."""
    limit = thresholds()
    if len(lines) < limit.flush_lines:
        return False
    right = max(line.x1 for line in lines)
    left = min(line.x0 for line in lines)
    ending_count = sum(right - line.x1 < 2.0 for line in lines)
    beginning_count = sum(line.x0 - left < 2.0 for line in lines)
    return ending_count >= limit.flush_frac * len(lines) and beginning_count <= limit.flush_begin_frac * len(lines)


def _is_plain_next(line: Line, current: Paragraph, gap: float, leading: dict[int, float], limit: Thresholds) -> bool:
    """Return True, faster than `_begins`, for a line right below the one above, with its type and left edge."""
    last_line = current.lines[-1]
    size = last_line.size
    if line.size != size or current.is_listed or line.first.is_bold or current.lines[0].is_bold:
        return False
    usual_gap = leading.get(round(size), 1.2 * size)
    if gap > limit.paragraph_gap_frac * usual_gap + limit.paragraph_gap_pt:
        return False
    indent = limit.indent_sizes * size
    return last_line.x0 - indent <= line.x0 <= last_line.x0 + indent


def _begins(
    line: Line,
    current: Paragraph,
    *,
    gap: float,
    is_item: bool,
    leading: dict[int, float],
    is_ragged: bool = False,
) -> bool:
    """Decide whether a line begins a new paragraph after the current one."""
    limit = thresholds()
    last_line = current.lines[-1]
    if _is_heading_line(line, current) and gap <= limit.heading_gap_sizes * line.size:
        return False
    usual_gap = leading.get(round(last_line.size), 1.2 * last_line.size)
    if gap > limit.paragraph_gap_frac * usual_gap + limit.paragraph_gap_pt or is_item:
        return True
    if abs(line.size - last_line.size) > 0.6 and abs(first_shown(line).size_pt - last_line.size) > 0.6:
        return True
    if _changes_weight(line, current):
        return True
    if is_ragged:
        return False
    if current.is_listed and len(current.lines) == 1:
        return not _continues_item(line, last_line, current, limit)
    text_left = current.lines[1].x0 if len(current.lines) > 1 else last_line.x0
    if current.is_listed:
        # The second line may begin behind a blank to fill in.
        text_left = min(text_left, text_x0(current.first))
    indent = limit.indent_sizes * line.size
    if line.x0 > last_line.x0 + indent:
        return not (_is_centered(line, last_line) or _hangs(line, current) or _is_under_title(line, last_line))
    if line.x0 < last_line.x0 - indent:
        if len(current.lines) > 1:
            return (
                not _is_centered(line, last_line) and line.x0 < text_left - indent and not _clears_icon(line, current)
            )
        is_far = last_line.x0 - line.x0 > limit.hanging_sizes * line.size
        return is_far and not _is_centered(line, last_line) and not _clears_icon(line, current)
    return False


def _is_heading_line(line: Line, current: Paragraph) -> bool:
    """Decide whether a bold line is the next line of a heading in the same type, which is large or had no room left."""
    last_line = current.lines[-1]
    if not (line.is_bold and last_line.is_bold) or abs(line.size - last_line.size) > 0.1:
        return False
    if not (abs(line.x0 - last_line.x0) < 2.0 or _is_centered(line, last_line)):
        return False
    if line.size < thresholds().heading_line_pt and (
        load_roles().heading_ends.matches(last_line.text)
        or not _is_full(last_line, next_line=line, x1=current.column_x1)
    ):
        return False
    return all(other.is_bold for other in current.lines)


def _changes_weight(line: Line, current: Paragraph) -> bool:
    """Decide whether bold type of the same size ends or begins here as a heading does."""
    last_line = current.lines[-1]
    starts_bold = first_shown(line).is_bold
    if current.first.is_bold and all(other.is_bold for other in current.lines):
        return not starts_bold and not load_roles().heading_ends.matches(last_line.text)
    if starts_bold and not last_line.last.is_bold and load_roles().sentence_ends.matches(last_line.text):
        return line.is_bold or _leads_with_heading(line)
    return False


def _leads_with_heading(line: Line) -> bool:
    bold_text = ""
    for span in line.spans:
        if span.text.strip() and not span.is_bold:
            break
        bold_text += span.text
    return load_roles().heading_ends.matches(bold_text.strip()) and bold_text.strip()[:1].isupper()


def _continues_item(line: Line, first_line: Line, current: Paragraph, limit: Thresholds) -> bool:
    """Decide whether a line is the second one of a list item: under its text, its mark, or back at the margin."""
    if abs(line.x0 - text_x0(first_line)) <= 4.0 or abs(line.x0 - first_line.x0) <= 1.5:
        return True
    if line.x0 > first_line.x0:
        is_blank_before = not line.text[0].isupper() and not load_roles().sentence_ends.matches(first_line.text)
        return line.x0 < text_x0(first_line) + 4.0 or is_blank_before
    is_numbered = first_line.text[:1].isalnum() or first_line.text[:1] == "("
    is_near = first_line.x0 - line.x0 <= limit.hanging_sizes * line.size
    return is_near and (is_numbered or _is_full(first_line, next_line=line, x1=current.column_x1))


def _is_full(line: Line, *, next_line: Line, x1: float) -> bool:
    """Decide whether a line had no room for the first word of the line after it."""
    word_width = (next_line.x1 - next_line.x0) * len(next_line.text.split()[0]) / len(next_line.text)
    return line.x1 + word_width + 0.3 * next_line.size > x1


def _hangs(line: Line, current: Paragraph) -> bool:
    """Decide whether a line continues under the words next to a bold tag, as the first line had no room for more."""
    first_line = current.first
    plain_span = next((span for span in first_line.spans if span.text.strip() and not span.is_bold), None)
    if len(current.lines) > 1 or plain_span is None or not first_shown(first_line).is_bold or first_shown(line).is_bold:
        return False
    is_full = _is_full(first_line, next_line=line, x1=current.column_x1)
    return is_full and line.x0 <= plain_span.x0 + 2.0 and not load_roles().sentence_ends.matches(first_line.text)


def _is_under_title(line: Line, line_above: Line) -> bool:
    """Decide whether a bold line continues right under words that stand apart from the bold tag before them."""
    if not (line.is_bold and line_above.is_bold) or line.is_italic != line_above.is_italic:
        return False
    shown_spans = [span for span in line_above.spans if span.text.strip()]
    return any(
        abs(next_span.x0 - line.x0) < 2.0 and next_span.x0 - before.x1 > 0.5 * line.size
        for before, next_span in pairwise(shown_spans)
    )


def _is_centered(line: Line, line_above: Line) -> bool:
    middle_x = (line.x0 + line.x1) / 2
    return line.is_bold and line_above.is_bold and abs(middle_x - (line_above.x0 + line_above.x1) / 2) < 4.0


def _clears_icon(line: Line, current: Paragraph) -> bool:
    """Decide whether a paragraph's first lines were pushed right by an icon and this line is back at the margin."""
    shift = current.first.x0 - line.x0
    return (
        abs(line.x0 - current.column_x0) < 3.0 and 2.2 * line.size < shift < 6.0 * line.size and len(current.lines) < 6
    )
