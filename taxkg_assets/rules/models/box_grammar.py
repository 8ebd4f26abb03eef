"""Rule family `box_grammar`: how headings name a box, a group of boxes, a code, a line or a part."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class KeyRule(Rule):
    """Rule for the key that a heading begins with.

    Attributes:
        kind: Kind of the key, its first part: `box`, `line`, ….
    """

    kind: str


class BoxGrammar(Family):
    """Content of `rules/box_grammar.yaml`."""

    keys: RuleList[KeyRule]
    numbered_lines: RuleList[KeyRule]
    lines: RuleList[Rule]
    ranges: RuleList[Rule]


@cache
def load_box_grammar() -> BoxGrammar:
    """Return the rules that decide which box, group of boxes, code, line or part a heading names."""
    return load_model("box_grammar", BoxGrammar)
