"""Rule family `flows`: sentences that say that an amount goes from one line to another."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, load_model


class Flows(Family):
    """Content of `rules/flows.yaml`, without its lists of rules."""

    own_return: str
    returns: str
    verbs: dict[str, list[str]]
    words: dict[str, str]
    showing_verbs: list[str]
    equality_verbs: list[str]
    amount_nouns: list[str]
    going_verbs: list[str]
    outcome_nouns: list[str]
    total_nouns: list[str]


@cache
def load_flows() -> Flows:
    """Return the rules of `flows`, read once per process."""
    return load_model("flows", Flows)
