"""Markers: what rules match in a text, replaced by signs, so that each match is read once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxkg_assets.llm.normalization import split_clauses
from taxkg_assets.rules.loader import Rule, find_rule, load_rules

FIRST_MARK = 0xE000
"""First code point of the signs, in the private use area of Unicode."""


def mark_matches(text: str, rules: Sequence[Rule]) -> tuple[str, list[tuple[int, Rule]]]:
    """Replace each match by a sign.

    Args:
        text: The text.
        rules: Rules in order of precedence.

    Returns:
        The text with signs, and the position and rule of each sign.
    """
    for number, rule in enumerate(rules):
        text = rule.pattern.sub(f" {chr(FIRST_MARK + number)} ", text)
    signs = (m for m in re.finditer(f"[{chr(FIRST_MARK)}-{chr(FIRST_MARK + len(rules))}]", text))
    return text, [(m.start(), rules[ord(m[0]) - FIRST_MARK]) for m in signs]


def meaning_of(rule: Rule) -> str:
    """Return the meaning of a rule's match; two rules may match the same meaning in different positions.

    Args:
        rule: A rule of `claims`.
    """
    return str(rule.extra.get("means", rule.id))


def split_parts(text: str) -> list[str]:
    """Return the parts of each clause, split at its joints, with comparators as signs.

    Args:
        text: The text.
    """
    joint = find_rule("claims", "joints", "ends_a_piece").pattern
    text, _ = mark_matches(text, load_rules("claims", "comparators"))
    return [part for clause in split_clauses(text) for part in joint.split(clause) if part.strip()]
