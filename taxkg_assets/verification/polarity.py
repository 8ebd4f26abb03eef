"""What two texts affirm and deny, clause by clause: agreement, reversal, contrary words, exceptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.clause_words import Clause, Wording, Words, find_opposites, find_words, match_word
from taxkg_assets.verification.language import Language

# Weighted shares of a clause's words, 0 to 1; chosen on the development statements of data/verify_eval.
_NEAREST = 0.95  # of the best share: as near as the nearest clause
_TURNED = 0.6  # a clause with a verb says the same as another
_CONTRARY = 0.3  # one word alone decides
_REVERSED = 0.5  # a clause is said, with the other polarity
_DENIED_TOO = 0.5  # of the best share: a clause that denies the same word
_SAME_ROLE = 0.5  # of the best share: a clause of the same role counts
_ANSWERED = 0.75  # a denial is denied in other words
_FORBIDDEN = 0.5  # of the words of the shorter denial
_EXCEPTED = 0.2  # of a statement, only in an exception
_LEAST_WEIGHT = 0.1  # of a word that has none


def find_contrary(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> tuple[str, str] | None:
    """Return a word of a statement and its antonym in the most similar clauses of a passage; None for none.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    for clause in one.clauses:
        nearest, _ = _find_nearest(clause.words, other.clauses, weights=weights)
        for word in sorted(clause.opposites):
            for contrary in sorted(find_opposites()[word] - clause.opposites):
                if nearest and all(contrary in own.opposites and word not in own.opposites for own in nearest):
                    return word, contrary
    return None


def lacks_sense(one: Wording, words: Words, other: Wording, *, language: Language) -> bool:
    """Return whether a passage lacks a word of a statement that has an antonym, such as `exempt`.

    Args:
        one: The statement.
        words: Stems of the passage and its place.
        other: The passage: `isn't taxable` says `tax-free`.
        language: Functions that read words.

    Source:
        rules/verification.yaml, `senses`.
    """
    senses: Sequence[str] = load_verification().senses
    telling = frozenset().union(*(clause.opposites for clause in one.clauses)) & frozenset(senses)
    denied = _join_heads(other.clauses)
    for word in telling:
        contraries = find_words(" ".join(find_opposites()[word]), language=language)
        stems = find_words(word, language=language) & one.words
        same = frozenset[str]().union(*(find_opposites()[other] for other in find_opposites()[word])) - {word}
        if any(match_word(stem, words) for stem in find_words(" ".join(same), language=language)):
            continue  # `tax-free` is said by `nontaxable`
        if not contraries & denied and any(not match_word(stem, words) for stem in stems):
            return True
    return False


def is_excepted(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a passage excepts what a statement asserts.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    words = _join_words(own for own in one.clauses if not own.is_exception)
    rest = _join_words(own for own in other.clauses if not own.is_exception)
    free = _join_words(own for own in other.clauses if own.is_exception)
    total = _sum_weights(words, weights)
    alone = [word for word in words if match_word(word, free) and not match_word(word, rest)]
    return _sum_weights(alone, weights) >= _EXCEPTED * total > 0


def names_exception(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a passage excepts something that a statement is about.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    words = _join_words(own for own in one.clauses if not own.is_exception)
    free = _join_words(own for own in other.clauses if own.is_exception)
    total = _sum_weights(words, weights)
    excepted = _sum_weights((word for word in words if match_word(word, free)), weights)
    return excepted >= _EXCEPTED * total > 0


def demands_more(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a statement says `must` where the most similar clauses of a passage say `may`.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    for clause in one.clauses:
        nearest, _ = _find_nearest(clause.words, other.clauses, weights=weights)
        if clause.force == "must" and not clause.is_negative and nearest and all(own.force == "may" for own in nearest):
            return True
    return False


def score_agreement(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> float:
    """Return how far two texts agree in affirming and negating: 1 for full agreement, 0 for opposites.

    Negated verbs decide if both texts have them. Otherwise each clause of the statement is compared with the clause of
    the passage that shares most of its words.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    one, other = _without_concessions(one), _without_concessions(other)
    agreed, opposed = _compare_heads(one, other, weights=weights)
    if agreed and not opposed:
        opposed = any(_is_turned(clause, one, other, weights=weights) for clause in one.clauses)
    if agreed or opposed:
        return 1.0 if not opposed else 0.0 if not agreed else 0.5
    if _forbids_too(one, other):
        return 1.0
    if any(
        _is_unanswered(clause, other, weights=weights) or _takes_contrary(clause, other, weights=weights)
        for clause in one.clauses
    ):
        return 0.5
    same = total = 0.0
    for clause in one.clauses:
        nearest, share = _find_nearest_role(clause, other.clauses, weights=weights)
        total += share
        same += share * (clause.is_negative in {there.is_negative for there in nearest})
    return same / total if total else 1.0


def score_turned(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> float:
    """Return the weighted share of the words of a statement that a passage has only in clauses of the other polarity.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.

    Returns:
        The share of the words that the passage has, 0 to 1.
    """
    found = turned = 0.0
    for clause in one.clauses:
        for word in clause.words:
            signs = {own.is_negative for own in other.clauses if match_word(word, own.words)}
            weight = _weight_of(word, weights)
            found += weight * bool(signs)
            turned += weight * (signs == {not clause.is_negative})
    return turned / found if found else 0.0


def _without_concessions(text: Wording) -> Wording:
    """Return a text without concessions and reasons: `even if it is small` changes nothing in what the rest says."""
    rest = tuple(own for own in text.clauses if not own.is_concession)
    return replace(text, clauses=rest) if rest else text


def _forbids_too(one: Wording, other: Wording) -> bool:
    """Return whether each of two texts denies once, one of them by a verb such as `bars`, in mostly the same words."""
    mine, theirs = ([own for own in text.clauses if own.is_negative] for text in (one, other))
    if len(mine) != 1 or len(theirs) != 1 or (mine[0].heads and theirs[0].heads):
        return False
    if mine[0].is_condition != theirs[0].is_condition or mine[0].is_exception or theirs[0].is_exception:
        return False
    few, many = sorted((mine[0].words, theirs[0].words), key=len)
    return sum(match_word(word, many) for word in few) >= _FORBIDDEN * len(few) > 0


def _is_unanswered(clause: Clause, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a clause denies something that no clause of a passage denies, in these words or in others."""
    if not clause.is_negative:
        return False
    denials = [own for own in other.clauses if own.is_negative]
    if any(match_word(word, own.words) for own in denials for word in clause.heads or clause.words):
        return False
    _, share = _find_nearest(clause.words, denials, weights=weights)
    there = _join_words(other.clauses)
    return share < _ANSWERED * sum(_weight_of(word, weights) for word in clause.words if match_word(word, there))


def _takes_contrary(clause: Clause, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a telling word of a clause occurs in a passage only in the opposite sense."""
    total = sum(_weight_of(word, weights) for word in clause.words)
    for word in clause.words:
        signs = {own.is_negative for own in other.clauses if match_word(word, own.words)}
        if signs == {not clause.is_negative} and _weight_of(word, weights) >= _CONTRARY * total:
            return True
    return False


def is_reversed(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a passage states most of a clause of a statement, but only with the opposite polarity.

    Args:
        one: The statement.
        other: The passage.
        weights: Weight of each word of the statement.
    """
    labels = _join_words(own for own in other.clauses if not own.has_verb)
    for clause in one.clauses:
        if clause.is_condition:  # in which case, not what holds
            continue
        words = frozenset(word for word in clause.words if not match_word(word, labels)) or clause.words
        nearest, share = _find_nearest(words, other.clauses, weights=weights)
        total = sum(_weight_of(word, weights) for word in words)
        # Two cases of one rule differ in their conditions; neither denies the other, nor does a reason or a concession.
        is_opposite = all(
            own.is_negative != clause.is_negative and not (own.is_condition or own.is_concession) for own in nearest
        )
        if share >= _REVERSED * total and is_opposite:
            return True
    return False


def _is_turned(clause: Clause, one: Wording, other: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether all clauses of a passage that say what a clause says are of the other polarity.

    A clause that denies what the statement denies elsewhere is not compared.
    """
    denied_too = _join_heads(own for own in one.clauses if own is not clause) - clause.words
    denied = [own for own in other.clauses if own.is_negative]
    if clause.is_negative and any(match_word(word, own.words) for own in denied for word in clause.heads):
        return False  # the passage denies the same thing
    stated = [
        own
        for own in other.clauses
        if own.has_verb
        and (own.is_condition or not clause.is_condition)
        and not (own.heads and own.heads <= denied_too)
    ]
    nearest, share = _find_nearest(clause.words, stated, weights=weights)
    total = sum(_weight_of(word, weights) for word in clause.words)
    is_said = clause.has_verb and share >= _TURNED * total
    return is_said and all(own.is_negative != clause.is_negative for own in nearest)


def _compare_heads(one: Wording, other: Wording, *, weights: Mapping[str, float]) -> tuple[bool, bool]:
    """Return whether what one text denies is denied by the other, too, and whether it is affirmed there."""
    agreed = opposed = False
    for text, there in ((one, other), (other, one)):
        for clause in text.clauses:
            for word in clause.heads:
                holders = _prefer_same_role(
                    clause, [holder for holder in there.clauses if match_word(word, holder.words)]
                )
                nearest, share = _find_nearest(clause.words, holders, weights=weights)
                if any(_denies(holder, word) for holder in nearest) or _denies_too(
                    word, clause, holders, least=_DENIED_TOO * share, weights=weights
                ):
                    agreed = True
                elif nearest:
                    opposed = True
    return agreed, opposed


def _denies(clause: Clause, word: str) -> bool:
    """Return whether a clause denies a word, not another one: `a fee that need not be repaid is included`."""
    is_whole = not (clause.is_mixed and clause.heads)
    return clause.is_negative and (is_whole or match_word(word, clause.heads | clause.reach))


def _denies_too(
    word: str, clause: Clause, holders: Sequence[Clause], *, least: float, weights: Mapping[str, float]
) -> bool:
    """Return whether a clause denies the same word, and shares enough of the other words."""
    denying = [own for own in holders if own.is_negative and match_word(word, own.heads)]
    return bool(denying) and _find_nearest(clause.words, denying, weights=weights)[1] >= least


def _prefer_same_role(clause: Clause, holders: Sequence[Clause]) -> Sequence[Clause]:
    """Return the clauses that are conditions, or are none, as a clause is; all where no other is so."""
    return [own for own in holders if own.is_condition == clause.is_condition] or holders


def _find_nearest_role(
    clause: Clause, clauses: Sequence[Clause], *, weights: Mapping[str, float]
) -> tuple[list[Clause], float]:
    """Return the clauses nearest to one, those of its own role, a condition or none, where they are about as near."""
    nearest, share = _find_nearest(clause.words, clauses, weights=weights)
    alike = [own for own in clauses if own.is_condition == clause.is_condition]
    own, own_share = _find_nearest(clause.words, alike, weights=weights)
    return (own, own_share) if own_share >= _SAME_ROLE * share > 0 else (nearest, share)


def _find_nearest(
    words: Words, clauses: Sequence[Clause], *, weights: Mapping[str, float]
) -> tuple[list[Clause], float]:
    """Return the clauses that share most of some words, by weight, and how much that is."""
    shares = [sum(_weight_of(word, weights) for word in words if match_word(word, own.words)) for own in clauses]
    best = max(shares, default=0.0)
    return [own for share, own in zip(shares, clauses, strict=True) if share >= _NEAREST * best > 0], best


def _sum_weights(words: Iterable[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in words)


def _join_heads(clauses: Iterable[Clause]) -> Words:
    return frozenset[str]().union(*(clause.heads for clause in clauses))


def _join_words(clauses: Iterable[Clause]) -> Words:
    return frozenset[str]().union(*(clause.words for clause in clauses))


def _weight_of(word: str, weights: Mapping[str, float]) -> float:
    return weights.get(word, _LEAST_WEIGHT)
