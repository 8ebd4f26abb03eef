"""Pairs of ends that a clause joins: which of its places, or of those named before, goes to which.

Not here: what each place of a clause is (`flow_roles`), and what the next clause has to know (`flow_clauses`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from taxkg_assets.graph.flow_context import WHOLE, Before, find_origins, find_shared_total
from taxkg_assets.graph.flow_predicates import Clause, find_object
from taxkg_assets.graph.flow_roles import FoundPlace, group_places
from taxkg_assets.graph.flow_topics import list_moved, moves_topic, names_topic
from taxkg_assets.graph.places import Place
from taxkg_assets.rules.models.flows import load_flows

_PARTNER = ("Schedule K-1",)
_PART_AFTER = re.compile(r"[to]D?P(?:[,;]?c?[to]?D?P)*,?D?p")
"""Letters of `flow_words` after targets: `enter on Form 2040, line 7, or Form 2041, line 5, the smaller of`."""
_NEXT_OBJECT = re.compile(r"^(?:,? columns? \(?\w\)?)?,? (?:the|any|all|your|each|only|this)\b")
_PARTIAL = re.compile(r"^\W*(?:Some|Certain|Part|A part|A portion)\b")
"""Subject that is not the whole amount of a heading."""
_THIS_LINE = re.compile(r"\bthis (?:line|item)\b")
_DESCRIBED = re.compile(r"⟩, which (?:is|are|was|were) [^⟨⟩]*$")
"""Words on the amount of a place that do not restrict it."""
_ASIDE = re.compile(r" \((?:reduced|relating to|not including|excluding|other than|except)\b(?:[^()]|\([^()]*\))*\)")
_COMPARED = re.compile(r"\b(?:relating|smaller|lesser|larger|greater|less|difference)\b")
"""Words behind a source that bar another amount: `Enter the amount from line 9, less any dues on line 10`."""
_WHICHEVER = re.compile(
    r"\bwhichever\b|, if (?:it is )?(?:smaller|lesser|less|larger|greater)\b"
    r"|\bthe (?:smaller|lesser|larger|greater)\b|\bbut only\b(?! (?:if\b|$))"
)
_IN_TURN = re.compile(r"\brespectively\b")
_SEVERAL = 2
_CARRYING = ("carry", "transfer", "bring")
"""Verbs whose object is the amount of the heading's line: `Carry the total to`."""
_ORDER = re.compile(r"(?:[DnNF]+[:,])?[A,~]*V")
"""Beginning of a clause that is an order."""
_END = re.compile(r"(?: \([^()]*\))?\W*")
"""Behind the last place of a clause that names no amount."""
_IN_COLUMN = re.compile(r"⟩[^⟨⟩]{0,40} in column \(")
_SHARED = ("target", "amount")
"""Roles of a total and its shares; before an unknown verb, an amount is there: `it reports this income on`."""
Pair = tuple[Place | None, Place | None]


def find_pairs(
    read: Clause, found: list[FoundPlace], before: Before, heading_kind: str, *, is_share: bool
) -> list[Pair]:
    """Pair the sources and the targets of the amounts that a clause moves.

    Args:
        read: The clause.
        found: Its places with their roles.
        before: What the clauses before it named.
        heading_kind: What the heading explains.
        is_share: Whether the clause moves the share of an amount.

    Returns:
        Source and target of each amount; None means the line or box of the heading.
    """
    if read.verb in ("move", "moved"):
        groups = group_places(found, read.verb_end)
        return [pair for group in groups for pair in _pair(read, group, before, heading_kind, is_share=is_share)]
    if read.verb == "shown":
        return _pair_shown(read.text, found, before, heading_kind, is_forecast=read.is_forecast)
    if heading_kind != "lines":
        return []
    if read.verb == "sum":
        added = [found_place.place for found_place in found if found_place.role]
        if added and all(place.forms for place in added) and _is_sum(read.text, found):
            return [(place, None) for place in added]
    named = [found_place for found_place in found if found_place.role in ("source", "aside")]
    sources = [found_place.place for found_place in named]
    if read.verb == "named" and _is_forecast_of_boxes(read, sources):
        return [(source, None) for source in sources]
    is_own = read.verb == "equal" or names_topic(read, sources, before.topic)
    if not is_own or is_elsewhere(read.text, min((found_place.start for found_place in named), default=0)):
        return []
    return [(source, None) for source in sources]


def _is_sum(clause: str, found: list[FoundPlace]) -> bool:
    """Decide whether a clause only adds the places that it names: the sum is the amount of the heading's line."""
    is_bare = all(found_place.role in ("source", "amount") for found_place in found)
    return is_bare and "this line" not in clause and not is_elsewhere(clause)


def is_elsewhere(clause: str, at: int = 0) -> bool:
    """Return whether a clause sends its sources elsewhere than to the line of the heading.

    Args:
        clause: The clause, its places masked.
        at: Index where the source begins.

    Returns:
        True if the amount of the sources is not that of the line.
    """
    after = clause[at:]
    if at and not _WHICHEVER.search(after):
        clause = clause[:at] + _COMPARED.sub("", after)
    return load_flows().clause_elsewhere.matches(_DESCRIBED.sub("⟩", _ASIDE.sub("", clause)))


def _is_forecast_of_boxes(read: Clause, sources: list[Place]) -> bool:
    """Decide whether a clause says in which boxes the amount of the heading should appear."""
    modals = {"will", "should", "may"} & set(read.words.lemmas[: read.words.before(read.verb_end)])
    is_named = bool(modals) and all(source.kind == "box" and source.forms for source in sources)
    return is_named and not read.words.tags.startswith(("s", "c")) and not is_elsewhere(read.text)


def _pair_shown(
    clause: str, found: list[FoundPlace], before: Before, heading_kind: str, *, is_forecast: bool
) -> list[Pair]:
    """Return the pairs of `This amount should be shown in ...`: what was moved before, else the heading's amount."""
    shown = [found_place.place for found_place in found if found_place.role == "source" and not _PARTIAL.match(clause)]
    if targets := [place for place in before.moved_to if place.forms or heading_kind != "boxes"]:
        return [(source, target) for source in shown if source.forms for target in targets]
    is_own = any(place.kind == "box" for place in shown) or _THIS_LINE.search(clause) or is_forecast
    if heading_kind != "lines" or not is_own or (before.last and before.last.forms and not _THIS_LINE.search(clause)):
        return []
    return [(source, None) for source in shown]


def _pair(read: Clause, group: list[FoundPlace], before: Before, heading_kind: str, *, is_share: bool) -> list[Pair]:
    """Return the pairs of ends of one amount that a clause moves."""
    sources = [found_place for found_place in group if found_place.role == "source"]
    targets = [found_place for found_place in group if found_place.role == "target"]
    if (before.is_computed and not before.is_label and not group) or _PART_AFTER.search(read.words.tags):
        return []
    if not targets:
        return _pair_sources(read, sources, before, heading_kind)
    if heading_kind == "given":
        return [*((source.place, None) for source in sources), *((None, target.place) for target in targets)]
    if not sources:
        return _pair_share(targets, before) if is_share else _pair_targets(read, targets, before, heading_kind)
    in_turn = _pair_in_turn(read, sources, targets)
    pairs = in_turn or [(source.place, target.place) for source in sources for target in targets]
    if heading_kind == "lines" and group[0].role == "source" and read.names_here_before(targets[0].start):
        pairs = [*((source.place, None) for source in sources if source.place.forms), *pairs]
    return pairs


def _pair_in_turn(read: Clause, sources: list[FoundPlace], targets: list[FoundPlace]) -> list[Pair]:
    """Return the pairs of several sources with as many targets: `dues from A and tolls from B on lines 3 and 6 of C`.

    Empty without `respectively`, and for one place with several keys, which `flow_statements` pairs.
    """
    if len(sources) < _SEVERAL or not _IN_TURN.search(read.text):
        return []
    moved = [replace(source.place, keys=(key,)) for source in sources for key in source.place.keys]
    reached = [replace(target.place, keys=(key,)) for target in targets for key in target.place.keys]
    return list(zip(moved, reached, strict=True)) if len(moved) == len(reached) else []


def _pair_sources(read: Clause, sources: list[FoundPlace], before: Before, heading_kind: str) -> list[Pair]:
    """Return the pairs of a clause that names no target: the amounts go to the line of the heading or of its start."""
    if heading_kind == "lines" and load_flows().clause_here.matches(read.text[read.verb_end :]):
        places = [source.place for source in sources] or before.sources or before.named
        return [(place, None) for place in places if place.forms]
    if before.fronted is not None:
        return [(source.place, before.fronted) for source in sources]
    is_own = heading_kind in ("lines", "given") and read.verb == "move"
    if not is_own or _IN_COLUMN.search(read.text):
        return []
    return [(source.place, None) for source in sources if not is_elsewhere(read.text, source.start)]


def _pair_share(targets: list[FoundPlace], before: Before) -> list[Pair]:
    """Return the pairs of a clause on the share of an amount that sentences before it named."""
    is_kept = (before.is_denied or before.was_denied) and not before.targets
    return [] if is_kept else [(find_shared_total(before), target.place) for target in targets]


def _pair_targets(read: Clause, targets: list[FoundPlace], before: Before, heading_kind: str) -> list[Pair]:
    """Return the pairs of a clause that names no source: its amount is one that was named before."""
    means = find_object(read, targets[0].start)
    if before.is_received and heading_kind == "lines" and means in ("own", "amount") and not before.sources:
        return []
    if means == "amount" and heading_kind == "lines" and read.lemma in _CARRYING:
        means = "first"
    if means == "elided":
        return _pair_elided(read, targets, before, heading_kind)
    is_one = not before.is_conditional and any(len(found_place.place.keys) < 2 for found_place in targets)
    if means == "these":
        means = "amount" if heading_kind == "boxes" else ""
    if not means and heading_kind == "lines" and is_one and moves_topic(read, targets[0].start, before.topic):
        means = "first" if before.is_denied or before.was_denied else "here"
    sources = find_origins(means, before, heading_kind)
    copies = _pair_copies(targets) if means and (sources or not targets[0].place.forms) else []
    if copies and all(place is not None and place.forms[:1] in ((), targets[0].place.forms[:1]) for place in sources):
        return [*((source, targets[0].place) for source in sources), *copies]
    if not sources and before.is_also and (means or list_moved(read, targets[0].start) == before.object):
        sources = before.carried
    return [(source, target.place) for source in sources for target in targets]


def _pair_elided(read: Clause, targets: list[FoundPlace], before: Before, heading_kind: str) -> list[Pair]:
    """Return the pairs of a clause without an object, such as `and on line 8`; none where the object follows."""
    if _NEXT_OBJECT.match(read.text[read.text.index("⟩", targets[-1].start) + 1 :]):
        return []
    is_whole = _END.fullmatch(read.text, read.text.index("⟩", targets[-1].start) + 1) is not None
    is_order = is_whole and _ORDER.match(read.words.tags) is not None
    is_first = heading_kind == "lines" and before.is_first and not before.is_conditional and is_order
    is_own = heading_kind == "boxes" or before.is_label or is_first
    moved: list[Place | None] = [*before.sources] or ([None] if is_own else [])
    return [(source, target.place) for source in moved for target in targets]


def _pair_copies(targets: list[FoundPlace]) -> list[Pair]:
    """Return the pairs of `Enter the total on line 9 and on Form 2041, line 24`: the form carries its own line on."""
    first, *others = targets
    is_and = [re.search(r"\band\b", found_place.left) is not None for found_place in others]
    return [
        (first.place, found_place.place)
        for found_place, is_joint in zip(others, is_and, strict=True)
        if is_joint and found_place.place.forms and found_place.place.forms != first.place.forms
    ]


def pair_shares(found: list[FoundPlace]) -> list[Pair]:
    """Pair a partnership total with the place of its shares: `on Schedule K, line 6a, and in box 6a of Schedule K-1`.

    Args:
        found: Places of a clause with their roles.

    Returns:
        The total, and the place of its shares.
    """
    return [
        (total.place, share.place)
        for total, share in pairwise(found_place for found_place in found if found_place.role)
        if (total.role in _SHARED or (total.role == "source" and share.role == "target"))
        and share.role in _SHARED
        and share.place.kind == "box"
        and min(len(total.place.keys), len(share.place.keys)) == 1
        and WHOLE.match("".join(total.place.forms))
        and "".join(share.place.forms).startswith(_PARTNER)
    ]
