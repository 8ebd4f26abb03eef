"""Signals of an index about the candidates of a question: scores and cells, read before the ranker scores them."""

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
        by_document: Features of each document by name.
        document_number: Document of each row.
        by_section: Similarity of each row's section, 0 to 1.
        by_token: Similarity of the question's tokens to those of each row, 0 to 1.
        contained: Which terms of the question rows contain, shape (terms, rows).
        contained_printed: The same, counting also a document term that means an everyday term of the question.
        headings: Heading path of each row.
        terms: Search terms of each row, separated by blanks.
        keys: Key of each row's anchor.
        texts: Text of each row where the question names codes, else empty.
        labels: Terms of the tags and entities of each row.
    """

    rows: Ints
    lexical: Floats
    vector: Floats
    fused: Floats
    by_document: Mapping[str, Floats]
    document_number: Ints
    by_section: Floats
    by_token: Floats
    contained: npt.NDArray[np.bool_]
    contained_printed: npt.NDArray[np.bool_]
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
        encoded: Its vectors.
        first_stage: Scores of both retrievers, and the candidates.
        index_context: Context of the index.
        scale: Scale of the encoder's cosines.

    Returns:
        Signals of each candidate, in order of the fusion.
    """
    facts, lexical = index_context.passages, index_context.index.lexical
    fused = first_stage.fused_scores
    facts.prefetch(list(fused), (*RANKED_COLUMNS, *(("text",) if parsed.has_codes else ())))
    listed = _leave_out_navigation(list(fused), facts)
    rows = np.array(listed, dtype=np.int64)
    top = max(fused.values(), default=1.0)
    by_section = _score_sections(facts.anchor_number[rows], encoded.query_vector, index_context, scale)
    contained = lexical.find_containing_rows(list(first_stage.idf), rows)
    return Signals(
        rows=rows,
        lexical=first_stage.score_terms(rows),
        vector=first_stage.score_meaning(rows),
        fused=np.array([fused.get(row, 0.0) for row in listed]) / top,
        by_document=first_stage.document_features,
        document_number=index_context.documents.number_by_row[rows],
        by_section=by_section,
        by_token=_score_tokens(rows, encoded.tokens, index_context),
        contained=contained,
        contained_printed=find_contained_terms(contained, rows, first_stage.idf, parsed.printed, lexical),
        headings=facts.read_cells(listed, "heading_path"),
        terms=facts.read_cells(listed, "terms"),
        keys=facts.read_cells(listed, "anchor_key"),
        texts=facts.read_cells(listed, "text") if parsed.has_codes else [""] * len(listed),
        labels=facts.read_labels(rows),
    )


def _leave_out_navigation(rows: list[int], facts: PassageFacts) -> list[int]:
    """Leave out passages of indexes and tables of contents, unless there are no others: they only say where text is."""
    paths, rules = facts.read_cells(rows, "heading_path"), load_ranking().navigation
    left_out = {path for path in set(paths) if rules.matches(path)}
    return [row for row, path in zip(rows, paths, strict=True) if path not in left_out] or rows


def _score_sections(anchors: Ints, query_vector: Vectors, index_context: IndexContext, scale: CosineScale) -> Floats:
    """Score the similarity of each row's section to the question: 1 for the nearest, falling with the distance."""
    means = index_context.index.sections.read(anchors)
    near = scale.convert(score_rows(means, query_vector)).astype(np.float64)
    return _rescale_near(near, reach=load_ranking().section_reach)


def _score_tokens(rows: Ints, question: TokenVectors | None, index_context: IndexContext) -> Floats:
    """Score how near each row comes to the question token by token: 1 for the nearest, falling with the distance.

    0 where the index has no tokens.
    """
    tokens = index_context.index.tokens
    if question is None or tokens is None:
        return np.zeros(len(rows))
    return _rescale_near(tokens.score_rows(question, rows), reach=load_ranking().tokens.reach)


def _rescale_near(values: Floats, *, reach: float) -> Floats:
    """Return values as 1 for the largest and 0 from `reach` below it."""
    scores: Floats = np.clip((values - values.max(initial=0.0) + reach) / reach, 0.0, 1.0)
    return scores


def find_contained_terms(
    contained: npt.NDArray[np.bool_],
    rows: Ints,
    wanted: Iterable[str],
    printed: Mapping[str, frozenset[str]],
    lexical: LexicalRetriever,
) -> npt.NDArray[np.bool_]:
    """Find which terms of a question each row contains, literally or as the document term for an everyday word.

    Args:
        contained: Which terms each row contains literally, shape (terms, rows).
        rows: Row numbers.
        wanted: Terms of the question.
        printed: Document terms by everyday term.
        lexical: Postings of the index.

    Returns:
        Booleans of shape (terms, rows).
    """
    contained_printed = contained.copy()
    for place, term in enumerate(wanted):
        if term in printed:
            contained_printed[place] |= lexical.find_containing_rows(sorted(printed[term]), rows).any(axis=0)
    return contained_printed
