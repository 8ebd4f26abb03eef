"""Scores of statements as answers to a question, and the choice of those that make the answer."""

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
    """Score the most promising statements by shared words, token vectors and similarity of sentence vectors.

    Args:
        statements: Statements of the passages.
        encoder: Encoder of the index.
        tokens: Token vectors of the index; None if the index has none.
        ranking: Ranking of the question.

    Returns:
        Score of each chosen statement by its position in `statements`.
    """
    limits = load_answers()
    flags = find_signals(statements, ranking=ranking)
    flags["tokens"] = np.zeros(len(statements))
    if tokens is not None and ranking.tokens is not None:
        flags["tokens"] = tokens.score_texts(
            ranking.tokens, encoder.find_tokens([_shorten(statement.text) for statement in statements])
        )
    order = choose_candidates(flags)
    vectors = encoder.encode_sentences([_shorten(statements[place].text) for place in order])
    flags["cosine"] = np.zeros(len(statements))
    flags["cosine"][order] = encoder.scale.convert(vectors @ ranking.query_vector)
    value = np.sum([weight * flags[name] for name, weight in limits.worth.items()], axis=0)
    return {place: float(value[place]) for place in order}


def _shorten(text: str) -> str:
    """Return the first words of a statement: they name its subject, and encoding all of a long one is slow."""
    return " ".join(text.split()[: load_answers().full_words])


def choose_candidates(flags: Mapping[str, Floats]) -> list[int]:
    """Preselect statements by words and tokens, at a hundredth of the cost of comparing meaning.

    Args:
        flags: Signals by name, each of shape (statements,).

    Returns:
        Places of statements, best first.
    """
    limits = load_answers()
    early = np.sum([weight * flags[name] for name, weight in limits.early.items()], axis=0)
    order: list[int] = np.argsort(-early, kind="stable")[: limits.candidates].tolist()
    return order


def find_signals(statements: Sequence[Statement], *, ranking: Ranking) -> dict[str, Floats]:
    """Compute the ranking signals of each statement, except similarity of meaning.

    Args:
        statements: Statements of the passages.
        ranking: Ranking of the question.

    Returns:
        Signals by name, each of shape (statements,) and from 0 to 1.
    """
    wanted, limits = ranking.query_term_idf, load_answers()
    scores = {candidate.row: candidate.score for candidate in ranking.candidates}
    top, reach = max(scores.values(), default=0.0), limits.liked_reach

    def each(read: Callable[[Statement], float]) -> Floats:
        return np.array([float(read(statement)) for statement in statements])

    return {
        "terms": each(lambda own: score_overlap(wanted, own.terms | own.around)),
        "rank": each(lambda own: 1.0 / (1 + own.passage)),
        "hit": each(lambda own: own.is_hit),
        "liked": each(lambda own: max(0.0, 1.0 - (top - scores.get(own.row, -np.inf)) / reach)),
        "opening": each(lambda own: own.passage == 0 and own.is_opening),
        "pointer": each(lambda own: own.is_pointer),
        "fragment": each(lambda own: own.is_fragment),
        "figures": each(lambda own: own.is_figures and not ranking.route.wants_amount),
        "example": each(lambda own: own.is_example),
        "expired": each(lambda own: own.is_expired and not ranking.route.years),
    }


def find_openings(statements: Sequence[Statement], keys: Sequence[str]) -> list[int]:
    """Find for each key in the question the first statement that explains it, as definitions precede details.

    Args:
        statements: Statements of the passages.
        keys: Keys of the question.

    Returns:
        Places of statements.
    """
    first = (
        next((place for place, own in enumerate(statements) if key in own.opens and not own.is_pointer), None)
        for key in keys
    )
    return list(dict.fromkeys(place for place in first if place is not None))


def rank_statements(
    statements: Sequence[Statement],
    worth: Mapping[int, float],
    *,
    openings: Sequence[int],
    wanted: Mapping[str, float],
) -> list[int]:
    """Choose statements greedily: first the definitions of keys, then the one that adds the most new terms.

    The choice ends where the score falls below a share of the best score.

    Args:
        statements: Statements of the passages.
        worth: Score of each likely statement by its place in the list.
        openings: Places of statements that come first.
        wanted: Inverse document frequency of each term of the question.

    Returns:
        Places of statements in the order of choice.
    """
    chosen = list(openings)
    most = max(worth.values())
    least = min(most, load_answers().least_share * most)
    left = {place: own for place, own in worth.items() if place not in chosen and own >= least}
    while left:
        before = [statements[place] for place in chosen]
        gain = {place: own + _score_addition(statements[place], before, own, wanted) for place, own in left.items()}
        best = max(gain, key=lambda place: (gain[place], -place))
        del left[best]
        if chosen and _adds_nothing(statements[best], before):
            continue
        chosen.append(best)
    return chosen


def _score_addition(own: Statement, chosen: Sequence[Statement], worth: float, wanted: Mapping[str, float]) -> float:
    """Score what a statement adds to chosen ones: words, words of the question, a passage; less its length."""
    gains = load_answers().gains
    length = gains.length * len(own.text.split()) / 100
    if not chosen:
        return -float(length)
    said = frozenset[str]().union(*(other.terms for other in chosen))
    named = said.union(*(other.around for other in chosen))
    repeated = 1 - len(own.terms - said) / max(1, len(own.terms))
    new_terms = score_overlap(dict(wanted), (own.terms | own.around) - named)
    is_new_passage = all(other.passage != own.passage for other in chosen)
    added = gains.terms * new_terms + gains.passage * is_new_passage
    return float(added - gains.repeated * worth * repeated - length)


def _adds_nothing(own: Statement, chosen: Sequence[Statement]) -> bool:
    """Return whether a statement repeats a chosen one, as booklets on one subject do, or is a label or a further row.

    One with a figure that no chosen one prints does not repeat them, whatever words they share.
    """
    if own.line.is_table:  # the other rows of a table answer other questions, and its notes none
        return CELL_SEPARATOR not in own.text or any(other.line.is_table and other.row == own.row for other in chosen)
    if own.is_fragment:
        return True
    least = load_answers().same_share
    terms = own.terms - own.around
    if find_figures(own.terms) - frozenset[str]().union(*(other.terms for other in chosen)):
        return False
    return any(
        len(terms & (other.terms | other.around)) >= least * max(1, len(terms)) and len(terms) > 1 for other in chosen
    )


def find_figures(terms: Collection[str]) -> frozenset[str]:
    """Return the search terms that are amounts, dates or counts, not keys of boxes or names of forms.

    Args:
        terms: Search terms.

    Returns:
        Those without letters.
    """
    return frozenset(term for term in terms if _FIGURE.fullmatch(term))
