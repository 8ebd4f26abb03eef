"""First stage: every row scored by BM25 and by vectors for one question, and the rankings of the best rows."""

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
from taxkg_assets.retrieval.index.scores import BestRows, RetrieverScores
from taxkg_assets.retrieval.query.components import SearchComponents
from taxkg_assets.retrieval.query.parsed_query import EncodedQuery, ParsedQuery
from taxkg_assets.rules.models.ranking import load_ranking


@dataclass(frozen=True, slots=True)
class FirstStage:
    """First-stage retrieval of a question: scores and rankings of both retrievers, and the documents' features.

    Attributes:
        scores: Scores of both retrievers.
        best_rows: Best rows by BM25 and best rows by vector, even of a retriever that is switched off.
        rankings: Rankings to fuse: of all rows, and of the rows that the question prefers.
        document_features: Ranking features of documents by name, each of shape (documents,).
        caller_filter: Filter by the parameters of the search.
        fused_scores: Fused score of each candidate by row number.
        idf: Inverse document frequency of each term of the question.
    """

    scores: RetrieverScores
    best_rows: list[Ints]
    rankings: list[Ints]
    document_features: dict[str, Floats]
    caller_filter: RowFilter
    fused_scores: dict[int, float]
    idf: dict[str, float]

    @property
    def vector_floor(self) -> float:
        """Return the cosine of the last row that the vector retriever ranks."""
        return float(np.min(self.scores.score_meaning(self.best_rows[1]), initial=1.0))

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
    by_term: BestRows,
    caller_filter: RowFilter,
    index_context: IndexContext,
    scale: CosineScale,
    components: SearchComponents,
) -> FirstStage:
    """Score all rows by their vectors, too, and rank the best rows with and without the question's filters.

    Args:
        parsed: The question.
        encoded: Terms and vectors of the question.
        by_term: BM25 scores of all rows.
        caller_filter: Filter by the parameters of the search, such as a document or year.
        index_context: Context of the index.
        scale: Map from the encoder's cosines to those of its base model.
        components: Which retrievers are on.

    Returns:
        Scores, rankings, and the fused candidates of both retrievers.
    """
    limits = load_ranking().retrievers
    route, query_vector = parsed.route, encoded.query_vector
    similarity = scale.convert(score_rows(index_context.document_vectors, query_vector)).astype(np.float64)
    lexical = index_context.index.lexical
    row_count = lexical.row_count
    idf = {term: lexical.vocabulary.idf(term, row_count=row_count) for term in dict.fromkeys(encoded.terms)}
    scores = index_context.index.ask(by_term, query_vector, scale=scale)
    features = index_context.documents.score_documents(route)
    preferred_rows = _narrow_to_preferred(
        features, caller_filter=caller_filter, matches_form=parsed.matches_form if route.forms else None
    )
    features["title"] = _score_titles(
        [*encoded.terms, *encoded.expansion_terms], index_context.documents_by_title_word, count=len(similarity)
    )
    features["document_similarity"] = np.clip((similarity - similarity.max() + 0.3) / 0.3, 0.0, 1.0)
    retrievers = [(components.lexical, scores.find_by_terms), (components.vector, scores.find_by_meaning)]
    best_rows = [find(caller_filter, count=limits.depth) for _, find in retrievers]
    rankings = [ranking for ranking, (is_on, _) in zip(best_rows, retrievers, strict=True) if is_on]
    filters = [preferred_rows]
    if route.perspective:
        filters.append(preferred_rows.narrow(perspective=route.perspective))
    for row_filter in filters:
        rankings += [find(row_filter, count=limits.depth) for is_on, find in retrievers if is_on]
    fused_scores = fuse_rankings([ranking.tolist() for ranking in rankings])
    return FirstStage(scores, best_rows, rankings, features, caller_filter, fused_scores, idf)


def _narrow_to_preferred(
    features: dict[str, Floats], *, caller_filter: RowFilter, matches_form: Mask | None
) -> RowFilter:
    """Narrow a filter to rows of current documents of the requested year, jurisdiction and form."""
    is_unsuitable = features["stale"] + features["draft"] + (features["year"] < 0) + (features["place"] < 0) > 0
    return caller_filter.narrow(documents=~is_unsuitable, forms=matches_form)


def _score_titles(terms: Sequence[str], documents_by_word: Mapping[str, Ints], *, count: int) -> Floats:
    """Return the summed IDF of the question's terms in the title of each document's form, divided by the largest sum.

    `documents_by_word` has the numbers of the documents with a word in their form's title, `count` is the number of
    all documents.
    """
    scores = np.zeros(count)
    for term in dict.fromkeys(terms):
        if term in documents_by_word:
            scores[documents_by_word[term]] += np.log(count / len(documents_by_word[term]))
    return scores / max(float(scores.max(initial=0.0)), 1.0)


def _rescale(scores: npt.NDArray[np.float32], *, floor: float) -> Floats:
    """Rescale scores so that the floor, and what is below it, becomes 0 and the highest score becomes 1."""
    values = scores.astype(np.float64)
    top = float(values.max(initial=floor))
    if top <= floor:
        return np.zeros(len(values))
    stretched: Floats = np.clip((values - floor) / (top - floor), 0.0, 1.0)
    return stretched
