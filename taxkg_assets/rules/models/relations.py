"""Rule family `relations`.

What a sentence says about the thing it names, by the ordered tests of the labeling guide.
"""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, load_model


class Relations(Family):
    """Content of `rules/relations.yaml`, without its lists of rules."""

    relations: dict[str, str]
    near_characters: int
    order: tuple[str, ...]
    decisions: dict[str, str]
    edges: dict[str, str]


@cache
def load_relations() -> Relations:
    """Return the rules of `relations`, read once per process."""
    return load_model("relations", Relations)
