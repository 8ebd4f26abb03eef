"""Where the ranker's and the guardrail's weights come from: fitted on written questions, near to hand-made priors.

`TAXKG_HOME=HOME python -m benchmarks.ranker` prints both sets of weights, and how weights fitted on some families of
documents do on the others; they are put into rules/ranking.yaml and rules/guardrail.yaml by hand, after a check on
questions that took no part (`python -m benchmarks accuracy`).
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.answerable import fit_guardrail
from benchmarks.questions import Judge, MentionInSentence, draw_folds, find_elements, read_questions
from taxkg_assets.rules.loader import load_family
from taxkg_assets.serving.released import open_release
from taxkg_assets.settings import Settings

FOLDS = 5
PULL, KEPT_PULL = 0.05, 10.0
"""How strongly weights are tied to their priors."""
SHARPNESS = 3.0
PRIORS = {
    "lexical": 1.15, "vector": 1.08, "fused": 0.44, "coverage": 1.02, "heading": 0.25, "phrase": 0.47, "section": 0.11,
    "document": -0.07, "form": 0.46, "year": 0.88, "stale": -0.55, "draft": -1.5, "key": 0.61, "key_of_form": 0.34,
    "other_key": -0.33, "same_audience": 0.5, "opposite_audience": -0.5, "general": -0.26,
    "document_similarity": 0.46, "title": 0.42, "place": 1.22, "face": -0.23, "short": -0.41,
    "table": -0.08, "amount_table": 0.7, "boilerplate": -0.5, "instructions": 0.15,
}  # fmt: skip
HELD_OUT = frozenset({"same_audience", "opposite_audience", "form", "key_of_form", "table", "amount_table"})
"""Who writes a question for a passage seldom says who asks, and the passages drawn were hardly ever tables: what the
written questions put to no test stays where reasoning put it."""
NEAR_WORDS = 0.3
"""What a question in a professional's or in search words counts: who writes it with the passage before him stays nearer
to its words than those who really ask."""
LAY = frozenset({"lay", "scenario", ""})

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """Candidates of one question that tell something: their features, and which of them answer it."""

    features: Floats
    is_right: npt.NDArray[np.bool_]
    family: str
    weight: float


def main() -> int:
    """Fit both sets of weights on the home's release and print them."""
    judge = Judge(open_release(Settings().home).searcher)
    questions = read_questions()
    names = sorted(load_family("ranking")["weights"])
    queried = [
        (row.get("register", ""), found)
        for row in questions
        if find_elements(row) and (found := judge.ask(row)) is not None
    ]
    examples = build_examples(queried, names)
    print(f"{len(queried)} questions, {len(examples)} with their passage among the candidates", file=sys.stderr)
    prior = np.array([PRIORS.get(name, 0.0) for name in names])
    pull = np.array([KEPT_PULL if name in HELD_OUT else PULL for name in names])
    for fold, families in enumerate(draw_folds([example.family for example in examples], FOLDS), start=1):
        weights = fit_ranking(leave_out(examples, families), prior=prior, pull=pull)
        rest = [example for example in examples if example.family in families]
        print(
            f"fold {fold} ({len(rest)} questions on {', '.join(sorted(families))}): reciprocal rank "
            f"{score_ranks(rest, prior):.3f} by the priors, {score_ranks(rest, weights):.3f} fitted on the others",
            file=sys.stderr,
        )
    fitted = fit_ranking(examples, prior=prior, pull=pull)
    print(json.dumps({"ranking": {name: round(float(value), 2) for name, value in zip(names, fitted, strict=True)},
                      "guardrail": fit_guardrail(judge, questions)}, indent=1))  # fmt: skip
    return 0


def build_examples(queried: Sequence[tuple[str, MentionInSentence]], names: Sequence[str]) -> list[Example]:
    """Questions whose passage is among the candidates; a family of many questions counts by the root of its number."""
    sizes = Counter(found.family for _, found in queried)
    return [
        Example(
            features=np.stack([found.ranking.features[name] for name in names], axis=1)[found.is_judged],
            is_right=found.is_right[found.is_judged],
            family=found.family,
            weight=(1.0 if register in LAY else NEAR_WORDS) / math.sqrt(sizes[found.family]),
        )
        for register, found in queried
        if found.is_right.any()
    ]


def leave_out(examples: Sequence[Example], families: Collection[str]) -> list[Example]:
    """The examples of all other families."""
    return [example for example in examples if example.family not in families]


def fit_ranking(examples: Sequence[Example], *, prior: Floats, pull: Floats) -> Floats:
    """Weights under which the right candidates take the most of a softmax over all, pulled towards the prior."""
    from scipy.optimize import minimize

    whole = sum(example.weight for example in examples)

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = 0.0, np.zeros_like(weights)
        for example in examples:
            scores = example.features @ weights * SHARPNESS
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            right = shares * example.is_right
            total -= example.weight * math.log(right.sum() + 1e-12)
            slope += example.weight * SHARPNESS * (example.features.T @ (shares - right / (right.sum() + 1e-12)))
        away = weights - prior
        return total / whole + float(pull @ away**2), slope / whole + 2 * pull * away

    fitted: Floats = minimize(loss, prior, jac=True, method="L-BFGS-B").x
    return fitted


def score_ranks(examples: Sequence[Example], weights: Floats) -> float:
    """Mean reciprocal rank of the first right candidate."""
    ranks = []
    for example in examples:
        order = np.argsort(-(example.features @ weights), kind="stable")
        ranks.append(1 / (1 + int(np.flatnonzero(example.is_right[order])[0])))
    return float(np.mean(ranks))


if __name__ == "__main__":
    sys.exit(main())
