"""A mention in its clause, as the tests of relations read it: the words around it and the verbs before it."""

from __future__ import annotations

from dataclasses import dataclass

from taxkg_assets.extraction.references.clauses import MAIN, open_clause_screen
from taxkg_assets.extraction.references.predicates import BAN, DUTY, FINITE, PLACE, Predicate, read_predicates
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.models.relations import Cue, load_relations

AMOUNT_KINDS = ("box", "line", "form", "irc_section", "statute_section", "section")
LAW_KINDS = ("irc_section", "statute_section", "regulation", "notice_or_ruling")


# Relations and views are not frozen, as a booklet has thousands of them; they are never changed all the same.
@dataclass(slots=True)
class Relation:
    """The relation that a clause states about a mention."""

    relation: str
    polarity: str
    rule_id: str

    @property
    def confidence(self) -> float:
        """Return the confidence of relation and polarity."""
        return read_confidence("reference_cues", self.rule_id)

    @property
    def rank(self) -> int:
        """Return the rank of the relation: of several in a sentence, the one with the lowest rank counts."""
        order = load_relations().order
        return order.index(self.relation)


@dataclass(slots=True)
class MentionInSentence:
    """A mention in its sentence, input to the classification of its relation.

    `start` and `end` are the mention's cluster of targets, half-open in the sentence; `lead` is the sentence that
    introduces the list in which this one is an item, and `is_denied` is true if the lead is negated, so that the item's
    amounts are not the owner's. `holds_amount` is true if the owner is a box or line. `is_container` marks a form that
    only contains the target, `is_self` the owner's box or form; `masks` are ranges of other mentions with the word to
    read there: `here` for the owner, `Heading` for words of a heading.
    """

    sentence: str
    kind: str
    start: int
    end: int
    lead: str = ""
    name: str = ""
    holds_amount: bool = True
    is_container: bool = False
    is_self: bool = False
    is_denied: bool = False
    masks: tuple[tuple[int, int, str], ...] = ()


@dataclass(slots=True)
class View:
    """A mention in its clause: the words before and after it, the kind of clause, and the verbs before it.

    Attributes:
        rule_words: Rule words in the sentence, as `open_clause_screen()` returns them.
    """

    mentioned: MentionInSentence
    sentence: str
    before: str
    after: str
    sort: str
    verbs: tuple[Predicate, ...]
    rule_words: int

    @property
    def clause(self) -> str:
        """Return the clause with `@` for the mention, the form that clause patterns match."""
        return f"{self.before}@{self.after}"

    @property
    def near(self) -> str:
        """Return the last words before the mention, for patterns that end at it."""
        return self.before[-load_relations().near_characters :]

    @property
    def governing(self) -> Predicate | None:
        """Return the last verb of statement before the mention."""
        return next((verb for verb in reversed(self.verbs) if verb.mood in FINITE), None)


def match_cue(cues: RuleList[Cue], view: View) -> Relation | None:
    """Return the relation of the first cue that matches the clause or sentence.

    Args:
        cues: List of `rules/relations.yaml` that `open_clause_screen` holds.
        view: Clause around the mention.

    Returns:
        The relation of the cue; None if none matches.
    """
    rules = open_clause_screen().find_rules(cues, view.rule_words)
    if not rules:
        return None
    clause = view.clause
    small_clause, small_sentence = clause.lower(), view.sentence.lower()
    for rule in rules:
        is_clause = rule.scope == "clause"
        if not rule.may_match(small_clause if is_clause else small_sentence):
            continue
        if rule.needs_amount and not view.mentioned.holds_amount:
            continue
        if rule.needs_class and not load_relations().names_of_classes.matches(view.mentioned.name):
            continue
        if rule.needs_no_order and _is_ordered(view):
            continue
        if rule.kinds and view.mentioned.kind not in rule.kinds:
            continue
        if rule.pattern.search(clause if is_clause else view.sentence):
            return Relation(rule.relation, rule.polarity, rule.id)
    return None


def _is_ordered(view: View) -> bool:
    """Decide whether an order or a ban to the reader governs what is right before the target."""
    verb = view.governing
    if verb is None or view.sort != MAIN:
        return False
    return verb.mood in (DUTY, BAN) and not verb.is_passive and "," not in view.before[verb.end :]


def is_label(view: View) -> bool:
    """Return whether a text is a printed label or list item: a noun phrase without a statement.

    Args:
        view: The mention with the sentence around it.
    """
    verbs = read_predicates(f"{view.before}X{view.after}")
    follows = any(verb.mood in FINITE and verb.sense != PLACE and verb.start > len(view.before) for verb in verbs)
    return not follows and not load_relations().statements.matches(view.clause)


def find_lead_verb(lead: str) -> Predicate | None:
    """Find the verb of a sentence that introduces a list: `Include in this amount:`.

    Args:
        lead: The sentence before the list; empty for none.

    Returns:
        Its verb; None if it introduces no list.
    """
    if not lead or not load_relations().list_leads.matches(lead):
        return None
    return next((verb for verb in reversed(read_predicates(lead)) if verb.mood in FINITE), None)
