"""Why a passage that shares the words of a claim may say something else: order, contrast, absence, other cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.rules.sentences import find_sentences
from taxkg_assets.verification.claims import KEY_KINDS, Claim, find_keys_and_forms, without_scaffold
from taxkg_assets.verification.clause_words import Wording, Words, find_words, match_word
from taxkg_assets.verification.contexts import is_scattered, lists_keys_alike, pairs_keys_otherwise
from taxkg_assets.verification.counts import find_lacking_counts
from taxkg_assets.verification.exclusives import limits_to_more, says_only
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.obligations import forces_otherwise, is_timed_otherwise
from taxkg_assets.verification.pointers import is_contrast, is_past
from taxkg_assets.verification.values import Value, find_values, fold

# Total weights of words (inverse document frequencies); chosen on the development statements of data/verify_eval.
_SWAPPED = 1.5  # words on the other side of an ordering word, on each side
_OF_OTHER_CASE = 1.5  # words of the claim that only belong to another value
_LACKING = 4  # words after `without` that are read
_TELLING = 2.0  # weight of a word that the passage lacks
_STATED = 0.6  # share of the words of a condition that a claim has
_ABOUT = 0.2  # weighted share of the claim's words in a clause that denies
_OF_CASES = frozenset({"amount", "number", "percent", "measure", "count", "age", "fraction"})


def find_failed_checks(claim: Claim, text: str, wording: Wording, *, language: Language) -> frozenset[str]:
    """Return reasons to doubt that a passage supports a claim although it contains the claim's words.

    Args:
        claim: The claim.
        text: Words of the passage.
        wording: The same, by clause.
        language: Functions that read words.

    Returns:
        Names of the reasons: `order`, `sequence`, `direction`, `universal`, `contrast`, `lack`, `case`, `failure`,
        `only`, `prefix`, `taxed`, `time`, `past`, `one`, `both`, `keys`, `listed`, `wider`, `condition`, `scattered`,
        `denied`, `force`, `deadline`, `count`.
    """
    text = fold(text)
    found = {
        "order": is_swapped(claim, text, language=language),
        "sequence": _lacks_sequence(claim.text, text),
        "direction": _moves_otherwise(claim.text, text),
        "universal": _lacks_universal(claim.text, text),
        "contrast": _is_contrasted(claim.wording, wording) or _is_contrasted(wording, claim.wording),
        "lack": _lacks_otherwise(claim, text, wording, language=language),
        "case": is_of_other_case(claim, text, language=language),
        "failure": _fails_otherwise(claim, text, wording, language=language),
        "only": _limits_otherwise(claim.text, text),
        "prefix": _has_prefix_alone(claim.text, text) or _has_prefix_alone(text, claim.text),
        "taxed": _taxes_the_nontaxable(claim.text, text) or _taxes_the_nontaxable(text, claim.text),
        "time": _counts_from_another_time(claim.text, text),
        "past": is_past(text) and not is_past(claim.text),
        "one": _is_of_one(text) and not _is_of_one(claim.text),
        "both": _lacks_both(claim.text, text),
        "keys": pairs_keys_otherwise(claim, text, language=language),
        "listed": lists_keys_alike(claim, text, language=language),
        "wider": limits_to_more(claim, text, language=language),
        "condition": _holds_in_one_case(claim.wording, text, without_scaffold(wording, language=language)),
        "scattered": is_scattered(claim, text, language=language),
        "denied": _denies_another_verb(claim, wording),
        "force": forces_otherwise(claim.wording, wording),
        "deadline": is_timed_otherwise(claim.text, text),
        "count": bool(find_lacking_counts(claim.text, text)),
    }
    return frozenset(name for name, is_found in found.items() if is_found)


def is_swapped(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a claim and a passage state two things in opposite order: `this before that`.

    Args:
        claim: The claim.
        text: Words of the passage, folded.
        language: Functions that read words.

    Source:
        rules/verification.yaml, `orders`.
    """
    for rule in load_verification().orders:
        there = list(_split_sides(text, rule.pattern, language=language))
        for one, other in _split_sides(claim.text, rule.pattern, language=language):
            for left, right in there:
                swapped = min(_total(one, right, claim.weights), _total(other, left, claim.weights))
                if swapped >= max(_SWAPPED, _total(other, right, claim.weights)):
                    return True
    return False


def _split_sides(text: str, pattern: re.Pattern[str], *, language: Language) -> Iterator[tuple[Words, Words]]:
    """Find the words on either side of an ordering word, those on both sides left out."""
    end = load_verification().clause_ends.stop.pattern
    for match in pattern.finditer(text):
        before = end.split(text[: match.start()])[-1]
        after = end.split(text[match.end() :])[0]
        left, right = find_words(before, language=language), find_words(after, language=language)
        yield _without(left, right), _without(right, left)


def _without(words: Words, others: Words) -> Words:
    return frozenset(word for word in words if not match_word(word, others))


def _total(words: Words, others: Words, weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in words if match_word(word, others))


def _is_contrasted(one: Wording, other: Wording) -> bool:
    """Return whether one text denies a thing without a verb, as in `, not the tenant`, which the other affirms."""
    denied = _find_denied(other)
    for clause in one.clauses:
        if clause.is_negative and not clause.has_verb and clause.heads:
            rest = _join(own.words for own in one.clauses if own is not clause)
            is_said = any(match_word(word, other.words) for word in clause.heads)
            alone = (clause.heads if is_said else clause.reach) - rest  # `not filled with zero`
            if any(word in other.words and word not in denied for word in alone):
                return True
    return False


def _fails_otherwise(claim: Claim, text: str, wording: Wording, *, language: Language) -> bool:
    """Return whether a claim denies a verb that a passage affirms of who `failed to` do something else."""
    pattern = load_verification().word_denials.failed.pattern
    heads = _join(own.heads for own in claim.wording.clauses)
    failed = _join(
        find_words(" ".join(_next_words(text, match.end())), language=language) for match in pattern.finditer(text)
    )
    is_denied = any(own.heads for own in wording.clauses)
    return bool(failed) and not is_denied and any(word in wording.words and word not in failed for word in heads)


def _denies_another_verb(claim: Claim, wording: Wording) -> bool:
    """Return whether a passage denies a verb that the claim lacks, and the claim affirms another one.

    `The fee is already lowered` may be what `the fee hasn't been reduced` denies.
    """
    one, about = claim.wording, _ABOUT * sum(claim.weights.values())
    is_another = any(
        not match_word(word, wording.words) and claim.weights.get(word, 0.0) >= _TELLING for word in one.words
    )
    if not is_another or any(word for own in one.clauses for word in own.heads if not match_word(word, wording.words)):
        return False
    denied = _join(own.heads for own in one.clauses)
    for clause in wording.clauses:
        if len(clause.heads) == 1 and any(match_word(word, clause.heads | clause.reach) for word in denied):
            continue  # the one thing that it denies, the claim denies, too
        is_unsaid = any(not match_word(word, one.words) for word in clause.heads)
        if is_unsaid and not clause.is_condition and _total(one.words, clause.words, claim.weights) >= about:
            return True
    return False


def _next_words(text: str, start: int) -> list[str]:
    return re.split(r"[,.;:()]", text[start:])[0].split()[:_LACKING]


def _join(parts: Iterable[Words]) -> Words:
    return frozenset[str]().union(*parts)


def _holds_in_one_case(one: Wording, text: str, other: Wording) -> bool:
    """Return whether a passage turns to a case, as in `However, … if …`, and the claim states none.

    A claim may name the case without a condition: `an owner with a permit is exempt`.
    """
    cases = [own for own in other.clauses if own.is_condition and not own.is_concession]
    stated = [
        own for own in cases if sum(match_word(word, one.words) for word in own.words) >= _STATED * len(own.words)
    ]
    return is_contrast(text) and len(stated) < len(cases) and not any(own.is_condition for own in one.clauses)


def _lacks_sequence(claim: str, text: str) -> bool:
    """Return whether a claim orders two things in time, and a passage has no word that does so."""
    rules = load_verification()
    pairs = ((rules.orders.before, rules.sequences.before), (rules.orders.after, rules.sequences.after))
    return any(order.pattern.search(claim) and not sequence.pattern.search(text) for order, sequence in pairs)


def _moves_otherwise(claim: str, text: str) -> bool:
    """Return whether one text only raises an amount, and the other one only lowers one."""
    rules = load_verification().directions
    up, down = ([rule.pattern.search(own) is not None for own in (claim, text)] for rule in (rules.up, rules.down))
    return (up, down) in (([True, False], [False, True]), ([False, True], [True, False]))


def _lacks_universal(claim: str, text: str) -> bool:
    """Return whether a claim covers each thing, and a passage a single one or some."""
    each = load_verification().universals.each.pattern
    single = load_verification().universals.single.pattern
    is_of_each = each.search(claim) is not None and each.search(text) is None
    return is_of_each and single.search(text) is not None and single.search(claim) is None


def _is_of_one(text: str) -> bool:
    numbers = load_verification().numbers
    return any(rule.pattern.search(text) for rule in (numbers.only_one, numbers.only_do_one))


def _lacks_both(claim: str, text: str) -> bool:
    """Return whether a claim says something of both of two things, and a passage of no two."""
    numbers = load_verification().numbers
    return numbers.both.pattern.search(claim) is not None and numbers.as_both.pattern.search(text) is None


def _limits_otherwise(claim: str, text: str) -> bool:
    """Return whether a claim says `only` and a passage limits nothing, or `not only` and the passage `only`."""
    not_only = load_verification().exclusives.not_only.pattern
    if not_only.search(claim) and not not_only.search(text) and says_only(text):
        return True
    return says_only(claim) and not (says_only(text) or _limits(text))


def _limits(text: str) -> bool:
    return load_verification().exclusives.limit.pattern.search(text) is not None


def _has_prefix_alone(one: str, other: str) -> bool:
    """Return whether a text has a word with a denying prefix, and the other has it only without."""
    there = other.casefold()
    for match in load_verification().prefixes.denying.pattern.finditer(one):
        rest = match["rest"].casefold()
        is_alone = re.search(rf"(?<![a-z-]){re.escape(rest)}", there) is not None
        if is_alone and re.search(rf"(?:non|un|dis|not )-?{re.escape(rest)}", there) is None:
            return True
    return False


def _taxes_the_nontaxable(one: str, other: str) -> bool:
    """Return whether one text taxes something, and the other says that something is free of tax, and taxes nothing."""
    rules = load_verification().taxing
    taxed, free = rules.taxed.pattern, rules.free.pattern
    is_taxed = taxed.search(one) is not None and free.search(one) is None
    return is_taxed and free.search(other) is not None and taxed.search(other) is None


def _counts_from_another_time(claim: str, text: str) -> bool:
    """Return whether a passage means `the day after`, and the claim a day and no order of times."""
    counted = load_verification().offsets.counted.pattern.finditer(text)
    units = {match["unit"].casefold() for match in counted}
    is_ordered = load_verification().offsets.ordered.pattern.search(claim) is not None
    return not is_ordered and any(re.search(rf"(?i)\b{unit}\b", claim) for unit in units)


def _lacks_otherwise(claim: Claim, text: str, wording: Wording, *, language: Language) -> bool:
    """Return whether one text says that a thing is absent, which the other has: `without a permit`, `with a permit`."""
    own, there = _find_lacking(claim.text, language=language), _find_lacking(text, language=language)
    pairs = ((own, there, wording), (there, own, claim.wording))
    if _includes_the_excepted(claim, wording, language=language):
        return True
    return any(_is_answered_by_none(lacking, other | _find_denied(said), said.words) for lacking, other, said in pairs)


def _includes_the_excepted(claim: Claim, wording: Wording, *, language: Language) -> bool:
    """Return whether a claim includes what a passage excepts, as in `including extensions`."""
    included = _list_after(load_verification().lacks.including.pattern, claim.text, language=language)
    excepted = _join(own.words for own in wording.clauses if own.is_exception)
    is_excepted = any(match_word(word, excepted) for word in included)
    return is_excepted and not any(own.is_exception for own in claim.wording.clauses)


def _is_answered_by_none(lacking: Words, denied: Words, words: Words) -> bool:
    return any(word in words for word in lacking) and not any(word in denied for word in lacking)


def _find_lacking(text: str, *, language: Language) -> Words:
    """Find the content words after `without` and its like, as far as the next comma."""
    return _list_after(load_verification().lacks.without.pattern, text, language=language)


def _list_after(pattern: re.Pattern[str], text: str, *, language: Language) -> Words:
    found: set[str] = set()
    for match in pattern.finditer(fold(text)):
        found |= find_words(" ".join(_next_words(text, match.end())), language=language)
    return frozenset(found)


def _find_denied(wording: Wording) -> Words:
    return _join(own.heads | own.reach for own in wording.clauses)


def is_of_other_case(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a passage gives the claim's words a different value in another case: `$5 (for boats, $7)`.

    Args:
        claim: The claim.
        text: Words of the passage, folded.
        language: Functions that read words.

    Source:
        rules/verification.yaml, `clause_ends`, `case`.
    """
    values = [own for own in find_values(text) if own.kind in _OF_CASES]
    parts = list(_split_cases(text, first=min((own.start for own in values), default=0)))
    if _belongs_elsewhere(claim, values, parts, text=text, language=language):
        return True
    # A key belongs to its sentence.
    keys = [own for own in find_keys_and_forms(text, language=language) if own.kind in KEY_KINDS]
    return _belongs_elsewhere(claim, keys, find_sentences(text), text=text, language=language)


def _belongs_elsewhere(
    claim: Claim,
    values: Sequence[Value],
    parts: Sequence[tuple[int, int]],
    *,
    text: str,
    language: Language,
) -> bool:
    """Return whether words of a claim are only in parts of a text that state another value than the claim does."""
    for value in claim.values:
        same = [own for own in values if value.equals(own)]
        rivals = [own for own in values if value.competes(own) and not any(own.equals(mine) for mine in claim.values)]
        if same and rivals:
            near = _words_of_cases(parts, [*same], text=text, language=language)
            far = _words_of_cases(parts, rivals, text=text, language=language)
            free = _words_without(parts, [*same, *rivals], text=text, language=language)
            alone = _without(_without(far, near), free)
            if sum(claim.weights.get(word, 0.0) for word in claim.weights if match_word(word, alone)) >= _OF_OTHER_CASE:
                return True
    return False


def _split_cases(text: str, *, first: int) -> Iterator[tuple[int, int]]:
    """Find the parts of a text that each give a case; what is printed before the first value holds for all."""
    yield 0, first
    start = first
    for match in load_verification().clause_ends.case.pattern.finditer(text, first):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def _words_of_cases(
    parts: Sequence[tuple[int, int]], values: Sequence[Value], *, text: str, language: Language
) -> Words:
    """Find the words of the parts that state one of some values."""
    own = [part for part in parts if any(part[0] <= value.start < part[1] for value in values)]
    return find_words(" . ".join(text[start:end] for start, end in own), language=language)


def _words_without(
    parts: Sequence[tuple[int, int]], values: Sequence[Value], *, text: str, language: Language
) -> Words:
    """Find the words of the parts that state none of some values."""
    own = [part for part in parts if not any(part[0] <= value.start < part[1] for value in values)]
    return find_words(" . ".join(text[start:end] for start, end in own), language=language)
