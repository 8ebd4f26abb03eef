"""Verbs that link a sentence to what it names: what they do, and whether they order, forbid, allow or report it.

How far a clause reaches is decided in `clauses`; what follows for a target is decided in `relations`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar

from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.predicates import load_predicates

DUTY, BAN, RELIEF, PERMISSION, FACT = "duty", "ban", "relief", "permission", "fact"
PURPOSE, MODIFIER = "purpose", "modifier"
_WORD = re.compile(r"(?<![\w’'-])[A-Za-z]{2,}(?![\w’'-])")
FINITE = (DUTY, BAN, RELIEF, PERMISSION, FACT)
PLACE, DO, COMPUTE, SKIP, POINT = "place", "do", "compute", "skip", "point"


# Not frozen, as a booklet has thousands of them; never changed all the same.
@dataclass(slots=True)
class Predicate:
    """One verb of a clause.

    Attributes:
        sense: What the verb does: `PLACE` an amount, `DO` something with a form, `COMPUTE`, `SKIP` or `POINT`.
        mood: One of `FINITE`; `PURPOSE` for an infinitive, `MODIFIER` for a participle after its noun.
        start: Offset of the verb.
        end: Offset after the verb.
        head_end: Offset after the words before the verb and its auxiliaries.
        word: The verb as printed, in lower case.
        auxiliary: Form of `be` before a passive; else empty.
        is_negated: Whether a modifier is negated.
    """

    sense: str
    mood: str
    start: int
    end: int
    head_end: int
    word: str
    auxiliary: str = ""
    is_negated: bool = False

    @property
    def is_passive(self) -> bool:
        """Return whether the verb is passive, so that the words before it are its object."""
        return bool(self.auxiliary)


# The tests of a mention read the same words several times, and so do the items that one sentence leads.
@lru_cache(maxsize=256)
def read_predicates(text: str) -> tuple[Predicate, ...]:
    """Parse the verbs of a clause.

    Args:
        text: The clause.

    Returns:
        Verbs in order; `start`, `end` and `head_end` are characters in `text`.
    """
    look_up = _verb_forms().get
    predicates: list[Predicate] = []
    # To look every word up is faster than to try an alternation of all forms at every place.
    for match in _WORD.finditer(text):
        verb_form = look_up(match[0].lower())
        if verb_form is None:
            continue
        predicate = _read_predicate(text, match, sense=verb_form[0], form=verb_form[1], before=predicates)
        if predicate is not None:
            predicates.append(predicate)
    return tuple(predicates)


@cache
def _verb_forms() -> dict[str, tuple[str, str]]:
    """Map every word that may be one of the verbs to its sense and form."""
    family = load_predicates()
    irregular: dict[str, tuple[str, ...]] = family.irregular
    forms: dict[str, tuple[str, str]] = {}
    for sense, verbs in family.verbs.items():
        for verb in verbs:
            third, past, gerund = irregular.get(verb) or _inflect(verb)
            forms[gerund] = (sense, "gerund")
            forms[third] = (sense, "third")
            forms[past] = (sense, "past")
            forms[verb] = (sense, "base" if verb != past else "base_or_past")
    return forms


def _inflect(verb: str) -> tuple[str, str, str]:
    """Return third person, past and gerund of a regular verb."""
    if verb.endswith("e"):
        return verb + "s", verb + "d", verb[:-1] + "ing"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"
    third = verb + ("es" if verb.endswith(("s", "x", "ch", "sh")) else "s")
    return third, verb + "ed", verb + "ing"


def _read_predicate(
    text: str, match: re.Match[str], *, sense: str, form: str, before: list[Predicate]
) -> Predicate | None:
    head = text[: match.start()]
    if form in ("past", "base_or_past"):
        predicate = _read_participle(head, match, sense=sense)
        if predicate is not None or form == "past":
            return predicate
    if form == "third":
        is_label_verb = match[0].lower() in load_predicates().label_verbs
        found = _read_third(head, is_label_verb=is_label_verb)
    else:
        found = _read_gerund(head, before) if form == "gerund" else _read_base(head, before, after=text[match.end() :])
    if found is None:
        return None
    mood, at = found
    return Predicate(sense, mood, match.start(), match.end(), at, match[0].lower())


_Rule = TypeVar("_Rule", bound=Rule)


def _find_mood(head: str, rules: RuleList[_Rule]) -> tuple[_Rule, re.Match[str]] | None:
    """Find the first rule of a list that the words before a verb end with."""
    found: tuple[_Rule, re.Match[str]] | None = _find_mood_near(head[-load_predicates().reach_characters :], rules)
    return found


# A long sentence is read once for each of its mentions, with the same words before the same verbs.
@lru_cache(maxsize=4096)
def _find_mood_near(near: str, rules: RuleList[Any]) -> tuple[Any, re.Match[str]] | None:
    small = near.lower()
    for rule in rules:
        match = rule.pattern.search(near) if rule.may_match(small) else None
        if match is not None:
            return rule, match
    return None


def _read_base(head: str, before: list[Predicate], *, after: str) -> tuple[str, int] | None:
    found = _find_mood(head, load_predicates().moods)
    if found is None:
        return None
    rule, match = found
    at = len(head) - (match.end() - match.start())
    mood = rule.mood
    if rule.id == "coordinated_verb":
        return _inherit(head, before, after=after), at
    return mood, at


def _inherit(head: str, before: list[Predicate], *, after: str) -> str:
    """Take the mood of the verb that a coordinated verb continues from; a new order is independent.

    In `fill in the form to find the rent and attach it to`, the last verb continues from the first, not from `to find`:
    its object is what the first verb made.
    """
    is_second_step = load_predicates().second_steps.matches(after)
    last = next(
        (
            predicate
            for predicate in reversed(before)
            if predicate.mood != MODIFIER and not (is_second_step and predicate.mood == PURPOSE)
        ),
        None,
    )
    if last is None:
        return DUTY
    is_new_order = last.mood == BAN and re.search(r"(?i)\band\W*$", head) is not None
    return DUTY if last.mood == FACT or is_new_order else last.mood


def _read_third(head: str, *, is_label_verb: bool) -> tuple[str, int] | None:
    if _find_mood(head, load_predicates().nouns) is not None or (
        _find_mood(head, load_predicates().label_starts) is not None and not is_label_verb
    ):
        return None
    return (FACT if _find_mood(head, load_predicates().relative_pronouns) else DUTY), len(head)


def _read_gerund(head: str, before: list[Predicate]) -> tuple[str, int] | None:
    found = _find_mood(head, load_predicates().gerunds)
    if found is None:
        return None
    rule, match = found
    mood = rule.mood
    last = next((predicate.mood for predicate in reversed(before) if predicate.mood in FINITE), None)
    return mood if mood != "inherit" else last or DUTY, len(head) - (match.end() - match.start())


def _read_participle(head: str, match: re.Match[str], *, sense: str) -> Predicate | None:
    """Read a past form: passive after a form of `be`, past after a pronoun, else a modifier of the noun before it."""
    word = match[0].lower()
    found = _find_mood(head, load_predicates().passives)
    if found is not None:
        rule, aux = found
        at = len(head) - (aux.end() - aux.start())
        return Predicate(sense, rule.mood, match.start(), match.end(), at, word, aux[0].lower())
    if _verb_forms()[word][1] == "base_or_past" and _find_mood(head, load_predicates().moods) is not None:
        return None
    is_negated = _find_mood(head, load_predicates().denied_modifiers) is not None
    return Predicate(sense, MODIFIER, match.start(), match.end(), len(head), word, is_negated=is_negated)
