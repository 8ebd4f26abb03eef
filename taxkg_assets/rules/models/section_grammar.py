"""Rule family `section_grammar`: headings whose level is given by their words and not by their type."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class StatuteHeading(Rule):
    """Rule for the heading of a section of a law.

    Attributes:
        kind: Kind of the heading.
    """

    kind: str


class StatuteStyle(Rule):
    """Rule for headings that look like prose until several of them are found.

    Attributes:
        least: Least number of different sections of a document with such headings.
    """

    least: int


class SectionGrammar(Family):
    """Content of `rules/section_grammar.yaml`."""

    statutes: RuleList[StatuteHeading]
    statute_styles: RuleList[StatuteStyle]
    divisions: RuleList[Rule]
    run_on: RuleList[Rule]
    heading_end: RuleList[Rule]
    continued: RuleList[Rule]
    examples: RuleList[Rule]
    standing: RuleList[Rule]
    first_halves: RuleList[Rule]
    second_halves: RuleList[Rule]
    appendices: RuleList[Rule]
    closing: RuleList[Rule]
    named_forms: RuleList[Rule]
    recipient_pages: RuleList[Rule]


@cache
def load_section_grammar() -> SectionGrammar:
    """Return the rules that decide the level of a heading by its words."""
    return load_model("section_grammar", SectionGrammar)
