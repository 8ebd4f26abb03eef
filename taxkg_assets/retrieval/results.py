"""Results of a search: candidates in their order, and ranked passages with their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.encoding.arrays import Floats
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.query.router import Route


class Box(BoundingBox):
    """A rectangle on a page, in points from the top left."""


class Flag(BaseModel):
    """A document check that failed: what to doubt about it, and what to do."""

    model_config = ConfigDict(frozen=True)
    document: str
    law: str
    message: str
    remedy: str


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
    bboxes: list[Box]
    heading_path: str
    anchor_key: str | None
    text: str
    node_id: str
    chunk_id: str
    via: dict[str, Any]
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
