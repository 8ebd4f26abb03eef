"""Lines of worksheets: a worksheet numbers its own lines, so `line 4 of the … Worksheet` is no line of the form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.extraction.references.mentions import Mention, leads_to
from taxkg_assets.rules.models.references import load_references

UNNAMED = "worksheet"
"""What holds a line of a worksheet that the text does not name."""
_WORD = "orksheet"
"""`Worksheet` or `worksheet`."""
_TITLE_BEGINS = re.compile(r"(?:(?:Filled[- ]?[Ii]n|Completed|Illustrated|Sample|Example(?: of)?)\s+)?$")
"""Before the name of a worksheet that is filled in as an example."""
_TITLE_CONTINUES = re.compile(
    r"(?:\s*\([^()]*\))?(?:\s*(?:[.:—–-]|$)|\s+[A-Z]|\s+(?:for|of|to)\s+(?:(?:the|your)\s+)?[A-Z])"
)


def attach_worksheets(text: str, mentions: Sequence[Mention], *, is_in_worksheet: bool = False) -> list[Mention]:
    """Add to each mentioned line of a worksheet the name of the worksheet: `line 4 of the Rent Worksheet`.

    Args:
        text: The text.
        mentions: Mentions in the text, in order.
        is_in_worksheet: Whether the text is part of a worksheet or explains one. "The worksheet" then means this one.

    Returns:
        Mentions in the same order. If the text names no worksheet for the line, its name is `UNNAMED`.
    """
    if _WORD not in text or not any(mention.kind == "line" for mention in mentions):
        return list(mentions)
    worksheet_mentions = [mention for mention in mentions if mention.kind == "section" and _WORD in mention.target]
    return [_attach(text, mention, worksheet_mentions, is_in_worksheet=is_in_worksheet) for mention in mentions]


def drop_own_name(mentions: Sequence[Mention], text: str, *, role: str) -> list[Mention]:
    """Drop the mention of a table in its own title: `Worksheet 9-9. Boats` refers to nothing.

    Args:
        mentions: Mentions in the text, in order.
        text: The text.
        role: Role of the text's element.

    Returns:
        Mentions in the same order.
    """
    first = next(iter(mentions), None)
    if role != "TableBlock" or first is None or first.rule_id != "worksheet":
        return list(mentions)
    is_title = _TITLE_BEGINS.match(text[: first.start]) and _TITLE_CONTINUES.match(text, first.group[1])
    return list(mentions[1:]) if is_title else list(mentions)


def is_on_worksheet(mention: Mention) -> bool:
    """Return whether a mentioned line is on a worksheet.

    Args:
        mention: Mention of a box or line.
    """
    return mention.target.endswith(")")


def _attach(text: str, mention: Mention, worksheet_mentions: Sequence[Mention], *, is_in_worksheet: bool) -> Mention:
    if mention.kind != "line" or mention.target_form or not mention.target.startswith("line_"):
        return mention
    start, end = mention.group
    for other in worksheet_mentions:
        follows = other.start >= end and load_references().context.form_after.pattern.match(text[end : other.start])
        if follows or (other.end <= start and leads_to(text[other.end : start])):
            return replace(mention, target=f"{mention.target} ({other.target})")
    if not load_references().context.worksheet_after.pattern.match(text, end):
        return mention
    worksheets_before = [other.target for other in worksheet_mentions if other.end <= start]
    if not worksheets_before and is_in_worksheet:
        return mention
    return replace(mention, target=f"{mention.target} ({worksheets_before[-1] if worksheets_before else UNNAMED})")
