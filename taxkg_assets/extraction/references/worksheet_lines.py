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
    """Add to each mentioned line the worksheet it belongs to, named before, after or earlier in the text.

    Args:
        text: The text.
        mentions: Its mentions, in its order.
        is_in_worksheet: Whether the text is part of a worksheet or explains one, which "the worksheet" then means.

    Returns:
        Mentions in the same order. A line of a worksheet that the text does not name is on `UNNAMED`.
    """
    if _WORD not in text or not any(mention.kind == "line" for mention in mentions):
        return list(mentions)
    named = [mention for mention in mentions if mention.kind == "section" and _WORD in mention.target]
    return [_attach(text, mention, named, is_in_worksheet=is_in_worksheet) for mention in mentions]


def drop_own_name(mentions: Sequence[Mention], text: str, *, role: str) -> list[Mention]:
    """Drop the mention of a table in its own title: `Worksheet 9-9. Boats` refers to nothing.

    Args:
        mentions: Mentions of the text, in its order.
        text: The text.
        role: Role of its element.

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


def _attach(text: str, mention: Mention, named: Sequence[Mention], *, is_in_worksheet: bool) -> Mention:
    if mention.kind != "line" or mention.target_form or not mention.target.startswith("line_"):
        return mention
    start, end = mention.group
    for other in named:
        follows = other.start >= end and load_references().context.form_after.pattern.match(text[end : other.start])
        if follows or (other.end <= start and leads_to(text[other.end : start])):
            return replace(mention, target=f"{mention.target} ({other.target})")
    if not load_references().context.worksheet_after.pattern.match(text, end):
        return mention
    before = [other.target for other in named if other.end <= start]
    if not before and is_in_worksheet:
        return mention
    return replace(mention, target=f"{mention.target} ({before[-1] if before else UNNAMED})")
