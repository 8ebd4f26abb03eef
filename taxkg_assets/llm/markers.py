"""Markers: signs that replace what rules match in a text, so that each match is read once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from taxkg_assets.llm.normalization import split_clauses
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.claims import load_claims

FIRST_MARK = 0xE000
"""First code point of the signs, in the private use area of Unicode."""


_Rule = TypeVar("_Rule", bound=Rule)


def mark_matches(text: str, rules: Iterable[_Rule]) -> tuple[str, list[tuple[int, _Rule]]]:
    """Replace each rule match in a text by the rule's marker, the code point `FIRST_MARK` plus the rule's index.

    Args:
        text: The text.
        rules: Rules in order of precedence.

    Returns:
        The text with markers, and the offset and rule of each marker.
    """
    ordered = tuple(rules)
    for number, rule in enumerate(ordered):
        text = rule.pattern.sub(f" {chr(FIRST_MARK + number)} ", text)
    markers = re.finditer(f"[{chr(FIRST_MARK)}-{chr(FIRST_MARK + len(ordered))}]", text)
    return text, [(marker.start(), ordered[ord(marker[0]) - FIRST_MARK]) for marker in markers]


def split_parts(text: str) -> list[str]:
    """Split each clause of a text at its conjunctions; comparators are replaced by markers.

    Args:
        text: The text.

    Returns:
        Parts of the clauses, in order.
    """
    joint = load_claims().joints.ends_a_piece.pattern
    text, _ = mark_matches(text, load_claims().comparators)
    return [part for clause in split_clauses(text) for part in joint.split(clause) if part.strip()]
