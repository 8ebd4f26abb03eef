"""Whether a question asks for a cell: some cell fits every question best, and most questions ask for none."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, TableEntry
from taxkg_assets.retrieval.tables.table_headers import HEADER_END, SEPARATOR, Header, innermost_header
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, read_table_question
from taxkg_assets.retrieval.tables.table_question import Question, find_states, find_words
from taxkg_assets.retrieval.tables.table_ranges import Number, can_mean
from taxkg_assets.rules.models.table_lookup import load_table_lookup


def rate_cell(match: CellMatch, question: str, *, tables: TableCatalogue, share: float) -> CellMatch:
    """Estimate the probability that a question asks for a table cell.

    Args:
        match: Cell that fits best in its table.
        question: Words of the user.
        tables: Tables of the corpus.
        share: Score of its table in the ranking of passages, as a share of the first passage's.

    Returns:
        The match with `aptness`, the probability (0 for an invented example, another year, or a row that the question
        does not select); `leads`, whether it may open an answer; and `others`, the other cells of its row.
    """
    parsed, entry = read_table_question(question, tables), tables.by_id[match.table_id]
    signals = find_aptness_signals(match, parsed, entry, tables=tables) | {"share": share}
    limits = load_table_lookup().aptness
    logit = limits.bias + sum(weight * signals[name] for name, weight in limits.weights.items())
    is_selected = match.assumes_status or max(signals["pinned"], signals["row"]) > 0
    is_other_case = entry.is_example or not is_selected or not _covers_years(parsed, entry, match)
    aptness = 0.0 if is_other_case else 1 / (1 + math.exp(-logit))
    leads = aptness >= limits.leading and signals["anchored"] >= limits.anchored
    is_open = not signals["column"] and not _is_pinned(parsed, entry.headers[match.col_path])
    others = tuple(_list_others(match)) if is_open else ()
    return replace(match, aptness=round(aptness, 4), leads=leads, others=others if len(others) <= limits.others else ())


def _list_others(match: CellMatch) -> Iterator[str]:
    """Yield the other cells of a row after their column headers, without its name and what continues the cell."""
    named = match.row_path.split(SEPARATOR)
    for column, text in match.row:
        if column and text and text not in named and text not in match.value and column != match.col_path:
            yield f"{innermost_header(column).rstrip(HEADER_END)}: {text}"


def find_aptness_signals(
    match: CellMatch, question: Question, entry: TableEntry, *, tables: TableCatalogue
) -> dict[str, float]:
    """Compute the signals from which the probability that a question asks for a cell is estimated.

    Args:
        match: The cell.
        question: Parsed question.
        entry: Table of the cell.
        tables: Tables of the corpus.

    Returns:
        Signals from 0 to 1 by name: `fit` of the headers; `anchored`, the share of the question's words in its row,
        column, title and heading; `pinned`, whether a header names a number, a status or a state of the question; `row`
        and `column`, whether a word of the question distinguishes it; `length` of the value.
    """
    unknown = load_table_lookup().weights.unknown_word
    row, column = entry.row_header(match.cell), entry.headers[match.col_path]
    rarity = {word: tables.rarity.get(word, unknown) for word in question.words}
    total = sum(rarity.values())
    printed = row.words | column.words | entry.title_words | find_words(entry.context.headings.rpartition(SEPARATOR)[2])
    wanted = question.words | question.lay_words
    is_listed = bool(question.states) and not find_states(match.row_path).isdisjoint(question.states)
    return {
        "fit": match.score,
        "anchored": sum(rarity[word] for word in question.words & printed) / total if total else 1.0,
        "pinned": float(is_listed or _is_pinned(question, row) or _is_pinned(question, column)),
        "row": float(not (row.words - entry.common_words - entry.title_words).isdisjoint(wanted)),
        "column": float(not (column.words - entry.title_words).isdisjoint(wanted)),
        "length": min(1.0, len(match.value.split()) / load_table_lookup().aptness.long_value),
    }


def _is_pinned(question: Question, header: Header) -> bool:
    """Return whether a header names a status, a period, a year or a number of the question, or a range around it."""
    if any(header.facets.get(facet, frozenset()) & values for facet, values in question.facets.items()):
        return True
    if not header.months.isdisjoint(question.words):
        return True
    numbers = [*question.numbers, *(Number(float(year)) for year in question.years)]
    return any(can_mean(number, found, nouns) for found, nouns in header.ranges for number in numbers)


def _covers_years(question: Question, entry: TableEntry, match: CellMatch) -> bool:
    """Return whether a table is of a year of the question: its document's, one that it prints, or one named with it."""
    if not question.years or not entry.context.years:
        return True
    printed = (*entry.row_header(match.cell).years, *entry.headers[match.col_path].years, *entry.outer_years)
    ranges = [*printed, *(found for own in entry.mentioned_years for found in own)]
    numbers = [Number(float(year)) for year in question.years]
    if any(year in entry.context.years for year in question.years):
        return True
    return any(found.holds(number) for found in ranges for number in numbers)
