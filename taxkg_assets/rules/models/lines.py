"""Rule family `lines`: numbered fields of forms and how they are distinguished from revision to revision."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Values of `limits`."""

    similar_words: float
    fewest_words: int


class Lines(Family):
    """Content of `rules/lines.yaml`."""

    limits: Limits
    asides: RuleList[Rule]
    explains: RuleList[Rule]
    worksheets: RuleList[Rule]
    subjects: RuleList[Rule]


@cache
def load_lines() -> Lines:
    """Return the rules that decide which fields of a form are the same line in two revisions."""
    return load_model("lines", Lines)
