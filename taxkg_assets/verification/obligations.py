"""What must be done or only may be, and until or after when."""

from __future__ import annotations

import re

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.clause_words import Wording
from taxkg_assets.verification.values import Value, find_values, fold

_TIMES = frozenset({"date", "measure", "ordinal"})
_BEFORE = re.compile(r"(?i)\b(?:before|until|till)\b[^.;]*$")
_REACH = 40  # characters before a time in which its preposition is looked for


def forces_otherwise(claim: Wording, passage: Wording) -> bool:
    """Return whether one text only orders, and the other one only allows.

    Conditions are left out. Texts that deny are left open: `must not` denies `may`.

    Args:
        claim: The claim.
        passage: The passage.
    """
    sides = []
    for text in (claim, passage):
        forcing = [clause for clause in text.clauses if clause.force and not clause.is_condition]
        if any(clause.is_negative for clause in forcing):
            return False
        sides.append({clause.force for clause in forcing})
    claimed, printed = sides
    return len(claimed) == len(printed) == 1 and claimed != printed


def is_timed_otherwise(claim: str, text: str) -> bool:
    """Return whether one text says `within` or `by` a time, and the other one `after` the same time.

    Args:
        claim: Words of the claim.
        text: Words of the passage.

    Source:
        rules/verification.yaml, `deadlines`.
    """
    claim, text = fold(claim), fold(text)
    printed_times = [value for value in find_values(text) if value.kind in _TIMES]
    for value in find_values(claim):
        if value.kind not in _TIMES or not (side := _read_side(claim, value)):
            continue
        printed_sides = {_read_side(text, other) for other in printed_times if value.equals(other)}
        if printed_sides and printed_sides.isdisjoint({side, ""}):
            return True
    return False


def _read_side(text: str, time: Value) -> str:
    """Return `until` or `after` for the words right before a time; empty where they say neither."""
    before = text[max(0, time.start - _REACH) : time.start]
    rules = load_verification()
    side = next((rule.id for rule in rules.deadlines if rule.pattern.search(before)), "")
    # `Do not file before May 1` says after; a denial may as well belong to another clause.
    is_denied = _BEFORE.search(before) is not None and rules.word_denials.not_.pattern.search(before) is not None
    return "" if side == "until" and is_denied else side
