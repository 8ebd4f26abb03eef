"""Statements that an amount goes from one line to another, as sentences state them: text to data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from taxkg_assets.graph.places import Place, find_last_document, find_places, mask, name_forms, shift
from taxkg_assets.rules.families import RuleList
from taxkg_assets.rules.loader import Rule
from taxkg_assets.rules.models.flows import Statement, load_flows
from taxkg_assets.rules.sentences import find_sentences

_WORD = re.compile(r"⟨(\d+)_*⟩")
_Rule = TypeVar("_Rule", bound=Rule)
_CAPITALS = re.compile(r"\b(?:From|Lines?|Box(?:es)?|Columns?)\b")
_OWN_LINE = re.compile(r",? (?:and|or) line ")
"""Before a further line of a sum, which is on the form that the label is printed on."""
_IN_TURN = re.compile(r"[^.;]{0,40}\brespectively\b")
_ITEM = re.compile(r"^(\W*)(Lines?|Box(?:es)?)(?= \d)")
_FORMS_ALONE = re.compile(
    r"\W*(?:\(?[a-z\d]{1,2}[.)] )?Forms? [\dA-Z][\w-]*(?:(?:, | or |, or | and |, and )[\dA-Z][\w-]*)*[.:] ?"
)
"""Sentence that names the forms whose lines the rest of a passage names."""
_WHEN_FILING = re.compile(r"^When filing (?P<forms>Forms? [\dA-Z][\w-]*(?: or [\dA-Z][\w-]*)?), ")
"""Beginning of a passage on the lines of a form that the reader files."""
_OTHER_CASE = re.compile(
    r"(?i)\b(?:otherwise|instead|(?:all|any|every(?:one|body)) (?:other|else)s?|others"
    r"|(?:not|n['’]t|never|without) (?:\w+ )?(?:file|filed|filing|required|use|using))\b"
)
"""Words on readers that do not file the form of a passage: `If you do not file it, enter this on line 7`."""


@dataclass(frozen=True, slots=True)
class FlowStatement:
    """A statement that an amount goes from one place to another; None means the line or box that states it."""

    relation: str
    source: Place | None
    target: Place | None
    start: int
    end: int
    rule_id: str


def read_label(label: str) -> list[FlowStatement]:
    """Extract from a line's label where its amount goes and comes from.

    Args:
        label: Words printed for the line.

    Returns:
        Statements of flows.
    """
    statements = [
        statement
        for statement in _read(label, 0, load_flows().labels)
        if statement.relation == "flows_to" or not load_flows().subtractions.matches(label[: statement.start])
    ]
    return [*statements, *_read(label, 0, load_flows().totals), *_read_operands(label)]


def read_heading(heading: str) -> list[FlowStatement]:
    """Extract from a line's heading where its amount comes from: `Line 9—Dues From Form 2849, Line 6`.

    Args:
        heading: Words of the heading; those of places begin with capitals there.

    Returns:
        Statements of flows.
    """
    lowered = _CAPITALS.sub(lambda match: match[0].lower(), heading)
    statements = [
        statement for statement in _read(lowered, 0, load_flows().labels) if statement.relation == "from_form"
    ]
    return [statement for statement in statements if statement.source is not None and statement.source.forms]


def read_passage(text: str, *, heading_kind: str) -> list[FlowStatement]:
    """Extract the flows that a passage states, sentence by sentence.

    Args:
        text: The passage.
        heading_kind: What its heading explains: `boxes` (of a form that the reader received), `lines` (that the reader
            fills in), or empty.

    Returns:
        Statements of flows.
    """
    statements: list[FlowStatement] = []
    for start, end in find_sentences(text):
        sentence = text[start:end]
        for rules in (load_flows().passages, load_flows().columns):
            statements += _read(sentence, start, rules)
        if heading_kind == "boxes":
            statements += _read_forms(sentence, start)
    return statements


def pair_in_turn(statement: FlowStatement, text: str) -> list[FlowStatement]:
    """Split a statement that lists several sources with as many targets: `lines 1 and 2 on ..., respectively`.

    Args:
        statement: A statement of the passage.
        text: The passage.

    Returns:
        One statement per source and target; the statement itself if the numbers of both differ.
    """
    source, target = statement.source, statement.target
    if source is None or target is None or not 1 < len(source.keys) == len(target.keys):
        return [statement]
    last = max(source.end, target.end)
    if not any(_IN_TURN.match(text, at) for at in (last, max(last, statement.end))):
        return [statement]
    return [
        replace(statement, source=replace(source, keys=(first,)), target=replace(target, keys=(second,)))
        for first, second in zip(source.keys, target.keys, strict=True)
    ]


def names_whole(statement: FlowStatement, text: str) -> bool:
    """Return whether a statement moves the whole amount of its source.

    Args:
        statement: A statement of the passage.
        text: The passage.

    Returns:
        True also for a statement that names both ends.
    """
    source = statement.source
    if source is None or statement.target is not None:
        return True
    is_part = load_flows().source_tails.matches(text[source.end : source.end + 80])
    return not is_part and not load_flows().no_amounts.matches(text[max(0, source.start - 80) : source.start])


def read_code(text: str) -> str:
    """Return the code that a passage on a box's entries explains; empty if it explains none.

    Args:
        text: The passage.
    """
    match = load_flows().codes.code_first.pattern.search(text)
    return match["code"] if match else ""


def read_item(text: str, *, source: Place | None) -> list[FlowStatement]:
    """Extract from a list item where an amount goes.

    Args:
        text: The item.
        source: Place of the amount, from the sentence that introduces the list; None is the line of the heading.

    Returns:
        Statements of flows.
    """
    lowered = _ITEM.sub(lambda match: f"{match[1]}{match[2].lower()}", text)
    found = {
        (statement.target.start if statement.target else 0): statement
        for statement in _read(lowered, 0, load_flows().items)
    }
    return [replace(statement, source=source) for statement in found.values()]


def list_ends(statement: FlowStatement) -> tuple[object, ...]:
    """Return the places of a statement as named, to detect duplicate statements in a text.

    Args:
        statement: A statement.
    """
    ends = (statement.source, statement.target)
    return tuple((end.keys, end.kind, end.label, end.start) if end else None for end in ends)


def _read_operands(label: str) -> Iterator[FlowStatement]:
    """Read the lines of other forms that a label adds or subtracts."""
    for start, end in find_sentences(label):
        sentence = label[start:end]
        for match, places, rule_id in find_matches(sentence, load_flows().operands):
            for place in places:
                if place.forms and match.start() <= place.start and place.end <= match.end():
                    named_place = find_places(_OWN_LINE.split(sentence[place.start : place.end])[0])[0]
                    yield FlowStatement(
                        "computed_from", named_place, None, start + place.start, start + place.end, rule_id
                    )


def _read_forms(text: str, offset: int) -> Iterator[FlowStatement]:
    """Read the forms that an amount is reported on where the sentence names no line of them."""
    for rule in load_flows().forms:
        for match in rule.pattern.finditer(text):
            if not load_flows().negations.matches(text[max(0, match.start() - 40) : match.start()]):
                place = Place(name_forms(match["form"]), (), "line", "", "", "", *match.span())
                yield FlowStatement(rule.relation, None, place, offset + match.start(), offset + match.end(), rule.id)


def find_matches(text: str, rules: RuleList[Rule]) -> Iterator[tuple[re.Match[str], list[Place], str]]:
    """Find the rules of a list that match a text; a negated sentence matches none.

    Args:
        text: A label or a sentence.
        rules: List of `rules/flows.yaml`.

    Yields:
        Match in the text with its places masked, the places, and the rule's id.
    """
    for rule, match, places in _match(text, rules):
        yield match, places, rule.id


def _match(text: str, rules: RuleList[_Rule]) -> Iterator[tuple[_Rule, re.Match[str], list[Place]]]:
    if "line" not in text and "box" not in text and "column" not in text:
        return
    places = find_places(text, columns=rules in (load_flows().columns, load_flows().totals))
    if not places:
        return
    masked = mask(text, places)
    for rule in rules:
        for match in rule.pattern.finditer(masked):
            if not load_flows().negations.matches(masked[max(0, match.start() - 40) : match.start()]):
                yield rule, match, places


def _read(text: str, offset: int, rules: RuleList[Statement]) -> Iterator[FlowStatement]:
    filed: tuple[tuple[str, ...], int] | None = None
    for rule, match, places in _match(text, rules):
        filed = filed or find_filed_forms(text)
        for statement in _statements(rule, match, places, offset):
            source, target = statement.source, statement.target
            target = target and place_on_filed_form(target, filed)
            yield replace(statement, source=source and shift(source, offset), target=target and shift(target, offset))


def find_forms_alone(sentence: str, places: list[Place], alone: tuple[str, ...]) -> tuple[str, ...]:
    """Determine the forms that the lines of a sentence are on, from forms named without a line.

    Args:
        sentence: The sentence.
        places: Its places.
        alone: Forms that an earlier sentence named without a line.

    Returns:
        The forms; empty if the sentence is about another case or another form.
    """
    if not places and _FORMS_ALONE.fullmatch(sentence):
        return name_forms(sentence)
    if filing := _WHEN_FILING.match(sentence):
        return name_forms(filing["forms"])
    others = set(name_forms(find_last_document(mask(sentence, places)))) - set(alone)
    return () if others or _OTHER_CASE.search(sentence) else alone


def find_filed_forms(text: str) -> tuple[tuple[str, ...], int]:
    """Find the forms in a condition such as `If you file Form 2040, ...`.

    Args:
        text: A sentence.

    Returns:
        The forms, and the offset at which the condition ends; no forms and 0 without a condition.
    """
    matches = (rule.pattern.search(text) for rule in load_flows().filers)
    match = next((candidate for candidate in matches if candidate), None)
    return (name_forms(match["forms"]), match.end()) if match else ((), 0)


def place_on_filed_form(target: Place, filed: tuple[tuple[str, ...], int]) -> Place:
    """Assign the filed forms of a condition to a target without a form.

    Args:
        target: Where an amount goes.
        filed: Forms that `find_filed_forms` found in the sentence, and where its condition ends.

    Returns:
        The target with its forms; a schedule without a form is of the one form that is filed.
    """
    forms, end = filed
    is_schedule = len(target.forms) == len(forms) == 1 and target.forms[0].startswith("Schedule")
    if is_schedule and "(" not in target.forms[0] and target.start >= end:
        return replace(target, forms=(f"{target.forms[0]} (Form {forms[0]})",))
    is_open = bool(forms) and not target.forms and target.kind == "line" and target.start >= end
    return replace(target, forms=forms) if is_open else target


def _statements(rule: Statement, match: re.Match[str], places: list[Place], offset: int) -> Iterator[FlowStatement]:
    """Build one statement for each pair of places that a match names."""
    groups = match.groupdict()
    nowhere: list[Place | None] = [None]
    sources = [*list_places(groups.get("from"), places)] or nowhere
    targets = [*list_places(groups.get("to") or groups.get("also"), places)] or nowhere
    if rule.only_columns and not any(end is not None and end.kind == "column" for end in targets):
        return
    for source in sources:
        for target in targets:
            yield FlowStatement(rule.relation, source, target, offset + match.start(), offset + match.end(), rule.id)


def list_places(words: str | None, places: list[Place]) -> list[Place]:
    """List the places of a group; a place without a form takes the form of the one before it.

    Args:
        words: Masked words of the group.
        places: Places of the text.

    Returns:
        Places in the order of the words.
    """
    listed_places: list[Place] = []
    forms: tuple[str, ...] = ()
    for number in _WORD.findall(words or ""):
        place = places[int(number)]
        if not place.forms and forms:
            place = replace(place, forms=forms, label="")
        forms = place.forms
        listed_places.append(place)
    return listed_places
