"""Rule family `authored`: when the structure tags of a page are trusted."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, Section, load_model


class Limits(Section):
    """Values of `limits`."""

    margin_frac: float
    least_chars: int
    tagged_frac: float
    long_heading_frac: float
    heading_chars: int
    disorder_frac: float
    jump_sizes: float
    heap_frac: float
    figure_frac: float


class Authored(Family):
    """Content of `rules/authored.yaml`."""

    limits: Limits


@cache
def load_authored() -> Authored:
    """Return the rules that decide when the structure tags of a page are trusted."""
    return load_model("authored", Authored)
