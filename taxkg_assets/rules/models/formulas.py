"""Rule family `formulas`: how labels of form lines state a computation."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class Computation(Rule):
    """Rule for a sentence that states a computation.

    Attributes:
        operation: Operation, as in the table `formulas`.
    """

    operation: str


class Bound(Rule):
    """Rule for words that bound a result.

    Attributes:
        bound: Bound, as in the table `formulas`.
    """

    bound: str


class Formulas(Family):
    """Content of `rules/formulas.yaml`."""

    rules: RuleList[Computation]
    stated: RuleList[Rule]
    no_amounts: RuleList[Rule]
    bounds: RuleList[Bound]


@cache
def load_formulas() -> Formulas:
    """Return the rules that decide how a line is computed, by its label."""
    return load_model("formulas", Formulas)
