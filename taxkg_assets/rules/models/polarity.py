"""Rule family `polarity`: where a clause ends, which clauses are conditions, and what negates a clause."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, load_model


class Polarity(Family):
    """Content of `rules/polarity.yaml`, without its lists of rules."""

    form_before_target: str
    surely_with_verb_words: int
    finite_verbs: str
    denial_reach_words: int
    denials_left_behind: str


@cache
def load_polarity() -> Polarity:
    """Return the rules of `polarity`, read once per process."""
    return load_model("polarity", Polarity)
