"""Parse and encode a question: what it names, its terms, and its vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval.encoding.encoder import Encoder, TokenVectors, Vectors
from taxkg_assets.retrieval.encoding.exported import ExportedEncoder
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.encoding.parallel import has_one_core, run_in_parallel
from taxkg_assets.retrieval.query.components import SearchComponents
from taxkg_assets.retrieval.query.form_match import score_forms
from taxkg_assets.retrieval.query.hyde import HypotheticalPassage, generate_passage
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

Other = TypeVar("Other")

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
class ExpandedQuery:
    """The search terms of a question and of its expansions.

    Attributes:
        terms: Search terms of the question in order, with repeats.
        expansion_terms: Terms that query expansion added.
        hypothetical: Hypothetical passage that could answer the question; None for none.
    """

    terms: tuple[str, ...]
    expansion_terms: tuple[str, ...]
    hypothetical: HypotheticalPassage | None


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


def expand_query(parsed: ParsedQuery, *, parts: SearchComponents, proposer: Proposer | None) -> ExpandedQuery:
    """Expand a question with document terms and a hypothetical passage.

    Args:
        parsed: The parsed question.
        parts: Whether HyDE is on.
        proposer: Model for HyDE; None for none.

    Returns:
        Terms of the question and of its expansions.
    """
    terms, lay_terms = tuple(find_terms(parsed.text)), parsed.lay_terms
    hypothetical = generate_passage(parsed.text, vocabulary=lay_terms, proposer=proposer) if parts.hyde else None
    expansion = f"{lay_terms} {hypothetical.terms}" if hypothetical else lay_terms
    expansion_terms = tuple(term for term in find_terms(expansion) if term not in terms)
    return ExpandedQuery(terms, expansion_terms, hypothetical)


def encode_query(
    parsed: ParsedQuery,
    expanded: ExpandedQuery,
    *,
    encoder: Encoder,
    has_tokens: bool,
    meanwhile: Callable[[], Other],
) -> tuple[EncodedQuery, Other]:
    """Encode a question and its expansions for the retrievers, and meanwhile do something that needs no vector.

    Args:
        parsed: The parsed question.
        expanded: Its terms and expansions.
        encoder: Encoder of the index.
        has_tokens: Whether tokens are compared.
        meanwhile: Called in the thread that has less to encode.

    Returns:
        Terms and vectors, and the result of `meanwhile`.
    """
    query_vector, other = _encode_texts(parsed.text, parsed.lay_terms, encoder=encoder, meanwhile=meanwhile)
    if expanded.hypothetical:
        expansion_weight = load_llm().reading.hyde_share
        query_vector = (1 - expansion_weight) * query_vector + expansion_weight * encoder.encode_query(
            expanded.hypothetical.passage
        )
    tokens = encoder.encode_tokens([parsed.text])[0] if has_tokens else None
    return EncodedQuery(expanded.terms, expanded.expansion_terms, query_vector, tokens), other


def _encode_texts(
    query: str, lay_terms: str, *, encoder: Encoder, meanwhile: Callable[[], Other]
) -> tuple[Vectors, Other]:
    """Return the vector of a question with document terms for its everyday words, and the result of `meanwhile`."""
    expansion_weight = load_ranking().retrievers.expanded_vector
    if not (lay_terms and expansion_weight):
        other, query_vector = run_in_parallel(meanwhile, lambda: encoder.encode_query(query))
        return query_vector, other
    if has_one_core() and isinstance(encoder, ExportedEncoder):
        encoder.encode_together([query, f"{query} {lay_terms}"])
    expanded_vector, (query_vector, other) = run_in_parallel(
        lambda: encoder.encode_query(f"{query} {lay_terms}"), lambda: (encoder.encode_query(query), meanwhile())
    )
    return (1 - expansion_weight) * query_vector + expansion_weight * expanded_vector, other
