"""Rule family `references`: places where text points at something."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, load_model


class References(Family):
    """Content of `rules/references.yaml`, without its lists of rules."""

    separators: str
    range_words: str
    telling_letters: int
    number_words: dict[str, int]
    form_series: frozenset[str]
    min_heading_chars: int


@cache
def load_references() -> References:
    """Return the rules of `references`, read once per process."""
    return load_model("references", References)
