"""The context that a sentence needs: the lead-in of its list, the sentences it refers back to, and its exceptions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf

from taxkg_assets.retrieval.answering.table_rows import find_captions, find_headers, states_something
from taxkg_assets.retrieval.index.lines import Line
from taxkg_assets.retrieval.index.passage_context import PassageContext
from taxkg_assets.rules.models.answers import load_answers

Spot = tuple[int, int]
"""A line of a context and a sentence of it."""


def lead_in(context: PassageContext, spot: Spot) -> set[Spot]:
    """Find the sentences that introduce the list containing an item.

    Args:
        context: Lines of adjacent rows.
        spot: The sentence.

    Returns:
        The sentence that opens each list around it, and the sentences that those refer back to.
    """
    found = _lead_in_only(context, spot)
    found |= {other for own in found for other in look_back(context, own, depth=1)}
    if spot[1] > 0 and context.lines[spot[0]].is_item:
        found.add((spot[0], 0))  # the first sentence of a long item names its subject
    return found


def look_back(context: PassageContext, spot: Spot, *, depth: int) -> set[Spot]:
    """Find the earlier sentences that a sentence depends on, as "However, …" or "In that case, …" do.

    Args:
        context: Lines of adjacent rows.
        spot: The sentence.
        depth: Largest number of steps back.

    Returns:
        Earlier sentences with their lead-ins and lists.
    """
    found: set[Spot] = set()
    while depth > 0 and leans_back(context, spot):
        before = _spot_before(context, spot)
        if before is None:
            break
        found |= {before, *_lead_in_only(context, before)}
        found |= fill_list(context, before)
        spot, depth = before, depth - 1
    return found


def _lead_in_only(context: PassageContext, spot: Spot) -> set[Spot]:
    """Return the last sentence of each lead-in line, and the one before it if the last only points to another place."""
    found: set[Spot] = set()
    for place in context.lines[spot[0]].intro_ixs:
        line, last = context.lines[place], len(context.lines[place].sentences) - 1
        found.add((place, last))
        if last > 0 and load_answers().pointers.matches(line.read_sentence(last)):
            found.add((place, last - 1))
    return found


def leans_back(context: PassageContext, spot: Spot) -> bool:
    """Return whether a sentence needs the one before it: it refers to it, continues it, or is introduced by it.

    Args:
        context: Lines of adjacent rows.
        spot: The sentence.
    """
    if _is_rest(context, spot) or _is_announced(context, spot):
        return True
    text = context.lines[spot[0]].read_sentence(spot[1])
    return load_answers().leaning.matches(text)


def _is_rest(context: PassageContext, spot: Spot) -> bool:
    """Return whether a line begins with the rest of a sentence that another passage, column or page begins."""
    line = context.lines[spot[0]]
    return spot[1] == 0 and not line.is_item and not line.is_table and line.text[:1].islower()


def _is_announced(context: PassageContext, spot: Spot) -> bool:
    """Return whether the sentence before ends in a colon: a rate without it may be that of other years or payers."""
    before = _spot_before(context, spot)
    return before is not None and context.lines[before[0]].read_sentence(before[1]).rstrip().endswith(":")


def _spot_before(context: PassageContext, spot: Spot) -> Spot | None:
    """Return the sentence before one, in its line or at the end of the line above, under the same heading."""
    place, sentence = spot
    if sentence > 0:
        return place, sentence - 1
    if place == 0:
        return None
    above, own = context.lines[place - 1], context.lines[place]
    if above.is_heading or above.is_table or not _share_heading(context, above, own):
        return None
    return above.line_ix, len(above.sentences) - 1


def find_exception(context: PassageContext, spot: Spot) -> set[Spot]:
    """Find the exception that follows a rule ("However, …", "Unless …"), also after an example.

    Args:
        context: Lines of adjacent rows.
        spot: The sentence.

    Returns:
        The exception with the example before it, if any; empty without an exception.
    """
    after = _find_next(context, spot)
    if after is None:
        return set()
    if _limits(context, after):
        return {after}
    if not load_answers().illustrations.matches(context.lines[after[0]].read_sentence(after[1])):
        return set()
    last = _find_next(context, after)
    return {after, last} if last is not None and _limits(context, last) else set()


def _find_next(context: PassageContext, spot: Spot) -> Spot | None:
    """Return the next sentence under the same heading; none after a table's row, and none of a list."""
    line = context.lines[spot[0]]
    if line.is_table:
        return None
    if spot[1] + 1 < len(line.sentences):
        return spot[0], spot[1] + 1
    if spot[0] + 1 < len(context.lines) and not line.is_item:
        below = context.lines[spot[0] + 1]
        if below.sentences and not (below.is_item or below.is_heading or below.is_table):
            return (below.line_ix, 0) if _share_heading(context, below, line) else None
    return None


def _limits(context: PassageContext, spot: Spot) -> bool:
    """Return whether a sentence is a short exception to the one before."""
    text = context.lines[spot[0]].read_sentence(spot[1])
    return len(text.split()) <= load_answers().exception_words and load_answers().exceptions.matches(text)


def fill_paragraph(context: PassageContext, spot: Spot) -> set[Spot]:
    """Return all sentences of the paragraph that contains a sentence if the paragraph is short.

    A rule and its limits are often in one paragraph.

    Args:
        context: Lines of adjacent rows.
        spot: The sentence.
    """
    line = context.lines[spot[0]]
    if len(line.text.split()) > load_answers().paragraph_words:
        return set()
    return {(line.line_ix, sentence) for sentence in range(len(line.sentences))}


def fill_section(context: PassageContext, spot: Spot, *, words: float = inf) -> set[Spot]:
    """Return the rest of the section that contains a sentence, up to a number of words.

    Args:
        context: Lines of adjacent rows.
        spot: The sentence.
        words: Largest number of words; all that is read around the sentence by default.
    """
    own, left = context.lines[spot[0]], words
    found: set[Spot] = set()
    for line in context.lines[spot[0] :]:
        left -= len(line.text.split())
        if not _share_heading(context, line, own) or line.is_table or left < 0:
            break
        found |= {(line.line_ix, sentence) for sentence in range(len(line.sentences))} if not line.is_heading else set()
    return found


def fill_gaps(context: PassageContext, spots: set[Spot]) -> set[Spot]:
    """Add the sentences between two chosen sentences of one paragraph where the gap is short.

    Args:
        context: Lines of adjacent rows.
        spots: Chosen sentences.

    Returns:
        The sentences with those between them.
    """
    most, found = load_answers().gap_words, set(spots)
    for (place, one), (other_place, other) in pairwise(sorted(spots)):
        between = [(place, sentence) for sentence in range(one + 1, other)] if place == other_place else []
        if sum(len(context.lines[place].read_sentence(sentence).split()) for _, sentence in between) <= most:
            found.update(between)
    return found


def drop_rests(context: PassageContext, spots: set[Spot]) -> set[Spot]:
    """Remove continuations of sentences whose beginnings were not chosen.

    Args:
        context: Lines of adjacent rows.
        spots: Chosen sentences.

    Returns:
        The remaining sentences; all where none would remain.
    """
    rests = {spot for spot in spots if _is_rest(context, spot) and _spot_before(context, spot) not in spots}
    return spots - rests or spots


def _share_heading(context: PassageContext, one: Line, other: Line) -> bool:
    numbers = context.facts.anchor_number
    return bool(numbers[one.row] == numbers[other.row])


def fill_list(context: PassageContext, spot: Spot) -> set[Spot]:
    """Return the items that a line introduces, or the siblings of an item if they are few or incomplete alone.

    Args:
        context: Lines of adjacent rows.
        spot: The sentence.
    """
    line = context.lines[spot[0]]
    if line.is_table:
        return set()
    is_lead = spot[1] == len(line.sentences) - 1
    items = context.items_introduced_by(line.line_ix) if is_lead else []
    if sum(item.text.strip(" $").isdigit() for item in items) * 2 > len(items):
        items = []  # columns of a table, printed one under the other
    siblings = context.items_of(line) if line.is_item and line.intro_ixs else []
    limits, found = load_answers().lists, set[Spot]()
    for group, is_led in ((items, True), (siblings, False)):
        most = limits.whole_words if is_led or _is_one_statement(context, group) else limits.item_context_words
        most = limits.code_words if group and group[0].mark == "code" and is_led else most
        words = 0
        for own in group:
            whole = [own, *_find_below(context, own)]
            words += sum(len(line.text.split()) for line in whole)
            if words > most:
                found = found if is_led else set()
                break
            found |= {(line.line_ix, sentence) for line in whole for sentence in range(len(line.sentences))}
    return found


def _find_below(context: PassageContext, line: Line) -> list[Line]:
    """Return the items of all levels that an item leads in: "2. Was:" says nothing without them."""
    return [below for own in context.items_introduced_by(line.line_ix) for below in (own, *_find_below(context, own))]


def _is_one_statement(context: PassageContext, items: Sequence[Line]) -> bool:
    """Return whether a list makes sense only as a whole: "all of the following", "…; and"."""
    if not items or not items[0].intro_ixs:
        return False
    lead = context.lines[items[0].intro_ixs[-1]]
    ends = lead.read_sentence(len(lead.sentences) - 1)
    texts = [ends, *(item.text for item in items)]
    return any(load_answers().wholes.matches(text) for text in texts)


def fill_table(context: PassageContext, spot: Spot, *, rows: int) -> set[Spot]:
    """Return a table row with the rows after it in the same passage, as any of them may contain the answer.

    Args:
        context: Lines of adjacent rows of the index.
        spot: The row.
        rows: Largest number of rows.
    """
    lines = context.lines_by_row[context.lines[spot[0]].row]
    below = [own.line_ix for own in lines if own.is_table and own.line_ix >= spot[0] and states_something(lines, own)]
    return {(place, 0) for place in below[:rows]}


def find_announced_table(context: PassageContext, spot: Spot) -> set[Spot]:
    """Return the rows of the table that a sentence announces, as in "The rates are shown next", or that it names.

    A worksheet or an example states no rule, so neither is returned.

    Args:
        context: Lines of adjacent rows of the index.
        spot: The sentence.

    Returns:
        Rows and notes of the table; empty for a long table, and for one whose first row is no header.
    """
    line = context.lines[spot[0]]
    table = _find_next_table(context, line)
    captions, text = find_captions(table), line.read_sentence(spot[1]).rstrip(". ")
    is_title = bool(text) and any(f"{caption} ".startswith(f"{text} ") for caption in captions)
    if not (is_title or load_answers().announcements.matches(text)):
        return set()
    titles = (*captions, text, *(context.heading(row.row) for row in table[:1]))
    rows = [row for row in table if states_something(table, row)]
    headers = next((found for row in rows if (found := find_headers(table, row))), ())
    is_worked = any(map(load_answers().worked_tables.matches, titles))
    is_headed = not any(letter.isdigit() for header in headers for letter in header)
    if is_worked or not is_headed or len(rows) > load_answers().tables.whole_rows:
        return set()
    return {(row.line_ix, 0) for row in rows}


def _find_next_table(context: PassageContext, line: Line) -> list[Line]:
    """Return the lines of the table that follows a line under its heading, after one other paragraph at most.

    A list in between is what the line announces, so no table is returned then.
    """
    after = context.lines[line.line_ix + 1 :]
    number = next((number for number, below in enumerate(after) if below.is_table), None)
    if line.is_table or number is None or number > 1 or any(below.is_item for below in after[:number]):
        return []
    return context.lines_by_row[after[number].row] if _share_heading(context, line, after[number]) else []
