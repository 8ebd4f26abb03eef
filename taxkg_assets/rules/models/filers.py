"""Rule family `filers`: the filers of documents and sections, and the words by which a question names such a filer."""

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
    """Return the rules for the filers of a document or a section, and for those that a question names."""
    return load_model("filers", Filers)
