"""Lists of a document: the sentence that leads each item, and whether it keeps out what the items name.

A list continues through a note, and an inner list ends where an item has the mark of the outer one again. What a lead
denies, none of its items may be read to grant.
"""

from __future__ import annotations

import re
from functools import lru_cache

from taxkg_assets.extraction.references.clauses import MAIN, find_clauses, is_negated, without_parentheses
from taxkg_assets.extraction.references.predicates import DUTY, FINITE, PLACE, read_predicates
from taxkg_assets.extraction.regex_prefilter import ALL_WORDS
from taxkg_assets.records import SectionRecord
from taxkg_assets.rules.models.relations import load_relations
from taxkg_assets.rules.sentences import find_sentences

_MARK = re.compile(r"^\s*(?:([^\w\s(])|\(?(?:(\d{1,3})|([ivx]{2,5})|([a-z])|([A-Z]))[.)])(?:\s|$)")


class ListLeads:
    """Tracks the lists of a document and the sentences that introduce them, in reading order.

    Attributes:
        is_resumed: Whether the last item came after an inner list or a note, so that its introduction is farther above.
    """

    def __init__(self) -> None:
        """Begin without a list."""
        self._anchor_id: str | None = None
        self._lead = ""
        self._parent_mark = ""
        self._outer: list[tuple[str, str]] = []
        self.is_resumed = False

    def follow(self, section: SectionRecord) -> str:
        """Return the text that introduces the list of an element.

        Args:
            section: Row of `sections`; rows are passed in the order of the text.

        Returns:
            The text before the list, for `find_lead`; empty if the element is not an item, or if its list has no
            introduction.
        """
        if section["anchor_id"] != self._anchor_id:
            self._anchor_id, self._lead, self._parent_mark, self._outer = section["anchor_id"], "", "", []
            self.is_resumed = False
        text = section["text"]
        if section["role"] != "ListBlock":
            # A note in a box interrupts a list; a paragraph ends it.
            if section["role"] != "Callout" or not self._lead or introduces(find_lead(text)):
                self._lead, self._parent_mark, self._outer = text, "", []
            self.is_resumed = section["role"] == "Callout"
            return ""
        mark = find_mark(text)
        if self._parent_mark and mark == self._parent_mark:
            # The inner list has no marks of its own.
            self._outer.pop()
        self._parent_mark = ""
        self._leave_inner(mark)
        introduction = self._lead
        if not _leads_inner(text):
            return introduction
        self._outer.append((mark, self._lead))
        self._lead, self._parent_mark, self.is_resumed = text, mark, False
        # The item introduces a list of its own: of the outer lead-in only a denial applies to that list.
        return introduction if introduction and denies(find_lead(introduction)) else ""

    def _leave_inner(self, mark: str) -> None:
        """Go back to the outer list whose items have this mark."""
        for ix, (outer, lead) in enumerate(self._outer):
            if outer == mark:
                self._lead, self.is_resumed = lead, True
                del self._outer[ix:]
                return


def find_mark(text: str) -> str:
    """Return the style of the list mark at the beginning of an item.

    Args:
        text: Text of the item.

    Returns:
        The sign itself, such as `•`; `1`, `i`, `a` or `A` for any number or letter; empty if there is no mark.
    """
    match = _MARK.match(text)
    if match is None:
        return ""
    return match[1] or ("1", "i", "a", "A")[int(match.lastindex or 2) - 2]


def _leads_inner(text: str) -> bool:
    """Decide whether the last sentence of an item introduces a list."""
    end = text.rstrip()
    if not (end.endswith((":", "—")) or "following" in text):
        return False
    lead = find_lead(text)
    return introduces(lead) and end.endswith(lead.rstrip())


# The items of a list ask for its lead one after the other.
@lru_cache(maxsize=64)
def find_lead(text: str) -> str:
    """Find the sentence in a text that introduces the list after it.

    Args:
        text: Text before the list.

    Returns:
        The last introducing sentence; else the last sentence; empty for an empty text.
    """
    sentences = [text[start:end] for start, end in find_sentences(text)]
    return next((sentence for sentence in reversed(sentences) if introduces(sentence)), (sentences or [""])[-1])


def introduces(sentence: str) -> bool:
    """Return whether a sentence introduces a list by its own words.

    Args:
        sentence: The sentence.
    """
    return load_relations().list_leads.matches(sentence)


@lru_cache(maxsize=256)
def excludes_amounts(lead: str) -> bool:
    """Return whether a list's introduction excludes amounts: `figured without regard to the following`.

    Args:
        lead: Sentence that leads the list.
    """
    return introduces(lead) and load_relations().excluding_leads.matches(lead)


@lru_cache(maxsize=256)
def denies(lead: str) -> bool:
    """Return whether the main clause of a lead-in is negated, which excludes each item of its list.

    Args:
        lead: Sentence that leads the list.
    """
    if not introduces(lead):
        return False
    if excludes_amounts(lead):
        return True
    plain_lead = without_parentheses(lead)
    clauses = find_clauses(plain_lead, rule_words=ALL_WORDS)
    clause_ends = [*(clause.start for clause in clauses[1:]), len(plain_lead)]
    main_clauses = [
        plain_lead[clause.start : end] for clause, end in zip(clauses, clause_ends, strict=True) if clause.kind == MAIN
    ]
    if not any(map(is_negated, main_clauses)):
        return False
    first_verb = next((verb for verb in read_predicates(plain_lead) if verb.mood in FINITE), None)
    is_order = first_verb is not None and first_verb.sense == PLACE and first_verb.mood == DUTY
    # `Report all income that is not on another form, such as:` denies only what the items lack.
    return not (is_order and load_relations().denied_descriptions.matches(plain_lead))


def prepend_auxiliary(lead: str, item: str) -> str:
    """Prepend a list introduction's auxiliary verb to an item: `Do not:` and `Cash the check`.

    Args:
        lead: Sentence that introduces the list; empty for none.
        item: Words of the item, from its beginning.

    Returns:
        The item's words; if the lead ends with an auxiliary, after it: `You do not Cash the check`.
    """
    if not lead:
        return item
    match = load_relations().open_leads.auxiliary_at_end.pattern.search(lead)
    if match is None:
        return item
    mark = _MARK.match(item)
    return f"You {match['carried']} {item[mark.end() :] if mark else item}"
