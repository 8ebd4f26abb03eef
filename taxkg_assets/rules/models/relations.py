"""Rule family `relations`: the relation of a sentence to its target, by the ordered tests of the labeling guide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class Cue(Rule):
    """Rule for words that state how a clause is related to the target of a reference.

    Attributes:
        relation: Relation of the reference.
        polarity: Polarity of the reference.
        kinds: Kinds of targets to which the rule applies; empty for all.
        scope: Text that the rule searches: `clause` or `sentence`.
        needs_amount: Whether the rule applies only to the text of a box or line.
        needs_class: Whether the target's name must match `names_of_classes`.
        needs_no_order: Whether the rule does not apply within an instruction or ban.
    """

    relation: str
    polarity: str
    kinds: Sequence[str] = ()
    scope: str = "clause"
    needs_amount: bool = False
    needs_class: bool = False
    needs_no_order: bool = False


class Origin(Rule):
    """Rule for words that take an amount from a place.

    Attributes:
        is_taken_off: Whether the amount is excluded.
        not_after_place: Whether the rule does not apply after a place where an amount is entered.
    """

    is_taken_off: bool
    not_after_place: bool = False


class NewStatements(RuleList[Rule]):
    """Rules of `new_statements`."""

    verb_follows: Rule


class OpenLeads(RuleList[Rule]):
    """Rules of `open_leads`."""

    auxiliary_at_end: Rule


class Relations(Family):
    """Content of `rules/relations.yaml`."""

    relations: dict[str, str]
    near_characters: int
    order: tuple[str, ...]
    decisions: dict[str, str]
    edges: dict[str, str]
    links: RuleList[Rule]
    new_statements: NewStatements
    cues: RuleList[Cue]
    leading_conditions: RuleList[Cue]
    names_of_limits: RuleList[Rule]
    names_of_definitions: RuleList[Rule]
    names_of_classes: RuleList[Rule]
    turns: RuleList[Rule]
    subjects: RuleList[Cue]
    source_prepositions: RuleList[Rule]
    sources: RuleList[Origin]
    other_places: RuleList[Rule]
    other_places_after: RuleList[Rule]
    statements: RuleList[Rule]
    equations: RuleList[Rule]
    conditional_leads: RuleList[Rule]
    list_leads: RuleList[Rule]
    excluding_leads: RuleList[Rule]
    denied_descriptions: RuleList[Rule]
    open_leads: OpenLeads
    authorities: RuleList[Rule]
    fronted: RuleList[Rule]
    whole_amounts: RuleList[Rule]
    described_places: RuleList[Rule]
    partial_amounts: RuleList[Rule]
    bare_places: RuleList[Rule]
    nothing_more: RuleList[Rule]
    destinations: RuleList[Rule]
    objects: RuleList[Rule]
    listed_objects: RuleList[Rule]
    indirect_objects: RuleList[Rule]
    applied_rules: RuleList[Rule]
    duties: RuleList[Cue]
    item_starts: RuleList[Rule]
    complements: RuleList[Rule]
    bare_items: RuleList[Rule]
    item_heads: RuleList[Rule]


@cache
def load_relations() -> Relations:
    """Return the rules that decide which relation a sentence states to the thing that it names."""
    return load_model("relations", Relations)
