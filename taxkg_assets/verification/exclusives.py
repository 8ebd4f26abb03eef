"""Sentences that name some alone: `only an owner can file it`."""

from __future__ import annotations

import re

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.clause_words import find_words, match_word
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.values import fold

_END = re.compile(r"[.;:(](?:\s|$)?")
_ITEM = re.compile(r"(?i),|\s(?:and|or)\s")
_ABOUT_THEM = 0.5  # weighted share of the words for them that the claim has


def leaves_out(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a passage is limited to a group ("only …") that the claim is not about.

    Args:
        claim: The claim.
        text: Words of the passage.
        language: Functions that read words.

    Source:
        rules/verification.yaml, `exclusives`.
    """
    match = _only().search(fold(text))
    if match is None:
        return False
    who = find_words(match["who"], language=language)
    total = sum(language.read_weight(word) for word in who)
    found = sum(language.read_weight(word) for word in who if match_word(word, claim.wording.words))
    return found < _ABOUT_THEM * total


def names_some_alone(claim: Claim, text: str) -> bool:
    """Return whether a claim is limited to a group ("only …") and the passage is not.

    Args:
        claim: The claim.
        text: Words of the passage.
    """
    return _only().search(claim.text) is not None and not says_only(text)


def says_only(text: str) -> bool:
    """Return whether a text limits something to some alone; `not only` does not.

    Args:
        text: Words of the claim or the passage.
    """
    rules = load_verification().exclusives
    return rules.marker.pattern.search(rules.not_only.pattern.sub(" ", text)) is not None


def limits_to_more(claim: Claim, text: str, *, language: Language) -> bool:
    """Return whether a passage is limited to things of which a claim that is limited, too, lacks one.

    Args:
        claim: The claim.
        text: Words of the passage.
        language: Functions that read words.
    """
    limit, verb = load_verification().exclusives.limit.pattern, load_verification().predicates.verb.pattern
    mine, theirs = limit.search(fold(claim.text)), limit.search(fold(text))
    if mine is None or theirs is None:
        return False
    listed = _END.split(fold(text)[theirs.end() :])[0]
    for item in _ITEM.split(listed):
        if verb.search(item):
            return False
        words = find_words(item, language=language)
        if words and not any(match_word(word, claim.wording.words) for word in words):
            return True
    return False


def _only() -> re.Pattern[str]:
    return load_verification().exclusives.only_these.pattern
