"""Run-in headings: bold words that begin a paragraph and name it."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.keys import find_key
from taxkg_assets.extraction.layout.lines import Line, cut_line, join_row, make_line
from taxkg_assets.extraction.layout.paragraphs import Paragraph, thresholds
from taxkg_assets.extraction.layout.roles import is_continued_page
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.rules.models.roles import load_roles
from taxkg_assets.rules.models.section_grammar import load_section_grammar


def split_lead(paragraph: Paragraph, *, is_continued: bool = False) -> tuple[list[Line], list[Line]]:
    """Split a paragraph into its bold run-in heading and the text after it.

    `**Harbor dues.** Enter the dues that you paid.` has the heading `Harbor dues.`

    Args:
        paragraph: Paragraph whose first words may be bold.
        is_continued: Whether the heading began in the paragraph before; bold words at the start then continue that
            heading.

    Returns:
        Lines of the heading, which may be none, and lines of the text.
    """
    if not is_continued and not _bold_prefix(paragraph.first.spans):
        return [], paragraph.lines
    heading_lines, text_lines = _split_at_bold(paragraph.lines)
    if is_continued:
        return heading_lines, text_lines
    if (
        heading_lines
        and len(text_lines) == 1
        and is_continued_page(text_lines[0].text)
        and find_key(_join(heading_lines))
    ):
        # The plain words only say that the page before has the beginning of the heading.
        return heading_lines + text_lines, []
    heading_lines, text_lines = _with_full_stop(heading_lines, text_lines)
    # The dash after a heading may be set in plain type.
    dash = "—" if text_lines and text_lines[0].text[0] == "—" else ""
    if not heading_lines or not is_run_in_text(_join(heading_lines) + dash):
        return [], paragraph.lines
    return _without_remark(heading_lines, text_lines)


def _split_at_bold(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Return the bold words at the beginning of some lines, and the lines after them; a line may be cut in two."""
    heading_lines: list[Line] = []
    for ix, line in enumerate(lines):
        bold_count = _bold_prefix(line.spans)
        if bold_count == len(line.spans):
            heading_lines.append(line)
            continue
        bold_part = make_line(line.page, line.spans[:bold_count])
        plain_part = make_line(line.page, line.spans[bold_count:])
        if bold_part is not None:
            heading_lines.append(bold_part)
        return heading_lines, ([plain_part] if plain_part is not None else []) + lines[ix + 1 :]
    return heading_lines, []


def _join(lines: Sequence[Line]) -> str:
    """Return the words of some lines."""
    return " ".join(line.text for line in lines)


def _with_full_stop(heading_lines: list[Line], text_lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Add to a heading its period where that is set in plain type, with the text after it."""
    if not heading_lines or not text_lines or text_lines[0].text[:2] != ". ":
        return heading_lines, text_lines
    stop, rest_lines = cut_line(text_lines[0], 1)
    return [*heading_lines[:-1], join_row([heading_lines[-1], *stop])], [*rest_lines, *text_lines[1:]]


def _without_remark(heading_lines: list[Line], text_lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Hand a remark in bold type that follows the heading's own sentence over to the text."""
    text = " ".join(line.text for line in heading_lines)
    breaks = [match.start() for rule in load_roles().lead_breaks for match in rule.pattern.finditer(text)]
    if not breaks:
        return heading_lines, text_lines
    char_count = min(breaks)
    kept_lines: list[Line] = []
    for ix, line in enumerate(heading_lines):
        if len(line.text) <= char_count:
            kept_lines.append(line)
            char_count -= len(line.text) + 1
            if char_count <= 0:
                return kept_lines, heading_lines[ix + 1 :] + text_lines
            continue
        head, tail = cut_line(line, char_count)
        return kept_lines + head, tail + heading_lines[ix + 1 :] + text_lines
    return heading_lines, text_lines


def is_run_in_text(text: str) -> bool:
    """Return whether bold words at a paragraph's start are a heading rather than emphasis.

    Args:
        text: Bold words at the start of a paragraph.

    Returns:
        False for emphasis, such as a callout, an answer, or words without the sign that ends a heading.
    """
    if len(text) > thresholds().heading_chars or not any(map(str.isalnum, text)):
        return False
    if find_key(text) is not None and find_key(text, is_whole=True) is not None:
        return True
    if _is_notice_title(text):
        return True
    if (
        load_roles().callouts.matches(text)
        or load_roles().label_rows.matches(text)
        or load_roles().answers.matches(text)
    ):
        return False
    return load_roles().heading_ends.matches(text) and not text[0].islower()


def _is_notice_title(text: str) -> bool:
    """Return whether bold words are the whole title of a notice that closes a booklet, which may end without a sign."""
    matches = (rule.pattern.search(text) for rule in load_section_grammar().standing)
    return any(match is not None and match.end() == len(text) for match in matches)


def _bold_prefix(spans: Sequence[Span]) -> int:
    """Count the leading spans that are bold or blank; the blank ones at the end go to the text."""
    count = 0
    for ix, span in enumerate(spans):
        if span.text.isspace() or not span.text:
            continue
        if not span.is_bold:
            break
        count = ix + 1
    else:
        return len(spans)
    return count
