"""Rule family `claims`: what is compared between a generated sentence and the sentences that it quotes."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, Section, load_model


class Numbers(Section):
    """Number words with their values."""

    units: dict[str, int]
    scales: dict[str, int]
    alone: frozenset[str]


class Claims(Family):
    """Content of `rules/claims.yaml`, without its lists of rules."""

    numbers: Numbers
    condition_ends: str
    voice: str
    addressee: str
    side_ends: str
    passive: str
    free: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]
    endings: tuple[str, ...]
    shortest_stem: int
    side_words: int
    bound_reach: int


@cache
def load_claims() -> Claims:
    """Return the rules of claims, read once per process."""
    return load_model("claims", Claims)
