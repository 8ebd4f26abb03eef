"""Rule family `revisions`.

What is a change between two revisions, and what kind of change? Read by taxkg_assets/graph/text_diff.py, passages.py
and revisions.py.
"""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, Section, load_model


class Limits(Section):
    """Values of `limits`."""

    code_characters: int
    pair_similarity: float
    placed_similarity: float
    keyed_similarity: float
    heading_similarity: float
    merge_overlap: float
    merge_discount: float
    moved_similarity: float
    moved_words: int
    gap_cells: int
    shingle: int
    block_gap_pt: float


class Revisions(Family):
    """Content of `rules/revisions.yaml`, without its lists of rules."""

    number_words: tuple[str, ...]
    small_words: tuple[str, ...]
    limits: Limits
    sections: dict[str, float]


@cache
def load_revisions() -> Revisions:
    """Return the rules of `revisions`, read once per process."""
    return load_model("revisions", Revisions)
