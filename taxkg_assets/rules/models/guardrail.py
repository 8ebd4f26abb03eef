"""Rule family `guardrail`: weights for the probability that the documents contain an answer."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class GapCounts(Section):
    """Log odds between which the feature `gap`, the lead of the first passage over the others, begins to count.

    Without evidence for an answer, a large lead means nothing: the nearest passage leads on any question.

    Attributes:
        above: Log odds of the evidence up to which `gap` does not count.
        fully: Log odds from which `gap` counts in full.
    """

    above: float
    fully: float


class Notices(Section):
    """Values of `notices`."""

    general: str
    correction: str
    form: str
    place: str


class Cost(Section):
    """What a wrong answer costs where a right one is worth 1.

    Attributes:
        cost: Cost for any kind of answer that is not in `by_kind`.
        relevance: Grade of the probability from which the answer pays.
        by_kind: Cost for some kinds of answers.
    """

    cost: float
    relevance: float
    by_kind: dict[str, float]


class Guardrail(Family):
    """Content of `rules/guardrail.yaml`."""

    weights: dict[str, float]
    gap_counts: GapCounts
    confidence: dict[str, dict[str, float]]
    costs: dict[str, Cost]
    passages: dict[str, int]
    filter_features: tuple[str, ...]
    full: dict[str, float]
    notices: Notices
    single_facts: RuleList[Rule]
    advice: RuleList[Rule]
    needs_private_data: RuleList[Rule]


@cache
def load_guardrail() -> Guardrail:
    """Return the rules that decide how probable it is that the documents contain an answer."""
    return load_model("guardrail", Guardrail)
