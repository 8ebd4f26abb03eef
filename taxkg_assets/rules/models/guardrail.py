"""Rule family `guardrail`: log odds that the documents hold an answer."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class GapCounts(Section):
    """Probability that the answer contains what is needed.

    The logistic of the sum above, of how far the first passage is ahead, and of the decimal logarithm of the number
    of documents. Fitted by `python -m benchmarks confidence` on the development questions of data/library_eval and
    samples of those of data/training, over a library and parts of it. Answers of other kinds have fits of their
    own, on questions made from the tables of a library: `coverage` is the share of the question's words in the cell
    or in the best document. `gap` counts as far as the evidence supports an answer, from log odds `above` to
    `fully`: where the documents lack what is needed, the nearest passage is ahead of others, too.
    """

    above: float
    fully: float


class Notices(Section):
    """Values of `notices`."""

    general: str
    correction: str
    form: str
    place: str


class Guardrail(Family):
    """Content of `rules/guardrail.yaml`."""

    weights: dict[str, float]
    gap_counts: GapCounts
    confidence: dict[str, dict[str, float]]
    costs: dict[str, dict[str, float]]
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
