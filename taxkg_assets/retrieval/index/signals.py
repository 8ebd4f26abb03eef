"""Signals about the candidates of a question: scores and cells of an index, from which the ranker makes features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.encoder import CosineScale, TokenVectors, Vectors
from taxkg_assets.retrieval.encoding.vector import score_rows
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever
from taxkg_assets.retrieval.index.facts import RANKED_COLUMNS, PassageFacts
from taxkg_assets.retrieval.index.first_stage import FirstStage
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.query.parsed_query import EncodedQuery, ParsedQuery
from taxkg_assets.rules.models.ranking import load_ranking


@dataclass(frozen=True, slots=True)
class Signals:
    """Search signals of candidate rows, the input of the ranking features.

    Attributes:
        rows: Row numbers.
        lexical: BM25 as a share of the best, 0 to 1.
        vector: Rescaled cosine, 0 to 1.
        fused: Fused rank score as a share of the best, 0 to 1.
        document_features: Features of each document by name, each of shape (documents,).
        document_number: Document number of each row.
        section_similarity: Similarity of each row's section to the question, 0 to 1.
        token_similarity: Similarity of the question's tokens to those of each row, 0 to 1.
        contained: Which rows contain which terms of the question, shape (terms, rows).
        contained_or_synonym: The same, where a row also counts that contains the document term for an everyday term:
            "salary" is in a row with "wages".
        headings: Heading path of each row.
        terms: Search terms of each row, separated by blanks.
        keys: Key of each row's anchor where the question names keys, else None.
        texts: Text of each row where the question names codes, else empty.
        labels: Terms of the tags and entities of each row.
    """

    rows: Ints
    lexical: Floats
    vector: Floats
    fused: Floats
    document_features: Mapping[str, Floats]
    document_number: Ints
    section_similarity: Floats
    token_similarity: Floats
    contained: npt.NDArray[np.bool_]
    contained_or_synonym: npt.NDArray[np.bool_]
    headings: Sequence[str]
    terms: Sequence[str]
    keys: Sequence[str | None]
    texts: Sequence[str]
    labels: Sequence[frozenset[str]]


def gather_signals(
    parsed: ParsedQuery,
    encoded: EncodedQuery,
    first_stage: FirstStage,
    *,
    index_context: IndexContext,
    scale: CosineScale,
) -> Signals:
    """Collect the search signals of the candidates of a question for the ranker.

    Args:
        parsed: The question.
        encoded: Terms and vectors of the question.
        first_stage: Scores of both retrievers, and the candidates.
        index_context: Context of the index.
        scale: Map from the encoder's cosines to those of its base model.

    Returns:
        Signals of the candidates, in the order of the fused ranking.
    """
    facts, lexical = index_context.passages, index_context.index.lexical
    fused_scores = first_stage.fused_scores
    has_keys = bool(parsed.route.keys)
    key_columns = (*(("anchor_key",) if has_keys else ()), *(("text",) if parsed.has_codes else ()))
    facts.prefetch(list(fused_scores), (*RANKED_COLUMNS, *key_columns))
    candidates = _leave_out_navigation(list(fused_scores), facts)
    rows = np.array(candidates, dtype=np.int64)
    best_score = max(fused_scores.values(), default=1.0)
    section_similarity = _score_sections(facts.anchor_number[rows], encoded.query_vector, index_context, scale)
    contained = lexical.find_containing_rows(list(first_stage.idf), rows)
    return Signals(
        rows=rows,
        lexical=first_stage.score_terms(rows),
        vector=first_stage.score_meaning(rows),
        fused=np.array([fused_scores.get(row, 0.0) for row in candidates]) / best_score,
        document_features=first_stage.document_features,
        document_number=index_context.documents.number_by_row[rows],
        section_similarity=section_similarity,
        token_similarity=_score_tokens(rows, encoded.tokens, index_context),
        contained=contained,
        contained_or_synonym=find_contained_terms(contained, rows, first_stage.idf, parsed.document_terms, lexical),
        headings=facts.read_cells(candidates, "heading_path"),
        terms=facts.read_cells(candidates, "terms"),
        keys=facts.read_cells(candidates, "anchor_key") if has_keys else [None] * len(candidates),
        texts=facts.read_cells(candidates, "text") if parsed.has_codes else [""] * len(candidates),
        labels=facts.read_labels(rows),
    )


def _leave_out_navigation(rows: list[int], facts: PassageFacts) -> list[int]:
    """Leave out passages of indexes and tables of contents, which only say where text is; keep all if none is left."""
    heading_paths, rules = facts.read_cells(rows, "heading_path"), load_ranking().navigation
    navigation_paths = {path for path in set(heading_paths) if rules.matches(path)}
    return [row for row, path in zip(rows, heading_paths, strict=True) if path not in navigation_paths] or rows


def _score_sections(anchors: Ints, query_vector: Vectors, index_context: IndexContext, scale: CosineScale) -> Floats:
    """Return the similarity of each row's section to the question: 1 for the nearest section, 0 for a distant one."""
    section_vectors = index_context.index.sections.read(anchors)
    similarities = scale.convert(score_rows(section_vectors, query_vector)).astype(np.float64)
    return _rescale_near(similarities, reach=load_ranking().section_reach)


def _score_tokens(rows: Ints, question: TokenVectors | None, index_context: IndexContext) -> Floats:
    """Return the similarity of each row's tokens to those of the question: 1 for the nearest row, 0 for a distant one.

    All are 0 where the index has no tokens.
    """
    tokens = index_context.index.tokens
    if question is None or tokens is None:
        return np.zeros(len(rows))
    return _rescale_near(tokens.score_rows(question, rows), reach=load_ranking().tokens.reach)


def _rescale_near(values: Floats, *, reach: float) -> Floats:
    """Rescale values so that the largest becomes 1, and values that are lower by `reach` or more become 0."""
    scores: Floats = np.clip((values - values.max(initial=0.0) + reach) / reach, 0.0, 1.0)
    return scores


def find_contained_terms(
    contained: npt.NDArray[np.bool_],
    rows: Ints,
    question_terms: Iterable[str],
    document_terms: Mapping[str, frozenset[str]],
    lexical: LexicalRetriever,
) -> npt.NDArray[np.bool_]:
    """Find which rows contain which terms of a question, literally or as the document term for an everyday term.

    Args:
        contained: Which rows contain which terms literally, shape (terms, rows).
        rows: Row numbers.
        question_terms: Terms of the question.
        document_terms: Terms of the documents by everyday term of the question.
        lexical: Postings of the index.

    Returns:
        Booleans of shape (terms, rows).
    """
    contained_or_synonym = contained.copy()
    for term_ix, term in enumerate(question_terms):
        if term in document_terms:
            contained_or_synonym[term_ix] |= lexical.find_containing_rows(sorted(document_terms[term]), rows).any(
                axis=0
            )
    return contained_or_synonym
