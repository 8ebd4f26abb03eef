"""Amounts that clauses move: which places of a clause are its sources, which its targets, by the words before them.

Rules for whole sentences are in `flow_statements`; this grammar reads sentences that none of them reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from taxkg_assets.graph.flow_context import WHOLE, Before, Said, find_origins, find_whole
from taxkg_assets.graph.flow_predicates import Clause, find_object, split_clauses
from taxkg_assets.graph.flow_roles import FoundPlace, find_roles, group_places, settle, settle_asides
from taxkg_assets.graph.flow_statements import FlowStatement, find_filed_forms, find_forms_alone, place_on_filed_form
from taxkg_assets.graph.flow_topics import list_topic, moves_topic, names_topic
from taxkg_assets.graph.flow_words import read_words
from taxkg_assets.graph.places import RETURN, Place, find_last_document, find_places, mask, name_forms, shift
from taxkg_assets.rules.models.flows import load_flows
from taxkg_assets.rules.sentences import find_sentences

_PARTNER = ("Schedule K-1",)
_FRONTED = re.compile(r"^\W*(?:\d+\. )?On (?:your |the )?⟨(\d+)_*⟩,? $")
_PART_AFTER = re.compile(r"[to]D?P(?:[,;]?c?[to]?D?P)*,?D?p")
"""Letters of `flow_words` after targets: `enter on Form 2040, line 7, or Form 2041, line 5, the smaller of`."""
_NEXT_OBJECT = re.compile(r"^(?:,? columns? \(?\w\)?)?,? (?:the|any|all|your|each|only|this)\b")
_SUBJECT = re.compile(
    r"^If (?:the amount (?:on|in) )?⟨\w+⟩,? (?:is|shows) "
    r"(?:an? |not |zero|(?:more|greater|less) than (?:zero|\$)|positive|negative)"
    r"[^⟨⟩]*$"
)
"""Condition on the amount of one place, which a later clause may move."""
_TEXT_ENTRY = re.compile(r"^ “[^”]*” (?![^⟨⟩]*\b(?:amounts?|totals?|results?|gains?|loss(?:es)?|sums?)\b)[^⟨⟩]*$")
"""Between a verb and the place where words, and no amount, are entered."""
_ALTERNATIVE = re.compile(r"(?i)\b(?:otherwise|instead|if not),? $")
"""Before a clause on where the same amount goes in another case."""
_PARTIAL = re.compile(r"^\W*(?:Some|Certain|Part|A part|A portion)\b")
"""Subject that is not the whole amount of a heading."""
_THIS_LINE = re.compile(r"\bthis (?:line|item)\b")
_FIRST = re.compile(r"^(?:Lines?|Box(?:es)?)(?= \d)")
_DESCRIBED = re.compile(r"⟩, which (?:is|are|was|were) [^⟨⟩]*$")
"""Words on the amount of a place that do not restrict it."""
_ASIDE = re.compile(r" \((?:reduced|relating to|not including|excluding|other than|except)\b(?:[^()]|\([^()]*\))*\)")
_COMPARED = re.compile(r"\b(?:relating|smaller|lesser|larger|greater|less|difference)\b")
"""Words behind a source that bar another amount: `Enter the amount from line 9, less any dues on line 10`."""
_WHICHEVER = re.compile(
    r"\bwhichever\b|, if (?:it is )?(?:smaller|lesser|less|larger|greater)\b"
    r"|\bthe (?:smaller|lesser|larger|greater)\b|\bbut only\b"
)
_OTHER_FILERS = re.compile(r"(?i)\b(?:estates|trusts|corporations|partnerships|cooperatives)\b[^⟨⟩.;]{0,200}$")
"""Subject whose tax return is not that of an individual."""
_RECEIVED = re.compile(
    r"^\W*If you (?:received|did not receive|earned|paid)\b"
    r"(?! (?:this|these|that|those|it|them|the amounts?|more|less)\b)"
)
"""Condition that names another amount, which `these amounts` of its main clause means."""
_IN_COLUMN = re.compile(r"⟩[^⟨⟩]{0,40} in column \(")
_FIGURED = re.compile(r"^Use (?:Form|Schedule) .{1,40} to figure\b")
_SHARED = ("target", "amount")
"""Roles of a total and its shares; before an unknown verb, an amount is there: `it reports this income on`."""
_NAMING = ("named", "shown", "sum")
"""Verbs of clauses that name an amount which a later sentence may move."""
WITHIN = "clause_within"
"""Rule of statements that join two lines of the form that the text is about."""
Pair = tuple[Place | None, Place | None]


def read_clauses(
    text: str, *, under: str, said: Said | None = None, topic: str = "", is_label: bool = False
) -> list[FlowStatement]:
    """Return the statements of the clauses of a passage that go from one form to another.

    Args:
        text: The passage.
        under: What its heading explains: `boxes` (of a form that the reader received), `given` (boxes that the reader
            fills in for somebody else), `lines` (that the reader fills in), or empty.
        said: What the passages before it named; changed to what this one names.
        topic: Heading and label of the line of the heading: what they name is its amount.
        is_label: Whether the text is the label of a line.

    Returns:
        Statements; None as an end means the line or box of the heading.
    """
    found: list[FlowStatement] = []
    before = Before(named=said.named if said else [], topic=list_topic(topic), is_label=is_label)
    schedules: dict[str, tuple[str, ...]] = {}
    alone: tuple[str, ...] = ()
    for start, end in find_sentences(text):
        sentence = _FIRST.sub(lambda match: match[0].lower(), text[start:end])
        places = find_places(sentence, before=text[:start], columns=under == "lines")
        places = [each for each in places if each.kind != "column" or each.forms]
        if under == "lines":
            places = [_name_received(each, text[:start]) for each in places]
        is_denied = sentence.startswith(("Instead", "Also")) and (before.is_denied or before.was_denied)
        if sentence.startswith("Instead"):
            before.is_first = False
        else:
            before = before.begin(is_first=not start)
        alone = find_forms_alone(sentence, places, alone)
        if start and said is not None:
            before.named = [each for each in before.named if each not in said.named]
        before.was_denied = before.was_denied or is_denied
        before.is_denied = not places and load_flows().denials.matches(sentence)
        before.is_figured = before.is_figured or (under == "boxes" and _FIGURED.search(sentence) is not None)
        if under == "lines" and load_flows().clause_topics.matches(sentence):
            before.is_topic = True
        if places and (under == "given" or not load_flows().clause_others.matches(sentence)):
            masked = mask(sentence, places)
            places = [shift(_name_parent(each, schedules), start) for each in places]
            filed, end = find_filed_forms(sentence)
            filed, end = (filed, start + end) if filed else (alone, start)
            found += _read_sentence(masked, places, before, under, offset=start, filed=(filed, end))
            before.last = places[-1]
    found = [each for each in found if not _is_shown_elsewhere(each, found)]
    if said is not None:
        said.named = [each for each in before.begin(is_first=False).named if each.forms]
    return found


def _is_shown_elsewhere(statement: FlowStatement, found: list[FlowStatement]) -> bool:
    """Decide whether a box that a clause only names as showing an amount is moved to another form by a later clause."""
    source = statement.source
    if source is None or statement.target is not None or statement.rule_id not in ("clause_named", "clause_shown"):
        return False
    return any(
        each.source is not None
        and each.target is not None
        and each.target.forms
        and (each.source.forms, each.source.keys) == (source.forms, source.keys)
        for each in found
    )


def _name_received(place: Place, before: str) -> Place:
    """Put a box that names no form, below the heading of a line, on the form that the passage named last."""
    if place.kind != "box" or place.forms:
        return place
    document = find_last_document(before)
    return replace(place, forms=name_forms(document)) if document.startswith("Form") else place


def _name_parent(place: Place, schedules: dict[str, tuple[str, ...]]) -> Place:
    """Add to a schedule the form that the passage named with it before."""
    for form in place.forms:
        schedule, _, parent = form.partition(" (")
        if parent:
            schedules[schedule] = place.forms
    return replace(place, forms=schedules.get(place.forms[0], place.forms)) if len(place.forms) == 1 else place


def _read_sentence(
    masked: str, places: list[Place], before: Before, under: str, *, offset: int, filed: tuple[tuple[str, ...], int]
) -> Iterator[FlowStatement]:
    words = read_words(masked)
    clauses = [
        (start, end, Clause(masked[start:end], words.between(start, end)))
        for start, end in split_clauses(masked, words)
    ]
    if any(clause.verb == "shown" for _, _, clause in clauses[1:]) and clauses[0][2].is_forecast:
        clauses[0][2].verb = "shown"
    before.is_conditional = any(clause.verb == "condition" for _, _, clause in clauses)
    before.is_received = any(clause.verb == "condition" and _RECEIVED.match(clause.text) for _, _, clause in clauses)
    for start, end, clause in clauses:
        before.targets = [] if _ALTERNATIVE.search(masked[:start]) else before.targets
        for source, target in _read_clause(clause, places, before, under):
            target = target and place_on_filed_form(target, filed)
            is_within = not any(each is not None and each.forms for each in (source, target))
            if is_within and not _moves_within(clause.text, source, target, under, verb=clause.verb):
                continue
            if any(each is not None and load_flows().unnamed.matches(each.label) for each in (source, target)):
                continue
            if target is not None and RETURN in target.forms and _OTHER_FILERS.search(masked[: start + clause.at]):
                continue
            relation = "from_form" if target is None else "flows_to"
            rule_id = WITHIN if is_within else "clause" if clause.verb == "move" else f"clause_{clause.verb or 'named'}"
            yield FlowStatement(relation, source, target, offset + start, offset + end, rule_id)


def _moves_within(clause: str, source: Place | None, target: Place | None, under: str, *, verb: str) -> bool:
    """Decide whether a clause below the heading of a line moves a whole amount between lines of that form."""
    if under != "lines" or verb not in ("move", "moved", "equal"):
        return False
    if any(each is not None and (each.kind != "line" or each.label) for each in (source, target)):
        return False
    rules = load_flows()
    barred = _is_elsewhere(clause) or rules.clause_apart.matches(clause)
    return (rules.clause_carried if source is None else rules.clause_within).matches(clause) and not barred


def _read_clause(read: Clause, places: list[Place], before: Before, under: str) -> list[Pair]:
    """Return the pairs of ends that a clause joins, and remember its places for the next one."""
    is_share = read.verb == "move" and load_flows().clause_shares.matches(read.text[read.at :])
    found, shares = _settle_places(read, places, under, is_share=is_share)
    clause, verb, at = read.text, read.verb, read.at
    sources = [each.place for each in found if each.role in ("source", "aside")]
    targets = [each.place for each in found if each.role == "target" and each.start >= at - 1]
    pairs: list[Pair] = []
    if verb in ("move", "moved"):
        pairs = [
            pair for group in group_places(found, at) for pair in _pair(read, group, before, under, is_share=is_share)
        ]
        shares = _pair_shares(found)
    elif verb == "shown":
        pairs = _pair_shown(clause, found, before, under, is_forecast=read.is_forecast)
    elif verb == "named" and under == "lines" and _is_forecast_of_boxes(read, sources):
        pairs = [(source, None) for source in sources]
    elif verb == "equal" and under != "lines":
        before.shown = [*before.shown, *(each for each in sources if each.forms)]
    elif (verb == "equal" or (under == "lines" and names_topic(read, sources, before.topic))) and not _is_elsewhere(
        clause, min((each.start for each in found if each.role in ("source", "aside")), default=0)
    ):
        pairs = [(source, None) for source in sources]
    pairs += [pair for pair in shares if pair not in pairs]
    if verb == "move" and targets and _TEXT_ENTRY.match(clause[at : found[0].start]):
        pairs, sources, targets = [], [], []
    before.is_here = before.is_here or (verb == "move" and not targets and read.is_here)
    if verb == "moved" and not pairs and all(each.kind == "box" for each in targets):
        before.shown, targets = [*before.shown, *targets], []
    if verb == "condition" and "F" in read.words.tags:
        before.named = []
    if verb == "condition":
        sources = [each.place for each in found if each.role or _SUBJECT.match(clause)]
        before.is_computed = before.is_computed or (bool(found) and not sources)
    if verb == "sum":
        sources = [each.place for each in found if each.role]
        if under == "lines" and sources and all(each.forms for each in sources) and _is_sum(clause, found):
            pairs = [(source, None) for source in sources]
        before.is_computed = before.is_computed or not all(each.forms for each in sources)
    if verb == "condition" and "show" in read.words.lemmas:
        before.shown = [*before.shown, *sources]
    if verb in _NAMING:
        before.shown = [*before.shown, *sources]
    if verb == "negated":
        raw = find_roles(clause, places, read.words)
        before.denied = [each.place for each in raw if each.role == "source" and each.place.forms]
        before.is_denied, sources, targets = True, [], []
    if verb == "move" and not under and not targets and not _is_elsewhere(clause):
        before.taken = [each for each in sources if each.forms]
    fronted = _FRONTED.match(clause)
    before.fronted = places[int(fronted[1])] if fronted else before.fronted
    before.is_computed = before.is_computed or verb == "compute"
    before.sources = sources or before.sources
    before.targets = targets or before.targets
    before.is_own = any(source is None for source, _ in pairs) if pairs else before.is_own
    return pairs


def _settle_places(
    read: Clause, places: list[Place], under: str, *, is_share: bool
) -> tuple[list[FoundPlace], list[Pair]]:
    """Return the places of a clause with their roles, and the shares that it names without moving them.

    The verb of a clause on boxes that others fill in becomes `shown`.
    """
    found = find_roles(read.text, places, read.words)
    for each in found:
        each.role = "source" if each.role == "amount" and (read.verb == "sum" or read.lemma == "use") else each.role
    shares = _pair_shares(found) if read.verb in ("", "named") else []
    settle(found, verb=read.verb, at=read.at, is_share=is_share, under=under)
    settle_asides(found, under=under, verb=read.verb)
    for each in found:
        each.role = "" if each.place.kind == "column" and each.role == "target" else each.role
    if read.verb == "moved" and under == "lines" and _is_on_received_form(found, read):
        read.verb = "shown"
        settle(found, verb=read.verb, at=read.at, is_share=False)
    return found, shares


def _is_sum(clause: str, found: list[FoundPlace]) -> bool:
    """Decide whether a clause only adds the places that it names: the sum is the amount of the heading's line."""
    is_bare = all(each.role in ("source", "amount") for each in found)
    return is_bare and "this line" not in clause and not _is_elsewhere(clause)


def _is_elsewhere(clause: str, at: int = 0) -> bool:
    """Decide whether a clause keeps its sources from the line of the heading; `, which is ...` only describes one.

    Args:
        clause: The clause, its places masked.
        at: Where the source begins; what is compared after it is another amount, as in `Enter the
            amount from line 9, but not less than zero`.
    """
    after = clause[at:]
    if at and not _WHICHEVER.search(after):
        clause = clause[:at] + _COMPARED.sub("", after)
    return load_flows().clause_elsewhere.matches(_DESCRIBED.sub("⟩", _ASIDE.sub("", clause)))


def _is_on_received_form(found: list[FoundPlace], read: Clause) -> bool:
    """Decide whether a passive names boxes of forms that others fill in: amounts are shown there, not moved."""
    is_sent = " to you " in read.text
    received = [
        each.place.kind == "box" and (is_sent or not "".join(each.place.forms).startswith("Schedule K-"))
        for each in found
    ]
    will = "will" in read.words.lemmas[: read.words.before(read.at)]
    return bool(received) and (any(received) if will else all(received))


def _is_forecast_of_boxes(read: Clause, sources: list[Place]) -> bool:
    """Decide whether a clause says in which boxes the amount of the heading should appear."""
    modals = {"will", "should", "may"} & set(read.words.lemmas[: read.words.before(read.at)])
    is_named = bool(modals) and all(each.kind == "box" and each.forms for each in sources)
    return is_named and not read.words.tags.startswith(("s", "c")) and not _is_elsewhere(read.text)


def _pair_shown(clause: str, found: list[FoundPlace], before: Before, under: str, *, is_forecast: bool) -> list[Pair]:
    """Return the pairs of `This amount should be shown in ...`: what was moved before, else the heading's amount."""
    shown = [each.place for each in found if each.role == "source" and not _PARTIAL.match(clause)]
    if targets := [each for each in before.moved_to if each.forms or under != "boxes"]:
        return [(source, target) for source in shown if source.forms for target in targets]
    is_own = any(each.kind == "box" for each in shown) or _THIS_LINE.search(clause) or is_forecast
    if under != "lines" or not is_own or (before.last and before.last.forms and not _THIS_LINE.search(clause)):
        return []
    return [(source, None) for source in shown]


def _pair(read: Clause, group: list[FoundPlace], before: Before, under: str, *, is_share: bool) -> list[Pair]:
    """Return the pairs of ends of one amount that a clause moves."""
    clause, verb, at = read.text, read.verb, read.at
    sources: list[Place | None] = [each.place for each in group if each.role == "source"]
    targets = [each for each in group if each.role == "target"]
    if (before.is_computed and not before.is_label and not group) or _PART_AFTER.search(read.words.tags):
        return []
    if not targets and under == "lines" and load_flows().clause_here.matches(clause[at:]):
        return [(source, None) for source in sources or before.sources or before.named if source and source.forms]
    if sources and not targets and before.fronted is not None:
        return [(source, before.fronted) for source in sources]
    if under == "given" and targets:
        return [*((source, None) for source in sources), *((None, target.place) for target in targets)]
    if sources and not targets:
        is_own = under in ("lines", "given") and verb == "move"
        whole = [each.place for each in group if each.role == "source" and not _is_elsewhere(clause, each.start)]
        return [(source, None) for source in whole] if is_own and not _IN_COLUMN.search(clause) else []
    if targets and not sources:
        if is_share:
            is_kept = (before.is_denied or before.was_denied) and not before.targets
            return [] if is_kept else [(find_whole(before), each.place) for each in targets]
        means = find_object(read, targets[0].start)
        if before.is_received and under == "lines" and means in ("own", "amount") and not before.sources:
            return []
        if means == "elided":
            is_followed = _NEXT_OBJECT.match(clause[clause.index("⟩", targets[-1].start) + 1 :])
            moved: list[Place | None] = [*before.sources] or ([None] if under == "boxes" or before.is_label else [])
            return [] if is_followed else [(source, each.place) for source in moved for each in targets]
        is_one = not before.is_conditional and any(len(each.place.keys) < 2 for each in targets)
        if means == "these":
            means = "amount" if under == "boxes" else ""
        if not means and under == "lines" and is_one and moves_topic(read, targets[0].start, before.topic):
            means = "first" if before.is_denied or before.was_denied else "here"
        sources = find_origins(means, before, under) if targets[0] is group[0] else []
        copies = _pair_copies(targets) if means and (under or not targets[0].place.forms) else []
        if copies and all(each is not None and each.forms[:1] in ((), targets[0].place.forms[:1]) for each in sources):
            return [*((source, targets[0].place) for source in sources), *copies]
    pairs: list[Pair] = [(source, target.place) for source in sources for target in targets]
    if under == "lines" and pairs and group[0].role == "source" and read.names_here_before(targets[0].start):
        pairs = [*((source, None) for source in sources if source and source.forms), *pairs]
    return pairs


def _pair_copies(targets: list[FoundPlace]) -> list[Pair]:
    """Return the pairs of `Enter the total on line 9 and on Form 2041, line 24`: the form carries its own line on."""
    first, *others = targets
    is_and = [re.search(r"\band\b", each.left) is not None for each in others]
    return [
        (first.place, each.place)
        for each, is_joint in zip(others, is_and, strict=True)
        if is_joint and each.place.forms and each.place.forms != first.place.forms
    ]


def _pair_shares(found: list[FoundPlace]) -> list[Pair]:
    """Return the pairs of `on Schedule K, line 6a, and in box 6a of Schedule K-1`: partners share the total."""
    return [
        (total.place, share.place)
        for total, share in pairwise(each for each in found if each.role)
        if total.role in _SHARED
        and share.role in _SHARED
        and share.place.kind == "box"
        and min(len(total.place.keys), len(share.place.keys)) == 1
        and WHOLE.match("".join(total.place.forms))
        and "".join(share.place.forms).startswith(_PARTNER)
    ]
