"""Rule family `prices`: what language models cost."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class ModelPrice(Rule):
    """Rule for the names of models of one price.

    Attributes:
        input_usd: US dollars per million tokens of requests.
        output_usd: US dollars per million tokens of replies.
    """

    input_usd: float
    output_usd: float


class Prices(Family):
    """Content of `rules/prices.yaml`, without the prices by pattern of a model's name.

    Attributes:
        as_of: Month of the price list, `YYYY-MM`.
    """

    as_of: str
    rules: RuleList[ModelPrice]


@cache
def load_prices() -> Prices:
    """Return the prices of language models, by patterns of their names, and the date of these prices."""
    return load_model("prices", Prices)
