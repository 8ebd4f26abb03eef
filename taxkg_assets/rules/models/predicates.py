"""Rule family `predicates`.

Verbs by what they do with an amount or a form, and what the words right before a verb state about it.
"""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, load_model


class Predicates(Family):
    """Content of `rules/predicates.yaml`, without its lists of rules."""

    verbs: dict[str, tuple[str, ...]]
    irregular: dict[str, tuple[str, ...]]
    reach_characters: int
    label_verbs: tuple[str, ...]


@cache
def load_predicates() -> Predicates:
    """Return the rules of `predicates`, read once per process."""
    return load_model("predicates", Predicates)
