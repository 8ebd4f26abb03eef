"""What a sentence says about the thing it names: relation, polarity, and how sure the rule is.

Sentences and clauses are found here too, since both decide how far a negation or a condition reaches.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache

from taxkg_assets.rules.loader import load_family, load_rules
from taxkg_assets.schemas import POLARITIES

_BULLETS = " \t\n•▶◦·"
_SILENT = ("negated_mention", "plain_mention")


@dataclass(frozen=True, slots=True)
class Relation:
    """What a clause says about a mention."""

    relation: str
    polarity: str
    confidence: float
    rule_id: str


def find_sentences(text: str) -> list[tuple[int, int]]:
    """Split a paragraph into sentences, half-open ranges without surrounding blanks."""
    (rule,) = load_rules("polarity", "sentence_ends")
    abbreviation, firm, opening = _abbreviations()
    starts = [0]
    for match in rule.pattern.finditer(text):
        head = text[max(0, match.end() - 30) : match.end()]
        is_short = abbreviation.search(head) is not None
        if is_short and not (firm.search(head) and opening.match(text, match.end())):
            continue
        starts.append(match.end())
    bounds = zip(starts, [*starts[1:], len(text)], strict=True)
    return [span for low, high in bounds if (span := _strip(text, low, high))[0] < span[1]]


@cache
def _abbreviations() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    family = load_family("polarity")
    return (
        re.compile(family["abbreviations"]),
        re.compile(family["always_ends"]),
        re.compile(family["starts_after_abbreviation"]),
    )


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip(_BULLETS)), end - len(part) + len(part.rstrip())


def find_sentence_at(sentences: list[tuple[int, int]], *, start: int, end: int) -> tuple[int, int]:
    """Take the sentence that holds a mention, stretched where the mention runs over its end."""
    ix = max(bisect_right(sentences, (start, 1 << 60)) - 1, 0)
    low, high = sentences[ix]
    return min(low, start), max(high, end)


def find_clauses(sentence: str) -> list[int]:
    """Split a sentence into clauses; returns their starts, the first being 0."""
    cuts = {0}
    for rule in load_rules("polarity", "clause_breaks"):
        is_main = rule.id == "main_clause_after_condition"
        for match in rule.pattern.finditer(sentence):
            if not is_main or _is_condition(sentence[max(cut for cut in cuts if cut < match.end()) : match.start()]):
                cuts.add(match.end())
    return sorted(cuts)


def _is_condition(clause: str) -> bool:
    small = clause.lower()
    return any(rule.may_match(small) and rule.pattern.search(clause) for rule in load_rules("polarity", "conditions"))


def is_negated(clause: str) -> bool:
    """Decide whether a clause denies; set phrases that only look negative do not count."""
    small = clause.lower()
    negations = [rule for rule in load_rules("polarity", "negations") if rule.may_match(small)]
    if not negations:
        return False
    for rule in load_rules("polarity", "weak_negations"):
        clause = rule.pattern.sub(" ", clause)
    return any(rule.pattern.search(clause) for rule in negations)


def find_relation(sentence: str, *, kind: str, start: int, end: int, lead: str = "") -> Relation:
    """Decide what a sentence says about the mention that stands at `start` to `end` of it.

    Args:     sentence: the sentence. start, end: the mention's list of targets, half-open in the sentence.
              lead: the sentence that leads the list in which this one is an item; it speaks where the item is silent.
    Source:   rules/relations.yaml, first match decides; rules/polarity.yaml.
    """
    cuts = find_clauses(sentence)
    ix = bisect_right(cuts, start) - 1
    low = cuts[ix]
    high = next((cut for cut in cuts[ix + 1 :] if cut >= end), len(sentence))
    scopes = {
        "sentence": sentence[:start].replace("@", " ") + "@" + sentence[end:].replace("@", " "),
        "clause": sentence[low:start].replace("@", " ") + "@" + sentence[end:high].replace("@", " "),
    }
    small = {name: scope.lower() for name, scope in scopes.items()}
    for rule in load_rules("relations", "cues"):
        extra = rule.extra
        if kind not in extra.get("kinds", (kind,)) or not rule.may_match(small[extra["scope"]]):
            continue
        if _holds(extra.get("needs"), scopes["clause"]) and rule.pattern.search(scopes[extra["scope"]]):
            if rule.id in _SILENT and lead and (led := _find_lead(lead, kind=kind)) is not None:
                return led
            polarity = _read_polarity(extra["polarity"], scopes["clause"])
            return Relation(extra["relation"], polarity, extra["confidence"], rule.id)
    raise AssertionError("rules/relations.yaml ends with a rule that always matches")


def _holds(need: str | None, clause: str) -> bool:
    """Decide whether a clause is what a cue asks for: a condition, or a denial of the mention."""
    if need == "condition":
        return _is_condition(clause)
    return need is None or is_negated(clause.split("@")[0])


def _find_lead(lead: str, *, kind: str) -> Relation | None:
    """Decide what the sentence that leads a list says about the things its items name."""
    for rule in load_rules("relations", "leads"):
        if kind in rule.extra["kinds"] and rule.pattern.search(lead):
            return Relation(rule.extra["relation"], rule.extra["polarity"], rule.extra["confidence"], rule.id)
    return None


def _read_polarity(ruled: str, clause: str) -> str:
    if ruled in POLARITIES:
        return ruled
    return "negative" if is_negated(clause) else "positive"
