"""Lists of places whose amounts go to the line that introduces them: `Enter the total of the following amounts.`"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from taxkg_assets.graph.flow_predicates import Clause, classify_listed_object, find_object, split_clauses
from taxkg_assets.graph.flow_roles import find_roles
from taxkg_assets.graph.flow_statements import FlowStatement, find_filed_forms
from taxkg_assets.graph.flow_words import read_words
from taxkg_assets.graph.places import Place, find_last_document, find_places, mask, name_forms
from taxkg_assets.rules.models.flows import load_flows
from taxkg_assets.rules.sentences import find_sentences

_ITEM = re.compile(r"^(\W*(?:\(?(?:\d{1,2}|[a-z])[.)] )?)(Lines?|Box(?:es)?)(?= \d)")
_ALONE = re.compile(r"^\W*(?:\(?(?:\d{1,2}|[a-z])[.)] ?)?$|^[^.;]{0,120}[,:] $")
_FOLLOWING = re.compile(r"\b(?:following|follows|below)\b[^.:;]{0,80}[.:]$")
_PLACES_FOLLOW = re.compile(r"\b(?:on|in|to|one of|line) (?:the )?following\b|\bas follows[.:]$")
_ANNOUNCED = re.compile(
    r"\b(?:on|in|to)\b[^⟨⟩.:;]{0,30}?\b(?P<place>one of the following|following|shown below|below)\b[^.:;]{0,60}[.:]$"
    r"|\b(?P<list>as follows)\b[^.:;⟨⟩]{0,60}[.:]$"
)
"""End of a sentence whose amount goes to the items that follow it."""
_SUM = re.compile(r"V|Z|bDN")
"""Letters of `flow_words`: a verb that moves or includes amounts, or `is the total of`."""
_INCLUDE_FOLLOWING = re.compile(r"^Examples of (?:[a-z]+ ){1,5}include the following\b")
"""Sentence whose subject has no letter of its own: `Examples of other dues include the following.`"""
_NAMED_LIST = re.compile(
    r"^(?:(?:Re|Pre|Over)?[Pp]ayments?|Recaptures?|Refunds?|Reimbursements?|Recover(?:y|ies)|Totals?|Sums?|Amounts?"
    r"|Distributions?|Contributions?|Sales?|Credits?|Deductions?|Gains?|Losses|Income|Tax(?:es)?|Interest|Dues|Fees"
    r"|Costs?|Expenses?|Shares?)(?: [a-z]+){0,6} of the following [a-z ]{1,40}[.:]$"
)
"""Lead without a verb: `Repayment of the following dues.`"""
_EXAMPLES = re.compile(
    r"^Examples of [a-z ]{3,60} to (?:include|enter|report) on (?:this line|line (?P<key>\d{1,2}[a-z]?)) follow[.:]$"
)
_THESE = re.compile(r"^These [a-z ]{3,40} are (?:as follows|listed next)[.:]$")
_ON_THIS_LINE = re.compile(r"\b(?:deducted|included|entered|reported) on this line\b")
"""Leads of lists whose items belong on the line: `Examples of dues to include on line 9 follow.`"""
_NEGATED = re.compile(r"(?i)\b(?:not|cannot|never|none|neither|no)\b|n['’]t\b")
"""Words of a passage on what does not belong on the line."""
_MARKER = 4
"""Most characters of the marker of an item, which may look like a sentence of its own: `12.`"""


def introduces_list(text: str) -> bool:
    """Return whether a passage introduces a list.

    Args:
        text: The passage.

    Returns:
        False for a passage that, between two items, belongs to the item before it.
    """
    last = _last_sentence(text)
    is_end = last.endswith(":") or _FOLLOWING.search(last) is not None or _EXAMPLES.match(last) is not None
    return is_end or _announces_list(last)


def introduces_sources(text: str, *, key: str = "") -> bool:
    """Return whether a passage introduces a list of sources for the line of its heading.

    Args:
        text: The passage.
        key: Key of its heading: `line_9`.

    Returns:
        False for a list of exclusions, of parts of amounts, or of another line.
    """
    last = _last_sentence(text)
    if load_flows().source_bars.matches(last) or _NEGATED.search(last):
        return False
    if examples := _EXAMPLES.match(last):
        return not examples["key"] or not key or key == f"line_{examples['key']}"
    is_these = _THESE.match(last) and _ON_THIS_LINE.search(text)
    return not _NEGATED.search(text) if is_these else _announces_list(last)


def _announces_list(sentence: str) -> bool:
    """Decide whether a sentence puts what follows it on the line of its heading: `This amount includes:`."""
    if not (sentence.endswith(":") or _FOLLOWING.search(sentence)) or _PLACES_FOLLOW.search(sentence):
        return False
    words = read_words(mask(sentence, find_places(sentence)))
    is_passive = any(tag == "M" and lemma in _included() for tag, lemma in zip(words.tags, words.lemmas, strict=True))
    is_sum = _SUM.search(words.tags) is not None or _INCLUDE_FOLLOWING.search(sentence) is not None
    is_named = _NAMED_LIST.match(sentence) is not None and not set(words.tags) & set("VCOMZxb")
    return is_named or ((is_passive or is_sum) and "x" not in words.tags)


@cache
def _included() -> frozenset[str]:
    """Return the verbs that put an amount on a line, in their base forms."""
    return frozenset(verb.split()[0] for verb in load_flows().verbs["V"])


def read_lead_in(text: str, *, heading_kind: str) -> tuple[bool, Place | None]:
    """Return whether a passage introduces a list of destinations, and the place of the amount.

    Args:
        text: The passage.
        heading_kind: What its heading explains: `boxes`, `lines` or empty.

    Returns:
        Whether it does, and the place; None as the place means the line of the heading.
    """
    sentence = _last_sentence(text)
    places = find_places(sentence)
    masked = mask(sentence, places)
    end = _ANNOUNCED.search(masked)
    if end is None:
        return False, None
    words = read_words(masked)
    clauses = [
        (start, Clause(masked[start:stop], words.between(start, stop))) for start, stop in split_clauses(masked, words)
    ]
    start, clause = next(((low, clause) for low, clause in reversed(clauses) if low <= end.start()), clauses[-1])
    if clause.verb != "move" or start + clause.verb_end > end.start():
        return False, None
    found_places = find_roles(clause.text, places, clause.words)
    named_places = [found_place.place for found_place in found_places if found_place.role in ("source", "amount")]
    if len(named_places) == 1 == len(found_places):
        return True, named_places[0]
    means = (
        find_object(clause, end.start("place") - start)
        if end["place"]
        else classify_listed_object(clause, end.start() - start)
    )
    return not found_places and heading_kind == "lines" and means == "own", None


def find_listed_form(text: str) -> tuple[str, ...]:
    """Return the form or schedule that a list's introduction names for its items; empty if it names none.

    Args:
        text: The introduction.
    """
    return name_forms(find_last_document(_last_sentence(text)))


def _last_sentence(text: str) -> str:
    """Return the last sentence of a passage; empty for one without words, such as a bullet alone."""
    sentences = find_sentences(text)
    return text[sentences[-1][0] :] if sentences else ""


def read_source_item(item: str, *, forms: tuple[str, ...]) -> list[FlowStatement]:
    """Extract the sources that one list item names for the line of the heading.

    Args:
        item: The item.
        forms: Forms to assign to a place that names none.

    Returns:
        Statements of flows.
    """
    lowered = _ITEM.sub(lambda match: f"{match[1]}{match[2].lower()}", item)
    end = next((end for start, end in find_sentences(lowered) if end - start > _MARKER), len(lowered))
    first = lowered[:end]
    if load_flows().source_bars.matches(first):
        return []
    places = find_places(first)
    forms = find_filed_forms(first)[0] or forms
    statements: list[FlowStatement] = []
    for found_place in find_roles(mask(first, places), places):
        is_first = not statements and not found_place.role and _ALONE.match(found_place.left)
        place = found_place.place if found_place.place.forms else replace(found_place.place, forms=forms)
        if place.forms and (is_first or found_place.role in ("source", "aside", "amount")):
            statements.append(FlowStatement("from_form", place, None, 0, end, "list_item"))
    return statements
