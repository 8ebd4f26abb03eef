"""Run-in headings: bold words that begin a paragraph and name it."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.keys import find_key
from taxkg_assets.extraction.layout.lines import Line, cut_line, join_row, make_line
from taxkg_assets.extraction.layout.paragraphs import Paragraph, thresholds
from taxkg_assets.extraction.layout.roles import is_continued_page
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.rules.models.roles import load_roles


def split_lead(paragraph: Paragraph, *, is_continued: bool = False) -> tuple[list[Line], list[Line]]:
    """Split a paragraph into its bold run-in heading and the text after it.

    Args:
        paragraph: The paragraph.
        is_continued: Whether the heading began before; bold words at the start are then its continuation.

    Returns:
        Lines of the heading, which may be none, and lines of the text.
    """
    if not is_continued and not _bold_prefix(paragraph.first.spans):
        return [], paragraph.lines
    lead: list[Line] = []
    for ix, line in enumerate(paragraph.lines):
        cut = _bold_prefix(line.spans)
        if cut < len(line.spans):
            head = make_line(line.page, line.spans[:cut])
            tail = make_line(line.page, line.spans[cut:])
            if head is not None:
                lead.append(head)
            rest = ([tail] if tail is not None else []) + paragraph.lines[ix + 1 :]
            break
        lead.append(line)
    else:
        rest = []
    text = " ".join(line.text for line in lead)
    if is_continued:
        return lead, rest
    if lead and rest and len(rest) == 1 and find_key(text) and is_continued_page(rest[0].text):
        return lead + rest, []
    lead, rest = _with_full_stop(lead, rest)
    text = " ".join(line.text for line in lead)
    # The dash after a heading may be set in plain type.
    dash = "—" if rest and rest[0].text[0] == "—" else ""
    if not lead or not is_run_in_text(text + dash):
        return [], paragraph.lines
    return _without_remark(lead, rest)


def _with_full_stop(lead: list[Line], rest: list[Line]) -> tuple[list[Line], list[Line]]:
    """Add to a heading its period where that is set in plain type, with the text after it."""
    if not lead or not rest or rest[0].text[:2] != ". ":
        return lead, rest
    stop, after = cut_line(rest[0], 1)
    return [*lead[:-1], join_row([lead[-1], *stop])], [*after, *rest[1:]]


def _without_remark(lead: list[Line], rest: list[Line]) -> tuple[list[Line], list[Line]]:
    """Hand a remark in bold type that follows the heading's own sentence over to the text."""
    text = " ".join(line.text for line in lead)
    breaks = [match.start() for rule in load_roles().lead_breaks for match in rule.pattern.finditer(text)]
    if not breaks:
        return lead, rest
    room = min(breaks)
    kept: list[Line] = []
    for ix, line in enumerate(lead):
        if len(line.text) <= room:
            kept.append(line)
            room -= len(line.text) + 1
            if room <= 0:
                return kept, lead[ix + 1 :] + rest
            continue
        head, tail = cut_line(line, room)
        return kept + head, tail + lead[ix + 1 :] + rest
    return lead, rest


def is_run_in_text(text: str) -> bool:
    """Return whether bold words at a paragraph's start are a heading rather than emphasis."""
    if len(text) > thresholds().heading_chars or not any(map(str.isalnum, text)):
        return False
    if find_key(text) is not None and find_key(text, is_whole=True) is not None:
        return True
    if (
        load_roles().callouts.matches(text)
        or load_roles().label_rows.matches(text)
        or load_roles().answers.matches(text)
    ):
        return False
    return load_roles().heading_ends.matches(text) and not text[0].islower()


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
