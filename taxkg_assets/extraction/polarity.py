"""What a sentence says about the thing it names: relation, polarity, and how sure the rule is.

How far a condition or a denial reaches is decided in `clauses`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

from taxkg_assets.extraction.clauses import (
    CONDITION,
    find_clauses,
    is_negated,
    read_clause,
    read_parenthesis,
    without_ellipses,
    without_parentheses,
)
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.rules.loader import Rule, load_family, load_rules
from taxkg_assets.schemas import POLARITIES

_SILENT = ("negated_mention", "plain_mention")


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


def find_sentence_at(sentences: list[tuple[int, int]], *, start: int, end: int) -> tuple[int, int]:
    """Take the sentence that holds a mention, stretched where the mention runs over its end."""
    ix = max(bisect_right(sentences, (start, 1 << 60)) - 1, 0)
    low, high = sentences[ix]
    return min(low, start), max(high, end)


def find_relation(sentence: str, *, kind: str, start: int, end: int, lead: str = "") -> Relation:
    """Decide what a sentence says about the mention that stands at `start` to `end` of it.

    Args:     sentence: the sentence. start, end: the mention's list of targets, half-open in the sentence.
              lead: the sentence that leads the list in which this one is an item; it speaks where the item is silent.
    Source:   rules/relations.yaml, first match decides; rules/polarity.yaml.
    """
    inner = read_parenthesis(sentence, start=start, end=end)
    if inner is not None:
        return find_relation(sentence[slice(*inner)], kind=kind, start=start - inner[0], end=end - inner[0])
    before = without_ellipses(without_parentheses(sentence[:start].replace("@", " ")))
    if kind in ("box", "line"):
        before = re.sub(load_family("polarity")["form_before_target"], "", before)
    after = without_ellipses(without_parentheses(sentence[end:].replace("@", " ")))
    marked = f"{before}@{after}"
    clause, sort = read_clause(marked, find_clauses(marked), at=len(before))
    scopes = {"sentence": marked, "clause": clause}
    small = {name: scope.lower() for name, scope in scopes.items()}
    for rule in _cues(kind):
        extra = rule.extra
        if not rule.may_match(small[extra["scope"]]):
            continue
        if _holds(extra.get("needs"), scopes["clause"], sort=sort) and rule.pattern.search(scopes[extra["scope"]]):
            led = _find_lead(lead, kind=kind) if rule.id in _SILENT and not _gives_order(marked) else None
            if led is not None:
                return led
            polarity = _read_polarity(extra["polarity"], scopes["clause"])
            return Relation(extra["relation"], polarity, rule.id)
    raise AssertionError("rules/relations.yaml ends with a rule that always matches")


@cache
def _cues(kind: str) -> tuple[Rule, ...]:
    """Give the cues that can say something of a kind of mention, in the order in which they are asked."""
    return tuple(rule for rule in load_rules("relations", "cues") if kind in rule.extra.get("kinds", (kind,)))


def _holds(need: str | None, clause: str, *, sort: str) -> bool:
    """Decide whether a clause is what a cue asks for: a condition, or a denial of the mention."""
    if need == "condition":
        return sort == CONDITION
    return need is None or is_negated(clause.split("@")[0])


def _gives_order(item: str) -> bool:
    """Decide whether the item of a list orders something on its own, so that its lead does not speak for it."""
    return any(rule.pattern.search(item) for rule in load_rules("relations", "own_orders"))


def _find_lead(lead: str, *, kind: str) -> Relation | None:
    """Decide what the sentence that leads a list says about the things its items name."""
    for rule in load_rules("relations", "leads"):
        if kind in rule.extra["kinds"] and rule.pattern.search(lead):
            return Relation(rule.extra["relation"], rule.extra["polarity"], rule.id)
    return None


def _read_polarity(ruled: str, clause: str) -> str:
    if ruled in POLARITIES:
        return ruled
    before, _, after = clause.partition("@")
    near = " ".join(before.split()[-load_family("polarity")["denial_reach_words"] :])
    denied = is_negated(near) or any(rule.pattern.match(after) for rule in load_rules("polarity", "denials_after"))
    return "negative" if denied else "positive"
