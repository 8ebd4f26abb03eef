"""What a paragraph is: heading, list item, callout, form field, title, or page furniture.

Type size and weight, place on the page and the words of `rules/roles.yaml` decide; nothing here knows a document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import dropwhile

from taxkg_assets.extraction.keys import find_key
from taxkg_assets.extraction.layout.lines import Line, is_upright
from taxkg_assets.extraction.layout.paragraphs import (
    Paragraph,
    first_shown,
    search_for,
    thresholds,
)
from taxkg_assets.extraction.layout.style import LETTER, Style, find_edges, mask_digits
from taxkg_assets.extraction.pdf.model import Page, Rule
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.section_grammar import load_section_grammar

# A heading in the type of the text is set in at most this number of lines.
_HEADING_LINES = 3
# Below this share of the page, a note says that it continues; elsewhere the same words end a title.
_NOTE_FRAC = 0.75
# The foot of a first page is two lines high where it also prints a date: its page number is that much higher.
_FIRST_FOOT_PT = 10.0
# Lines of one address: type as large as the text's or as the next line's, the same left edge, one leading apart.
_SAME_SIZE_PT, _SAME_EDGE_PT, _NEXT_LINE_SIZES = 0.3, 1.5, 1.4


def is_artifact(line: Line, page: Page, style: Style) -> bool:
    """Return whether a line is page furniture: running header or footer, catalog number, proof mark, text at the edge.

    Args:
        line: Printed line.
        page: Page with its spans, rules and fields.
        style: Type sizes of the document, in points.
    """
    return find_artifact_test(page, style)(line)


def find_artifact_test(page: Page, style: Style) -> Callable[[Line], bool]:
    """Return a function that tests lines of one page as `is_artifact` does.

    Args:
        page: Page with its spans, rules and fields.
        style: Type sizes of the document, in points.

    Returns:
        Function of a line.
    """
    header_bottom, footer_top = find_edges(page)
    lone_footer_top = thresholds().lone_foot_frac * page.height_pt
    repeated_texts = style.repeated
    search = search_for(load_roles().artifacts)

    def test(line: Line) -> bool:
        # Nearly all lines are upright, which their height shows.
        if line.size > 60 or (line.y1 - line.y0 > 2.2 * line.size and not is_upright(line)):
            return True
        text = line.text
        if line.y0 > footer_top or line.y1 < header_bottom:
            if mask_digits(text) in repeated_texts or search(text) is not None:
                return True
            return line.y0 > lone_footer_top
        if line.y0 > footer_top - _FIRST_FOOT_PT and not text.isdigit() and mask_digits(text) in repeated_texts:
            return True
        if text[0] == "(" and line.y0 > _NOTE_FRAC * page.height_pt and load_roles().foot_notes.matches(text):
            return True
        return search(text) is not None and not text.isdigit()

    return test


def find_address_lines(page: Page, lines: Sequence[Line], style: Style) -> frozenset[int]:
    """Find lines where the publisher's name begins a mailing address: they are text, and no masthead.

    Such lines are away from the page's edges, and either set in the type of the text or right above lines that continue
    in the same type.

    Args:
        page: Page with its spans, rules and fields.
        lines: Printed lines, from top to bottom.
        style: Type sizes of the document, in points.

    Returns:
        `id()` of each such line.
    """
    header_bottom, footer_top = find_edges(page)
    if page.page == 1:
        header_bottom = thresholds().masthead_frac * page.height_pt
    publisher = load_roles().artifacts.publisher
    name_lines = [
        line
        for line in lines
        if publisher.search(line.text) is not None and header_bottom < line.y0 and line.y1 < footer_top
    ]
    address_line_ids: set[int] = set()
    for line in sorted(name_lines, key=lambda line: -line.base):
        if abs(line.size - style.body(page.page)) < _SAME_SIZE_PT:
            address_line_ids.add(id(line))
            continue
        lines_below = [
            other
            for other in lines
            if 0 < other.base - line.base < _NEXT_LINE_SIZES * line.size
            and abs(other.x0 - line.x0) < _SAME_EDGE_PT
            and abs(other.size - line.size) < _SAME_SIZE_PT
        ]
        if any(id(other) in address_line_ids or not is_artifact(other, page, style) for other in lines_below):
            address_line_ids.add(id(line))
    return frozenset(address_line_ids)


def is_in_lone_foot(line: Line, page: Page) -> bool:
    """Return whether a line is so low on the page that its position alone makes it furniture.

    Args:
        line: Printed line.
        page: Page with its spans, rules and fields.
    """
    return line.y0 > thresholds().lone_foot_frac * page.height_pt


def is_face_page(page: Page, *, box_count: int) -> bool:
    """Return whether a page is the face of a form.

    Args:
        page: Page with its spans, rules and fields.
        box_count: Boxes found on the page.
    """
    return box_count >= 2 or len(page.widgets) >= thresholds().face_widgets


def is_title(paragraph: Paragraph, page: Page, style: Style, *, title_bottom: float) -> bool:
    """Return whether a paragraph on the first page belongs to the document's title.

    Args:
        paragraph: Paragraph with its lines.
        page: Page with its spans, rules and fields.
        style: Type sizes of the document, in points.
        title_bottom: Height of the rule below the masthead, in points.
    """
    line = paragraph.first
    if page.page != 1:
        return False
    if not LETTER.search(line.text):
        is_large = line.size >= thresholds().section_size_frac * style.body_size
        return is_large and len(paragraph.lines) == 1 and load_roles().masthead_years.matches(line.text)
    key = find_key(line.text)
    if (key is not None and key.kind == "part") or load_roles().openers.matches(line.text):
        return False
    limit = thresholds()
    if line.y1 <= title_bottom:
        return line.is_bold or line.size > limit.heading_size_frac * style.body_size
    if line.size > style.body(page.page) and load_roles().titles.matches(line.text):
        return True
    if (first_shown(line).font, round(line.size, 1)) in style.later_styles:
        return False
    is_big = line.size >= limit.title_size_frac * style.body(page.page)
    return is_big and line.size >= limit.title_frac * style.title_size and line.y0 < 0.45 * page.height_pt


def find_title_floor(page: Page, style: Style, lines: Sequence[Line]) -> float:
    """Find the rule below the masthead of a first page, between large type and running text.

    Args:
        page: Page with its spans, rules and fields.
        style: Type sizes of the document, in points.
        lines: Printed lines, from top to bottom.

    Returns:
        Height of the rule in points, from the top.
    """
    large_lines = [line for line in lines if line.size >= 0.9 * style.title_size and line.size >= 1.6 * style.body_size]
    if not large_lines or page.page != 1:
        return 0.0
    title_y1 = (
        max(line.y1 for line in large_lines if line.y0 < 0.3 * page.height_pt)
        if large_lines[0].y0 < 0.3 * page.height_pt
        else 0.0
    )
    rule_heights = [
        rule.y0
        for rule in page.rules
        if rule.is_horizontal
        and rule.x1 - rule.x0 > 0.6 * page.width_pt
        and title_y1 - 4 <= rule.y0 < 0.35 * page.height_pt
    ]
    return min(rule_heights, default=0.0) if title_y1 else 0.0


def is_heading(paragraph: Paragraph, page: Page, style: Style) -> bool:
    """Return whether a paragraph is a heading on its own line(s).

    Args:
        paragraph: Paragraph with its lines.
        page: Page with its spans, rules and fields.
        style: Type sizes of the document, in points.
    """
    first_line = paragraph.first
    first_span = first_shown(first_line)
    body_size, limits = style.body(page.page), thresholds()
    is_bold = first_span.is_bold or first_line.is_bold
    if paragraph.is_listed or not (is_bold or first_line.size >= limits.display_size_frac * body_size):
        return False
    text = " ".join(line.text for line in paragraph.lines)
    if not 3 <= len(text) <= limits.heading_chars or not LETTER.search(text) or load_roles().leaders.matches(text):
        return False
    least_size = limits.heading_size_frac * body_size
    if first_span.is_bold and first_span.size_pt >= least_size and _ends_in_remark(paragraph):
        return True
    is_large = first_span.is_bold and first_line.size >= least_size
    if is_large:
        # "Heading (continued)": bold words with a plain or italic addition on the same line.
        if all(line.is_bold for line in paragraph.lines) or is_continued_page(text):
            return True
        return len(paragraph.lines) <= 3 and _bold_share(paragraph) > 0.5
    if first_span.is_bold and len(paragraph.lines) == 1 and is_continued_page(text):
        return True
    # On a page of small print, plain words in the document's own size are its text.
    if _is_display(paragraph, body_size=max(body_size, style.body_size)):
        return True
    if not all(line.is_bold and not line.is_italic for line in paragraph.lines) or first_line.size < 0.95 * body_size:
        return False
    if (
        paragraph.is_last
        or load_roles().sentence_ends.matches(text)
        or load_roles().addresses.matches(paragraph.lines[-1].text)
    ):
        return False
    # The publisher's name in a logo is set in several lines.
    if load_roles().artifacts.matches(text):
        return False
    key = find_key(text)
    if key is not None and key.kind == "line" and _is_at_margin(paragraph):
        return True
    if len(paragraph.lines) > _HEADING_LINES:
        return False
    return (paragraph.heads_table and len(paragraph.lines) <= 2) or _is_set_apart(paragraph, page)


def _is_display(paragraph: Paragraph, *, body_size: float) -> bool:
    """Decide whether plain words are set so much larger than the text that their size alone makes a heading."""
    lines = paragraph.lines
    least_size = thresholds().display_size_frac * body_size
    is_large = len(lines) <= 3 and all(line.size >= least_size and not line.is_bold for line in lines)
    if not is_large or paragraph.is_last or not lines[0].text[0].isupper():
        return False
    if load_roles().captions.matches(lines[0].text) or load_roles().addresses.matches(lines[-1].text):
        return False
    # In the upright type of a section, a question and what introduces a list stand as headings, too.
    is_section = lines[0].size >= thresholds().section_size_frac * body_size and not lines[0].is_italic
    return not load_roles().sentence_ends.matches(lines[-1].text) or (is_section and lines[-1].text[-1] in "?:")


def is_continued_page(text: str) -> bool:
    """Return whether a heading says that its text continues from an earlier page.

    Args:
        text: The heading.

    Returns:
        True for a heading that ends in "(continued)" or the like.
    """
    return load_section_grammar().continued.matches(text)


def is_centered(line: Line, page: Page, *, line_counts: Counter[int]) -> bool:
    """Return whether a line is centered on the page and not aligned with a column.

    Args:
        line: Printed line.
        page: Page with its spans, rules and fields.
        line_counts: Number of lines of the page by their left edge, in whole points.
    """
    is_in_middle = abs((line.x0 + line.x1) / 2 - page.width_pt / 2) < 6.0
    return is_in_middle and sum(line_counts[round(line.x0) + shift] for shift in (-1, 0, 1)) < 4


def _bold_share(paragraph: Paragraph) -> float:
    spans = [span for line in paragraph.lines for span in line.spans]
    letter_count = sum(len(span.text.strip()) for span in spans)
    return sum(len(span.text.strip()) for span in spans if span.is_bold) / max(1, letter_count)


def _ends_in_remark(paragraph: Paragraph) -> bool:
    """Decide whether all words after the bold ones at the beginning are a remark in parentheses."""
    spans = [span for line in paragraph.lines for span in line.spans if span.text.strip()]
    remark = " ".join(span.text for span in dropwhile(lambda span: span.is_bold, spans)).strip()
    is_remark = remark.startswith("(") and remark.endswith(")") and remark.count("(") == 1
    return is_remark and len(paragraph.lines) <= _HEADING_LINES


def _is_set_apart(paragraph: Paragraph, page: Page) -> bool:
    """Decide whether bold lines of the body's size stand as a heading: centered on the page, or with heading case."""
    first_line = paragraph.first
    if abs((first_line.x0 + first_line.x1) / 2 - page.width_pt / 2) < 6.0 and first_line.x0 > page.width_pt / 8:
        return True
    words = [word for word in " ".join(line.text for line in paragraph.lines).split() if len(word) > 3]
    capital_count = sum(word.lstrip("(“\"'")[:1].isupper() or word[:1].isdigit() for word in words)
    is_cased = bool(words) and capital_count >= 0.7 * len(words)
    return _is_at_margin(paragraph) and is_cased


def _is_at_margin(paragraph: Paragraph) -> bool:
    return abs(paragraph.first.x0 - paragraph.column_x0) < 2.0


def is_prose(paragraph: Paragraph) -> bool:
    """Return whether a paragraph on a form's face is running text rather than a field's label.

    Args:
        paragraph: Paragraph with its lines.
    """
    if len(paragraph.lines) < 2 or load_roles().leaders.matches(paragraph.lines[-1].text):
        return False
    is_wide = max(line.x1 - line.x0 for line in paragraph.lines) > 200
    return is_wide and load_roles().sentence_ends.matches(paragraph.lines[-1].text)


def is_below_rule(line: Line, rules: Sequence[Rule], *, column_x0: float, column_x1: float) -> bool:
    """Return whether a rule as wide as the column is drawn right above a line.

    Args:
        line: Printed line.
        rules: Drawn lines of the page.
        column_x0: Left edge of the column, in points.
        column_x1: Right edge of the column, in points.
    """
    limit = thresholds()
    highest, lowest = line.y0 - limit.rule_reach_pt, line.y0 + 0.35 * line.size
    # Few rules of a page are at the height of a line.
    near_rules = [rule for rule in rules if highest <= rule.y0 <= lowest]
    if not near_rules:
        return False
    width = limit.rule_width_frac * (column_x1 - column_x0)
    return any(
        rule.is_horizontal and rule.x1 - rule.x0 >= width and rule.x0 <= line.x0 + 4 and rule.x1 > line.x0
        for rule in near_rules
    )
