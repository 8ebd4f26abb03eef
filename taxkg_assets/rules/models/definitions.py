"""Rule family `definitions`: questions for the meaning of a term, and what defines one."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class StatementRule(Rule):
    """Rule for a sentence that defines a term.

    Attributes:
        strength: Certainty that the sentence is a definition: the higher, the surer.
    """

    strength: int


class Definitions(Family):
    """Content of `rules/definitions.yaml`.

    Attributes:
        frame: Words of such questions that a definition need not contain.
        candidates: Number of passages on a term that are read.
        most: Largest number of definitions that an answer quotes.
        reach: Largest difference between the strength of the best definition and that of a further one.
        under_heading: Added to the strength if the heading is the term.
        sure: Strength from which a definition begins an answer.
        for_one_purpose: Subtracted from the strength of a definition for one purpose only.
        most_term_words: Largest number of words of a term.
    """

    frame: str
    candidates: int
    most: int
    reach: int
    under_heading: int
    sure: int
    for_one_purpose: int
    most_term_words: int
    questions: RuleList[Rule]
    generic: RuleList[Rule]
    comparisons: RuleList[Rule]
    statements: RuleList[StatementRule]
    headings: RuleList[Rule]
    openings: RuleList[Rule]


@cache
def load_definitions() -> Definitions:
    """Return the rules that decide whether a question asks for the meaning of a term, and which text defines it."""
    return load_model("definitions", Definitions)
