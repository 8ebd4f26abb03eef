"""The two retrievers over one question: scores of every row by words and by meaning, and the orders that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval import lexical, rerank, vector
from taxkg_assets.retrieval.encoder import Encoder, Vectors
from taxkg_assets.retrieval.facts import Floats, Ints
from taxkg_assets.retrieval.gathered import Gathered
from taxkg_assets.retrieval.hyde import imagine_passage
from taxkg_assets.retrieval.parallel import run_in_parallel
from taxkg_assets.retrieval.parts import Parts
from taxkg_assets.retrieval.router import Route, find_lay_terms
from taxkg_assets.retrieval.row_filter import Mask, RowFilter
from taxkg_assets.retrieval.scores import Question, RetrieverScores
from taxkg_assets.rules.loader import load_family


@dataclass(frozen=True, slots=True)
class FirstStage:
    """Scores of both retrievers for a question, their orders, the rankings to fuse, and the documents' features."""

    scores: RetrieverScores
    orders: list[Ints]
    rankings: list[Ints]
    documents: dict[str, Floats]
    allowed: RowFilter
    meaning: Vectors

    @property
    def vector_floor(self) -> float:
        """Cosine of the last row that the vector retriever ranks."""
        return float(np.min(self.scores.score_meaning(self.orders[1]), initial=1.0))

    def score_terms(self, rows: Ints) -> Floats:
        """Some rows' lexical scores relative to the best of them."""
        return _stretch(self.scores.score_terms(rows), floor=0.0)

    def score_meaning(self, rows: Ints) -> Floats:
        """Some rows' cosines between the last row that the retriever ranks and the best of them."""
        return _stretch(self.scores.score_meaning(rows), floor=self.vector_floor)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A question for the retrievers: terms that were added to its own, and its meaning with what was added."""

    extra: tuple[str, ...]
    meaning: Vectors


def expand_query(
    query: str, terms: Sequence[str], *, encoder: Encoder, parts: Parts, proposer: Proposer | None
) -> Expanded:
    """A question with the documents' words for its everyday ones, and a model's guess at the passage, if any."""
    share = load_family("ranking")["retrievers"]["expanded_vector"]
    lay_terms = find_lay_terms(query) if parts.lay_terms else ""
    imagined = imagine_passage(query, vocabulary=lay_terms, proposer=proposer) if parts.hyde else None
    added = f"{lay_terms} {imagined.terms}" if imagined else lay_terms
    if lay_terms and share:
        worded, meaning = run_in_parallel(
            lambda: encoder.encode_query(f"{query} {lay_terms}"), lambda: encoder.encode_query(query)
        )
        meaning = (1 - share) * meaning + share * worded
    else:
        meaning = encoder.encode_query(query)
    if imagined:
        share = load_family("llm")["reading"]["hyde_share"]
        meaning = (1 - share) * meaning + share * encoder.encode_query(imagined.passage)
    return Expanded(tuple(term for term in lexical.find_terms(added) if term not in terms), meaning)


def score_first_stage(
    expanded: Expanded,
    terms: Sequence[str],
    *,
    route: Route,
    allowed: RowFilter,
    gathered: Gathered,
    encoder: Encoder,
    parts: Parts,
) -> FirstStage:
    """Ask both retrievers and order the best, among all rows and among those that the question prefers."""
    limits = load_family("ranking")["retrievers"]
    read = encoder.scale.read
    question = Question(tuple(terms), expanded.extra, limits["expansion"], expanded.meaning)
    scores = gathered.index.ask(question, scale=encoder.scale)
    about = read(vector.score_rows(gathered.document_vectors, expanded.meaning)).astype(np.float64)
    documents = gathered.documents.score_documents(route)
    preferred = _find_preferred(documents, route, allowed=allowed, gathered=gathered)
    documents["title"] = _score_titles([*terms, *expanded.extra], gathered.titled, count=len(about))
    documents["about"] = np.clip((about - about.max() + 0.3) / 0.3, 0.0, 1.0)
    retrievers = [(parts.lexical, scores.find_by_terms), (parts.vector, scores.find_by_meaning)]
    orders = [find(allowed, count=limits["depth"]) for _, find in retrievers]
    filters = [preferred]
    if route.perspective:
        filters.append(preferred.narrow(perspective=route.perspective))
    rankings = [order for order, (is_on, _) in zip(orders, retrievers, strict=True) if is_on] + [
        find(one, count=limits["depth"]) for one in filters for is_on, find in retrievers if is_on
    ]
    return FirstStage(scores, orders, rankings, documents, allowed, expanded.meaning)


def speaks_of(route: Route, gathered: Gathered) -> Mask:
    """By form number, whether a form is one asked for."""
    return np.array([rerank.score_form(form, route) == 1.0 for form in gathered.passages.forms], dtype=np.bool_)


def _find_preferred(documents: dict[str, Floats], route: Route, *, allowed: RowFilter, gathered: Gathered) -> RowFilter:
    """Rows of current documents of the year, place and form asked for."""
    doubtful = documents["stale"] + documents["draft"] + (documents["year"] < 0) + (documents["place"] < 0) > 0
    return allowed.narrow(documents=~doubtful, forms=speaks_of(route, gathered) if route.forms else None)


def _score_titles(terms: Sequence[str], titled: Mapping[str, Ints], *, count: int) -> Floats:
    """How much of the question stands in the title of each document's form, against the best of them.

    Args: titled: the documents whose titles hold a word. count: number of documents.
    """
    scores = np.zeros(count)
    for term in dict.fromkeys(terms):
        if term in titled:
            scores[titled[term]] += np.log(count / len(titled[term]))
    return scores / max(float(scores.max(initial=0.0)), 1.0)


def _stretch(scores: npt.NDArray[np.float32], *, floor: float) -> Floats:
    """Scores as 0..1 between a floor and the best of them."""
    own = scores.astype(np.float64)
    top = float(own.max(initial=floor))
    if top <= floor:
        return np.zeros(len(own))
    stretched: Floats = np.clip((own - floor) / (top - floor), 0.0, 1.0)
    return stretched
