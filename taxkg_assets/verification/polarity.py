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


def find_contrary(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> tuple[str, str] | None:
    """Return a word of a statement and its antonym in the most similar clauses of a passage; None for none.

    Args:
        statement: The statement.
        passage: The passage.
        weights: Weight of each word of the statement.
    """
    for clause in statement.clauses:
        nearest, _ = _find_nearest(clause.words, passage.clauses, weights=weights)
        if not nearest:
            continue
        for word in sorted(clause.opposites):
            for contrary in sorted(find_opposites()[word] - clause.opposites):
                if all(contrary in near.opposites and word not in near.opposites for near in nearest):
                    return word, contrary
    return None


def lacks_sense(statement: Wording, words: Words, passage: Wording, *, language: Language) -> bool:
    """Return whether a passage lacks a word of a statement that has an antonym, such as `exempt`.

    Args:
        statement: The statement.
        words: Stems of the passage and its place.
        passage: The passage: `isn't taxable` says `tax-free`.
        language: Functions that read words.

    Source:
        rules/verification.yaml, `senses`.
    """

    def stems_of(terms: Iterable[str]) -> Words:
        return find_words(" ".join(terms), language=language)

    senses: Sequence[str] = load_verification().senses
    telling = frozenset().union(*(clause.opposites for clause in statement.clauses)) & frozenset(senses)
    denied = _join_heads(passage.clauses)
    for word in telling:
        opposites = find_opposites()[word]
        synonyms = frozenset[str]().union(*(find_opposites()[opposite] for opposite in opposites)) - {word}
        if any(match_word(stem, words) for stem in stems_of(synonyms)):
            continue  # `tax-free` is said by `nontaxable`
        denies_opposite = bool(stems_of(opposites) & denied)
        stated_stems = stems_of([word]) & statement.words
        if not denies_opposite and any(not match_word(stem, words) for stem in stated_stems):
            return True
    return False


def is_excepted(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a passage excepts what a statement asserts.

    Args:
        statement: The statement.
        passage: The passage.
        weights: Weight of each word of the statement.
    """
    asserted = _join_words(clause for clause in statement.clauses if not clause.is_exception)
    rule = _join_words(clause for clause in passage.clauses if not clause.is_exception)
    exceptions = _join_words(clause for clause in passage.clauses if clause.is_exception)
    only_excepted = [word for word in asserted if match_word(word, exceptions) and not match_word(word, rule)]
    return _sum_weights(only_excepted, weights) >= _EXCEPTED * _sum_weights(asserted, weights) > 0


def names_exception(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a passage excepts something that a statement is about.

    Args:
        statement: The statement.
        passage: The passage.
        weights: Weight of each word of the statement.
    """
    asserted = _join_words(clause for clause in statement.clauses if not clause.is_exception)
    exceptions = _join_words(clause for clause in passage.clauses if clause.is_exception)
    excepted = [word for word in asserted if match_word(word, exceptions)]
    return _sum_weights(excepted, weights) >= _EXCEPTED * _sum_weights(asserted, weights) > 0


def demands_more(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a statement says `must` where the most similar clauses of a passage say `may`.

    Args:
        statement: The statement.
        passage: The passage.
        weights: Weight of each word of the statement.
    """
    for clause in statement.clauses:
        if clause.force != "must" or clause.is_negative:
            continue
        nearest, _ = _find_nearest(clause.words, passage.clauses, weights=weights)
        if nearest and all(near.force == "may" for near in nearest):
            return True
    return False


def score_agreement(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> float:
    """Return how far two texts agree in affirming and negating: 1 for full agreement, 0 for opposites.

    `You cannot deduct dues` and `Dues are not deductible` agree fully; `You may deduct dues` is the opposite of both.
    Negated verbs decide if both texts have them. Otherwise each clause of the statement is compared with the clause of
    the passage that shares most of its words.

    Args:
        statement: The statement.
        passage: The passage.
        weights: Weight of each word of the statement.
    """
    statement, passage = _without_concessions(statement), _without_concessions(passage)
    agreed, opposed = _compare_heads(statement, passage, weights=weights)
    if agreed and not opposed:
        opposed = any(_is_turned(clause, statement, passage, weights=weights) for clause in statement.clauses)
    if agreed and opposed:
        return 0.5
    if opposed:
        return 0.0
    if agreed or _forbids_too(statement, passage):
        return 1.0
    for clause in statement.clauses:
        is_open = _is_unanswered(clause, passage, weights=weights) or _takes_contrary(clause, passage, weights=weights)
        if is_open:
            return 0.5
    return _score_clauses(statement, passage, weights=weights)


def _score_clauses(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> float:
    """Return the share of a statement's words, by weight, whose clauses have the polarity of the nearest ones."""
    same = total = 0.0
    for clause in statement.clauses:
        nearest, share = _find_nearest_role(clause, passage.clauses, weights=weights)
        total += share
        if any(near.is_negative == clause.is_negative for near in nearest):
            same += share
    return same / total if total else 1.0


def score_turned(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> float:
    """Return the weighted share of the words of a statement that a passage has only in clauses of the other polarity.

    Args:
        statement: The statement.
        passage: The passage.
        weights: Weight of each word of the statement.

    Returns:
        The share of the words that the passage has, 0 to 1.
    """
    found = turned = 0.0
    for clause in statement.clauses:
        for word in clause.words:
            polarities = {near.is_negative for near in passage.clauses if match_word(word, near.words)}
            if polarities:
                found += _weight_of(word, weights)
            if polarities == {not clause.is_negative}:
                turned += _weight_of(word, weights)
    return turned / found if found else 0.0


def _without_concessions(text: Wording) -> Wording:
    """Return a text without concessions and reasons: `even if it is small` changes nothing in what the rest says."""
    rest = tuple(clause for clause in text.clauses if not clause.is_concession)
    return replace(text, clauses=rest) if rest else text


def _forbids_too(statement: Wording, passage: Wording) -> bool:
    """Return whether each of two texts denies once, one of them by a verb such as `bars`, in mostly the same words."""
    claimed_denials = [clause for clause in statement.clauses if clause.is_negative]
    printed_denials = [clause for clause in passage.clauses if clause.is_negative]
    if len(claimed_denials) != 1 or len(printed_denials) != 1:
        return False
    claimed, printed = claimed_denials[0], printed_denials[0]
    if claimed.heads and printed.heads:  # both negate a verb: their heads decide
        return False
    if claimed.is_condition != printed.is_condition or claimed.is_exception or printed.is_exception:
        return False
    few, many = sorted((claimed.words, printed.words), key=len)
    return sum(match_word(word, many) for word in few) >= _FORBIDDEN * len(few) > 0


def _is_unanswered(clause: Clause, passage: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a clause denies something that no clause of a passage denies, in these words or in others."""
    if not clause.is_negative:
        return False
    denials = [denial for denial in passage.clauses if denial.is_negative]
    if any(match_word(word, denial.words) for denial in denials for word in clause.heads or clause.words):
        return False
    _, share_denied = _find_nearest(clause.words, denials, weights=weights)
    all_words = _join_words(passage.clauses)
    share_stated = sum(_weight_of(word, weights) for word in clause.words if match_word(word, all_words))
    return share_denied < _ANSWERED * share_stated


def _takes_contrary(clause: Clause, passage: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a telling word of a clause occurs in a passage only in the opposite sense."""
    total = sum(_weight_of(word, weights) for word in clause.words)
    for word in clause.words:
        if _weight_of(word, weights) < _CONTRARY * total:
            continue
        polarities = {near.is_negative for near in passage.clauses if match_word(word, near.words)}
        if polarities == {not clause.is_negative}:
            return True
    return False


def is_reversed(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether a passage states most of a clause of a statement, but only with the opposite polarity.

    Args:
        statement: The statement.
        passage: The passage.
        weights: Weight of each word of the statement.
    """
    labels = _join_words(part for part in passage.clauses if not part.has_verb)
    for clause in statement.clauses:
        if clause.is_condition:  # in which case, not what holds
            continue
        words = frozenset(word for word in clause.words if not match_word(word, labels)) or clause.words
        nearest, share = _find_nearest(words, passage.clauses, weights=weights)
        total = sum(_weight_of(word, weights) for word in words)
        if share >= _REVERSED * total and all(_reverses(near, clause) for near in nearest):
            return True
    return False


def _reverses(near: Clause, clause: Clause) -> bool:
    """Return whether a clause of a passage has the other polarity than one of a statement.

    Two cases of one rule differ in their conditions; neither denies the other, nor does a reason or a concession.
    """
    return near.is_negative != clause.is_negative and not near.is_condition and not near.is_concession


def _is_turned(clause: Clause, statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> bool:
    """Return whether all clauses of a passage that say what a clause says are of the other polarity.

    A clause that denies what the statement denies elsewhere is not compared.

    Args:
        clause: Clause of the statement.
        statement: The statement.
        passage: The passage.
        weights: Weight of each word of the statement.
    """
    if not clause.has_verb:
        return False
    denied_elsewhere = _join_heads(other for other in statement.clauses if other is not clause) - clause.words
    denials = [part for part in passage.clauses if part.is_negative]
    if clause.is_negative and any(match_word(word, denial.words) for denial in denials for word in clause.heads):
        return False  # the passage denies the same thing
    comparable = []
    for part in passage.clauses:
        has_role = part.is_condition or not clause.is_condition
        denies_only_elsewhere = bool(part.heads) and part.heads <= denied_elsewhere
        if part.has_verb and has_role and not denies_only_elsewhere:
            comparable.append(part)
    nearest, share = _find_nearest(clause.words, comparable, weights=weights)
    total = sum(_weight_of(word, weights) for word in clause.words)
    return share >= _TURNED * total and all(near.is_negative != clause.is_negative for near in nearest)


def _compare_heads(statement: Wording, passage: Wording, *, weights: Mapping[str, float]) -> tuple[bool, bool]:
    """Return whether what one text denies is denied by the other, too, and whether it is affirmed there.

    Both directions count: what the statement denies in the passage, and what the passage denies in the statement.
    """
    agreed = opposed = False
    for denying, answering in ((statement, passage), (passage, statement)):
        for clause in denying.clauses:
            for word in clause.heads:
                with_word = [part for part in answering.clauses if match_word(word, part.words)]
                holders = _prefer_same_role(clause, with_word)
                nearest, share = _find_nearest(clause.words, holders, weights=weights)
                is_denied_too = any(_denies(near, word) for near in nearest) or _denies_too(
                    word, clause, holders, least=_DENIED_TOO * share, weights=weights
                )
                agreed = agreed or is_denied_too
                opposed = opposed or (bool(nearest) and not is_denied_too)
    return agreed, opposed


def _denies(clause: Clause, word: str) -> bool:
    """Return whether a clause denies a word, not another one: `a fee that need not be repaid is included`."""
    is_whole = not (clause.is_mixed and clause.heads)
    return clause.is_negative and (is_whole or match_word(word, clause.heads | clause.reach))


def _denies_too(
    word: str, clause: Clause, holders: Sequence[Clause], *, least: float, weights: Mapping[str, float]
) -> bool:
    """Return whether a clause denies the same word, and shares enough of the other words.

    Args:
        word: A word that the clause of one text denies.
        clause: That clause.
        holders: Clauses of the other text with the word.
        least: Minimum weight of the shared words.
        weights: Weight of each word of the statement.
    """
    denying = [holder for holder in holders if holder.is_negative and match_word(word, holder.heads)]
    if not denying:
        return False
    _, share = _find_nearest(clause.words, denying, weights=weights)
    return share >= least


def _prefer_same_role(clause: Clause, holders: Sequence[Clause]) -> Sequence[Clause]:
    """Return the clauses that are conditions, or are none, as a clause is; all where no other is so."""
    return [holder for holder in holders if holder.is_condition == clause.is_condition] or holders


def _find_nearest_role(
    clause: Clause, clauses: Sequence[Clause], *, weights: Mapping[str, float]
) -> tuple[list[Clause], float]:
    """Return the clauses nearest to one, those of its own role, a condition or none, where they are about as near."""
    nearest, share = _find_nearest(clause.words, clauses, weights=weights)
    of_same_role = [other for other in clauses if other.is_condition == clause.is_condition]
    nearest_of_role, share_of_role = _find_nearest(clause.words, of_same_role, weights=weights)
    if share_of_role >= _SAME_ROLE * share > 0:
        return nearest_of_role, share_of_role
    return nearest, share


def _find_nearest(
    words: Words, clauses: Sequence[Clause], *, weights: Mapping[str, float]
) -> tuple[list[Clause], float]:
    """Return the clauses that share most of some words, by weight, and how much that is."""
    shares = [sum(_weight_of(word, weights) for word in words if match_word(word, clause.words)) for clause in clauses]
    best = max(shares, default=0.0)
    if not best > 0:
        return [], best
    return [clause for share, clause in zip(shares, clauses, strict=True) if share >= _NEAREST * best], best


def _sum_weights(words: Iterable[str], weights: Mapping[str, float]) -> float:
    """Return the weight of words; one without a weight counts nothing."""
    return sum(weights.get(word, 0.0) for word in words)


def _join_heads(clauses: Iterable[Clause]) -> Words:
    """Return the negated verbs of clauses."""
    return frozenset[str]().union(*(clause.heads for clause in clauses))


def _join_words(clauses: Iterable[Clause]) -> Words:
    """Return the words of clauses."""
    return frozenset[str]().union(*(clause.words for clause in clauses))


def _weight_of(word: str, weights: Mapping[str, float]) -> float:
    """Return the weight of a word; one of the passage alone has the least weight."""
    return weights.get(word, _LEAST_WEIGHT)
