"""What a sentence says about the thing it names: relation, polarity, and how sure the rule is.

How far a condition or a denial reaches is decided in `clauses`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.references.clauses import (
    CONDITION,
    SCREENED,
    find_clauses,
    is_negated,
    read_clause,
    read_parenthesis,
    without_ellipses,
    without_parentheses,
)
from taxkg_assets.extraction.regex_prefilter import open_screen
from taxkg_assets.rules.confidence import read_confidence
from taxkg_assets.rules.loader import load_family, load_rules
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


@dataclass(slots=True)
class Asked:
    """A mention in its sentence, about which something is asked.

    `start` and `end` are the mention's list of targets, half-open in the sentence; `lead` is the sentence that leads
    the list in which this one is an item: it speaks where the item is silent.
    """

    sentence: str
    kind: str
    start: int
    end: int
    lead: str = ""


def find_relations(asked: Sequence[Asked]) -> list[Relation]:
    """Decide what each sentence says about the mention in it.

    Source:   rules/relations.yaml, first match decides; rules/polarity.yaml.
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
        asked = Asked(asked.sentence[low:high], asked.kind, asked.start - low, asked.end - low)
        inner = read_parenthesis(asked.sentence, start=asked.start, end=asked.end)
    return asked


def _mark(asked: Asked) -> tuple[str, str]:
    """Write the mention as `@`: the sentence before it with the mark, and after it."""
    before = without_ellipses(without_parentheses(asked.sentence[: asked.start].replace("@", " ")))
    if asked.kind in ("box", "line"):
        before = re.sub(load_family("polarity")["form_before_target"], "", before)
    return before + "@", without_ellipses(without_parentheses(asked.sentence[asked.end :].replace("@", " ")))


def _find_relation(asked: Asked, *, before: str, after: str, held: int) -> Relation:
    marked = before + after
    clause, sort = read_clause(marked, find_clauses(marked, held=held), at=len(before) - 1)
    scopes = {"sentence": marked, "clause": clause}
    small = clause.lower()
    # Where a clause goes on after an inserted one, its two parts may make a word that the sentence does not hold.
    screened = open_screen(SCREENED).find_rules(("relations", "cues"), held) if clause in marked else None
    for rule in load_rules("relations", "cues") if screened is None else screened:
        extra = rule.extra
        if asked.kind not in extra.get("kinds", (asked.kind,)):
            continue
        if extra["scope"] == "clause" and clause is not marked and not rule.may_match(small):
            continue
        if _holds(extra.get("needs"), clause, sort=sort) and rule.pattern.search(scopes[extra["scope"]]):
            is_led = bool(asked.lead) and rule.id in _SILENT and not _gives_order(marked)
            led = _find_lead(asked.lead, kind=asked.kind) if is_led else None
            if led is not None:
                return led
            return Relation(extra["relation"], _read_polarity(extra["polarity"], clause), rule.id)
    raise AssertionError("rules/relations.yaml ends with a rule that always matches")


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
