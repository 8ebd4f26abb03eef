"""Score statements as answers to a question, and choose those that make up the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from taxkg_assets.retrieval.answering.statements import Statement
from taxkg_assets.retrieval.encoding.arrays import Floats
from taxkg_assets.retrieval.encoding.encoder import Encoder
from taxkg_assets.retrieval.index.lines import CELL_SEPARATOR
from taxkg_assets.retrieval.index.token_match import TokenIndex
from taxkg_assets.retrieval.ranking.rerank import score_overlap
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.rules.models.answers import load_answers

_FIGURE = re.compile(r"\d[\d.,]*")


def score_statements(
    statements: Sequence[Statement], *, encoder: Encoder, tokens: TokenIndex | None, ranking: Ranking
) -> dict[int, float]:
    """Score the most promising statements by shared terms, token vectors and sentence vectors.

    Args:
        statements: Statements of the passages.
        encoder: Encoder of the index.
        tokens: Token vectors of the index; None if the index has none.
        ranking: Ranking of the question.

    Returns:
        Score of each candidate statement by its index in `statements`.
    """
    rules = load_answers()
    signals = find_signals(statements, ranking=ranking)
    signals["tokens"] = np.zeros(len(statements))
    if tokens is not None and ranking.tokens is not None:
        signals["tokens"] = tokens.score_texts(
            ranking.tokens, encoder.find_tokens([_shorten(statement.text) for statement in statements])
        )
    candidates = choose_candidates(signals)
    vectors = encoder.encode_sentences([_shorten(statements[ix].text) for ix in candidates])
    signals["cosine"] = np.zeros(len(statements))
    signals["cosine"][candidates] = encoder.scale.convert(vectors @ ranking.query_vector)
    all_scores = np.sum([weight * signals[name] for name, weight in rules.worth.items()], axis=0)
    return {ix: float(all_scores[ix]) for ix in candidates}


def _shorten(text: str) -> str:
    """Return the first words of a statement, which name its subject, as encoding a long text is slow."""
    return " ".join(text.split()[: load_answers().full_words])


def choose_candidates(signals: Mapping[str, Floats]) -> list[int]:
    """Choose the statements to encode by the signals that cost little: terms and tokens.

    Args:
        signals: Signals by name, each of shape (statements,).

    Returns:
        Indices of statements, best first.
    """
    limits = load_answers()
    cheap_scores = np.sum([weight * signals[name] for name, weight in limits.early.items()], axis=0)
    order: list[int] = np.argsort(-cheap_scores, kind="stable")[: limits.candidates].tolist()
    return order


def find_signals(statements: Sequence[Statement], *, ranking: Ranking) -> dict[str, Floats]:
    """Compute the ranking signals of each statement, except those of its vectors.

    Args:
        statements: Statements of the passages.
        ranking: Ranking of the question.

    Returns:
        Signals by name, each of shape (statements,) and from 0 to 1.
    """
    term_idf, route = ranking.query_term_idf, ranking.route
    row_scores = {candidate.row: candidate.score for candidate in ranking.candidates}
    best_score, max_distance = max(row_scores.values(), default=0.0), load_answers().liked_reach

    def score_nearness(statement: Statement) -> float:
        """Return how near the score of the statement's row is to the best score: 1 if best, 0 if far."""
        distance = best_score - row_scores.get(statement.row, -np.inf)
        return max(0.0, 1.0 - distance / max_distance)

    def measure(read_signal: Callable[[Statement], float]) -> Floats:
        return np.array([float(read_signal(statement)) for statement in statements])

    return {
        "terms": measure(lambda statement: score_overlap(term_idf, statement.terms | statement.context_terms)),
        "rank": measure(lambda statement: 1.0 / (1 + statement.passage)),
        "hit": measure(lambda statement: statement.is_hit),
        "liked": measure(score_nearness),
        "opening": measure(lambda statement: statement.passage == 0 and statement.is_opening),
        "pointer": measure(lambda statement: statement.is_pointer),
        "fragment": measure(lambda statement: statement.is_fragment),
        "figures": measure(lambda statement: statement.is_figures and not route.wants_amount),
        "example": measure(lambda statement: statement.is_example),
        "expired": measure(lambda statement: statement.is_expired and not route.years),
    }


def find_key_statements(statements: Sequence[Statement], keys: Sequence[str]) -> list[int]:
    """Find for each key of a question the first statement that explains the key, as definitions precede details.

    Args:
        statements: Statements of the passages.
        keys: Keys of the question.

    Returns:
        Indices of statements.
    """
    first_ixs = (
        next(
            (
                ix
                for ix, statement in enumerate(statements)
                if key in statement.explained_keys and not statement.is_pointer
            ),
            None,
        )
        for key in keys
    )
    return list(dict.fromkeys(ix for ix in first_ixs if ix is not None))


def rank_statements(
    statements: Sequence[Statement],
    scores: Mapping[int, float],
    *,
    required: Sequence[int],
    term_idf: Mapping[str, float],
) -> list[int]:
    """Choose statements greedily: in each step the one with the best score that adds most to those already chosen.

    Statements whose score is below a share of the best score are not chosen. The share is higher for a document that
    contains neither the best statement nor a required one: its statements are mostly about another subject.

    Args:
        statements: Statements of the passages.
        scores: Score of each candidate statement by its index.
        required: Indices of statements that are chosen first, whatever their scores.
        term_idf: Inverse document frequency of each term of the question.

    Returns:
        Indices of statements in the order of choice.
    """
    order = list(required)
    best_score = max(scores.values())
    limits = load_answers()
    best_ix = max(scores, key=lambda ix: (scores[ix], -ix))
    main_documents = {statements[ix].document_id for ix in (best_ix, *required)}
    candidates = {}
    for ix, score in scores.items():
        is_elsewhere = statements[ix].document_id not in main_documents
        min_share = limits.least_share_elsewhere if is_elsewhere else limits.least_share
        if ix not in order and score >= min(best_score, min_share * best_score):
            candidates[ix] = score
    while candidates:
        chosen = [statements[ix] for ix in order]
        gains = {
            ix: score + _score_addition(statements[ix], chosen, score, term_idf) for ix, score in candidates.items()
        }
        best_ix = max(gains, key=lambda ix: (gains[ix], -ix))
        del candidates[best_ix]
        if chosen and _adds_nothing(statements[best_ix], chosen):
            continue
        order.append(best_ix)
    return order


def _score_addition(
    statement: Statement, chosen: Sequence[Statement], score: float, term_idf: Mapping[str, float]
) -> float:
    """Score what a statement adds to chosen statements: new terms of the question or a new passage, less its length."""
    gains = load_answers().gains
    length = gains.length * len(statement.text.split()) / 100
    if not chosen:
        return -float(length)
    chosen_terms = frozenset[str]().union(*(other.terms for other in chosen))
    covered_terms = chosen_terms.union(*(other.context_terms for other in chosen))
    repeated_share = 1 - len(statement.terms - chosen_terms) / max(1, len(statement.terms))
    new_terms = score_overlap(dict(term_idf), (statement.terms | statement.context_terms) - covered_terms)
    is_new_passage = all(other.passage != statement.passage for other in chosen)
    gain = gains.terms * new_terms + gains.passage * is_new_passage
    return float(gain - gains.repeated * score * repeated_share - length)


def _adds_nothing(statement: Statement, chosen: Sequence[Statement]) -> bool:
    """Return whether a statement repeats a chosen statement, or is a label or another row of a quoted table.

    A statement with a figure that no chosen statement prints is no repetition, whatever words they share.
    """
    if statement.line.is_table:  # the other rows of a table answer other questions, and its notes none
        return CELL_SEPARATOR not in statement.text or any(
            other.line.is_table and other.row == statement.row for other in chosen
        )
    if statement.is_fragment:
        return True
    min_shared = load_answers().same_share
    terms = statement.terms - statement.context_terms
    if find_figures(statement.terms) - frozenset[str]().union(*(other.terms for other in chosen)):
        return False
    return any(
        len(terms & (other.terms | other.context_terms)) >= min_shared * max(1, len(terms)) and len(terms) > 1
        for other in chosen
    )


def find_figures(terms: Collection[str]) -> frozenset[str]:
    """Return the search terms that are amounts, dates or counts: those without letters.

    Args:
        terms: Search terms.

    Returns:
        These terms.
    """
    return frozenset(term for term in terms if _FIGURE.fullmatch(term))
