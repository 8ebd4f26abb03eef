"""Results of a search: candidates in their order, and ranked passages with their places."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.encoding.arrays import Floats
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.query.route_explanation import Found, RouteExplanation
from taxkg_assets.retrieval.query.router import Route


class Flag(BaseModel):
    """A document check that failed: what to doubt about it, and what to do."""

    model_config = ConfigDict(frozen=True)
    document: str
    law: str
    message: str
    remedy: str


class RerankerPenalty(BaseModel):
    """What a reranker deducted from the score of a passage; `penalty` is at most 0."""

    model_config = ConfigDict(frozen=True)
    name: str
    penalty: float


class SameText(BaseModel):
    """A paragraph of another revision that has the text of a passage."""

    model_config = ConfigDict(frozen=True)
    document: str
    revision: str
    page: int
    bboxes: list[BoundingBox]


class Explanation(BaseModel):
    """How a passage was found.

    Attributes:
        lexical_rank: 1-based rank by its words; None where they did not find it.
        vector_rank: 1-based rank by its meaning; None where it did not find it.
        rerank_score: Score of the ranking.
        reranker: Deduction of a reranker; None where none scored the passage.
        cosine: Cosine of the question's vector and the passage's.
        coverage: Share of the question's terms in the passage, by inverse document frequency.
        route: Interpretation of the question.
        edge: Always None: a search follows no edge. The name is part of the contract of a result.
        chunk_ids: Chunks that the passage consists of.
        unit: Document, page or section that is shown by this passage; None for a passage of its own.
        drill_down: Its best passages, where `unit` is set.
        same_in: Equal paragraphs of other revisions, newest first.
    """

    model_config = ConfigDict(frozen=True)
    lexical_rank: int | None = None
    vector_rank: int | None = None
    rerank_score: float
    reranker: RerankerPenalty | None = None
    cosine: float
    coverage: float
    route: RouteExplanation
    edge: None = None
    chunk_ids: list[str]
    unit: Found[str | None] = None
    drill_down: Found[list[str]] = []
    same_in: Found[list[SameText]] = []


class Result(BaseModel):
    """One ranked passage: its text, its place, and how it was found."""

    model_config = ConfigDict(frozen=True)
    rank: int
    score: float
    document: str
    form: str
    revision: str
    doc_type: str
    page: int
    bboxes: list[BoundingBox]
    heading_path: str
    anchor_key: str | None
    text: str
    node_id: str
    chunk_id: str
    via: Explanation
    quality: list[Flag] = []
    official_url: str | None = None
    """Its section on the publisher's web page; None where unknown."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of the index under consideration."""

    row: int
    score: float
    lexical_rank: int | None
    vector_rank: int | None
    cosine: float
    rerank_penalty: float | None = None
    """Penalty of a reranker, at most 0; None where none scored it."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of one question, best first, with their features, and the interpretation of the question.

    Attributes:
        route: Route of the question.
        candidates: Rows, best first.
        query_term_idf: Inverse document frequency of each term of the question.
        features: Features by name, in the order of the candidates.
        query_vector: Vector of the question, shape (dimension,).
        cell: Table cell that leads the ranking, in words; empty for none.
    """

    route: Route
    candidates: tuple[Candidate, ...]
    query_term_idf: dict[str, float]
    features: dict[str, Floats]
    query_vector: Vectors
    cell: str = ""
