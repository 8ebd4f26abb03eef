"""Probability that a question asks for a table cell: every question has a best cell, but few ask for one."""

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
        match: Best-matching cell of its table.
        question: Words of the user.
        tables: Tables of the corpus.
        share: Score of its table in the ranking of passages, divided by that of the first passage.

    Returns:
        The match with three values set: `aptness`, the probability, which is 0 for a made-up example, for another year,
        and for a row that the question does not select; `may_open_answer`; and `other_cells` of the row, if the
        question selects no column.
    """
    parsed, entry = read_table_question(question, tables), tables.by_id[match.table_id]
    signals = find_aptness_signals(match, parsed, entry, tables=tables) | {"share": share}
    limits = load_table_lookup().aptness
    logit = limits.bias + sum(weight * signals[name] for name, weight in limits.weights.items())
    selects_row = match.assumes_status or max(signals["pinned"], signals["row"]) > 0
    is_other_case = entry.is_example or not selects_row or not _covers_years(parsed, entry, match)
    aptness = 0.0 if is_other_case else 1 / (1 + math.exp(-logit))
    may_open_answer = aptness >= limits.leading and signals["anchored"] >= limits.anchored
    selects_no_column = not signals["column"] and not _names_requested_value(parsed, entry.headers[match.col_path])
    other_cells = tuple(_list_others(match)) if selects_no_column else ()
    return replace(
        match,
        aptness=round(aptness, 4),
        may_open_answer=may_open_answer,
        other_cells=other_cells if len(other_cells) <= limits.others else (),
    )


def _list_others(match: CellMatch) -> Iterator[str]:
    """Yield "header: text" for the other cells of a row, except its name and cells that continue the value."""
    row_names = match.row_path.split(SEPARATOR)
    for column, text in match.row:
        if column and text and text not in row_names and text not in match.value and column != match.col_path:
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
        Signals from 0 to 1 by name:

        - `fit`: how well the cell's headers match the question.
        - `anchored`: share of the question's words in the cell's row, column, title and heading, by rarity.
        - `pinned`: 1 if a header names a number, a status or a state of the question.
        - `row`: 1 if a word of the question distinguishes the row from others.
        - `column`: 1 if a word of the question is in the column header and not in the title.
        - `length`: length of the value.
    """
    unknown = load_table_lookup().weights.unknown_word
    row, column = entry.row_header(match.cell), entry.headers[match.col_path]
    rarity = {word: tables.rarity.get(word, unknown) for word in question.words}
    total_rarity = sum(rarity.values())
    table_words = (
        row.words | column.words | entry.title_words | find_words(entry.context.headings.rpartition(SEPARATOR)[2])
    )
    question_words = question.words | question.lay_words
    names_state = bool(question.states) and not find_states(match.row_path).isdisjoint(question.states)
    return {
        "fit": match.score,
        "anchored": sum(rarity[word] for word in question.words & table_words) / total_rarity if total_rarity else 1.0,
        "pinned": float(
            names_state or _names_requested_value(question, row) or _names_requested_value(question, column)
        ),
        "row": float(not (row.words - entry.common_words - entry.title_words).isdisjoint(question_words)),
        "column": float(not (column.words - entry.title_words).isdisjoint(question_words)),
        "length": min(1.0, len(match.value.split()) / load_table_lookup().aptness.long_value),
    }


def _names_requested_value(question: Question, header: Header) -> bool:
    """Return whether a header names a status, month, year or number of the question, or a range around one."""
    if any(header.facets.get(facet, frozenset()) & values for facet, values in question.facets.items()):
        return True
    if not header.months.isdisjoint(question.words):
        return True
    numbers = [*question.numbers, *(Number(float(year)) for year in question.years)]
    return any(can_mean(number, header_range, nouns) for header_range, nouns in header.ranges for number in numbers)


def _covers_years(question: Question, entry: TableEntry, match: CellMatch) -> bool:
    """Return whether a table covers a year of the question, by its document, headers or sentences that mention it."""
    if not question.years or not entry.context.years:
        return True
    header_ranges = (*entry.row_header(match.cell).years, *entry.headers[match.col_path].years, *entry.outer_years)
    ranges = [
        *header_ranges,
        *(year_range for sentence_ranges in entry.mentioned_years for year_range in sentence_ranges),
    ]
    numbers = [Number(float(year)) for year in question.years]
    if any(year in entry.context.years for year in question.years):
        return True
    return any(year_range.holds(number) for year_range in ranges for number in numbers)
