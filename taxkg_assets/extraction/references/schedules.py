"""Schedules and the forms in parentheses behind them, which say whose schedules they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from taxkg_assets.rules.models.references import load_references
from taxkg_assets.rules.models.sentences import load_sentences

FORMS_IN_PARENTHESES = re.compile(
    r"^\s*\(Forms?\s+[\w-]+(?:(?:,(?:\s+(?:or|and))?|\s+(?:or|and))\s+(?:Form\s+)?(?!(?:or|and)\b)[\w-]+)*\)"
)
"""Forms behind a schedule, `(Form 1040)` or `(Form 1065 or 1120-S)`."""
_IN_FORMS = re.compile(r"\s*\(")
_OF_FORM = re.compile(r"\s*(?:\(|of\s+)")


class NamedMention(Protocol):
    """Interface of a mention for naming schedules."""

    target: str
    start: int
    end: int
    group: tuple[int, int]
    rule_id: str


def name_schedules(text: str, mentions: Sequence[NamedMention]) -> list[tuple[int, str]]:
    """Add to each mentioned schedule its form: `Schedule D (Form 1040)`; with several forms, one target for each.

    Args:
        text: The text.
        mentions: Mentions in the text, in order.

    Returns:
        Index of each mention with its target. Forms that are only part of a schedule's name are left out.
    """
    named_targets: list[tuple[int, str]] = []
    forms_in_names: set[int] = set()
    for ix, mention in enumerate(mentions):
        forms = _find_forms(text, mention, mentions) if mention.rule_id == "schedule" else []
        targets = [f"{mention.target} ({form.target})" for form in forms] or [mention.target]
        named_targets += [(ix, target) for target in targets]
        forms_in_names.update(
            id(form) for form in forms if _IN_FORMS.fullmatch(text[_end_of(mention, text) : form.group[0]])
        )
    return [(ix, target) for ix, target in named_targets if id(mentions[ix]) not in forms_in_names]


def _find_forms(text: str, schedule: NamedMention, mentions: Sequence[NamedMention]) -> list[NamedMention]:
    """Find the forms of a schedule: those in parentheses behind it, the one that it is of, or the one before it."""
    end = _end_of(schedule, text)
    reach = load_sentences().most_characters
    for other in mentions:
        if other.rule_id != "form" or other.start - end > reach or schedule.start - other.group[1] > reach:
            continue
        if other.start >= end and _OF_FORM.fullmatch(text[end : other.start]):
            is_closed = text[other.group[1] :].lstrip().startswith(")")
            return [form for form in mentions if form.group == other.group] if is_closed else [other]
        leads = load_references().context.form_before_schedule.pattern
        if other.group[1] <= schedule.start and leads.match(text[other.group[1] : schedule.start]):
            return [other]
    return []


def _end_of(schedule: NamedMention, text: str) -> int:
    """Find where a schedule's name ends: each of a list may have its forms behind it."""
    return schedule.end if FORMS_IN_PARENTHESES.match(text[schedule.end :]) else schedule.group[1]
