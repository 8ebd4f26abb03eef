"""Rule family `flows`: sentences that state that an amount goes from one line to another."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class Statement(Rule):
    """Rule for words that state where an amount goes.

    Attributes:
        relation: Relation of the edge.
        only_columns: Whether the rule applies only if one end is a column.
    """

    relation: str
    only_columns: bool = False


class Codes(RuleList[Rule]):
    """Rules of `codes`."""

    code_first: Rule


class Flows(Family):
    """Content of `rules/flows.yaml`."""

    own_return: str
    returns: str
    verbs: dict[str, list[str]]
    words: dict[str, str]
    showing_verbs: list[str]
    equality_verbs: list[str]
    amount_nouns: list[str]
    going_verbs: list[str]
    located_nouns: list[str]
    outcome_nouns: list[str]
    total_nouns: list[str]
    labels: RuleList[Statement]
    operands: RuleList[Rule]
    passages: RuleList[Statement]
    items: RuleList[Statement]
    source_bars: RuleList[Rule]
    filers: RuleList[Rule]
    subtractions: RuleList[Rule]
    source_tails: RuleList[Rule]
    no_amounts: RuleList[Rule]
    negations: RuleList[Rule]
    elsewhere: RuleList[Rule]
    denials: RuleList[Rule]
    unnamed: RuleList[Rule]
    schedules: RuleList[Rule]
    chapters: RuleList[Rule]
    worksheets: RuleList[Rule]
    columns: RuleList[Statement]
    totals: RuleList[Statement]
    forms: RuleList[Statement]
    codes: Codes
    shown_amounts: RuleList[Rule]
    placed_amounts: RuleList[Rule]
    table_targets: RuleList[Rule]
    table_sources: RuleList[Rule]
    table_bars: RuleList[Rule]
    table_asides: RuleList[Rule]
    table_sums: RuleList[Rule]
    clause_joins: RuleList[Rule]
    clause_here: RuleList[Rule]
    clause_topics: RuleList[Rule]
    clause_shares: RuleList[Rule]
    clause_elsewhere: RuleList[Rule]
    clause_within: RuleList[Rule]
    clause_carried: RuleList[Rule]
    clause_apart: RuleList[Rule]
    clause_others: RuleList[Rule]


@cache
def load_flows() -> Flows:
    """Return the rules that decide from which line to which an amount goes, by what a sentence says."""
    return load_model("flows", Flows)
