"""Rule family `lay_terms`: everyday words, and the terms that tax documents print for them."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class LayTerm(Rule):
    """Rule for an everyday word.

    Attributes:
        terms: Terms of the documents with the same meaning, separated by blanks.
    """

    terms: str


class LayTerms(Family):
    """Content of `rules/lay_terms.yaml`."""

    rules: RuleList[LayTerm]


@cache
def load_lay_terms() -> LayTerms:
    """Return the rules that decide which printed terms everyday words stand for."""
    return load_model("lay_terms", LayTerms)
