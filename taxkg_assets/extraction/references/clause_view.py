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
        """Return the rank of the relation; if a sentence states several, the one with the lowest rank counts."""
        order = load_relations().order
        return order.index(self.relation)


@dataclass(slots=True)
class MentionInSentence:
    """A mention in its sentence, input to the classification of its relation.

    Attributes:
        sentence: The sentence.
        kind: Kind of the target: `box`, `line`, `form`, …
        start: Start of the mention's cluster of targets in the sentence.
        end: Exclusive end of this cluster.
        lead: Sentence that introduces the list, if this sentence is an item of one.
        name: The target as printed.
        holds_amount: Whether the owner of the text is a box or line.
        is_container: Whether the mention is a form that only contains the target: `Form F` in `box 4 of Form F`.
        is_self: Whether the mention is the owner's own box or form.
        is_denied: Whether the lead is negated, so that the amounts of the items are not the owner's.
        masks: Ranges of other mentions, each with the word to read instead: `here` for the owner, `Heading` for words
            of a heading.
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
class ClauseView:
    """A mention in its clause.

    Attributes:
        mention: The mention.
        sentence: The sentence.
        before: Words of the clause before the mention.
        after: Words of the clause after the mention.
        sort: Kind of the clause: `MAIN`, `CONDITION` or `ASIDE`.
        verbs: Verbs before the mention.
        rule_words: Bit mask of the rule words in the sentence, from `open_clause_screen()`.
    """

    mention: MentionInSentence
    sentence: str
    before: str
    after: str
    sort: str
    verbs: tuple[Predicate, ...]
    rule_words: int

    @property
    def clause(self) -> str:
        """Return the clause with `@` in place of the mention, as the patterns for clauses expect it."""
        return f"{self.before}@{self.after}"

    @property
    def near(self) -> str:
        """Return the last words before the mention, for patterns that end at it."""
        return self.before[-load_relations().near_characters :]

    @property
    def governing(self) -> Predicate | None:
        """Return the last verb of statement before the mention."""
        return next((verb for verb in reversed(self.verbs) if verb.mood in FINITE), None)


def match_cue(cues: RuleList[Cue], view: ClauseView) -> Relation | None:
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
    lower_clause = clause.lower()
    lower_sentence = view.sentence.lower()
    for rule in rules:
        is_clause = rule.scope == "clause"
        if not rule.may_match(lower_clause if is_clause else lower_sentence):
            continue
        if rule.needs_amount and not view.mention.holds_amount:
            continue
        if rule.needs_class and not load_relations().names_of_classes.matches(view.mention.name):
            continue
        if rule.needs_no_order and _is_ordered(view):
            continue
        if rule.kinds and view.mention.kind not in rule.kinds:
            continue
        if rule.pattern.search(clause if is_clause else view.sentence):
            return Relation(rule.relation, rule.polarity, rule.id)
    return None


def _is_ordered(view: ClauseView) -> bool:
    """Decide whether an order or a ban to the reader governs what is right before the target."""
    verb = view.governing
    if verb is None or view.sort != MAIN:
        return False
    return verb.mood in (DUTY, BAN) and not verb.is_passive and "," not in view.before[verb.end :]


def is_label(view: ClauseView) -> bool:
    """Return whether the clause is a printed label or list item: a noun phrase without a statement.

    Args:
        view: Clause around the mention.
    """
    verbs = read_predicates(f"{view.before}X{view.after}")
    has_statement_after = any(
        verb.mood in FINITE and verb.sense != PLACE and verb.start > len(view.before) for verb in verbs
    )
    return not has_statement_after and not load_relations().statements.matches(view.clause)


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
