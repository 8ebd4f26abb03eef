"""Rule family `printed_years`: the year that a text prints before or after the name of a form."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class PrintedYears(Family):
    """Content of `rules/printed_years.yaml`."""

    before: RuleList[Rule]
    after: RuleList[Rule]


@cache
def load_printed_years() -> PrintedYears:
    """Return the rules that decide which year belongs to a form that a text names."""
    return load_model("printed_years", PrintedYears)
