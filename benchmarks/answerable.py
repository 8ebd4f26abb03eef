"""The guardrail's weights: which separate questions that the corpus answers from those that it does not.

Three kinds of questions: written ones that a document answers; written ones that none does; and the first kind put to
an index without the documents of their form, where the nearest passages do not answer them.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks.in_memory import index_in_memory
from benchmarks.questions import Judge, Row, draw_folds, find_elements
from taxkg_assets.retrieval.answering.answer_kind import find_evidence
from taxkg_assets.retrieval.encoding.arrays import Ints
from taxkg_assets.retrieval.index.index import SearchIndex
from taxkg_assets.retrieval.index.passage_index import PrecomputedFacts
from taxkg_assets.retrieval.index.token_match import TokenIndex
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.rules.loader import load_family
from taxkg_assets.settings import Settings

ANSWERABLE, LACKING, NEAR, WITHOUT_FORM = "answerable", "lacking", "near the subject", "without its form"
DRAWN = {ANSWERABLE: 2_500, WITHOUT_FORM: 900}
SHARE = {ANSWERABLE: 0.5, LACKING: 0.2, NEAR: 0.2, WITHOUT_FORM: 0.1}
"""What each sort scores together; of the last some are answered by other documents, so it counts little."""
NEAR_KINDS = frozenset({"near the subject", "fact not given", "other step", "other history", "other world"})
"""Kinds of questions that mention what the documents mention, and ask for what they do not say."""
REGISTERS_NEAR = frozenset({"professional", "terse"})
NEAR_WORDS = 0.3
"""As in the ranker's fit: people who ask know less of the words of the documents than the guardrail would learn."""
FOLDS = 6
PULL = 0.003
SILENCED = 0.10
"""Share of the answerable written questions that may fall below the relevance from which guidance is given. Of one in
five the passage is not among the first eight, and to say nothing is right; of 135 real questions 0.05 fall below."""
PRIORS = {
    "missing_key": -3.0, "missing_edition": -3.0, "missing_year": -2.5, "foreign_place": -2.0, "advice": -2.0,
    "unknown_form": -2.0, "unmentioned_form": -2.0, "foreign_country": -1.5, "needs_private_data": -2.0,
}  # fmt: skip
HELPS = frozenset(
    {
        "cosine",
        "rank_score_residual",
        "rank_score_from_filters",
        "retrievers",
        "mean_cosine",
        "gap",
        "max_term_overlap",
        "cohesion",
    }
)
OF_ANSWERABLE = frozenset({"bias", "length"})
"""Fitted on the answerable questions alone: unanswerable questions may have been written shorter, and the length of a
question is no reason to answer it."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What supports an answer to one question and what does not, and of which sort the question is."""

    sort: str
    kind: str
    values: dict[str, float]

    @property
    def weight(self) -> float:
        """What the question counts among those of its sort: a professional's words are nearer to the documents'."""
        return NEAR_WORDS if self.kind in REGISTERS_NEAR else 1.0


def fit_guardrail(judge: Judge, questions: Sequence[Row], *, seed: int = 3) -> dict[str, float]:
    """Weights with fixed signs, near their priors; few answerable questions of any length fall below relevance 7."""
    found = gather_evidence(judge, questions, seed=seed)
    rng = random.Random(seed)
    folds = [rng.randrange(FOLDS) for _ in found]
    names = sorted(load_family("guardrail")["weights"].keys() - OF_ANSWERABLE)
    held_out = np.zeros(len(found))
    for fold in range(FOLDS):
        weights = fit_logistic([e for e, own in zip(found, folds, strict=True) if own != fold], names)
        for place, (evidence, own) in enumerate(zip(found, folds, strict=True)):
            if own == fold:
                held_out[place] = score_evidence(evidence, weights)
    print(render_silence(found, held_out), file=sys.stderr)
    return fit_logistic(found, names)


def gather_evidence(judge: Judge, questions: Sequence[Row], *, seed: int) -> list[Evidence]:
    """Ask all questions that the corpus lacks, and some of the others, with and without the documents of their form."""
    rng = random.Random(seed)
    families = {str(row["id"]): judge.find_family(row) for row in questions if find_elements(row)}
    answered = [row for row in questions if families.get(str(row["id"]))]
    found = [
        Evidence(
            NEAR if row.get("kind") in NEAR_KINDS else LACKING, str(row.get("kind", "")), _ask(judge.searcher, row)
        )
        for row in questions
        if not find_elements(row)
    ]
    drawn = rng.sample(answered, min(DRAWN[ANSWERABLE], len(answered)))
    found += [Evidence(ANSWERABLE, str(row.get("register", "")), _ask(judge.searcher, row)) for row in drawn]
    for fold in draw_folds([str(families[str(row["id"])]) for row in answered], FOLDS):
        searcher = leave_out_families(judge, fold)
        own = [row for row in answered if families[str(row["id"])] in fold]
        drawn = rng.sample(own, min(DRAWN[WITHOUT_FORM] // FOLDS, len(own)))
        found += [Evidence(WITHOUT_FORM, str(row.get("register", "")), _ask(searcher, row)) for row in drawn]
    return found


def _ask(searcher: Searcher, row: Row) -> dict[str, float]:
    ranking = searcher.rank(str(row["query"]))
    return find_evidence(searcher, str(row["query"]), ranking, results=searcher.assemble(ranking))


def leave_out_families(judge: Judge, families: frozenset[str]) -> Searcher:
    """The search over the documents of all other families."""
    index = index_in_memory(judge.searcher)
    stays = np.array([judge.families[document] not in families for document in index.rows["document_id"]])
    rest = SearchIndex(
        rows=index.rows.filter(pl.Series(stays)),
        vectors=index.vectors[stays],
        model_hash=index.model_hash,
        precomputed=PrecomputedFacts(
            tokens=None if index.tokens is None else take_rows(index.tokens, np.flatnonzero(stays))
        ),
    )
    return Searcher(index=rest, encoder=judge.searcher.encoder)


def take_rows(tokens: TokenIndex, rows: Ints) -> TokenIndex:
    """The tokens of some rows, with the vectors and the rarity that they have among all."""
    lengths = (tokens.starts[1:] - tokens.starts[:-1])[rows]
    places = [tokens.places[tokens.starts[row] : tokens.starts[row + 1]] for row in rows.tolist()]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return replace(tokens, starts=starts, places=np.concatenate([*places, np.zeros(0, np.int32)]).astype(np.int32))


def fit_logistic(found: Sequence[Evidence], names: Sequence[str]) -> dict[str, float]:
    """Logistic weights with fixed signs, each sort of question evaluation its share; then bias and length are set."""
    from scipy.optimize import minimize

    values = np.array([[evidence.values.get(name, 0.0) for name in names] for evidence in found])
    truth = np.array([evidence.sort == ANSWERABLE for evidence in found], dtype=np.float64)
    sizes = {sort: sum(evidence.weight for evidence in found if evidence.sort == sort) for sort in SHARE}
    weight = np.array([SHARE[evidence.sort] * evidence.weight / sizes[evidence.sort] for evidence in found])
    prior = np.array([PRIORS.get(name, 0.0) for name in names])

    def loss(own: Floats) -> tuple[float, Floats]:
        grade = 1 / (1 + np.exp(-(values @ own[:-1] + own[-1])))
        cost = -(weight * (truth * np.log(grade + 1e-12) + (1 - truth) * np.log(1 - grade + 1e-12))).sum()
        away, error = own[:-1] - prior, weight * (grade - truth)
        slope = np.append(values.T @ error + 2 * PULL * away, error.sum())
        return float(cost + PULL * float(away @ away)), slope

    bounds = [(0.0, None) if name in HELPS else (None, 0.0) for name in names] + [(None, None)]
    best = minimize(loss, np.append(prior, 0.0), jac=True, method="L-BFGS-B", bounds=bounds).x
    grades = (values @ best[:-1] + best[-1])[truth == 1]
    lengths = np.array([e.values["length"] for e, is_true in zip(found, truth, strict=True) if is_true])
    level, slope = fit_quantile(grades, lengths, share=SILENCED)
    guide_at = Settings().guidance_relevance / 10
    bias = best[-1] + math.log(guide_at / (1 - guide_at)) - level
    named = {name: round(float(value), 2) for name, value in zip(names, best[:-1], strict=True)}
    return {"bias": round(float(bias), 2), "length": round(-slope, 2), **named}


def fit_quantile(values: Floats, causes: Floats, *, share: float) -> tuple[float, float]:
    """Level and slope of the line over a cause below which a share of the values is.

    Source: Koenker and Bassett 1978, regression quantiles, as a linear programme.
    """
    from scipy.optimize import linprog

    count = len(values)
    above, below = np.eye(count), -np.eye(count)
    found = linprog(
        np.concatenate([[0.0, 0.0], np.full(count, share), np.full(count, 1 - share)]),
        A_eq=np.column_stack([np.ones(count), causes, above, below]),
        b_eq=values,
        bounds=[(None, None)] * 2 + [(0.0, None)] * (2 * count),
    ).x
    return float(found[0]), float(found[1])


def score_evidence(evidence: Evidence, weights: dict[str, float]) -> float:
    """Relevance 0 to 10 under some weights."""
    total = weights["bias"] + sum(weights[name] * evidence.values.get(name, 0.0) for name in weights if name != "bias")
    return 10 / (1 + math.exp(-total))


def render_silence(found: Sequence[Evidence], grades: Floats) -> str:
    """By bound on relevance: how many of each sort fall below it; then the kinds of lacking questions at the bound."""
    guide_at = Settings().guidance_relevance

    def share(bound: float, sort: str, kind: str | None = None) -> float:
        own = [
            bool(grade < bound)
            for e, grade in zip(found, grades, strict=True)
            if e.sort == sort and kind in (None, e.kind)
        ]
        return sum(own) / max(1, len(own))

    lines = ["silent below | " + " | ".join(SHARE)]
    lines += [
        f"{bound:>12} | " + " | ".join(f"{share(bound, sort):.3f}" for sort in SHARE)
        for bound in (3, 4, 5, 6, guide_at, 7.5, 8, 8.5, 9)
    ]
    kinds = sorted({(evidence.sort, evidence.kind) for evidence in found if evidence.sort in (LACKING, NEAR)})
    lines += [f"  {kind or 'various'}: {share(guide_at, sort, kind):.2f}" for sort, kind in kinds]
    return "\n".join(lines)
