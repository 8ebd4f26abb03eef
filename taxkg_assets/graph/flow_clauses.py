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

    `Enter the amount from Form 2889, line 4, on Schedule 1, line 8.` is one statement with both ends; below the heading
    of a line, `Enter the amount from Form 2889, line 4.` is one whose target is the line of the heading.

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
    statements: list[FlowStatement] = []
    said_before = said.named if said is not None else []
    before = Before(named=said_before, topic=list_topic(topic), is_label=is_label)
    schedules: dict[str, tuple[str, ...]] = {}
    forms_alone: tuple[str, ...] = ()
    located: list[Place] = []
    rules = load_flows()
    for start, end in find_sentences(text):
        sentence = _blank_introduction(text[start:end])
        places = _find_sentence_places(sentence, text[:start], heading_kind)
        before = _begin_sentence(before, sentence, heading_kind, is_first=not start, has_places=bool(places))
        if start:
            # What earlier passages named is the context of the first sentence only.
            before.named = [place for place in before.named if place not in said_before]
        forms_alone = find_forms_alone(sentence, places, forms_alone)
        masked = reword(mask(sentence, places))
        # What others do moves an amount only on boxes that the reader fills in for them.
        is_readable = heading_kind == "given" or not places or not rules.clause_others.matches(sentence)
        if places and is_readable:
            places = [shift(_name_parent(place, schedules), start) for place in places]
            filed_forms, filed_end = find_filed_forms(sentence)
            filed = (filed_forms, start + filed_end) if filed_forms else (forms_alone, start)
            statements += _read_sentence(masked, places, before, heading_kind, offset=start, filed=filed)
            before.last = places[-1]
            located = list_located(masked, places)
            continue
        if heading_kind == "lines" and ENTERED.fullmatch(sentence):
            # `Enter this amount.` after a sentence that only says where amounts are
            known_sources = [statement.source for statement in statements if statement.target is None]
            statements += [
                FlowStatement("from_form", place, None, start, end, "clause")
                for place in located
                if place not in known_sources
            ]
        located = []
    if said is not None:
        said.named = [place for place in before.begin(is_first=False).named if place.forms]
    return [statement for statement in statements if not _is_shown_elsewhere(statement, statements)]


def _blank_introduction(sentence: str) -> str:
    """Return a sentence as long, without what is no part of its first clause: a heading, `Do not forget to`."""
    lowered = _FIRST.sub(lambda match: match[0].lower(), sentence)
    return _NO_PART.sub(lambda match: " " * len(match[0]), lowered)


def _find_sentence_places(sentence: str, text_before: str, heading_kind: str) -> list[Place]:
    """Find the places of a sentence; a column needs a form to be one.

    Args:
        sentence: The sentence.
        text_before: The passage before it.
        heading_kind: What the heading explains.
    """
    below_line = heading_kind == "lines"
    places = find_places(sentence, before=text_before, columns=below_line)
    places = [place for place in places if place.kind != "column" or place.forms]
    return [_name_received(place, text_before) for place in places] if below_line else places


def _begin_sentence(context: Before, sentence: str, heading_kind: str, *, is_first: bool, has_places: bool) -> Before:
    """Return the context of a sentence: what the one before it named, and how the sentence itself begins.

    Args:
        context: Context of the sentence before it.
        sentence: The sentence.
        heading_kind: What the heading explains.
        is_first: Whether it is the first one of the passage.
        has_places: Whether it names places.
    """
    rules = load_flows()
    # `Do not enter it on line 4. Instead, enter it on line 5.`
    continues_denial = sentence.startswith(("Instead", "Also")) and (context.is_denied or context.was_denied)
    if sentence.startswith("Instead"):
        context.is_first = False
    else:
        context = context.begin(is_first=is_first)
    context.was_denied = context.was_denied or continues_denial
    context.is_denied = not has_places and rules.denials.matches(sentence)
    context.is_also = sentence.startswith("Also")
    if heading_kind == "boxes" and _FIGURED.search(sentence):
        context.is_figured = True
    if heading_kind == "lines" and rules.clause_topics.matches(sentence):
        context.is_topic = True
    return context


def _is_shown_elsewhere(statement: FlowStatement, found: list[FlowStatement]) -> bool:
    """Decide whether a box that a clause only names as showing an amount is moved to another form by a later clause."""
    source = statement.source
    is_only_named = statement.target is None and statement.rule_id in ("clause_named", "clause_shown")
    if source is None or not is_only_named:
        return False
    moved = [other.source for other in found if other.target is not None and other.target.forms]
    return any(place is not None and (place.forms, place.keys) == (source.forms, source.keys) for place in moved)


def _name_received(place: Place, before: str) -> Place:
    """Put a box that names no form, below the heading of a line, on the form that the passage named last."""
    if place.kind != "box" or place.forms:
        return place
    document = find_last_document(before)
    return replace(place, forms=name_forms(document)) if document.startswith("Form") else place


def _name_parent(place: Place, schedules: dict[str, tuple[str, ...]]) -> Place:
    """Add to a schedule the form that the passage named with it before.

    Args:
        place: A place: on `Schedule K`, after one on `Schedule K (Form 2065)`.
        schedules: Forms of places by their schedule, as the passage named them; the place is added.
    """
    for form in place.forms:
        schedule, _, parent = form.partition(" (")
        if parent:
            schedules[schedule] = place.forms
    if len(place.forms) != 1:
        return place
    return replace(place, forms=schedules.get(place.forms[0], place.forms))


def _read_sentence(
    masked: str,
    places: list[Place],
    context: Before,
    heading_kind: str,
    *,
    offset: int,
    filed: tuple[tuple[str, ...], int],
) -> Iterator[FlowStatement]:
    """Extract the flows of a sentence, clause by clause.

    Args:
        masked: The sentence, its places masked.
        places: Its places.
        context: What the sentences before it named; changed.
        heading_kind: What the heading explains.
        offset: Where the sentence begins in the passage.
        filed: Forms of the filers that the sentence is about, and where they end in the passage.
    """
    same_amount = find_same_amount(masked)
    if same_amount is not None and any(places[index].forms for index in same_amount):
        into, out_of = (places[index] for index in same_amount)
        yield FlowStatement("flows_to", out_of, into, offset, offset + len(masked), "clause_equal")
        return
    words = read_words(masked)
    bounds = split_clauses(masked, words)
    clauses = [Clause(masked[start:end], words.between(start, end)) for start, end in bounds]
    _relate_clauses(clauses, context)
    for (start, end), clause in zip(bounds, clauses, strict=True):
        is_new_subject = masked[:start].endswith("; ") and clause.words.tags[:1] == "y"
        if is_new_subject or _ALTERNATIVE.search(masked[:start]):
            context.targets = []
        for source, target in _read_clause(clause, places, context, heading_kind):
            statement = _make_statement(
                clause, (source, target), heading_kind, filed=filed, span=(offset + start, offset + end)
            )
            if statement is None:
                continue
            is_on_return = statement.target is not None and RETURN in statement.target.forms
            if is_on_return and _OTHER_FILERS.search(masked[: start + clause.verb_end]):
                continue  # `Estates report it on their return`: not that of an individual
            yield statement


def _relate_clauses(clauses: list[Clause], context: Before) -> None:
    """Correct what clauses do by the other clauses of their sentence, and remember its conditions.

    Args:
        clauses: Clauses of the sentence; changed.
        context: Context of the sentence; changed.
    """
    names_shown_amount = any(clause.verb == "shown" for clause in clauses[1:])
    if names_shown_amount and clauses[0].is_forecast:
        clauses[0].verb = "shown"
    for clause, next_clause in pairwise(clauses):
        if clause.verb == "move" and clause.lemma == "add" and _ADDED_TO.match(next_clause.text):
            clause.verb, clause.is_added = "sum", True
    conditions = [clause for clause in clauses if clause.verb == "condition"]
    context.is_conditional = bool(conditions)
    context.is_received = any(_RECEIVED.match(condition.text) for condition in conditions)


def _make_statement(
    clause: Clause,
    pair: Pair,
    heading_kind: str,
    *,
    filed: tuple[tuple[str, ...], int],
    span: tuple[int, int],
) -> FlowStatement | None:
    """Make the statement that a clause moves an amount between two places; None where it moves none between forms.

    Args:
        clause: The clause.
        pair: Source and target.
        heading_kind: What the heading explains.
        filed: Forms of the filers that the sentence is about, and where they end in the passage.
        span: Where the clause begins and ends in the passage.
    """
    source, target = pair
    if source is not None and target is None and heading_kind == "lines":
        source = place_on_filed_form(source, filed)
    target = target and place_on_filed_form(target, filed)
    ends = [place for place in (source, target) if place is not None]
    is_within = not any(place.forms for place in ends)
    if is_within and not _moves_within(clause.text, source, target, heading_kind, verb=clause.verb):
        return None
    if any(load_flows().unnamed.matches(place.label) for place in ends):
        return None
    relation = "from_form" if target is None else "flows_to"
    between_forms = "clause" if clause.verb == "move" else f"clause_{clause.verb or 'named'}"
    return FlowStatement(relation, source, target, *span, WITHIN if is_within else between_forms)


def _moves_within(clause: str, source: Place | None, target: Place | None, heading_kind: str, *, verb: str) -> bool:
    """Decide whether a clause below the heading of a line moves a whole amount between lines of that form."""
    if heading_kind != "lines" or verb not in ("move", "moved", "equal"):
        return False
    if any(place is not None and (place.kind != "line" or place.label) for place in (source, target)):
        return False
    rules = load_flows()
    wordings = rules.clause_carried if source is None else rules.clause_within
    is_only_part = is_elsewhere(clause) or rules.clause_apart.matches(clause)
    return wordings.matches(clause) and not is_only_part


def _read_clause(clause: Clause, places: list[Place], context: Before, heading_kind: str) -> list[Pair]:
    """Return the pairs of ends that a clause joins, and remember its places for the next one."""
    is_share = clause.verb == "move" and load_flows().clause_shares.matches(clause.text[clause.verb_end :])
    if is_share and context.fronted is not None:
        context.fronted = name_partner(context.fronted)
    found_places, named_shares = _settle_places(clause, places, heading_kind, is_share=is_share)
    targets = [
        found_place.place
        for found_place in found_places
        if found_place.role == "target" and found_place.start >= clause.verb_end - 1
    ]
    pairs = find_pairs(clause, found_places, context, heading_kind, is_share=is_share)
    shares = pair_shares(found_places) if clause.verb in ("move", "moved") else named_shares
    pairs += [pair for pair in shares if pair not in pairs]
    enters_text = (
        clause.verb == "move" and targets and _TEXT_ENTRY.match(clause.text[clause.verb_end : found_places[0].start])
    )
    if enters_text:
        pairs, found_places, targets = [], [], []
    _remember(clause, found_places, targets, pairs, context, heading_kind, places)
    if fronted := _FRONTED.match(clause.text):
        context.fronted = places[int(fronted[1])]
    context.remember_moved(pairs, list_moved(clause, found_places[0].start) if found_places else frozenset())
    moves_to_own_line = len(targets) == 1 and not targets[0].forms
    if clause.verb == "move" and heading_kind == "lines" and not pairs and moves_to_own_line:
        context.carried = [*targets]
    return pairs


def _remember(
    clause: Clause,
    found_places: list[FoundPlace],
    targets: list[Place],
    pairs: list[Pair],
    context: Before,
    heading_kind: str,
    places: list[Place],
) -> None:
    """Remember for the next clause which places a clause names, moves, shows or denies.

    Args:
        clause: The clause.
        found_places: Its places with their roles.
        targets: Places that it moves an amount to.
        pairs: Sources and targets that it joins.
        context: What the clauses so far named; changed.
        heading_kind: What the heading explains.
        places: Places of the sentence.
    """
    verb = clause.verb
    sources = [found_place.place for found_place in found_places if found_place.role in ("source", "aside")]
    if verb == "equal" and heading_kind != "lines":
        context.shown = [*context.shown, *(place for place in sources if place.forms)]
    elif verb == "move":
        context.is_here = context.is_here or (not targets and clause.is_here)
        if not heading_kind and not targets and not is_elsewhere(clause.text):
            context.taken = [place for place in sources if place.forms]
    elif verb == "moved" and not pairs and all(target.kind == "box" for target in targets):
        context.shown, targets = [*context.shown, *targets], []
    elif verb == "condition":
        sources = _remember_condition(clause, found_places, context, heading_kind)
    elif verb == "sum":
        sources = [found_place.place for found_place in found_places if found_place.role]
        if clause.is_added:
            sources = [place for place in sources if place.forms] or sources
        context.is_computed = context.is_computed or not all(place.forms for place in sources)
    elif verb == "negated":
        roles = find_roles(clause.text, places, clause.words)
        denied = [found_place.place for found_place in roles if found_place.role == "source"]
        context.denied = [place for place in denied if place.forms]
        context.is_denied, sources, targets = True, [], []
    elif verb == "compute":
        context.is_computed = True
    if verb in _NAMING or (verb == "condition" and "show" in clause.words.lemmas):
        context.shown = [*context.shown, *sources]
    context.sources = sources or context.sources
    context.targets = targets or context.targets
    if pairs:
        context.is_own = any(source is None for source, _ in pairs)


def _remember_condition(
    clause: Clause, found_places: list[FoundPlace], context: Before, heading_kind: str
) -> list[Place]:
    """Remember which amounts a condition names, and return the places whose amounts its main clause may move."""
    if "F" in clause.words.tags:
        context.named = []
    is_on_one_place = _SUBJECT.match(clause.text) is not None
    sources = [found_place.place for found_place in found_places if found_place.role or is_on_one_place]
    names_amount = any(not names_code(found_place.left) for found_place in found_places)
    context.is_on_own = heading_kind == "lines" and not found_places and _OWN_SUBJECT.match(clause.text) is not None
    # `If line 4 exceeds line 5, enter the difference`: what follows is a result.
    context.is_computed = context.is_computed or (names_amount and not sources)
    return sources


def _settle_places(
    clause: Clause, places: list[Place], heading_kind: str, *, is_share: bool
) -> tuple[list[FoundPlace], list[Pair]]:
    """Return the places of a clause with their roles, and the shares that it names without moving them.

    The verb of a clause on boxes that others fill in becomes `shown`.
    """
    below_line = heading_kind == "lines"
    found_places = find_roles(clause.text, places, clause.words)
    for found_place in found_places:
        is_used = clause.lemma == "use" and not _USED.match(clause.text[clause.verb_end : found_place.start])
        if found_place.role == "amount" and (clause.verb == "sum" or is_used):
            found_place.role = "source"
    if below_line and clause.lemma == "add" and any(_is_summand(found_place) for found_place in found_places[1:]):
        clause.verb = "sum"
    shares = pair_shares(found_places) if clause.verb in ("", "named") else []
    decide_roles(found_places, verb=clause.verb, verb_end=clause.verb_end, is_share=is_share, heading_kind=heading_kind)
    decide_roles_of_asides(found_places, heading_kind=heading_kind, verb=clause.verb)
    if clause.verb == "moved" and below_line:
        begins_with_only_place = len(found_places) == 1 and not found_places[0].left.strip()
        if begins_with_only_place and clause.is_here:  # `Form 2889, line 4, is entered here`
            found_places[0].role = "source"
    for found_place in found_places:
        if found_place.place.kind == "column" and found_place.role == "target":
            found_place.role = ""
    if clause.verb == "moved" and below_line and _is_on_received_form(found_places, clause):
        clause.verb = "shown"
        decide_roles(found_places, verb=clause.verb, verb_end=clause.verb_end, is_share=False)
    return found_places, shares


def _is_summand(found_place: FoundPlace) -> bool:
    """Decide whether an amount of its own is added to: `Add the dues on Form 2889, line 4, to the amount on line 3`."""
    return found_place.role in ("target", "amount") and SUM_TO.search(found_place.left) is not None


def _is_on_received_form(found_places: list[FoundPlace], clause: Clause) -> bool:
    """Decide whether a passive names boxes of forms that others fill in: amounts are shown there, not moved."""
    is_sent = " to you " in clause.text
    are_received = [
        found_place.place.kind == "box" and (is_sent or not "".join(found_place.place.forms).startswith("Schedule K-"))
        for found_place in found_places
    ]
    is_forecast = "will" in clause.words.lemmas[: clause.words.before(clause.verb_end)]
    return any(are_received) if is_forecast else bool(found_places) and all(are_received)
