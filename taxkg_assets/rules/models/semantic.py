"""Rule family `semantic`: how documents with a weak layout are split."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, Section, load_model


class MicroBlocks(Section):
    """Shares of the usual line width, 0 to 1."""

    full_line_quantile: float
    short_line_share: float


class Routing(Section):
    """Limits for a weak layout.

    Attributes:
        least_anchors: Least number of headings of a document with a good layout.
        least_confidence: Least mean confidence of its headings.
        words_per_anchor: Maximum number of words per heading.
        least_words: Shorter documents never have a weak layout.
    """

    least_anchors: int
    least_confidence: float
    words_per_anchor: int
    least_words: int


class Sizes(Section):
    """Sizes of units, in words."""

    least_words: int
    max_words: int


class Cohesion(Section):
    """How the similarity of neighboring blocks is measured.

    Attributes:
        window: Number of blocks before a block to which it is compared.
        least_words: The similarity of shorter blocks does not count.
    """

    window: int
    least_words: int


class Tiers(Section):
    """Tiers of documents, 1 to 3, by which reviews are ordered."""

    draft: int
    doc_types: dict[str, int]


class Semantic(Family):
    """Content of `rules/semantic.yaml`."""

    micro_blocks: MicroBlocks
    routing: Routing
    sizes: Sizes
    cohesion: Cohesion
    tiers: Tiers
    forced_accept: float


@cache
def load_semantic() -> Semantic:
    """Return the rules that decide where documents with little layout are split into units."""
    return load_model("semantic", Semantic)
