"""Parse and encode a question: what it names, its terms, and its vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval.encoding.encoder import Encoder, TokenVectors, Vectors
from taxkg_assets.retrieval.encoding.exported import ExportedEncoder
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.encoding.parallel import has_one_core, run_in_parallel
from taxkg_assets.retrieval.query.components import SearchComponents
from taxkg_assets.retrieval.query.form_match import score_forms
from taxkg_assets.retrieval.query.hyde import generate_passage
from taxkg_assets.retrieval.query.router import (
    Catalog,
    Route,
    find_lay_terms,
    find_route,
    find_topic,
    map_lay_terms,
)
from taxkg_assets.rules.models.llm import load_llm
from taxkg_assets.rules.models.ranking import load_ranking

MAX_CHARACTERS = 2_000
"""Maximum length of a question; the rest of a longer text is ignored."""


def tidy_query(query: str) -> str:
    """Remove lone surrogates from a question and truncate it.

    Args:
        query: Words of the user.

    Returns:
        At most `MAX_CHARACTERS` characters that can be encoded as UTF-8.
    """
    return query[:MAX_CHARACTERS].encode("utf8", errors="replace").decode("utf8")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A question and its interpretation.

    Attributes:
        text: The topic of the question.
        route: Route of the question.
        has_codes: Whether the question names codes of a box.
        matches_form: For each form of the index whether the question asks for it, shape (forms,).
        lay_terms: Document terms for the question's everyday words, separated by blanks.
        document_terms: The same document terms by everyday term of the question.
    """

    text: str
    route: Route
    has_codes: bool
    matches_form: npt.NDArray[np.bool_]
    lay_terms: str
    document_terms: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """A question encoded for the retrievers, with its expansion terms.

    Attributes:
        terms: Search terms of the question in order, with repeats.
        expansion_terms: Terms that query expansion added.
        query_vector: Weighted mean of the vectors of the question and of its expansions, shape (dimension,).
        tokens: Tokens of the question with their vectors; None where they are not compared.
    """

    terms: tuple[str, ...]
    expansion_terms: tuple[str, ...]
    query_vector: Vectors
    tokens: TokenVectors | None


def parse_query(
    query: str,
    *,
    corrections: Mapping[str, str],
    catalog: Catalog,
    parts: SearchComponents,
    form: str | None,
    year: int | None,
    forms: Sequence[str],
) -> ParsedQuery:
    """Parse a question: its topic, its route and the document terms for its everyday words.

    Args:
        query: Words of the user, without typing errors.
        corrections: Corrected words by misspelled word.
        catalog: Forms of the corpus.
        parts: Whether the router and lay terms are on.
        form: Form that the caller set, instead of those in the question; None for none.
        year: Year that the caller set; None for none.
        forms: Forms of the index.

    Returns:
        The parsed question.
    """
    route = find_route(query, catalog=catalog) if parts.router else Route()
    route = replace(route, corrections=tuple(f"{word}: {correction}" for word, correction in corrections.items()))
    if form:
        route = replace(route, forms=find_route(form, catalog=catalog).forms or (form,))
    if year:
        route = replace(route, years=(year,))
    topic = find_topic(query, route.intent)
    lay_terms = find_lay_terms(topic) if parts.lay_terms else ""
    document_terms = map_lay_terms(topic) if parts.lay_terms else {}
    matches_form = score_forms(forms, route) == 1.0
    return ParsedQuery(topic, route, bool(route.codes), matches_form, lay_terms, document_terms)


def encode_query(
    parsed: ParsedQuery, *, encoder: Encoder, parts: SearchComponents, proposer: Proposer | None, has_tokens: bool
) -> EncodedQuery:
    """Expand a question with document terms and a hypothetical passage, and encode it for the retrievers.

    Args:
        parsed: The parsed question.
        encoder: Encoder of the index.
        parts: Whether HyDE and tokens are on.
        proposer: Model for HyDE; None for none.
        has_tokens: Whether the index has tokens.

    Returns:
        Terms and vectors.
    """
    expansion_weight, query, lay_terms = load_ranking().retrievers.expanded_vector, parsed.text, parsed.lay_terms
    terms = tuple(find_terms(query))
    hypothetical = generate_passage(query, vocabulary=lay_terms, proposer=proposer) if parts.hyde else None
    expansion = f"{lay_terms} {hypothetical.terms}" if hypothetical else lay_terms
    if lay_terms and expansion_weight:
        if has_one_core() and isinstance(encoder, ExportedEncoder):
            encoder.encode_together([query, f"{query} {lay_terms}"])
        expanded_vector, query_vector = run_in_parallel(
            lambda: encoder.encode_query(f"{query} {lay_terms}"), lambda: encoder.encode_query(query)
        )
        query_vector = (1 - expansion_weight) * query_vector + expansion_weight * expanded_vector
    else:
        query_vector = encoder.encode_query(query)
    if hypothetical:
        expansion_weight = load_llm().reading.hyde_share
        query_vector = (1 - expansion_weight) * query_vector + expansion_weight * encoder.encode_query(
            hypothetical.passage
        )
    tokens = encoder.encode_tokens([query])[0] if parts.tokens and has_tokens else None
    expansion_terms = tuple(term for term in find_terms(expansion) if term not in terms)
    return EncodedQuery(terms, expansion_terms, query_vector, tokens)
