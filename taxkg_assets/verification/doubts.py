"""Why a passage that shares the words of a claim may say something else: order, contrast, values of other cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from taxkg_assets.rules.loader import find_rule, load_rules
from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.values import Value, find_values, fold
from taxkg_assets.verification.wording import Wording, Words, find_words, match_word

# Total weights of words (inverse document frequencies); chosen on the development statements of data/verify_eval.
_SWAPPED = 1.5  # words on the other side of an ordering word, on each side
_OF_OTHER_CASE = 1.5  # words of the claim that only belong to another value
_LACKING = 4  # words after `without` that are read
_OF_CASES = frozenset({"amount", "number", "percent", "measure", "count", "age", "fraction"})


def find_doubts(claim: Claim, text: str, wording: Wording, *, language: Language) -> frozenset[str]:
    """Return why a passage does not support a claim although it has its words; empty for no reason.

    Args:
        claim: The claim.
        text: Words of the passage.
        wording: The same, by clause.
        language: Functions that read words.

    Returns:
        Some of `order`, `contrast`, `case` and `lack`.
    """
    text = fold(text)
    found = {
        "order": is_swapped(claim, text, language=language),
        "contrast": _is_contrasted(claim.wording, wording) or _is_contrasted(wording, claim.wording),
        "lack": _lacks_otherwise(claim, text, wording, language=language),
        "case": is_of_other_case(claim, text, language=language),
    }
    return frozenset(name for name, is_found in found.items() if is_found)


def is_swapped(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a claim and a passage order two things contrarily: `this before that`, `that before this`.

    Args:
        claim: The claim.
        text: Words of the passage, folded.
        language: Functions that read words.

    Source:
        rules/verification.yaml, `orders`.
    """
    for rule in load_rules("verification", "orders"):
        there = list(_split_sides(text, rule.pattern, language=language))
        for one, other in _split_sides(claim.text, rule.pattern, language=language):
            for left, right in there:
                swapped = min(_sum_weights(one, right, claim.weights), _sum_weights(other, left, claim.weights))
                if swapped >= max(_SWAPPED, _sum_weights(other, right, claim.weights)):
                    return True
    return False


def _split_sides(text: str, pattern: re.Pattern[str], *, language: Language) -> Iterator[tuple[Words, Words]]:
    """Find the words on either side of an ordering word, those on both sides left out."""
    end = find_rule("verification", "clause_ends", "stop").pattern
    for match in pattern.finditer(text):
        before = end.split(text[: match.start()])[-1]
        after = end.split(text[match.end() :])[0]
        left, right = find_words(before, language=language), find_words(after, language=language)
        yield _without(left, right), _without(right, left)


def _without(words: Words, others: Words) -> Words:
    return frozenset(word for word in words if not match_word(word, others))


def _sum_weights(words: Words, others: Words, weights: Mapping[str, float]) -> float:
    return sum(weights.get(word, 0.0) for word in words if match_word(word, others))


def _is_contrasted(one: Wording, other: Wording) -> bool:
    """Return whether one text denies a thing without a verb, as in `, not the tenant`, which the other affirms."""
    denied = _find_denied(other)
    for clause in one.clauses:
        if clause.is_negative and not clause.has_verb and clause.heads:
            rest = frozenset[str]().union(*(own.words for own in one.clauses if own is not clause))
            alone = clause.heads - rest
            if any(word in other.words and word not in denied for word in alone):
                return True
    return False


def _lacks_otherwise(claim: Claim, text: str, wording: Wording, *, language: Language) -> bool:
    """Return whether one text says that a thing is absent, which the other has: `without a permit`, `with a permit`."""
    own, there = _find_lacking(claim.text, language=language), _find_lacking(text, language=language)
    pairs = ((own, there, wording), (there, own, claim.wording))
    return any(_is_answered_by_none(lacking, other | _find_denied(said), said.words) for lacking, other, said in pairs)


def _is_answered_by_none(lacking: Words, denied: Words, words: Words) -> bool:
    return any(word in words for word in lacking) and not any(word in denied for word in lacking)


def _find_lacking(text: str, *, language: Language) -> Words:
    """Find the content words after `without` and its like, as far as the next comma."""
    found: set[str] = set()
    for match in find_rule("verification", "lacks", "without").pattern.finditer(fold(text)):
        after = re.split(r"[,.;:()]", text[match.end() :])[0].split()[:_LACKING]
        found |= find_words(" ".join(after), language=language)
    return frozenset(found)


def _find_denied(wording: Wording) -> Words:
    return frozenset[str]().union(*(own.heads | own.reach for own in wording.clauses))


def is_of_other_case(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a passage gives a claim's words another value than the one stated: `$5 (for boats, $7)`.

    Args:
        claim: The claim.
        text: Words of the passage, folded.
        language: Functions that read words.

    Source:
        rules/verification.yaml, `clause_ends`, `case`.
    """
    values = [own for own in find_values(text) if own.kind in _OF_CASES]
    parts = list(_split_cases(text, first=min((own.start for own in values), default=0)))
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
    for match in find_rule("verification", "clause_ends", "case").pattern.finditer(text, first):
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
