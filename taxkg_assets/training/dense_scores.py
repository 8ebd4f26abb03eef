"""Retrieval quality of vectors alone: each development question against all passages of the development split."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from taxkg_assets.training.examples import Example
from taxkg_assets.training.similarity_calibration import Floats, score_mean_by_rank

Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str], bool], Vectors]
"""Encodes texts to unit-length vectors, given whether they are questions."""
DEPTH, RECALL_DEPTH = 10, 5
"""First ranks that count for nDCG and reciprocal rank, and for recall."""


@dataclass(frozen=True, slots=True)
class QueryScore:
    """Metrics of one development question, each from 0 to 1."""

    query: str
    kind: str
    family: str
    ndcg: float
    recall: float
    reciprocal_rank: float


@dataclass(frozen=True, slots=True)
class DenseScores:
    """Metrics of each question, and the mean cosine at each of the first ranks."""

    questions: list[QueryScore]
    cosine_by_rank: Floats


def score_dense(encode: Encode, dev: Sequence[Example], *, pool: Sequence[str] = ()) -> DenseScores:
    """Score nDCG@10, recall@5 and reciprocal rank (at 10) of each question's positives, ranked by cosine.

    Args:
        encode: Encodes texts; see `Encode`.
        dev: Development examples; their positives and negatives are all candidates.
        pool: Further passages to rank against.

    Returns:
        The metrics of each distinct question, in order of first appearance, and the mean cosine at each rank.
    """
    questions = group_questions(dev)
    candidates = (text for example in dev for text in (example.positive, *example.negatives))
    passages = list(dict.fromkeys([*candidates, *pool]))
    index_of = {text: ix for ix, text in enumerate(passages)}
    cosines = encode([query for query, _ in questions], True) @ encode(passages, False).T
    scores = [
        score_question(query, examples, order=np.argsort(-row, kind="stable"), index_of=index_of)
        for row, (query, examples) in zip(cosines, questions, strict=True)
    ]
    return DenseScores(scores, score_mean_by_rank(cosines))


def group_questions(examples: Sequence[Example]) -> list[tuple[str, list[Example]]]:
    """Group examples by question, in order of first appearance.

    Args:
        examples: Examples; several may have the same question.
    """
    examples_by_query: dict[str, list[Example]] = {}
    for example in examples:
        examples_by_query.setdefault(example.query, []).append(example)
    return list(examples_by_query.items())


def score_question(
    query: str, examples: Sequence[Example], *, order: npt.NDArray[np.int64], index_of: dict[str, int]
) -> QueryScore:
    """Score the ranking of one question.

    Args:
        query: The question.
        examples: Its examples; their positives are relevant.
        order: Passage indices, best first.
        index_of: Index of each passage.

    Returns:
        nDCG@10, recall@5 and reciprocal rank at 10.
    """
    positives = {index_of[example.positive] for example in examples}
    ranks = [rank for rank, ix in enumerate(order[:DEPTH].tolist(), 1) if ix in positives]
    ideal_gain = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(positives), DEPTH) + 1))
    return QueryScore(
        query=query,
        kind=examples[0].kind,
        family=examples[0].family,
        ndcg=sum(1 / math.log2(rank + 1) for rank in ranks) / ideal_gain,
        recall=sum(rank <= RECALL_DEPTH for rank in ranks) / min(len(positives), RECALL_DEPTH),
        reciprocal_rank=1 / ranks[0] if ranks else 0.0,
    )


def mean_of(scores: Sequence[QueryScore], name: str = "ndcg") -> float:
    """Return the mean of one metric over all questions; 0 without questions.

    Args:
        scores: Metrics per question.
        name: Field of `QueryScore`.
    """
    return float(np.mean([getattr(score, name) for score in scores])) if scores else 0.0
