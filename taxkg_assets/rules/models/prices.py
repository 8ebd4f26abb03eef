"""Rule family `prices`: what language models cost."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.loader import Family, load_model


class Prices(Family):
    """Content of `rules/prices.yaml`, without the prices by pattern of a model's name.

    Attributes:
        as_of: Month of the price list, `YYYY-MM`.
    """

    as_of: str


@cache
def load_prices() -> Prices:
    """Return the date of the price list, read once per process."""
    return load_model("prices", Prices)
