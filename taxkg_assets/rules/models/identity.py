"""Rule family `identity`: what a document prints about itself."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, Section, load_model


class Limits(Section):
    """Values of `limits`."""

    head_pages: int
    title_share: int
    footer_pages: int
    head_chars: int
    edge_frac: float
    large_pt: float
    masthead_frac: float
    name_ratio: float
    year_pt: float
    statute_pages: int
    statute_headings: int


class Identity(Family):
    """Content of `rules/identity.yaml`, without its lists of rules."""

    irs_stems: dict[str, str]
    limits: Limits


@cache
def load_identity() -> Identity:
    """Return the rules of `identity`, read once per process."""
    return load_model("identity", Identity)
