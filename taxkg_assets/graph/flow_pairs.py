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
    clause: Clause, found_places: list[FoundPlace], context: Before, heading_kind: str, *, is_share: bool
) -> list[Pair]:
    """Pair the sources and the targets of the amounts that a clause moves.

    Args:
        clause: The clause.
        found_places: Its places with their roles.
        context: What the clauses before it named.
        heading_kind: What the heading explains.
        is_share: Whether the clause moves the share of an amount.

    Returns:
        Source and target of each amount; None means the line or box of the heading.
    """
    if clause.verb in ("move", "moved"):
        groups = group_places(found_places, clause.verb_end)
        return [pair for group in groups for pair in _pair(clause, group, context, heading_kind, is_share=is_share)]
    if clause.verb == "shown":
        return _pair_shown(clause.text, found_places, context, heading_kind, is_forecast=clause.is_forecast)
    if heading_kind != "lines":
        return []
    return [(place, None) for place in _find_sources_of_line(clause, found_places, context)]


def _find_sources_of_line(clause: Clause, found_places: list[FoundPlace], context: Before) -> list[Place]:
    """Return the places that a clause without a move names as sources of the heading's line: their sum, or an equal."""
    if clause.verb == "sum":
        summands = [found_place.place for found_place in found_places if found_place.role]
        if summands and all(place.forms for place in summands) and _is_sum(clause.text, found_places):
            return summands
    candidates = [found_place for found_place in found_places if found_place.role in ("source", "aside")]
    sources = [found_place.place for found_place in candidates]
    if clause.verb == "named" and _is_forecast_of_boxes(clause, sources):
        return sources
    is_amount_of_line = clause.verb == "equal" or names_topic(clause, sources, context.topic)
    first_source = min((found_place.start for found_place in candidates), default=0)
    return sources if is_amount_of_line and not is_elsewhere(clause.text, first_source) else []


def _is_sum(clause: str, found_places: list[FoundPlace]) -> bool:
    """Decide whether a clause only adds the places that it names: the sum is the amount of the heading's line."""
    is_bare = all(found_place.role in ("source", "amount") for found_place in found_places)
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
        # A comparison behind the source bars another amount than that of the source.
        clause = clause[:at] + _COMPARED.sub("", after)
    unrestricted = _DESCRIBED.sub("⟩", _ASIDE.sub("", clause))
    return load_flows().clause_elsewhere.matches(unrestricted)


def _is_forecast_of_boxes(clause: Clause, sources: list[Place]) -> bool:
    """Decide whether a clause says in which boxes the amount of the heading should appear."""
    lemmas_of_verb = clause.words.lemmas[: clause.words.before(clause.verb_end)]
    if not {"will", "should", "may"}.intersection(lemmas_of_verb):
        return False
    names_boxes_only = all(source.kind == "box" and source.forms for source in sources)
    begins_subordinate = clause.words.tags.startswith(("s", "c"))
    return names_boxes_only and not begins_subordinate and not is_elsewhere(clause.text)


def _pair_shown(
    clause: str, found_places: list[FoundPlace], context: Before, heading_kind: str, *, is_forecast: bool
) -> list[Pair]:
    """Return the pairs of `This amount should be shown in ...`: what was moved before, else the heading's amount."""
    if _PARTIAL.match(clause):
        return []
    shown = [found_place.place for found_place in found_places if found_place.role == "source"]
    targets_before = [place for place in context.moved_to if place.forms or heading_kind != "boxes"]
    if targets_before:
        return [(source, target) for source in shown if source.forms for target in targets_before]
    names_line = _THIS_LINE.search(clause) is not None
    names_own_amount = names_line or is_forecast or any(place.kind == "box" for place in shown)
    follows_other_form = context.last is not None and bool(context.last.forms) and not names_line
    if heading_kind != "lines" or not names_own_amount or follows_other_form:
        return []
    return [(source, None) for source in shown]


def _pair(clause: Clause, group: list[FoundPlace], context: Before, heading_kind: str, *, is_share: bool) -> list[Pair]:
    """Return the pairs of ends of one amount that a clause moves.

    Args:
        clause: The clause.
        group: Places of the amount, from `group_places`.
        context: What the clauses before it named.
        heading_kind: What the heading explains.
        is_share: Whether the clause moves the share of an amount.
    """
    sources = [found_place for found_place in group if found_place.role == "source"]
    targets = [found_place for found_place in group if found_place.role == "target"]
    is_only_result = context.is_computed and not context.is_label and not group
    if is_only_result or _PART_AFTER.search(clause.words.tags):
        return []
    if not targets:
        return _pair_sources(clause, sources, context, heading_kind)
    if heading_kind == "given":  # source and target are on other forms; the box of the heading is between them
        return [*((source.place, None) for source in sources), *((None, target.place) for target in targets)]
    if not sources:
        return _pair_share(targets, context) if is_share else _pair_targets(clause, targets, context, heading_kind)
    pairs = _pair_in_turn(clause, sources, targets)
    if not pairs:
        pairs = [(source.place, target.place) for source in sources for target in targets]
    begins_with_source = group[0].role == "source"
    if heading_kind == "lines" and begins_with_source and clause.names_here_before(targets[0].start):
        pairs = [*((source.place, None) for source in sources if source.place.forms), *pairs]
    return pairs


def _pair_in_turn(clause: Clause, sources: list[FoundPlace], targets: list[FoundPlace]) -> list[Pair]:
    """Return the pairs of several sources with as many targets: `dues from A and tolls from B on lines 3 and 6 of C`.

    Empty without `respectively`, and for one place with several keys, which `flow_statements` pairs.
    """
    if len(sources) < _SEVERAL or not _IN_TURN.search(clause.text):
        return []
    moved = [replace(source.place, keys=(key,)) for source in sources for key in source.place.keys]
    reached = [replace(target.place, keys=(key,)) for target in targets for key in target.place.keys]
    return list(zip(moved, reached, strict=True)) if len(moved) == len(reached) else []


def _pair_sources(clause: Clause, sources: list[FoundPlace], context: Before, heading_kind: str) -> list[Pair]:
    """Return the pairs of a clause that names no target: the amounts go to the line of the heading or of its start."""
    if heading_kind == "lines" and load_flows().clause_here.matches(clause.text[clause.verb_end :]):
        places = [source.place for source in sources] or context.sources or context.named
        return [(place, None) for place in places if place.forms]
    if context.fronted is not None:
        return [(source.place, context.fronted) for source in sources]
    is_own = heading_kind in ("lines", "given") and clause.verb == "move"
    if not is_own or _IN_COLUMN.search(clause.text):
        return []
    return [(source.place, None) for source in sources if not is_elsewhere(clause.text, source.start)]


def _pair_share(targets: list[FoundPlace], context: Before) -> list[Pair]:
    """Return the pairs of a clause on the share of an amount that sentences before it named."""
    is_kept = (context.is_denied or context.was_denied) and not context.targets
    return [] if is_kept else [(find_shared_total(context), target.place) for target in targets]


def _pair_targets(clause: Clause, targets: list[FoundPlace], context: Before, heading_kind: str) -> list[Pair]:
    """Return the pairs of a clause that names no source: its amount is one that was named before."""
    first_target = targets[0]
    means = find_object(clause, first_target.start)
    if means == "elided":
        return _pair_elided(clause, targets, context, heading_kind)
    below_line = heading_kind == "lines"
    if context.is_received and below_line and means in ("own", "amount") and not context.sources:
        return []  # `If you received dues, report this amount`: that of the condition
    means = _interpret_object(clause, means, targets, context, heading_kind)
    sources = find_origins(means, context, heading_kind)
    copies = _pair_copies(targets) if means and (sources or not first_target.place.forms) else []
    same_form = ((), first_target.place.forms[:1])
    if copies and all(source is not None and source.forms[:1] in same_form for source in sources):
        return [*((source, first_target.place) for source in sources), *copies]
    if not sources and context.is_also and (means or list_moved(clause, first_target.start) == context.object):
        sources = context.carried
    return [(source, target.place) for source in sources for target in targets]


def _interpret_object(clause: Clause, means: str, targets: list[FoundPlace], context: Before, heading_kind: str) -> str:
    """Return what an object means below the heading, as in `find_object`; empty for an amount of its own.

    Args:
        clause: The clause.
        means: What its words mean.
        targets: Its targets.
        context: What the clauses before it named.
        heading_kind: What the heading explains.
    """
    if means == "these":
        means = "amount" if heading_kind == "boxes" else ""
    elif means == "amount" and heading_kind == "lines" and clause.lemma in _CARRYING:
        means = "first"
    if means or heading_kind != "lines":
        return means
    is_single = not context.is_conditional and any(len(target.place.keys) < _SEVERAL for target in targets)
    if is_single and moves_topic(clause, targets[0].start, context.topic):
        return "first" if context.is_denied or context.was_denied else "here"
    return ""


def _pair_elided(clause: Clause, targets: list[FoundPlace], context: Before, heading_kind: str) -> list[Pair]:
    """Return the pairs of a clause without an object, such as `and on line 8`; none where the object follows."""
    end_of_targets = clause.text.index("⟩", targets[-1].start) + 1
    if _NEXT_OBJECT.match(clause.text[end_of_targets:]):
        return []
    places: list[Place | None] = [*context.sources]
    if not places and _moves_own_amount(clause, end_of_targets, context, heading_kind):
        places = [None]
    return [(source, target.place) for source in places for target in targets]


def _moves_own_amount(clause: Clause, end_of_targets: int, context: Before, heading_kind: str) -> bool:
    """Decide whether a clause without an object moves the amount of the heading: `Enter on Form 2889, line 4.`"""
    if heading_kind == "boxes" or context.is_label:
        return True
    begins_passage = heading_kind == "lines" and context.is_first and not context.is_conditional
    is_whole_order = _END.fullmatch(clause.text, end_of_targets) and _ORDER.match(clause.words.tags)
    return begins_passage and is_whole_order is not None


def _pair_copies(targets: list[FoundPlace]) -> list[Pair]:
    """Return the pairs of `Enter the total on line 9 and on Form 2041, line 24`: the form carries its own line on."""
    first, *others = targets
    return [
        (first.place, target.place)
        for target in others
        if re.search(r"\band\b", target.left) and target.place.forms and target.place.forms != first.place.forms
    ]


def pair_shares(found_places: list[FoundPlace]) -> list[Pair]:
    """Pair a partnership total with the place of its shares: `on Schedule K, line 6a, and in box 6a of Schedule K-1`.

    Args:
        found_places: Places of a clause with their roles.

    Returns:
        The total, and the place of its shares.
    """
    with_role = [found_place for found_place in found_places if found_place.role]
    return [(total.place, share.place) for total, share in pairwise(with_role) if _is_share(total, share)]


def _is_share(total: FoundPlace, share: FoundPlace) -> bool:
    """Decide whether a place is that of the shares of the total before it."""
    is_share_of_partner = share.place.kind == "box" and "".join(share.place.forms).startswith(_PARTNER)
    if not is_share_of_partner or not WHOLE.match("".join(total.place.forms)):
        return False
    if min(len(total.place.keys), len(share.place.keys)) != 1:
        return False
    if share.role not in _SHARED:
        return False
    return total.role in _SHARED or (total.role == "source" and share.role == "target")
