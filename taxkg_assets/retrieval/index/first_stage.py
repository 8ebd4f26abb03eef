"""First stage: scores of every row by BM25 and by vectors for one question, and the rankings that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.encoder import CosineScale
from taxkg_assets.retrieval.encoding.vector import score_rows
from taxkg_assets.retrieval.index.fuse import fuse_rankings
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.index.row_filter import Mask, RowFilter
from taxkg_assets.retrieval.index.scores import Question, RetrieverScores
from taxkg_assets.retrieval.query.components import SearchComponents
from taxkg_assets.retrieval.query.parsed_query import EncodedQuery, ParsedQuery
from taxkg_assets.rules.models.ranking import load_ranking


@dataclass(frozen=True, slots=True)
class FirstStage:
    """First-stage retrieval of a question: scores and rankings of both retrievers, and the documents' features.

    Attributes:
        scores: Scores of both retrievers.
        orders: Best rows by terms and by meaning, even of a retriever that is switched off.
        rankings: Rankings to fuse, of all rows and of the preferred ones.
        documents: Features by name, each of shape (documents,).
        allowed: Filter given by the caller.
        fused: Fused score of each candidate by row number.
        idf: Inverse document frequency of each term of the question.
    """

    scores: RetrieverScores
    orders: list[Ints]
    rankings: list[Ints]
    documents: dict[str, Floats]
    allowed: RowFilter
    fused: dict[int, float]
    idf: dict[str, float]

    @property
    def vector_floor(self) -> float:
        """Return the cosine of the last row that the vector retriever ranks."""
        return float(np.min(self.scores.score_meaning(self.orders[1]), initial=1.0))

    def score_terms(self, rows: Ints) -> Floats:
        """Return the BM25 scores of some rows, divided by the highest score among these rows.

        Args:
            rows: 0-based rows of the index.

        Returns:
            Scores from 0 to 1, shape (rows,); all 0 where no row has a term of the question.
        """
        return _rescale(self.scores.score_terms(rows), floor=0.0)

    def score_meaning(self, rows: Ints) -> Floats:
        """Return the cosines of some rows, rescaled to 0 to 1.

        The cosine of the lowest-ranked row of the whole retrieval (`vector_floor`) becomes 0, and the highest cosine
        among `rows`, not among all ranked rows, becomes 1.

        Args:
            rows: 0-based rows of the index.

        Returns:
            Scores from 0 to 1, shape (rows,); rows below the floor get 0.
        """
        return _rescale(self.scores.score_meaning(rows), floor=self.vector_floor)


def score_first_stage(
    parsed: ParsedQuery,
    encoded: EncodedQuery,
    *,
    allowed: RowFilter,
    index_context: IndexContext,
    scale: CosineScale,
    parts: SearchComponents,
) -> FirstStage:
    """Score all rows by both retrievers, and rank the best rows with and without the question's filters.

    Args:
        parsed: The question.
        encoded: Its vectors.
        allowed: Filter that was given outright.
        index_context: Context of the index.
        scale: Scale of the encoder's cosines.
        parts: Which retrievers are on.

    Returns:
        Scores, rankings, and the candidates that both retrievers give.
    """
    limits = load_ranking().retrievers
    route, query_vector = parsed.route, encoded.query_vector
    similarity = scale.convert(score_rows(index_context.document_vectors, query_vector)).astype(np.float64)
    lexical = index_context.index.lexical
    rows = lexical.row_count
    idf = {term: lexical.vocabulary.idf(term, row_count=rows) for term in dict.fromkeys(encoded.terms)}
    question = Question(encoded.terms, encoded.extra, limits.expansion, query_vector)
    scores = index_context.index.ask(question, scale=scale)
    documents = index_context.documents.score_documents(route)
    preferred = _find_preferred(documents, allowed=allowed, matches_form=parsed.matches_form if route.forms else None)
    documents["title"] = _score_titles([*encoded.terms, *encoded.extra], index_context.titled, count=len(similarity))
    documents["document_similarity"] = np.clip((similarity - similarity.max() + 0.3) / 0.3, 0.0, 1.0)
    retrievers = [(parts.lexical, scores.find_by_terms), (parts.vector, scores.find_by_meaning)]
    orders = [find(allowed, count=limits.depth) for _, find in retrievers]
    filters = [preferred]
    if route.perspective:
        filters.append(preferred.narrow(perspective=route.perspective))
    rankings = [order for order, (is_on, _) in zip(orders, retrievers, strict=True) if is_on] + [
        find(one, count=limits.depth) for one in filters for is_on, find in retrievers if is_on
    ]
    fused = fuse_rankings([ranking.tolist() for ranking in rankings])
    return FirstStage(scores, orders, rankings, documents, allowed, fused, idf)


def _find_preferred(documents: dict[str, Floats], *, allowed: RowFilter, matches_form: Mask | None) -> RowFilter:
    """Return the filter for rows of current documents of the requested year, place and form."""
    doubtful = documents["stale"] + documents["draft"] + (documents["year"] < 0) + (documents["place"] < 0) > 0
    return allowed.narrow(documents=~doubtful, forms=matches_form)


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
    """Rescale scores so that the floor, and what is below it, becomes 0 and the highest score becomes 1."""
    values = scores.astype(np.float64)
    top = float(values.max(initial=floor))
    if top <= floor:
        return np.zeros(len(values))
    stretched: Floats = np.clip((values - floor) / (top - floor), 0.0, 1.0)
    return stretched
