"""Amounts that clauses move: which places of a clause are its sources, which its targets, by the words before them.

Rules for whole sentences are in `flow_statements`; this grammar reads sentences that none of them reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from taxkg_assets.graph.flow_context import Before, Said
from taxkg_assets.graph.flow_located import ENTERED, list_located
from taxkg_assets.graph.flow_pairs import Pair, find_pairs, is_elsewhere, pair_shares
from taxkg_assets.graph.flow_predicates import Clause, split_clauses
from taxkg_assets.graph.flow_rewording import find_same_amount, reword
from taxkg_assets.graph.flow_roles import (
    SUM_TO,
    FoundPlace,
    decide_roles,
    decide_roles_of_asides,
    find_roles,
    name_partner,
    names_code,
)
from taxkg_assets.graph.flow_statements import FlowStatement, find_filed_forms, find_forms_alone, place_on_filed_form
from taxkg_assets.graph.flow_topics import list_moved, list_topic
from taxkg_assets.graph.flow_words import read_words
from taxkg_assets.graph.places import RETURN, Place, find_last_document, find_places, mask, name_forms, shift
from taxkg_assets.rules.models.flows import load_flows
from taxkg_assets.rules.sentences import find_sentences

_FRONTED = re.compile(r"^\W*(?:\d+\. )?(?:On|In) (?:your |the )?⟨(\d+)_*⟩,? $")
_NO_PART = re.compile(
    r"^(?:Schedule|Form) [A-Z\d][\w-]* (?=(?:Enter|Report|Include)\b)"
    r"|^(?:Do not|Don['’]t|Never) forget to (?=\w)|^Remember to (?=\w)"
)
"""Beginning of a sentence that is no part of its clause: a heading on the same line, and `Do not forget to`."""
_SUBJECT = re.compile(
    r"^If (?:the amount (?:on|in) )?⟨\w+⟩,? (?:is|shows|has) "
    r"(?:an? |not |zero|(?:more|greater|less) than (?:zero|\$)|positive|negative)"
    r"[^⟨⟩]*$|^(?:After|Once) you (?:have )?figured? (?:your|the) [^⟨⟩.;]{3,40} on ⟨\w+⟩,? $"
)
"""Condition on the amount of one place, which a later clause may move."""
_OWN_SUBJECT = re.compile(
    r"^\W*If (?:you have an? (?:net )?(?:profit|gain|loss)\b"
    r"|(?:the (?:result|total|amount)(?: (?:on|for) this line)?|this (?:amount|line|total|result)) (?:is|shows)\b)"
)
"""Condition on the amount of the heading's line, which its main clause moves."""
_TEXT_ENTRY = re.compile(r"^ “[^”]*” (?![^⟨⟩]*\b(?:amounts?|totals?|results?|gains?|loss(?:es)?|sums?)\b)[^⟨⟩]*$")
"""Between a verb and the place where words, and no amount, are entered."""
_ALTERNATIVE = re.compile(r"(?i)\b(?:otherwise|instead|if not),? $")
"""Before a clause on where the same amount goes in another case."""
_FIRST = re.compile(r"^(?:Lines?|Box(?:es)?)(?= \d)")
_OTHER_FILERS = re.compile(r"(?i)\b(?:estates|trusts|corporations|partnerships|cooperatives)\b[^⟨⟩.;]{0,200}$")
"""Subject whose tax return is not that of an individual."""
_RECEIVED = re.compile(
    r"^\W*If you (?:received|did not receive|earned|paid)\b"
    r"(?! (?:this|these|that|those|it|them|the amounts?|more|less)\b)"
)
"""Condition that names another amount, which `these amounts` of its main clause means."""
_USED = re.compile(r" (?:this|the same|that) (?:amount|total|result) (?:on|in) ")
"""Between `use` and where an amount that was named before goes."""
_FIGURED = re.compile(r"^Use (?:Form|Schedule) .{1,40} to figure\b")
_ADDED_TO = re.compile(r"^(?:and |then )*enter the (?:total|result|sum)\b")
"""Clause after one that adds an amount to another: their sum is what is entered."""
_NAMING = ("named", "shown", "sum")
"""Verbs of clauses that name an amount which a later sentence may move."""
WITHIN = "clause_within"
"""Rule of statements that join two lines of the form that the text is about."""


def read_clauses(
    text: str, *, heading_kind: str, said: Said | None = None, topic: str = "", is_label: bool = False
) -> list[FlowStatement]:
    """Extract flows between forms from the clauses of a passage.

    Args:
        text: The passage.
        heading_kind: What its heading explains: `boxes` (of a form that the reader received), `given` (boxes that the
            reader fills in for somebody else), `lines` (that the reader fills in), or empty.
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
    located: list[Place] = []
    for start, end in find_sentences(text):
        sentence = _FIRST.sub(lambda match: match[0].lower(), text[start:end])
        sentence = _NO_PART.sub(lambda match: " " * len(match[0]), sentence)
        places = find_places(sentence, before=text[:start], columns=heading_kind == "lines")
        places = [place for place in places if place.kind != "column" or place.forms]
        if heading_kind == "lines":
            places = [_name_received(place, text[:start]) for place in places]
        is_denied = sentence.startswith(("Instead", "Also")) and (before.is_denied or before.was_denied)
        if sentence.startswith("Instead"):
            before.is_first = False
        else:
            before = before.begin(is_first=not start)
        alone = find_forms_alone(sentence, places, alone)
        if start and said is not None:
            before.named = [named for named in before.named if named not in said.named]
        before.was_denied = before.was_denied or is_denied
        before.is_denied = not places and load_flows().denials.matches(sentence)
        before.is_also = sentence.startswith("Also")
        before.is_figured = before.is_figured or (heading_kind == "boxes" and _FIGURED.search(sentence) is not None)
        if heading_kind == "lines" and load_flows().clause_topics.matches(sentence):
            before.is_topic = True
        masked = reword(mask(sentence, places))
        is_read = bool(places) and (heading_kind == "given" or not load_flows().clause_others.matches(sentence))
        if is_read:
            places = [shift(_name_parent(place, schedules), start) for place in places]
            filed, end = find_filed_forms(sentence)
            filed, end = (filed, start + end) if filed else (alone, start)
            found += _read_sentence(masked, places, before, heading_kind, offset=start, filed=(filed, end))
            before.last = places[-1]
        elif heading_kind == "lines" and ENTERED.fullmatch(sentence):
            known = [statement.source for statement in found if statement.target is None]
            found += [
                FlowStatement("from_form", shown, None, start, end, "clause") for shown in located if shown not in known
            ]
        located = list_located(masked, places) if is_read else []
    found = [statement for statement in found if not _is_shown_elsewhere(statement, found)]
    if said is not None:
        said.named = [named for named in before.begin(is_first=False).named if named.forms]
    return found


def _is_shown_elsewhere(statement: FlowStatement, found: list[FlowStatement]) -> bool:
    """Decide whether a box that a clause only names as showing an amount is moved to another form by a later clause."""
    source = statement.source
    if source is None or statement.target is not None or statement.rule_id not in ("clause_named", "clause_shown"):
        return False
    return any(
        other.source is not None
        and other.target is not None
        and other.target.forms
        and (other.source.forms, other.source.keys) == (source.forms, source.keys)
        for other in found
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
    masked: str,
    places: list[Place],
    before: Before,
    heading_kind: str,
    *,
    offset: int,
    filed: tuple[tuple[str, ...], int],
) -> Iterator[FlowStatement]:
    same = find_same_amount(masked)
    if same is not None and any(places[index].forms for index in same):
        into, out_of = (places[index] for index in same)
        yield FlowStatement("flows_to", out_of, into, offset, offset + len(masked), "clause_equal")
        return
    words = read_words(masked)
    clauses = [
        (start, end, Clause(masked[start:end], words.between(start, end)))
        for start, end in split_clauses(masked, words)
    ]
    if any(clause.verb == "shown" for _, _, clause in clauses[1:]) and clauses[0][2].is_forecast:
        clauses[0][2].verb = "shown"
    for (_, _, clause), (_, _, after) in pairwise(clauses):
        if clause.verb == "move" and clause.lemma == "add" and _ADDED_TO.match(after.text):
            clause.verb, clause.is_added = "sum", True
    before.is_conditional = any(clause.verb == "condition" for _, _, clause in clauses)
    before.is_received = any(clause.verb == "condition" and _RECEIVED.match(clause.text) for _, _, clause in clauses)
    for start, end, clause in clauses:
        is_other = _ALTERNATIVE.search(masked[:start]) or (
            masked[:start].endswith("; ") and clause.words.tags[:1] == "y"
        )
        before.targets = [] if is_other else before.targets
        for source, target in _read_clause(clause, places, before, heading_kind):
            if source is not None and target is None and heading_kind == "lines":
                source = place_on_filed_form(source, filed)
            target = target and place_on_filed_form(target, filed)
            is_within = not any(place is not None and place.forms for place in (source, target))
            if is_within and not _moves_within(clause.text, source, target, heading_kind, verb=clause.verb):
                continue
            if any(place is not None and load_flows().unnamed.matches(place.label) for place in (source, target)):
                continue
            if (
                target is not None
                and RETURN in target.forms
                and _OTHER_FILERS.search(masked[: start + clause.verb_end])
            ):
                continue
            relation = "from_form" if target is None else "flows_to"
            rule_id = WITHIN if is_within else "clause" if clause.verb == "move" else f"clause_{clause.verb or 'named'}"
            yield FlowStatement(relation, source, target, offset + start, offset + end, rule_id)


def _moves_within(clause: str, source: Place | None, target: Place | None, heading_kind: str, *, verb: str) -> bool:
    """Decide whether a clause below the heading of a line moves a whole amount between lines of that form."""
    if heading_kind != "lines" or verb not in ("move", "moved", "equal"):
        return False
    if any(place is not None and (place.kind != "line" or place.label) for place in (source, target)):
        return False
    rules = load_flows()
    barred = is_elsewhere(clause) or rules.clause_apart.matches(clause)
    return (rules.clause_carried if source is None else rules.clause_within).matches(clause) and not barred


def _read_clause(read: Clause, places: list[Place], before: Before, heading_kind: str) -> list[Pair]:
    """Return the pairs of ends that a clause joins, and remember its places for the next one."""
    is_share = read.verb == "move" and load_flows().clause_shares.matches(read.text[read.verb_end :])
    if is_share and before.fronted is not None:
        before.fronted = name_partner(before.fronted)
    found, shares = _settle_places(read, places, heading_kind, is_share=is_share)
    targets = [
        found_place.place
        for found_place in found
        if found_place.role == "target" and found_place.start >= read.verb_end - 1
    ]
    pairs = find_pairs(read, found, before, heading_kind, is_share=is_share)
    if read.verb in ("move", "moved"):
        shares = pair_shares(found)
    pairs += [pair for pair in shares if pair not in pairs]
    if read.verb == "move" and targets and _TEXT_ENTRY.match(read.text[read.verb_end : found[0].start]):
        pairs, found, targets = [], [], []
    _remember(read, found, targets, pairs, before, heading_kind, places)
    if fronted := _FRONTED.match(read.text):
        before.fronted = places[int(fronted[1])]
    before.remember_moved(pairs, list_moved(read, found[0].start) if found else frozenset())
    if read.verb == "move" and heading_kind == "lines" and not pairs and len(targets) == 1 and not targets[0].forms:
        before.carried = [*targets]
    return pairs


def _remember(
    read: Clause,
    found: list[FoundPlace],
    targets: list[Place],
    pairs: list[Pair],
    before: Before,
    heading_kind: str,
    places: list[Place],
) -> None:
    """Remember for the next clause which places a clause names, moves, shows or denies."""
    verb = read.verb
    sources = [found_place.place for found_place in found if found_place.role in ("source", "aside")]
    if verb == "equal" and heading_kind != "lines":
        before.shown = [*before.shown, *(place for place in sources if place.forms)]
    before.is_here = before.is_here or (verb == "move" and not targets and read.is_here)
    if verb == "moved" and not pairs and all(target.kind == "box" for target in targets):
        before.shown, targets = [*before.shown, *targets], []
    if verb == "condition":
        before.named = [] if "F" in read.words.tags else before.named
        sources = [found_place.place for found_place in found if found_place.role or _SUBJECT.match(read.text)]
        is_figured = any(not names_code(found_place.left) for found_place in found)
        before.is_on_own = heading_kind == "lines" and not found and _OWN_SUBJECT.match(read.text) is not None
        before.is_computed = before.is_computed or (is_figured and not sources)
    if verb == "sum":
        sources = [found_place.place for found_place in found if found_place.role]
        if read.is_added:
            sources = [place for place in sources if place.forms] or sources
        before.is_computed = before.is_computed or not all(place.forms for place in sources)
    if verb in _NAMING or (verb == "condition" and "show" in read.words.lemmas):
        before.shown = [*before.shown, *sources]
    if verb == "negated":
        raw = find_roles(read.text, places, read.words)
        before.denied = [
            found_place.place for found_place in raw if found_place.role == "source" and found_place.place.forms
        ]
        before.is_denied, sources, targets = True, [], []
    if verb == "move" and not heading_kind and not targets and not is_elsewhere(read.text):
        before.taken = [place for place in sources if place.forms]
    before.is_computed = before.is_computed or verb == "compute"
    before.sources = sources or before.sources
    before.targets = targets or before.targets
    before.is_own = any(source is None for source, _ in pairs) if pairs else before.is_own


def _settle_places(
    read: Clause, places: list[Place], heading_kind: str, *, is_share: bool
) -> tuple[list[FoundPlace], list[Pair]]:
    """Return the places of a clause with their roles, and the shares that it names without moving them.

    The verb of a clause on boxes that others fill in becomes `shown`.
    """
    found = find_roles(read.text, places, read.words)
    for found_place in found:
        is_taken = read.lemma == "use" and not _USED.match(read.text[read.verb_end : found_place.start])
        found_place.role = (
            "source" if found_place.role == "amount" and (read.verb == "sum" or is_taken) else found_place.role
        )
    if heading_kind == "lines" and read.lemma == "add" and any(_is_summand(found_place) for found_place in found[1:]):
        read.verb = "sum"
    shares = pair_shares(found) if read.verb in ("", "named") else []
    decide_roles(found, verb=read.verb, verb_end=read.verb_end, is_share=is_share, heading_kind=heading_kind)
    decide_roles_of_asides(found, heading_kind=heading_kind, verb=read.verb)
    if (
        read.verb == "moved"
        and heading_kind == "lines"
        and len(found) == 1
        and not found[0].left.strip()
        and read.is_here
    ):
        found[0].role = "source"
    for found_place in found:
        found_place.role = (
            "" if found_place.place.kind == "column" and found_place.role == "target" else found_place.role
        )
    if read.verb == "moved" and heading_kind == "lines" and _is_on_received_form(found, read):
        read.verb = "shown"
        decide_roles(found, verb=read.verb, verb_end=read.verb_end, is_share=False)
    return found, shares


def _is_summand(found_place: FoundPlace) -> bool:
    """Decide whether an amount of its own is added to: `Add the dues on Form 2889, line 4, to the amount on line 3`."""
    return found_place.role in ("target", "amount") and SUM_TO.search(found_place.left) is not None


def _is_on_received_form(found: list[FoundPlace], read: Clause) -> bool:
    """Decide whether a passive names boxes of forms that others fill in: amounts are shown there, not moved."""
    is_sent = " to you " in read.text
    received = [
        found_place.place.kind == "box" and (is_sent or not "".join(found_place.place.forms).startswith("Schedule K-"))
        for found_place in found
    ]
    will = "will" in read.words.lemmas[: read.words.before(read.verb_end)]
    return bool(received) and (any(received) if will else all(received))
