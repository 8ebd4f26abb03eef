"""Find the context that a sentence needs: the introduction of its list, sentences it refers back to, its exceptions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from math import inf

from taxkg_assets.retrieval.answering.table_rows import find_captions, find_headers, is_row_or_note
from taxkg_assets.retrieval.index.lines import Line
from taxkg_assets.retrieval.index.passage_context import PassageContext
from taxkg_assets.rules.models.answers import load_answers

SentenceRef = tuple[int, int]
"""A sentence of a context: index of its line, and index of the sentence in the line."""


def find_intros(context: PassageContext, ref: SentenceRef) -> set[SentenceRef]:
    """Find the sentences that introduce the lists around an item.

    Args:
        context: Lines of adjacent rows of the index.
        ref: The item, or a sentence of it.

    Returns:
        For each list around the item the sentence that introduces the list, and the sentences that this refers back to.
    """
    intros = _find_intros_only(context, ref)
    intros |= {earlier for intro in intros for earlier in look_back(context, intro, depth=1)}
    if ref[1] > 0 and context.lines[ref[0]].is_item:
        intros.add((ref[0], 0))  # the first sentence of a long item names its subject
    return intros


def look_back(context: PassageContext, ref: SentenceRef, *, depth: int) -> set[SentenceRef]:
    """Find the earlier sentences that a sentence depends on: one that begins with "However, …" or "In that case, …".

    Args:
        context: Lines of adjacent rows.
        ref: The sentence.
        depth: Maximum number of steps back.

    Returns:
        Earlier sentences, with the introductions and items of their lists.
    """
    earlier: set[SentenceRef] = set()
    while depth > 0 and depends_on_previous(context, ref):
        previous = _find_previous(context, ref)
        if previous is None:
            break
        earlier |= {previous, *_find_intros_only(context, previous)}
        earlier |= fill_list(context, previous)
        ref, depth = previous, depth - 1
    return earlier


def _find_intros_only(context: PassageContext, ref: SentenceRef) -> set[SentenceRef]:
    """Return the last sentence of each introducing line, and the one before it if the last only refers elsewhere."""
    intros: set[SentenceRef] = set()
    for line_ix in context.lines[ref[0]].intro_ixs:
        line, last_ix = context.lines[line_ix], len(context.lines[line_ix].sentences) - 1
        intros.add((line_ix, last_ix))
        if last_ix > 0 and load_answers().pointers.matches(line.read_sentence(last_ix)):
            intros.add((line_ix, last_ix - 1))
    return intros


def depends_on_previous(context: PassageContext, ref: SentenceRef) -> bool:
    """Return whether a sentence cannot be understood without the sentence before it.

    Args:
        context: Lines of adjacent rows.
        ref: The sentence.
    """
    if _is_rest(context, ref) or _is_introduced(context, ref):
        return True
    text = context.lines[ref[0]].read_sentence(ref[1])
    return load_answers().leaning.matches(text)


def _is_rest(context: PassageContext, ref: SentenceRef) -> bool:
    """Return whether a sentence is the rest of one that begins in another passage, column or page."""
    line = context.lines[ref[0]]
    return ref[1] == 0 and not line.is_item and not line.is_table and line.text[:1].islower()


def _is_introduced(context: PassageContext, ref: SentenceRef) -> bool:
    """Return whether the previous sentence ends in a colon, as it may say to which years or payers a rate applies."""
    previous = _find_previous(context, ref)
    return previous is not None and context.lines[previous[0]].read_sentence(previous[1]).rstrip().endswith(":")


def _find_previous(context: PassageContext, ref: SentenceRef) -> SentenceRef | None:
    """Return the previous sentence under the same heading, in the same line or at the end of the line above."""
    line_ix, sentence_ix = ref
    if sentence_ix > 0:
        return line_ix, sentence_ix - 1
    if line_ix == 0:
        return None
    above, line = context.lines[line_ix - 1], context.lines[line_ix]
    if above.is_heading or above.is_table or not _share_heading(context, above, line):
        return None
    return above.line_ix, len(above.sentences) - 1


def find_exception(context: PassageContext, ref: SentenceRef) -> set[SentenceRef]:
    """Find the exception that follows a rule ("However, …", "Unless …"), directly or after one example.

    Args:
        context: Lines of adjacent rows.
        ref: The sentence.

    Returns:
        The exception, and the example before it if there is one; empty without an exception.
    """
    next_ref = _find_next(context, ref)
    if next_ref is None:
        return set()
    if _is_short_exception(context, next_ref):
        return {next_ref}
    if not load_answers().illustrations.matches(context.lines[next_ref[0]].read_sentence(next_ref[1])):
        return set()
    second_ref = _find_next(context, next_ref)
    return {next_ref, second_ref} if second_ref is not None and _is_short_exception(context, second_ref) else set()


def _find_next(context: PassageContext, ref: SentenceRef) -> SentenceRef | None:
    """Return the next sentence of running text under the same heading; None if a list, a table or nothing follows."""
    line = context.lines[ref[0]]
    if line.is_table:
        return None
    if ref[1] + 1 < len(line.sentences):
        return ref[0], ref[1] + 1
    if ref[0] + 1 < len(context.lines) and not line.is_item:
        below = context.lines[ref[0] + 1]
        if below.sentences and not (below.is_item or below.is_heading or below.is_table):
            return (below.line_ix, 0) if _share_heading(context, below, line) else None
    return None


def _is_short_exception(context: PassageContext, ref: SentenceRef) -> bool:
    """Return whether a sentence is a short exception, judged by its wording."""
    text = context.lines[ref[0]].read_sentence(ref[1])
    return len(text.split()) <= load_answers().exception_words and load_answers().exceptions.matches(text)


def fill_paragraph(context: PassageContext, ref: SentenceRef) -> set[SentenceRef]:
    """Return all sentences of the paragraph around a sentence, if it is short: a rule and its limits are often in one.

    Args:
        context: Lines of adjacent rows.
        ref: The sentence.
    """
    line = context.lines[ref[0]]
    if len(line.text.split()) > load_answers().paragraph_words:
        return set()
    return _list_sentences(line)


def fill_section(context: PassageContext, ref: SentenceRef, *, words: float = inf) -> set[SentenceRef]:
    """Return the sentences from a sentence to the end of its section or to the next table, up to a number of words.

    Args:
        context: Lines of adjacent rows.
        ref: The sentence.
        words: Maximum number of words; by default the whole section, as far as it is in the context.
    """
    first_line, words_left = context.lines[ref[0]], words
    section: set[SentenceRef] = set()
    for line in context.lines[ref[0] :]:
        words_left -= len(line.text.split())
        if not _share_heading(context, line, first_line) or line.is_table or words_left < 0:
            break
        if not line.is_heading:
            section |= _list_sentences(line)
    return section


def _list_sentences(line: Line) -> set[SentenceRef]:
    """Return all sentences of a line."""
    return {(line.line_ix, sentence_ix) for sentence_ix in range(len(line.sentences))}


def fill_gaps(context: PassageContext, refs: set[SentenceRef]) -> set[SentenceRef]:
    """Add the sentences between two chosen sentences of one line if they have few words.

    Args:
        context: Lines of adjacent rows.
        refs: Chosen sentences.

    Returns:
        The chosen sentences and those between them.
    """
    max_words, filled = load_answers().gap_words, set(refs)
    for (line_ix, first_ix), (next_line_ix, next_ix) in pairwise(sorted(refs)):
        if line_ix != next_line_ix:
            continue
        line, gap = context.lines[line_ix], range(first_ix + 1, next_ix)
        if sum(len(line.read_sentence(sentence_ix).split()) for sentence_ix in gap) <= max_words:
            filled.update((line_ix, sentence_ix) for sentence_ix in gap)
    return filled


def drop_orphaned_rests(context: PassageContext, refs: set[SentenceRef]) -> set[SentenceRef]:
    """Remove the rest of each sentence whose beginning, in another line, was not chosen.

    Args:
        context: Lines of adjacent rows.
        refs: Chosen sentences.

    Returns:
        The remaining sentences; all sentences if none would remain.
    """
    orphaned_rests = {ref for ref in refs if _is_rest(context, ref) and _find_previous(context, ref) not in refs}
    return refs - orphaned_rests or refs


def _share_heading(context: PassageContext, line: Line, other: Line) -> bool:
    numbers = context.facts.anchor_number
    return bool(numbers[line.row] == numbers[other.row])


def fill_list(context: PassageContext, ref: SentenceRef) -> set[SentenceRef]:
    """Return the items that a line introduces; or for an item, the other items of its list if these are few.

    The items of a list that makes sense only as a whole are returned even if they are more.

    Args:
        context: Lines of adjacent rows.
        ref: The sentence.
    """
    line, limits = context.lines[ref[0]], load_answers().lists
    if line.is_table:
        return set()
    introduces_list = ref[1] == len(line.sentences) - 1
    items = context.items_introduced_by(line.line_ix) if introduces_list else []
    if sum(item.text.strip(" $").isdigit() for item in items) * 2 > len(items):
        items = []  # columns of a table, printed one under the other
    is_code_list = bool(items) and items[0].mark == "code"
    listed, _ = _take_items(context, items, max_words=limits.code_words if is_code_list else limits.whole_words)
    siblings = context.items_of(line) if line.is_item and line.intro_ixs else []
    is_one_statement = _is_one_statement(context, siblings)
    max_words = limits.whole_words if is_one_statement else limits.item_context_words
    sibling_refs, is_complete = _take_items(context, siblings, max_words=max_words)
    return listed | sibling_refs if is_complete else set()


def complete_lists(context: PassageContext, refs: Collection[SentenceRef]) -> set[SentenceRef]:
    """Return the other items of quoted lists that are short, or of which most items are quoted.

    The items that are left out may be the ones that the reader needs.

    Args:
        context: Lines of adjacent rows.
        refs: The sentences.
    """
    limits, added = load_answers().lists, set[SentenceRef]()
    quoted_ixs = {line_ix for line_ix, _ in refs}
    for line_ix in quoted_ixs:
        line = context.lines[line_ix]
        items = context.items_of(line) if line.is_item and line.intro_ixs and not line.is_table else []
        if items:
            is_mostly_quoted = sum(item.line_ix in quoted_ixs for item in items) >= limits.shown_share * len(items)
            max_words = limits.whole_words if is_mostly_quoted else limits.short_words
            item_refs, is_complete = _take_items(context, items, max_words=max_words)
            added |= item_refs if is_complete else set()
    return added


def _take_items(context: PassageContext, items: Sequence[Line], *, max_words: int) -> tuple[set[SentenceRef], bool]:
    """Return the sentences of the first items with nested items, up to a number of words, and whether all items fit."""
    taken: set[SentenceRef] = set()
    words = 0
    for item in items:
        lines = [item, *_find_nested_items(context, item)]
        words += sum(len(line.text.split()) for line in lines)
        if words > max_words:
            return taken, False
        for line in lines:
            taken |= _list_sentences(line)
    return taken, True


def _find_nested_items(context: PassageContext, item: Line) -> list[Line]:
    """Return the items of all levels below an item: "2. Was:" says nothing without them."""
    nested: list[Line] = []
    for child in context.items_introduced_by(item.line_ix):
        nested += [child, *_find_nested_items(context, child)]
    return nested


def _is_one_statement(context: PassageContext, items: Sequence[Line]) -> bool:
    """Return whether a list makes sense only as a whole: "all of the following", "…; and"."""
    if not items or not items[0].intro_ixs:
        return False
    intro = context.lines[items[0].intro_ixs[-1]]
    texts = [intro.read_sentence(len(intro.sentences) - 1), *(item.text for item in items)]
    return any(load_answers().wholes.matches(text) for text in texts)


def fill_table(context: PassageContext, ref: SentenceRef, *, rows: int) -> set[SentenceRef]:
    """Return a table row and the rows after it in the same passage.

    Args:
        context: Lines of adjacent rows of the index.
        ref: The row.
        rows: Maximum number of rows.
    """
    lines = context.lines_by_row[context.lines[ref[0]].row]
    rows_from_here = [line for line in lines if line.is_table and line.line_ix >= ref[0]]
    line_ixs = [line.line_ix for line in rows_from_here if is_row_or_note(lines, line)]
    return {(line_ix, 0) for line_ix in line_ixs[:rows]}


def find_announced_table(context: PassageContext, ref: SentenceRef) -> set[SentenceRef]:
    """Return the rows of the next table if a sentence announces it ("The rates are shown next") or is its caption.

    Worksheets and examples are not returned, as they state no rule.

    Args:
        context: Lines of adjacent rows of the index.
        ref: The sentence.

    Returns:
        First sentence of each row and note of the table; empty for a long table, and for one with a digit in a header.
    """
    line = context.lines[ref[0]]
    table = _find_next_table(context, line)
    captions, text = find_captions(table), line.read_sentence(ref[1]).rstrip(". ")
    is_caption = bool(text) and any(f"{caption} ".startswith(f"{text} ") for caption in captions)
    if not (is_caption or load_answers().announcements.matches(text)):
        return set()
    titles = (*captions, text, *(context.heading(row.row) for row in table[:1]))
    rows = [row for row in table if is_row_or_note(table, row)]
    headers = next((row_headers for row in rows if (row_headers := find_headers(table, row))), ())
    is_example_or_worksheet = any(map(load_answers().worked_tables.matches, titles))
    has_headers = not any(letter.isdigit() for header in headers for letter in header)
    if is_example_or_worksheet or not has_headers or len(rows) > load_answers().tables.whole_rows:
        return set()
    return {(row.line_ix, 0) for row in rows}


def _find_next_table(context: PassageContext, line: Line) -> list[Line]:
    """Return the lines of the table that follows a line under its heading, after at most one other paragraph.

    If a list is in between, the line introduces the list, and no table is returned.
    """
    following = context.lines[line.line_ix + 1 :]
    table_ix = next((ix for ix, other in enumerate(following) if other.is_table), None)
    if line.is_table or table_ix is None or table_ix > 1 or any(other.is_item for other in following[:table_ix]):
        return []
    table_line = following[table_ix]
    return context.lines_by_row[table_line.row] if _share_heading(context, line, table_line) else []
