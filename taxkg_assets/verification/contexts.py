"""Where in a passage the words of a claim are: scattered over it, or next to another key than in the claim."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.claims import KEY_KINDS, Claim, find_keys_and_forms
from taxkg_assets.verification.clause_words import Words, find_words, match_word
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.values import Value, fold

_WORD = re.compile(r"\S+")
_LIST = re.compile(r"(?i)(?:[\s,(]|and|or|through|to|-|boxe?s?|lines?|columns?|codes?|steps?|\d{1,2}[a-z]?)*")
_RESPECTIVELY = re.compile(r"(?i)\brespectively\b")
_NEAR_KEY = 4  # words on either side of a key
# Of a passage of many words, the claim's words are within a stretch of this length: a multiple of the claim's.
_STRETCH, _LEAST_STRETCH = 2.5, 24
_WITHIN = 0.8  # share of the words found, by weight, that the best stretch has


def is_scattered(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a long passage contains the words of a claim only far apart.

    Args:
        claim: The claim.
        text: Words of the passage, folded.
        language: Functions that read words.
    """
    tokens = _WORD.findall(text)
    length = max(_LEAST_STRETCH, int(_STRETCH * len(claim.plain.split())))
    if len(tokens) <= length:
        return False
    spoken = [find_words(token, language=language) for token in tokens]
    found = [frozenset(word for word in claim.weights if own and match_word(word, own)) for own in spoken]
    best = max(_total(found[start : start + length], claim) for start in range(len(tokens) - length + 1))
    return best < _WITHIN * _total(found, claim)


def _total(parts: Sequence[Words], claim: Claim) -> float:
    return sum(claim.weights[word] for word in frozenset[str]().union(*parts))


def is_paired_in_order(text: str) -> bool:
    """Return whether a text pairs two lists in order, as "respectively" does.

    Args:
        text: A sentence or a passage.
    """
    return _RESPECTIVELY.search(text) is not None


def pairs_keys_otherwise(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a passage swaps two keys of a claim: the words next to one are next to the other.

    Args:
        claim: The claim.
        text: Words of the passage, folded.
        language: Functions that read words.
    """
    if is_paired_in_order(text):  # `stated` pairs them
        return False
    keys = [value for value in claim.values if value.kind in KEY_KINDS]
    there = [value for value in find_keys_and_forms(text, language=language) if value.kind in KEY_KINDS]
    for one, other in combinations(keys, 2):
        found = [next((own for own in there if own.equals(key)), None) for key in (one, other)]
        if one.kind != other.kind or found[0] is None or found[1] is None:
            continue
        mine = [_words_near(claim.text, key, keys, language=language) for key in (one, other)]
        said = [_words_near(text, key, there, language=language) for key in found if key is not None]
        straight = _share(mine[0], said[0]) + _share(mine[1], said[1])
        crossed = _share(mine[0], said[1]) + _share(mine[1], said[0])
        if crossed > straight:
            return True
    return False


def is_same_list(one: Value, other: Value, *, text: str) -> bool:
    """Return whether two keys belong to one list, as in `boxes 1, 3, and 5`.

    Args:
        one: A key.
        other: Another key.
        text: The text that both are read from.
    """
    between = text[min(one.end, other.end) : max(one.start, other.start)]
    return _LIST.fullmatch(between) is not None


def lists_keys_alike(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a claim enters one key on another, and a passage names both in one list alone.

    `Do not include the fee in box 3 or 4` does not say that box 4 is not included in box 3.

    Args:
        claim: The claim.
        text: Words of the passage, folded.
        language: Functions that read words.
    """
    keys = [value for value in claim.values if value.kind in KEY_KINDS]
    entered = load_verification().placements.on_line.pattern.search(claim.text)
    onto = next((key for key in keys if entered and key.start < entered.end() <= key.end), None)
    if entered is None or onto is None:
        return False
    there = [value for value in find_keys_and_forms(text, language=language) if value.kind == onto.kind]
    targets = [value for value in there if onto.equals(value)]
    for key in keys:
        if key.kind != onto.kind or key.end > entered.start():
            continue
        pairs = [(own, target) for own in there if key.equals(own) for target in targets]
        if pairs and all(is_same_list(*pair, text=text) for pair in pairs):
            return True
    return False


def _words_near(text: str, key: Value, keys: Sequence[Value], *, language: Language) -> Words:
    """Find the content words next to a key, as far as the next key or the end of the sentence."""
    low = max([own.end for own in keys if own.end <= key.start], default=0)
    high = min([own.start for own in keys if own.start >= key.end], default=len(text))
    before = re.split(r"[.;:]\s", fold(text[low : key.start]))[-1].split()[-_NEAR_KEY:]
    after = re.split(r"[.;:]\s", fold(text[key.end : high]))[0].split()[:_NEAR_KEY]
    return find_words(" ".join((*before, ".", *after)), language=language)


def _share(one: Words, other: Words) -> int:
    return sum(match_word(word, other) for word in one)
