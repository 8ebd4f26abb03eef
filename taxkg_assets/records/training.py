"""Records of training data and of trained models."""

from __future__ import annotations

from typing import TypedDict


class PairRecord(TypedDict):
    """A row of `pairs`."""

    pair_id: str
    kind: str
    query: str
    passage: str
    query_node_id: str | None
    passage_node_id: str
    chunk_id: str
    other_positive_ids: list[str]
    document_id: str
    query_family: str
    family: str
    split: str
    relation: str
    polarity: str
    weight: float
    source: str
    near_duplicate_group: str
    is_valid_pair: bool | None
    judged_by: str
    judgment: str


class HardNegativeRecord(TypedDict):
    """A row of `hard_negatives`."""

    pair_id: str
    rank: int
    node_id: str
    chunk_id: str
    document_id: str
    family: str
    passage: str
    source: str
    score: float
    positive_score: float
    similarity_to_positive: float
    distance: int | None
    reason: str
    is_false_negative: bool | None
    judged_by: str
    judgment: str


class PromotionRecord(TypedDict):
    """Columns that `model` and `reranker` have in common: the gain over the base model, and whether it is enough."""

    dev_questions: int
    base_score: float
    candidate_score: float
    gain: float
    gain_low: float | None
    gain_high: float | None
    gain_by_kind: str
    is_chosen: bool
    reason: str


class ModelRecord(PromotionRecord):
    """A row of `model`."""

    name: str
    path: str
    base: str
    base_hash: str
    sha256: str
    settings: str
    pairs: int
    steps: int
    alpha: float


class RerankerRecord(PromotionRecord):
    """A row of `reranker`."""

    name: str
    kind: str
    path: str
    base: str
    sha256: str
    settings: str
    depth: int
    weight: float
