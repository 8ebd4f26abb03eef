"""Rule family `polarity`: where a clause ends, which clauses are conditions, and what negates a clause."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class MainClauseStarts(RuleList[Rule]):
    """Rules of `main_clause_starts`."""

    word_then: Rule
    colon_or_dash: Rule
    order: Rule
    pronoun: Rule
    target_and_verb: Rule
    question: Rule
    subject_and_verb: Rule


class Polarity(Family):
    """Content of `rules/polarity.yaml`."""

    form_before_target: str
    surely_with_verb_words: int
    finite_verbs: str
    denial_reach_words: int
    denials_left_behind: str
    subordinate: RuleList[Rule]
    complements: RuleList[Rule]
    fronted_phrases: RuleList[Rule]
    main_clause_starts: MainClauseStarts
    inserted_clause_ends: RuleList[Rule]
    trailing_clause_ends: RuleList[Rule]
    coordinate: RuleList[Rule]
    clause_ends: RuleList[Rule]
    elliptical: RuleList[Rule]
    parentheses_that_speak: RuleList[Rule]
    negations: RuleList[Rule]
    weak_negations: RuleList[Rule]
    denials_after: RuleList[Rule]


@cache
def load_polarity() -> Polarity:
    """Return the rules that decide where a clause ends, whether it is a condition, and whether it is negated."""
    return load_model("polarity", Polarity)
