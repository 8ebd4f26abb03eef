"""What a search hands on: candidates in their order, and ranked passages with their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from taxkg_assets.retrieval.encoder import Vectors
from taxkg_assets.retrieval.expand import Step
from taxkg_assets.retrieval.facts import Floats
from taxkg_assets.retrieval.router import Route


class Box(BaseModel):
    """A rectangle on a page, in points from the top left."""

    model_config = ConfigDict(frozen=True)
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class Flag(BaseModel):
    """A law about documents that a document does not keep: what to doubt of it, and what to do."""

    model_config = ConfigDict(frozen=True)
    document: str
    law: str
    message: str
    remedy: str


class Result(BaseModel):
    """One ranked passage: what a language model would be handed, where it stands, and how it got here."""

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


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of the index under consideration."""

    row: int
    score: float
    lexical_rank: int | None
    vector_rank: int | None
    cosine: float
    step: Step | None
    lost: float | None = None
    """What a reranker took from the score; None where none looked."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of one question, best first, with their features, and what was understood of the question."""

    route: Route
    candidates: tuple[Candidate, ...]
    wanted: dict[str, float]
    features: dict[str, Floats]
    meaning: Vectors
    cell: str = ""
    """The cell of a table that leads the ranking, in words; empty where none does."""
