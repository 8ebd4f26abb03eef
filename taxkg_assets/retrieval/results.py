"""Results of a search: ranked candidates, and assembled passages with their page rectangles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.encoding.arrays import Floats
from taxkg_assets.retrieval.encoding.encoder import TokenVectors, Vectors
from taxkg_assets.retrieval.query.route_explanation import Found, RouteExplanation
from taxkg_assets.retrieval.query.router import Route


class Flag(BaseModel):
    """A quality check (`law`) that a document failed: what may be wrong, and what to do."""

    model_config = ConfigDict(frozen=True)
    document: str
    law: str
    message: str
    remedy: str


class RerankerPenalty(BaseModel):
    """Penalty of a reranker on the score of a passage; `penalty` is at most 0."""

    model_config = ConfigDict(frozen=True)
    name: str = Field(description="name of the reranker")
    penalty: float = Field(description="points that the reranker deducted, at most 0")


class SameText(BaseModel):
    """A paragraph of another revision with the same text as a passage."""

    model_config = ConfigDict(frozen=True)
    document: str
    revision: str
    page: int
    bboxes: list[BoundingBox]


class Explanation(BaseModel):
    """Why a passage was retrieved: its features and scores."""

    model_config = ConfigDict(frozen=True)
    lexical_rank: int | None = Field(
        default=None, description="rank by BM25, from 1; null if BM25 did not retrieve the passage"
    )
    vector_rank: int | None = Field(
        default=None, description="rank by vectors, from 1; null if the vector search did not retrieve the passage"
    )
    rerank_score: float = Field(description="score of the passage in the ranking")
    reranker: RerankerPenalty | None = Field(
        default=None, description="points deducted by a reranker, if one scored the passage"
    )
    cosine: float = Field(description="cosine of the question's vector and the passage's")
    coverage: float = Field(description="share of the question's terms in the passage, rare terms counting more")
    route: RouteExplanation = Field(description="interpretation of the question")
    edge: None = Field(default=None, description="always null: a search does not follow graph edges")
    chunk_ids: list[str] = Field(description="ids of the chunks that make up the passage")
    hit_start: Found[int] = Field(
        default=0, description="index of the character of `text` where the chunk that matches begins, after its context"
    )
    unit: Found[str | None] = Field(
        default=None, description="id of the document, page or section that this passage is the best of"
    )
    drill_down: Found[list[str]] = Field(default=[], description="chunk ids of the best passages of `unit`")
    same_in: Found[list[SameText]] = Field(
        default=[], description="the same paragraph in other revisions, newest first"
    )


class Result(BaseModel):
    """One ranked passage with its text, its location and its explanation."""

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
    """Address of the passage's section on the publisher's web page; None where unknown."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row of the index that is a candidate result."""

    row: int
    score: float
    lexical_rank: int | None
    vector_rank: int | None
    cosine: float
    rerank_penalty: float | None = None
    """Penalty of a reranker, at most 0; None where no reranker scored the row."""


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
        tokens: Tokens of the question with their vectors; None where they are not compared.
        question: The question with its typing errors corrected.
        corrections: Corrected word by misspelled word.
    """

    route: Route
    candidates: tuple[Candidate, ...]
    query_term_idf: dict[str, float]
    features: dict[str, Floats]
    query_vector: Vectors
    cell: str = ""
    tokens: TokenVectors | None = None
    question: str = ""
    corrections: Mapping[str, str] = field(default_factory=dict)
