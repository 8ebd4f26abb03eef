"""Rule family `chunking`: sizes of retrieval units."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, Section, load_model


class Sizes(Section):
    """Sizes of units, in words."""

    target_words: int
    short_words: int
    max_words: int
    table_words: int


class Tokens(Section):
    """Estimate of tokens."""

    letters_per_piece: int


class Tiers(Section):
    """Most forms of the corpus and headings of a document that the three-tier context names."""

    forms: int
    headings: int


class Chunking(Family):
    """Content of `rules/chunking.yaml`."""

    sizes: Sizes
    tokens: Tokens
    tiers: Tiers
    perspectives: dict[str, str]


@cache
def load_chunking() -> Chunking:
    """Return the rules that decide how large retrieval units are."""
    return load_model("chunking", Chunking)
