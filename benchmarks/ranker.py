"""Where the ranker's and the guardrail's weights come from: fitted on written questions, near to hand-made priors.

`TAXKG_HOME=HOME python -m benchmarks.ranker` prints both sets of weights; they are put into rules/ranking.yaml and
rules/guardrail.yaml by hand, after a look at questions that took no part (`taxkg eval`).
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.answer import find_evidence
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.retrieval.search import Searcher
from taxkg_assets.rules.loader import load_family
from taxkg_assets.serving.released import open_release
from taxkg_assets.settings import Settings

QUESTIONS = Path(__file__).parent.parent / "data" / "training" / "questions.jsonl"
SAME_TEXT = 0.6
"""Share of terms from which a passage of another revision says the same: neither right nor wrong."""
PULL = {"ranking": 0.1, "guardrail": 0.003}
"""How strongly weights are held to their priors."""
SHARPNESS = 3.0
SILENCED = 0.04
"""Share of the answerable training questions that may fall below the relevance from which guidance is given; few, for
who writes a question with the passage before him stays nearer to its words than those who really ask."""
PRIORS = {
    "ranking": {
        "lexical": 1.0, "vector": 1.6, "fused": 0.6, "coverage": 0.8, "heading": 0.3, "phrase": 0.2, "section": 0.2,
        "document": 0.2, "form": 0.8, "year": 0.8, "stale": -0.5, "draft": -1.5, "key": 0.6, "key_of_form": 0.4,
        "other_key": -0.3, "own_side": 0.5, "other_side": -0.5, "general": -0.2, "about": 0.5, "title": 0.4,
        "place": 1.2, "edge": 0.1, "face": -0.4, "short": -0.3, "amount_table": 0.2, "boilerplate": -0.5,
    },
    "guardrail": {
        "missing_key": -3.0, "missing_edition": -3.0, "missing_year": -2.5, "foreign_place": -2.0, "advice": -2.0,
        "unknown_form": -2.0, "unmentioned_form": -2.0,
    },
}  # fmt: skip
HELPS = frozenset({"cosine", "key_match", "score", "agreement"})

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """Candidates of one question: their features, and which of them answer it."""

    features: Floats
    is_right: npt.NDArray[np.bool_]


def main() -> int:
    """Fit both sets of weights on the home's release and print them."""
    searcher = open_release(Settings().home).searcher
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf8").splitlines()]
    names = sorted(load_family("ranking")["weights"])
    examples = [found for row in questions if (found := find_example(searcher, row, names)) is not None]
    print(f"{len(examples)} questions with their passage among the candidates", file=sys.stderr)
    ranking = fit_ranking(examples, [PRIORS["ranking"].get(name, 0.0) for name in names])
    kinds, evidence = find_grades(searcher, questions)
    guardrail = fit_guardrail(evidence, kinds, is_answerable=[row["element"] is not None for row in questions])
    fitted = {"ranking": dict(zip(names, ranking, strict=True)), "guardrail": guardrail}
    print(json.dumps({family: {name: round(float(value), 2) for name, value in weights.items()}
                      for family, weights in fitted.items()}, indent=1))  # fmt: skip
    return 0


def find_example(searcher: Searcher, row: Mapping[str, str | None], names: Sequence[str]) -> Example | None:
    """The candidates of a question whose passage is known; passages that say the same elsewhere are left out."""
    target = searcher.find_row(row["element"]) if row["element"] else None
    if target is None:
        return None
    ranking = searcher.rank(str(row["query"]))
    if not any(candidate.row == target for candidate in ranking.candidates):
        return None
    columns = searcher.passages.columns
    own = frozenset(columns["terms"][target].split(" "))
    kept, is_right = [], []
    for place, candidate in enumerate(ranking.candidates):
        held = frozenset(columns["terms"][candidate.row].split(" "))
        is_same = len(own & held) / len(own | held) > SAME_TEXT
        is_here = columns["document_id"][candidate.row] == columns["document_id"][target]
        if is_here or not is_same:
            kept.append(place)
            is_right.append(candidate.row == target or (is_here and is_same))
    features = np.stack([ranking.features[name][kept] for name in names], axis=1)
    return Example(features, np.array(is_right))


def fit_ranking(examples: Sequence[Example], prior: Sequence[float]) -> Floats:
    """Weights under which the right candidates take the most of a softmax over all, pulled towards the prior."""
    from scipy.optimize import minimize

    held = np.array(prior)

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = 0.0, np.zeros_like(weights)
        for example in examples:
            scores = example.features @ weights * SHARPNESS
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            right = shares * example.is_right
            total -= math.log(right.sum() + 1e-12)
            slope += SHARPNESS * (example.features.T @ (shares - right / (right.sum() + 1e-12)))
        pull = weights - held
        slope = slope / len(examples) + 2 * PULL["ranking"] * pull
        return total / len(examples) + PULL["ranking"] * float(pull @ pull), slope

    fitted: Floats = minimize(loss, held, jac=True, method="L-BFGS-B").x
    return fitted


def find_grades(searcher: Searcher, questions: Sequence[Mapping[str, str | None]]) -> tuple[list[str], Floats]:
    """Evidence of every question, as names and a matrix."""
    rows = []
    for row in questions:
        ranking: Ranking = searcher.rank(str(row["query"]))
        rows.append(find_evidence(searcher, str(row["query"]), ranking, results=searcher.assemble(ranking)))
    names = sorted(rows[0])
    return names, np.array([[row.get(name, 0.0) for name in names] for row in rows])


def fit_guardrail(evidence: Floats, names: Sequence[str], *, is_answerable: Sequence[bool]) -> dict[str, float]:
    """Logistic weights with fixed signs, both kinds of question weighing the same; then the bias is set."""
    from scipy.optimize import minimize

    truth = np.array(is_answerable, dtype=np.float64)
    weight = np.where(truth == 1, 0.5 / truth.sum(), 0.5 / (1 - truth).sum())
    prior = np.array([PRIORS["guardrail"].get(name, 0.0) for name in names])

    def loss(values: Floats) -> tuple[float, Floats]:
        grade = 1 / (1 + np.exp(-(evidence @ values[:-1] + values[-1])))
        cost = -(weight * (truth * np.log(grade + 1e-12) + (1 - truth) * np.log(1 - grade + 1e-12))).sum()
        pull, error = values[:-1] - prior, weight * (grade - truth)
        slope = np.append(evidence.T @ error + 2 * PULL["guardrail"] * pull, error.sum())
        return float(cost + PULL["guardrail"] * float(pull @ pull)), slope

    bounds = [(0.0, None) if name in HELPS else (None, 0.0) for name in names] + [(None, None)]
    values = minimize(loss, np.append(prior, 0.0), jac=True, method="L-BFGS-B", bounds=bounds).x
    grades = (evidence @ values[:-1] + values[-1])[truth == 1]
    guide_at = Settings().guidance_relevance / 10
    bias = values[-1] + math.log(guide_at / (1 - guide_at)) - float(np.quantile(grades, SILENCED))
    return {"bias": bias, **dict(zip(names, values[:-1].tolist(), strict=True))}


if __name__ == "__main__":
    sys.exit(main())
