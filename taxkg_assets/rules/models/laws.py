"""Rule family `laws`: which law a document is, by its title."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class Citation(Rule):
    """Rule for the title of a law.

    Attributes:
        citation: Target of a reference to the law; named groups of the rule in braces.
    """

    citation: str


class Code(Citation):
    """Rule for the title of a law of many sections.

    Attributes:
        kind: Kind of a reference to a section of the law.
    """

    kind: str


class Laws(Family):
    """Content of `rules/laws.yaml`."""

    codes: RuleList[Code]
    single: RuleList[Citation]


@cache
def load_laws() -> Laws:
    """Return the rules that decide which law a document is, by its title."""
    return load_model("laws", Laws)
