"""What a sentence says about the thing it names: relation and polarity, by the ordered tests of the labeling guide.

How far a clause reaches is decided in `clauses`, what its verbs say in `predicates`. Here the first test that says yes
decides: definition, pointer, exclusion, limit, condition, amount, duty; what is left only names its target.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from taxkg_assets.extraction.references.clauses import (
    ASIDE,
    CONDITION,
    SCREENED,
    find_clauses,
    is_negated,
    read_clause,
    read_parenthesis,
    without_ellipses,
    without_parentheses,
)
from taxkg_assets.extraction.references.predicates import (
    BAN,
    COMPUTE,
    DO,
    DUTY,
    FACT,
    FINITE,
    MODIFIER,
    PERMISSION,
    PLACE,
    POINT,
    PURPOSE,
    RELIEF,
    SKIP,
    Predicate,
    read_predicates,
)
from taxkg_assets.extraction.regex_prefilter import open_screen
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.rules.loader import load_family, load_rules

AMOUNT_KINDS = ("box", "line", "form", "irc_section", "statute_section", "section")
_LAW = ("irc_section", "statute_section", "regulation", "notice_or_ruling")


@dataclass(frozen=True, slots=True)
class Relation:
    """What a clause says about a mention."""

    relation: str
    polarity: str
    rule_id: str

    @property
    def confidence(self) -> float:
        """Confidence of relation and polarity."""
        return read_confidence("reference_cues", self.rule_id)

    @property
    def rank(self) -> int:
        """The place of the deciding test in the guide's order; where a sentence names a target twice, the first wins."""
        order: list[str] = load_family("relations")["order"]
        return order.index(self.relation)


@dataclass(slots=True)
class Asked:
    """A mention in its sentence, about which something is asked.

    `start` and `end` are the mention's cluster of targets, half-open in the sentence; `lead` is the sentence that leads
    the list in which this one is an item. `holds_amount` is true where the owner is a box or line, which has an amount.
    `is_container` marks a form that only holds the target, `is_self` the own box or form; `masks` are places in the
    sentence of other mentions and the word to read there: `here` for the owner, `Heading` for words of a heading.
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
    masks: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _View:
    """A mention in its clause: the words before and after it, the clause's sort, and the verbs before it."""

    asked: Asked
    sentence: str
    before: str
    after: str
    sort: str
    verbs: tuple[Predicate, ...]

    @property
    def clause(self) -> str:
        return f"{self.before}@{self.after}"

    @property
    def governing(self) -> Predicate | None:
        """The last verb before the mention that makes a statement."""
        return next((verb for verb in reversed(self.verbs) if verb.mood in FINITE), None)


def find_sentence_at(sentences: list[tuple[int, int]], *, start: int, end: int) -> tuple[int, int]:
    """Take the sentence that holds a mention, stretched where the mention runs over its end."""
    ix = max(bisect_right(sentences, (start, 1 << 60)) - 1, 0)
    low, high = sentences[ix]
    return min(low, start), max(high, end)


def find_relations(asked: Sequence[Asked]) -> list[Relation]:
    """Decide what each sentence says about the mention in it.

    Source:   rules/relations.yaml, rules/predicates.yaml, rules/polarity.yaml.
    """
    inmost = [_step_inside(one) for one in asked]
    marked = [_mark(one) for one in inmost]
    held = open_screen(SCREENED).read([before + after for before, after in marked])
    return [
        _find_relation(one, before=before, after=after, held=words)
        for one, (before, after), words in zip(inmost, marked, held, strict=True)
    ]


def _step_inside(asked: Asked) -> Asked:
    """Leave what stands around a parenthesis that says something of its own about the mention."""
    inner = read_parenthesis(asked.sentence, start=asked.start, end=asked.end)
    while inner is not None:
        low, high = inner
        masks = tuple((start - low, end - low, word) for start, end, word in asked.masks if low <= start and end <= high)
        place = {"start": asked.start - low, "end": asked.end - low}
        asked = replace(asked, sentence=asked.sentence[low:high], **place, masks=masks, lead="")
        inner = read_parenthesis(asked.sentence, start=asked.start, end=asked.end)
    return asked


def _mark(asked: Asked) -> tuple[str, str]:
    """Write the mention as `@` and mask others: the sentence before it with the mark, and after it."""
    text = asked.sentence.replace("@", " ")
    before, after = text[: asked.start], text[asked.end :]
    for start, end, word in sorted(asked.masks, reverse=True):
        if end <= asked.start:
            before = f"{before[:start]}{word}{before[end:]}"
        elif start >= asked.end:
            after = f"{after[: start - asked.end]}{word}{after[end - asked.end :]}"
    before = without_ellipses(without_parentheses(before))
    return before + "@", without_ellipses(without_parentheses(after))


def _find_relation(asked: Asked, *, before: str, after: str, held: int) -> Relation:
    marked = before + after
    clause, sort = read_clause(marked, find_clauses(marked, held=held), at=len(before) - 1)
    head, _, tail = clause.partition("@")
    verbs = read_predicates(head)
    if not verbs and _matches("bare_items", head):
        # An item of a list that semicolons divide goes on with the verb of the first.
        verbs = read_predicates(before[:-1])
    view = _View(asked, marked, head, tail, sort, tuple(verbs))
    found = _decide(view)
    if asked.is_self and found.relation in ("includes", "portion_of", "excludes"):
        polarity = "negative" if found.relation == "excludes" else "positive"
        found = Relation("requires" if found.relation != "includes" else "references", polarity, found.rule_id)
    if asked.is_container and found.relation == "portion_of":
        found = Relation("requires", "positive", "holder_of_target")
    return found


def _decide(view: _View) -> Relation:
    for test in (
        _test_fixed_cues,
        _test_pointer,
        _test_condition,
        _test_subject,
        _test_source,
        _test_law_name,
        _test_destination,
        _test_object,
        _test_lead,
    ):
        found = test(view)
        if found is not None:
            return found
    return Relation("references", "positive", "plain_mention")


def _match_cue(group: str, view: _View) -> Relation | None:
    """Find the first cue of a group that the clause or the sentence shows."""
    texts = {"clause": view.clause, "sentence": view.sentence}
    for rule in load_rules("relations", group):
        extra = rule.extra
        text = texts[extra.get("scope", "clause")]
        if extra.get("needs_amount") and not view.asked.holds_amount:
            continue
        if "named" in extra and not _matches(extra["named"], view.asked.name):
            continue
        if view.asked.kind in extra.get("kinds", (view.asked.kind,)) and rule.pattern.search(text):
            return Relation(extra["relation"], extra["polarity"], rule.id)
    return None


def _matches(group: str, text: str) -> bool:
    return any(rule.pattern.search(text) for rule in load_rules("relations", group))


def _test_fixed_cues(view: _View) -> Relation | None:
    """Definitions, exceptions and limits have words of their own, whatever the clause's verb."""
    return _match_cue("cues", view)


def _test_pointer(view: _View) -> Relation | None:
    """A pointer only names its target, unless it points at an exception or turns against the rule before it."""
    verb = next((one for one in reversed(view.verbs) if one.sense == POINT and one.mood in (DUTY, PERMISSION)), None)
    last = view.governing
    if verb is None or last is None:
        return None
    if last is not verb and not _matches("complements", view.before[verb.end : last.start]):
        return None
    if view.asked.kind == "section" and _matches("names_of_limits", view.asked.name):
        return Relation("qualifies", "positive", "see_limit")
    if _matches("turns", view.before[: verb.end]):
        return Relation("qualifies", "positive", "however_see")
    if view.asked.kind == "section" and _matches("names_of_definitions", view.asked.name):
        return Relation("defines", "positive", "see_definition")
    return Relation("references", "positive", "see_target")


def _test_condition(view: _View) -> Relation | None:
    if view.sort == ASIDE:
        return Relation("references", "positive", "aside")
    if view.sort != CONDITION:
        return _match_cue("leading_conditions", view)
    near = " ".join(view.before.split()[-load_family("polarity")["denial_reach_words"] :])
    is_denied = is_negated(near) or any(rule.pattern.match(view.after) for rule in load_rules("polarity", "denials_after"))
    return Relation("applies_if", "negative" if is_denied else "positive", "condition_on_target")


def _test_subject(view: _View) -> Relation | None:
    """The target begins its clause, and the words after it say what becomes of it."""
    return _match_cue("subjects", view)


def _test_source(view: _View) -> Relation | None:
    """An amount that the target holds goes into the owner, or is kept out of it."""
    kind, held = view.asked.kind, view.asked.holds_amount or bool(view.asked.lead)
    if kind not in AMOUNT_KINDS or kind == "irc_section" or not held:
        return None
    source = _find_source(view)
    if source is None or _goes_elsewhere(view):
        return None
    is_taken_off, modifier = source
    verb = view.governing
    mood = verb.mood if verb is not None else _read_lead_mood(view)
    if is_taken_off or (modifier is not None and modifier.is_negated) or mood == BAN:
        return Relation("excludes", "negative", "amount_taken_off" if is_taken_off else "amount_kept_out")
    is_included = modifier is not None and modifier.word == "included" and kind in ("box", "line")
    if is_included and view.asked.holds_amount and not view.asked.lead:
        return Relation("portion_of", "positive", "amount_included_in")
    is_taken = (verb is None and _is_label(view)) or (verb is not None and _takes_in(verb))
    return Relation("includes", "positive", "amount_from_target") if is_taken else None


def _takes_in(verb: Predicate) -> bool:
    return verb.sense in (PLACE, COMPUTE) and verb.mood in (DUTY, PERMISSION)


def _find_source(view: _View) -> tuple[bool, Predicate | None] | None:
    """Decide whether the words before the target name an amount in it: taken off or not, and the participle."""
    last = view.verbs[-1] if view.verbs else None
    if last is not None and last.mood in (MODIFIER, FACT) and last.sense in (PLACE, COMPUTE, DO):
        if _matches("source_prepositions", view.before[last.end :]):
            return False, last
    is_placed = _is_placed(view)
    for rule in load_rules("relations", "sources"):
        if rule.extra.get("not_after_place") and is_placed:
            continue
        if rule.pattern.search(view.before):
            return rule.extra["is_taken_off"], None
    return None


def _is_placed(view: _View) -> bool:
    """Decide whether the verb puts an amount somewhere: `enter the total in` names a place, `includes the total in` none."""
    verb = view.governing
    return verb is not None and verb.sense == PLACE and verb.word not in ("includes", "including")


def _goes_elsewhere(view: _View) -> bool:
    """Decide whether the clause carries the amount to a place that is not the owner."""
    return _matches("other_places", view.before) or _matches("other_places_after", view.after)


def _is_label(view: _View) -> bool:
    """Decide whether the words are a printed label or an item of a list: a noun without a statement."""
    follows = any(verb.mood in FINITE and verb.sense != PLACE for verb in read_predicates(view.after))
    return not follows and not _matches("statements", view.clause)


def _read_lead_mood(view: _View) -> str:
    """Read what the sentence that leads a list says of its items: the mood of its last statement, or nothing."""
    verb = _find_lead_verb(view.asked.lead)
    return verb.mood if verb is not None and verb.sense == PLACE else ""


def _find_lead_verb(lead: str) -> Predicate | None:
    if not lead or not _matches("list_leads", lead):
        return None
    return next((verb for verb in reversed(read_predicates(lead)) if verb.mood in FINITE), None)


def _test_law_name(view: _View) -> Relation | None:
    """A law section that names the kind of an amount: the amount goes into the owner, or is kept out of it."""
    if view.asked.kind not in ("irc_section", "statute_section") or _matches("authorities", view.clause):
        return None
    if _matches("other_places", view.before):
        return None
    verb = view.governing
    lead_mood = _read_lead_mood(view)
    if not (view.asked.holds_amount or lead_mood):
        return None
    if verb is None and _is_placed_after(view):
        mood = DUTY
    elif verb is None:
        if not _is_label(view) or not (lead_mood or view.asked.holds_amount):
            return None
        mood = lead_mood or DUTY
    else:
        is_use = verb.sense in (DO, SKIP) and any(one.sense == PLACE and one.mood == PURPOSE for one in view.verbs)
        if not (verb.sense == PLACE or is_use or (verb.sense == DO and verb.mood == BAN)):
            return None
        mood = verb.mood
    if mood in (BAN, RELIEF):
        return Relation("excludes", "negative", "law_kept_out")
    return Relation("includes", "positive", "law_taken_in") if mood == DUTY else None


def _is_placed_after(view: _View) -> bool:
    """Decide whether the words after a law section report the amount that it names: `pay under a @ plan is reported in`."""
    verb = next((one for one in read_predicates(view.after) if one.mood in FINITE), None)
    return verb is not None and verb.sense == PLACE and verb.is_passive and verb.mood == DUTY


def _test_destination(view: _View) -> Relation | None:
    """Something is put into the target, or used on it."""
    fronted = _read_fronted(view)
    verb, said = fronted if fronted is not None else _read_destination(view)
    if verb is None or verb.mood not in FINITE:
        return None
    is_field = view.asked.kind in ("box", "line")
    is_whole = view.asked.holds_amount and verb.sense == PLACE and _is_whole(verb, said, after=view.after)
    if verb.mood == BAN:
        if verb.sense == PLACE and is_field and view.asked.holds_amount and not view.asked.is_self:
            return Relation("excludes", "negative", "not_put_into")
        return Relation("requires", "negative", "must_not_put_into")
    if verb.mood == RELIEF:
        return Relation("requires", "negative", "need_not_put_into")
    if verb.sense == PLACE and is_field and is_whole and verb.mood in (DUTY, PERMISSION, FACT):
        return Relation("portion_of", "positive", "amount_put_into")
    if verb.mood == DUTY:
        return Relation("requires", "positive", "put_into")
    return Relation("references", "positive", "may_put_into")


def _is_whole(verb: Predicate, said: str, *, after: str) -> bool:
    """Decide whether what is put somewhere is the owner's amount; where no object stands before the place, it follows."""
    if verb.is_passive or not _matches("bare_places", said):
        return _matches("whole_amounts", said)
    return _matches("nothing_more", after) or _matches("whole_amounts", after)


def _read_fronted(view: _View) -> tuple[Predicate, str] | None:
    """Read a destination that stands before its verb: `in box 14, enter the code`."""
    if not _matches("fronted", view.before):
        return None
    verbs = [verb for verb in read_predicates(view.after) if verb.mood in FINITE]
    if not verbs or verbs[0].sense not in (PLACE, DO, COMPUTE):
        return None
    return verbs[0], view.after[verbs[0].end :]


def _read_destination(view: _View) -> tuple[Predicate | None, str]:
    """Find the verb whose place is the target, and the words that name what is put there."""
    if view.asked.kind in _LAW or not _matches("destinations", view.before):
        return None, ""
    verb = next((one for one in reversed(view.verbs) if one.mood in (*FINITE, PURPOSE)), None)
    last = view.verbs[-1] if view.verbs else None
    if verb is None or last is None or verb.sense not in (PLACE, DO, COMPUTE):
        return None, ""
    is_described = last.mood == MODIFIER and _matches("source_prepositions", view.before[last.end :])
    if is_described or _matches("described_places", view.before[verb.end :]):
        return None, ""
    said = view.before[: verb.head_end] if verb.is_passive else view.before[verb.end :]
    return verb, said


def _test_object(view: _View) -> Relation | None:
    """The reader must do something with the target itself: file, complete, use, check, skip it."""
    verb = next((one for one in reversed(view.verbs) if one.mood in (*FINITE, PURPOSE)), None)
    if verb is None or verb.mood not in FINITE or verb.is_passive:
        return _match_cue("duties", view)
    said = view.before[verb.end :]
    is_object = _matches("objects", said) or (verb.sense in (COMPUTE, DO) and _matches("applied_rules", said))
    if not is_object or verb.sense == POINT:
        return _match_cue("duties", view)
    if verb.sense == SKIP:
        return Relation("requires", "negative", "skip_target") if verb.mood in (DUTY, PERMISSION) else None
    if verb.mood in (BAN, RELIEF):
        return Relation("requires", "negative", "must_not_do" if verb.mood == BAN else "need_not_do")
    if verb.mood == DUTY and view.asked.kind not in ("irc_section", "url"):
        return Relation("requires", "positive", "must_do")
    return Relation("references", "positive", "may_do") if verb.mood == PERMISSION else None


def _test_lead(view: _View) -> Relation | None:
    """The sentence that leads a list says what becomes of the targets that its items name."""
    verb = _find_lead_verb(view.asked.lead)
    if verb is None or view.governing is not None or not _is_label(view):
        return None
    if not _matches("item_heads", view.before):
        return None
    if verb.sense == DO and view.asked.kind in ("form", "publication", "section"):
        if not _matches("item_starts", view.before):
            return None
        if verb.mood in (DUTY, BAN, RELIEF):
            return Relation("requires", "positive" if verb.mood == DUTY else "negative", "listed_to_do")
        return None
    if verb.sense == PLACE and view.asked.kind in AMOUNT_KINDS:
        if verb.mood in (BAN, RELIEF):
            return Relation("excludes", "negative", "listed_as_excluded")
        return Relation("includes", "positive", "listed_as_included") if verb.mood == DUTY else None
    return None
