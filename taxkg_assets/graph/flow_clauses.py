"""Amounts that clauses move: which places of a clause are its sources, which its targets, by the words before them.

Rules for whole sentences are in `flow_statements`; this grammar reads sentences that none of them reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from taxkg_assets.graph.flow_roles import FoundPlace, find_roles, group_places, settle, settle_asides
from taxkg_assets.graph.flow_statements import FlowStatement
from taxkg_assets.graph.places import Place, find_places, mask
from taxkg_assets.rules.anchored_search import matches_any
from taxkg_assets.rules.loader import load_rules
from taxkg_assets.rules.sentences import find_sentences

_PARTNER = ("Schedule K-1",)
_WHOLE = re.compile(r"Schedule K(?: |$)")
_FRONTED = re.compile(r"^\W*(?:\d+\. )?On (?:your |the )?⟨(\d+)_*⟩,? $")
_NEXT_OBJECT = re.compile(r"^(?:,? columns? \(?\w\)?)?,? (?:the|any|all|your|each|only|this)\b")
_SUBJECT = re.compile(
    r"^If (?:the amount (?:on|in) )?⟨\w+⟩,? (?:is|shows) "
    r"(?:an? |not |zero|(?:more|greater|less) than (?:zero|\$)|positive|negative)"
    r"[^⟨⟩]*$"
)
"""Condition on the amount of one place, which a later clause may move."""
_FIRST = re.compile(r"^(?:Lines?|Box(?:es)?)(?= \d)")
_NAMING = ("named", "shown", "sum")
"""Verbs of clauses that name an amount which a later sentence may move."""
WITHIN = "clause_within"
"""Rule of statements that join two lines of the form that the text is about."""
Pair = tuple[Place | None, Place | None]


@dataclass(slots=True)
class _Before:
    """What earlier clauses of a sentence named, and what the sentences before it did.

    Attributes:
        sources: Places whose amounts the sentence named.
        targets: Places that it moved an amount to.
        fronted: Place that begins it: `On line 5b, include ...`.
        is_computed: Whether its amount is the result of arithmetic.
        named: Places that show the amount that the sentence before it is about.
        moved_to: Places that the sentence before it moved an amount to.
        last: Last place of the sentence before it.
        is_first: Whether it is the first one of its passage.
        is_own: Whether it, or the one before it, moved the amount of the heading.
        is_topic: Whether it says what the amount of the heading is: `This is your deduction.`
    """

    sources: list[Place] = field(default_factory=list)
    targets: list[Place] = field(default_factory=list)
    fronted: Place | None = None
    is_computed: bool = False
    shown: list[Place] = field(default_factory=list)
    named: list[Place] = field(default_factory=list)
    moved_to: list[Place] = field(default_factory=list)
    last: Place | None = None
    is_first: bool = True
    is_own: bool = False
    is_topic: bool = False

    def begin(self, *, is_first: bool) -> _Before:
        """Return what the next sentence knows; one without places changes nothing."""
        if not (self.sources or self.targets or self.shown or self.is_computed):
            return replace(self, fronted=None, is_first=is_first)
        is_named = bool(self.shown) and not self.is_computed
        shown = [*([] if self.targets else self.named), *self.shown] if is_named else []
        return _Before(named=shown, moved_to=self.targets, last=self.last, is_first=is_first, is_own=self.is_own)


@dataclass(slots=True)
class Said:
    """Places that the passages so far, under one heading, name as showing an amount."""

    named: list[Place] = field(default_factory=list)


def read_clauses(text: str, *, under: str, said: Said | None = None) -> list[FlowStatement]:
    """Return the statements of the clauses of a passage that go from one form to another.

    Args:
        text: The passage.
        under: What its heading explains: `boxes` (of a form that the reader received), `given` (boxes that the reader
            fills in for somebody else), `lines` (that the reader fills in), or empty.
        said: What the passages before it named; changed to what this one names.

    Returns:
        Statements; None as an end means the line or box of the heading.
    """
    found: list[FlowStatement] = []
    before = _Before(named=said.named if said else [])
    schedules: dict[str, tuple[str, ...]] = {}
    for start, end in find_sentences(text):
        sentence = _FIRST.sub(lambda match: match[0].lower(), text[start:end])
        places = find_places(sentence, before=text[:start]) if "line" in sentence or "box" in sentence else []
        if not sentence.startswith("Instead"):
            before = before.begin(is_first=not start)
        if under == "lines" and matches_any("flows", "clause_topics", sentence):
            before.is_topic = True
        if places and (under == "given" or not matches_any("flows", "clause_others", sentence)):
            places = [_name_parent(each, schedules) for each in places]
            found += _read_sentence(mask(sentence, places), places, before, start, under)
            before.last = places[-1]
    if said is not None:
        said.named = [each for each in before.begin(is_first=False).named if each.forms]
    return found


def _name_parent(place: Place, schedules: dict[str, tuple[str, ...]]) -> Place:
    """Give a schedule the form that the passage named with it before."""
    for form in place.forms:
        schedule, _, parent = form.partition(" (")
        if parent:
            schedules[schedule] = place.forms
    return replace(place, forms=schedules.get(place.forms[0], place.forms)) if len(place.forms) == 1 else place


def _read_sentence(
    masked: str, places: list[Place], before: _Before, offset: int, under: str
) -> Iterator[FlowStatement]:
    for start, end in _split(masked):
        clause = masked[start:end]
        verb, at = _find_verb(clause)
        for source, target in _read_clause(clause, places, before, under, verb=verb, at=at):
            is_within = not any(each is not None and each.forms for each in (source, target))
            if is_within and not _moves_within(clause, source, target, under, verb=verb):
                continue
            if any(each is not None and matches_any("flows", "unnamed", each.label) for each in (source, target)):
                continue
            relation = "from_form" if target is None else "flows_to"
            rule_id = WITHIN if is_within else "clause" if verb == "move" else f"clause_{verb}"
            yield FlowStatement(relation, source, target, offset + start, offset + end, rule_id)


def _moves_within(clause: str, source: Place | None, target: Place | None, under: str, *, verb: str) -> bool:
    """Decide whether a clause below the heading of a line moves a whole amount between lines of that form."""
    if under != "lines" or verb not in ("move", "moved", "equal"):
        return False
    if any(each is not None and (each.kind != "line" or each.label) for each in (source, target)):
        return False
    group = "clause_carried" if source is None else "clause_within"
    barred = matches_any("flows", "clause_elsewhere", clause) or matches_any("flows", "clause_apart", clause)
    return matches_any("flows", group, clause) and not barred


def _split(masked: str) -> list[tuple[int, int]]:
    """Split a sentence where the next verb begins."""
    breaks = {match.end() for rule in load_rules("flows", "clause_breaks") for match in rule.pattern.finditer(masked)}
    bounds = sorted({0, *breaks, len(masked)})
    return [(low, high) for low, high in pairwise(bounds) if masked[low:high].strip()]


def _read_clause(clause: str, places: list[Place], before: _Before, under: str, *, verb: str, at: int) -> list[Pair]:
    """Return the pairs of ends that a clause joins, and remember its places for the next one."""
    found = find_roles(clause, places)
    is_share = verb == "move" and matches_any("flows", "clause_shares", clause[at:])
    settle(found, verb=verb, at=at, is_share=is_share)
    settle_asides(found, under=under, verb=verb)
    sources = [each.place for each in found if each.role in ("source", "aside")]
    targets = [each.place for each in found if each.role == "target" and each.start >= at - 1]
    pairs: list[Pair] = []
    if verb in ("move", "moved"):
        pairs = [
            pair
            for group in group_places(found, at)
            for pair in _pair(clause, group, before, under, verb=verb, at=at, is_share=is_share)
        ]
        pairs += _pair_shares(found)
    elif verb == "shown":
        pairs = _pair_shown(clause, found, before, under)
    elif verb == "equal" and under == "lines" and not matches_any("flows", "clause_elsewhere", clause):
        pairs = [(source, None) for source in sources]
    if verb == "moved" and not pairs and all(each.kind == "box" for each in targets):
        before.shown, targets = [*before.shown, *targets], []
    if verb == "condition":
        sources = [each.place for each in found if each.role or _SUBJECT.match(clause)]
        before.is_computed = before.is_computed or (bool(found) and not sources)
    if verb == "sum":
        sources = [each.place for each in found if each.role]
        if under == "lines" and sources and all(each.forms for each in sources) and _is_sum(clause, found):
            pairs = [(source, None) for source in sources]
        before.is_computed = before.is_computed or not all(each.forms for each in sources)
    if verb in _NAMING:
        before.shown = [*before.shown, *sources]
    fronted = _FRONTED.match(clause)
    before.fronted = places[int(fronted[1])] if fronted else before.fronted
    before.is_computed = before.is_computed or verb == "compute"
    before.sources = sources or before.sources
    before.targets = targets or before.targets
    before.is_own = any(source is None for source, _ in pairs) if pairs else before.is_own
    return pairs


def _is_sum(clause: str, found: list[FoundPlace]) -> bool:
    """Decide whether a clause only adds the places that it names: the sum is the amount of the heading's line."""
    is_bare = all(each.role in ("source", "amount") for each in found)
    return is_bare and not matches_any("flows", "clause_elsewhere", clause)


def _pair_shown(clause: str, found: list[FoundPlace], before: _Before, under: str) -> list[Pair]:
    """Return the pairs of `This amount should be shown in ...`: what was moved before, else the heading's amount."""
    shown = [each.place for each in found if each.role == "source"]
    if targets := [each for each in before.moved_to if each.forms]:
        return [(source, target) for source in shown if source.forms for target in targets]
    is_own = any(each.kind == "box" for each in shown) or "this line" in clause
    if under != "lines" or not is_own or (before.last and before.last.forms and "this line" not in clause):
        return []
    return [(source, None) for source in shown]


def _find_verb(clause: str) -> tuple[str, int]:
    """Return what the first verb of a clause does, and where it ends; empty for a condition and without a verb."""
    if matches_any("flows", "clause_conditions", clause):
        return "condition", len(clause)
    best: tuple[int, int, str] | None = None
    for rule in load_rules("flows", "clause_verbs"):
        match = rule.pattern.search(clause)
        if match is not None and (best is None or match.start() < best[0]):
            best = (match.start(), match.end(), rule.extra["does"])
    if best is None:
        return "", len(clause)
    last = clause[: best[1]].rstrip().rfind(" ")
    if matches_any("flows", "negations", clause[max(0, last - 40) : last + 1]):
        return "negated", len(clause)
    return best[2], best[1]


def _pair(
    clause: str, group: list[FoundPlace], before: _Before, under: str, *, verb: str, at: int, is_share: bool
) -> list[Pair]:
    """Return the pairs of ends of one amount that a clause moves."""
    sources: list[Place | None] = [each.place for each in group if each.role == "source"]
    targets = [each for each in group if each.role == "target"]
    if before.is_computed and not group:
        return []
    if not targets and under == "lines" and matches_any("flows", "clause_here", clause[at:]):
        return [(source, None) for source in sources or before.sources or before.named if source and source.forms]
    if sources and not targets and before.fronted is not None:
        return [(source, before.fronted) for source in sources]
    if under == "given" and targets:
        return [*((source, None) for source in sources), *((None, target.place) for target in targets)]
    if sources and not targets:
        is_own = under in ("lines", "given") and verb == "move" and not matches_any("flows", "clause_elsewhere", clause)
        return [(source, None) for source in sources] if is_own else []
    if targets and not sources:
        if is_share:
            return [(_find_whole(before), each.place) for each in targets]
        means = _find_object(clause[:at], clause[at : targets[0].start], verb)
        if means == "elided":
            is_followed = _NEXT_OBJECT.match(clause[clause.index("⟩", targets[-1].start) + 1 :])
            moved: list[Place | None] = [*before.sources] or ([None] if under == "boxes" else [])
            return [] if is_followed else [(source, each.place) for source in moved for each in targets]
        sources = _find_origins(means, before, under) if targets[0] is group[0] else []
    return [(source, target.place) for source in sources for target in targets]


def _pair_shares(found: list[FoundPlace]) -> list[Pair]:
    """Return the pairs of `on Schedule K, line 6a, and in box 6a of Schedule K-1`: partners share the total."""
    return [
        (total.place, share.place)
        for total, share in pairwise(each for each in found if each.role)
        if (total.role, share.role, share.place.kind) == ("target", "target", "box")
        and len(total.place.keys) == 1
        and _WHOLE.match("".join(total.place.forms))
        and "".join(share.place.forms).startswith(_PARTNER)
    ]


def _find_object(subject: str, words: str, verb: str) -> str:
    """Return what a clause without a source moves: an amount named before, the heading's, or empty for another."""
    if verb == "moved":
        return "own" if matches_any("flows", "clause_subjects", subject) else ""
    rules = load_rules("flows", "clause_objects")
    return next((str(rule.extra["means"]) for rule in rules if rule.pattern.search(words)), "")


def _find_origins(means: str, before: _Before, under: str) -> list[Place | None]:
    """Return where an amount without a source comes from: None is the line or box of the heading."""
    if under == "lines" and before.is_topic and means and not before.sources:
        return [None]
    if not means or before.is_computed:
        return []
    is_own = under == "boxes" or (
        under == "lines" and (means == "own" or (means == "first" and (before.is_first or before.is_own)))
    )
    here: list[Place | None] = [*(before.sources or before.targets)]
    if means == "own" and under == "lines":
        here = here or [*before.named]
    if means == "this":
        here = here or [*before.named]
        is_own = is_own or under == "lines"
    return here or ([None] if is_own else [*before.named])


def _find_whole(before: _Before) -> Place | None:
    """Return the line of Schedule K, named before, whose amount partners share; None is the line of the heading."""
    origin = before.targets[-1] if before.targets else before.last
    is_line = origin is not None and len(origin.keys) == 1 and _WHOLE.match("".join(origin.forms)) is not None
    return origin if is_line else None
