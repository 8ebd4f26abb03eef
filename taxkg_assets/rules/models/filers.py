"""Rule family `filers`: for whom documents and sections are, and the words by which a question names such a filer."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class NamedFiler(Rule):
    """Rule for words of a question about filers of some kinds.

    Attributes:
        kinds: Ids of the rules of `titles` and `headings` for filers that the question may be about.
    """

    kinds: list[str]


class Filers(Family):
    """Content of `rules/filers.yaml`."""

    titles: RuleList[Rule]
    headings: RuleList[Rule]
    questions: RuleList[NamedFiler]


@cache
def load_filers() -> Filers:
    """Return the rules that decide for whom a document or a section is, and which filers a question names."""
    return load_model("filers", Filers)
