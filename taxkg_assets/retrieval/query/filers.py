"""Find the kinds of filers besides individuals that a question may be about, or that a section is for."""

from __future__ import annotations

import re
from functools import lru_cache

from taxkg_assets.rules.models.filers import load_filers

INNER_HEADINGS = 2
"""Innermost headings of a path that may name the filers of a section."""

_EXCLUSION = re.compile(r"(?i)\b(?:other than|except|not|no)\b")
_JOINTS = re.compile(r"\b(?:and|or)\b|[,;/]")


def find_filers(question: str) -> tuple[str, ...]:
    """Return the kinds of filers that a question may be about, besides individuals.

    Args:
        question: Words of the user.

    Returns:
        Ids of rules of `rules/filers.yaml`, sorted.
    """
    rules = load_filers().questions.find_usable(question)
    return tuple(sorted({kind for rule in rules if rule.pattern.search(question) for kind in rule.kinds}))


@lru_cache(maxsize=100_000)
def find_heading_filers(heading_path: str) -> frozenset[str]:
    """Return the kinds of filers that the innermost headings name; empty for a section for everyone.

    A heading that excludes filers, or joins them with something else ("Accounts and Trusts"), names none.

    Args:
        heading_path: Headings from the title of the document down, joined by " > "; the title is ignored.
    """
    headings = heading_path.split(" > ")[1:][-INNER_HEADINGS:]
    return frozenset[str]().union(*map(_find_filers_of_heading, headings))


@lru_cache(maxsize=100_000)
def _find_filers_of_heading(heading: str) -> frozenset[str]:
    """Return the kinds of filers in a heading if each part between "and", "or" or commas names one."""
    rules = load_filers().headings.find_usable(heading)
    if not rules or _EXCLUSION.search(heading):
        return frozenset()
    parts = [part for part in _JOINTS.split(heading) if part.strip()]
    kinds_by_part = [frozenset(rule.id for rule in rules if rule.pattern.search(part)) for part in parts]
    return frozenset[str]().union(*kinds_by_part) if all(kinds_by_part) else frozenset()
