"""First stage: scores of every row by BM25 and by vectors for one question, and the rankings that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval.encoding import lexical, vector
from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.encoder import Encoder, TokenVectors, Vectors
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.index.parallel import run_in_parallel
from taxkg_assets.retrieval.index.row_filter import Mask, RowFilter
from taxkg_assets.retrieval.index.scores import Question, RetrieverScores
from taxkg_assets.retrieval.query.components import SearchComponents
from taxkg_assets.retrieval.query.hyde import generate_passage
from taxkg_assets.retrieval.query.router import Route, find_lay_terms
from taxkg_assets.retrieval.ranking import rerank
from taxkg_assets.rules.models.llm import load_llm
from taxkg_assets.rules.models.ranking import load_ranking


@dataclass(frozen=True, slots=True)
class FirstStage:
    """Scores of both retrievers for a question, their orders, the rankings to fuse, and the documents' features.

    Attributes:
        scores: Scores of both retrievers.
        orders: Best rows by terms and by meaning, whether or not both retrievers are on.
        rankings: Rankings to fuse, of all rows and of the preferred ones.
        documents: Features by name, each of shape (documents,).
        allowed: Filter that was given outright.
        query_vector: Vector of the question, shape (dimension,).
        tokens: Tokens of the question with their vectors; None where they are not compared.
    """

    scores: RetrieverScores
    orders: list[Ints]
    rankings: list[Ints]
    documents: dict[str, Floats]
    allowed: RowFilter
    query_vector: Vectors
    tokens: TokenVectors | None = None

    @property
    def vector_floor(self) -> float:
        """Return the cosine of the last row that the vector retriever ranks."""
        return float(np.min(self.scores.score_meaning(self.orders[1]), initial=1.0))

    def score_terms(self, rows: Ints) -> Floats:
        """Return some rows' lexical scores as shares of the best of them, 0 to 1."""
        return _rescale(self.scores.score_terms(rows), floor=0.0)

    def score_meaning(self, rows: Ints) -> Floats:
        """Return some rows' cosines, 0 for the last row that the retriever ranks and 1 for the best of them."""
        return _rescale(self.scores.score_meaning(rows), floor=self.vector_floor)


@dataclass(frozen=True, slots=True)
class Expanded:
    """An expanded question: terms that were added to its own, and the vector of both."""

    extra: tuple[str, ...]
    query_vector: Vectors


def expand_query(
    query: str, terms: Sequence[str], *, encoder: Encoder, parts: SearchComponents, proposer: Proposer | None
) -> Expanded:
    """Expand a question with the documents' words for its everyday ones, and with a hypothetical passage.

    Args:
        query: Words of the user.
        terms: Its search terms.
        encoder: Encoder of the index.
        parts: Whether lay terms and HyDE are on.
        proposer: Model for HyDE; None for none.

    Returns:
        Added terms, and the mixed vector of question and expansion.
    """
    share = load_ranking().retrievers.expanded_vector
    lay_terms = find_lay_terms(query) if parts.lay_terms else ""
    hypothetical = generate_passage(query, vocabulary=lay_terms, proposer=proposer) if parts.hyde else None
    added = f"{lay_terms} {hypothetical.terms}" if hypothetical else lay_terms
    if lay_terms and share:
        worded, query_vector = run_in_parallel(
            lambda: encoder.encode_query(f"{query} {lay_terms}"), lambda: encoder.encode_query(query)
        )
        query_vector = (1 - share) * query_vector + share * worded
    else:
        query_vector = encoder.encode_query(query)
    if hypothetical:
        share = load_llm().reading.hyde_share
        query_vector = (1 - share) * query_vector + share * encoder.encode_query(hypothetical.passage)
    return Expanded(tuple(term for term in lexical.find_terms(added) if term not in terms), query_vector)


def score_first_stage(
    expanded: Expanded,
    terms: Sequence[str],
    *,
    route: Route,
    allowed: RowFilter,
    index_context: IndexContext,
    encoder: Encoder,
    parts: SearchComponents,
) -> FirstStage:
    """Score all rows by both retrievers and rank the best, among all rows and among those that the question prefers.

    Args:
        expanded: Expanded question.
        terms: Search terms of the question itself.
        route: Route of the question.
        allowed: Filter that was given outright.
        index_context: Context of the index.
        encoder: Encoder of the index.
        parts: Which retrievers are on.

    Returns:
        Scores and rankings.
    """
    limits = load_ranking().retrievers
    read = encoder.scale.read
    question = Question(tuple(terms), expanded.extra, limits.expansion, expanded.query_vector)
    scores = index_context.index.ask(question, scale=encoder.scale)
    similarity = read(vector.score_rows(index_context.document_vectors, expanded.query_vector)).astype(np.float64)
    documents = index_context.documents.score_documents(route)
    preferred = _find_preferred(documents, route, allowed=allowed, index_context=index_context)
    documents["title"] = _score_titles([*terms, *expanded.extra], index_context.titled, count=len(similarity))
    documents["document_similarity"] = np.clip((similarity - similarity.max() + 0.3) / 0.3, 0.0, 1.0)
    retrievers = [(parts.lexical, scores.find_by_terms), (parts.vector, scores.find_by_meaning)]
    orders = [find(allowed, count=limits.depth) for _, find in retrievers]
    filters = [preferred]
    if route.perspective:
        filters.append(preferred.narrow(perspective=route.perspective))
    rankings = [order for order, (is_on, _) in zip(orders, retrievers, strict=True) if is_on] + [
        find(one, count=limits.depth) for one in filters for is_on, find in retrievers if is_on
    ]
    return FirstStage(scores, orders, rankings, documents, allowed, expanded.query_vector)


def match_forms(route: Route, index_context: IndexContext) -> Mask:
    """Return whether each form of the index is a requested one.

    Args:
        route: Route of the question.
        index_context: Context of the index.

    Returns:
        Booleans by form number.
    """
    return np.array([rerank.score_form(form, route) == 1.0 for form in index_context.passages.forms], dtype=np.bool_)


def _find_preferred(
    documents: dict[str, Floats], route: Route, *, allowed: RowFilter, index_context: IndexContext
) -> RowFilter:
    """Return the filter for rows of current documents of the requested year, place and form."""
    doubtful = documents["stale"] + documents["draft"] + (documents["year"] < 0) + (documents["place"] < 0) > 0
    return allowed.narrow(documents=~doubtful, forms=match_forms(route, index_context) if route.forms else None)


def _score_titles(terms: Sequence[str], titled: Mapping[str, Ints], *, count: int) -> Floats:
    """Return how much of the question is in the title of each document's form, against the best of them.

    `titled` has the documents with a word in their titles, `count` is the number of documents.
    """
    scores = np.zeros(count)
    for term in dict.fromkeys(terms):
        if term in titled:
            scores[titled[term]] += np.log(count / len(titled[term]))
    return scores / max(float(scores.max(initial=0.0)), 1.0)


def _rescale(scores: npt.NDArray[np.float32], *, floor: float) -> Floats:
    """Return scores as 0..1 between a floor and the best of them."""
    own = scores.astype(np.float64)
    top = float(own.max(initial=floor))
    if top <= floor:
        return np.zeros(len(own))
    stretched: Floats = np.clip((own - floor) / (top - floor), 0.0, 1.0)
    return stretched
