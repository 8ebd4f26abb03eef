"""Quote table cells in answers: the cell that leads the ranking, and cells of the first tables whose headers fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from taxkg_assets.retrieval.answering.table_rows import find_headers, find_row, read_row
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.ranking.rerank import score_overlap
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, find_row_of_cell, find_table_cells
from taxkg_assets.retrieval.tables.table_question import find_states
from taxkg_assets.retrieval.tables.table_request import find_requested_cells
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.models.table_lookup import load_table_lookup

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def quote_table_cells(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result], may_open_answer: bool
) -> list[Unit]:
    """Quote the cells that the question asks for, except the cell that leads the ranking.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first, including those that `add_tables` added.
        may_open_answer: True for cells with which an answer may open, False for cells that follow its sentences.

    Returns:
        Units of the best-fitting tables, best first, each cell with its headers and its row.
    """
    limits, units = load_answers().tables, list[Unit]()
    leading_cell = ranking.cell if quote_cell(ranking, results[0]) else ""
    for matches in _find_cells(searcher, question, ranking):
        if matches[0].may_open_answer is not may_open_answer:
            continue
        max_cells = len(matches) if matches[0].assumes_status else limits.cells
        match_results = [(match, _find_result(match, results, searcher.passages)) for match in matches]
        quotable = [(match, result) for match, result in match_results if result is not None][:max_cells]
        for match, result in quotable:
            if match.words != leading_cell:
                units += _quote_match(match, result, ranking, facts=searcher.passages)
    return units


def _quote_match(match: CellMatch, result: Result, ranking: Ranking, *, facts: PassageFacts) -> list[Unit]:
    """Quote a cell with its row; of a row for a filing status only the cell, as the rows of all statuses are quoted."""
    piece = Piece(role="cell", text=match.words, chunk_id=result.chunk_id, node_id=result.node_id)
    heading = result.heading_path.rpartition(" > ")[2]
    names = [*([] if match.title else [heading]), *_name_edition(match.words, result, ranking)]
    label = [Piece(role="label", text=", ".join(names), chunk_id=result.chunk_id)] if names else []
    row_units = [] if match.assumes_status else quote_row(match.words, result, facts)
    other_cells = () if row_units or match.assumes_status else match.other_cells
    other_pieces = [piece.model_copy(update={"text": f"— {text}"}) for text in other_cells]
    return [Unit(rank=result.rank, label=heading, pieces=[*label, piece, *other_pieces]), *row_units]


def add_tables(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> list[Result]:
    """Replace the last passages by those that print requested cells that no passage prints yet.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.

    Returns:
        As many passages as before; the first ones, which an answer quotes, are never replaced.
    """
    facts, new_results = searcher.passages, list(results)
    matches = [group[0] for group in _find_cells(searcher, question, ranking)]
    unprinted = [match for match in matches if _find_result(match, results, facts) is None]
    replaceable_ixs = range(load_answers().passages, len(new_results))
    for result_ix, match in zip(reversed(replaceable_ixs), reversed(unprinted), strict=False):
        row = find_row_of_cell(match, facts=facts)
        if row is None:
            continue
        candidate = next((other for other in ranking.candidates if other.row == row), None)
        candidate = candidate or next(
            other for other in ranking.candidates if facts.tables.get(other.row) == match.table_id
        )
        assembled = searcher.assemble(replace(ranking, candidates=(replace(candidate, row=row),)), k=1)
        new_results[result_ix] = assembled[0].model_copy(update={"rank": result_ix + 1})
    return new_results


def find_aptness(searcher: Searcher, question: str, ranking: Ranking) -> float:
    """Return the highest probability that the question asks for one of the matching cells; 0 without a match.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
    """
    return max((matches[0].aptness for matches in _find_cells(searcher, question, ranking)), default=0.0)


def find_quoted_states(searcher: Searcher, question: str, ranking: Ranking) -> frozenset[str]:
    """Find the states whose rows an answer quotes from a list by state, such as mailing addresses.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.

    Returns:
        Ids of the states in the rules `router.places`.
    """
    row_paths = (match.row_path for matches in _find_cells(searcher, question, ranking) for match in matches)
    return frozenset().union(*map(find_states, row_paths))


def find_quoted_tables(searcher: Searcher, question: str, ranking: Ranking) -> frozenset[str]:
    """Find the tables that probably contain the requested cell; their other rows answer other questions.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.

    Returns:
        Ids of tables.
    """
    min_aptness = load_table_lookup().aptness.leading
    best_matches = (matches[0] for matches in _find_cells(searcher, question, ranking))
    return frozenset(match.table_id for match in best_matches if match.aptness >= min_aptness)


def _find_cells(searcher: Searcher, question: str, ranking: Ranking) -> list[list[CellMatch]]:
    if searcher.tables is None or not searcher.parts.cells:
        return []
    return find_requested_cells(question, ranking, tables=searcher.tables, facts=searcher.passages)


def _find_result(match: CellMatch, results: Sequence[Result], facts: PassageFacts) -> Result | None:
    """Return the first passage that prints the row of a cell, as a long table is printed by several passages."""
    row = find_row_of_cell(match, facts=facts)
    chunk = None if row is None else facts.columns["chunk_id"][row]
    return next((result for result in results if chunk in result.via.chunk_ids), None)


def quote_cell(ranking: Ranking, result: Result) -> list[Unit]:
    """Quote the cell that leads the ranking, unless the question asks for a number and the cell has none.

    Args:
        ranking: Ranking of the question.
        result: First passage, which prints the cell.

    Returns:
        One unit; empty where no cell leads the ranking, or the cell is no answer.
    """
    value = ranking.cell.rpartition(": ")[2]
    prints_figure = load_answers().values.matches(value)
    if not ranking.cell or (ranking.route.wants_amount and not prints_figure):
        return []
    piece = Piece(role="cell", text=ranking.cell, chunk_id=result.chunk_id, node_id=result.node_id)
    edition = _name_edition(ranking.cell, result, ranking)
    labels = [Piece(role="label", text=edition_name, chunk_id=result.chunk_id) for edition_name in edition]
    return [Unit(rank=1, label=result.heading_path.rpartition(" > ")[2], pieces=[*labels, piece])]


def _name_edition(words: str, result: Result, ranking: Ranking) -> list[str]:
    """Return the form and edition of a cell as a list of one name; empty if the question or the cell names a year."""
    if ranking.route.years or _YEAR.search(words) or not result.revision:
        return []
    return [f"{result.form} {result.revision}".strip()]


def quote_equal_cells(searcher: Searcher, question: str, ranking: Ranking, *, result: Result) -> list[Unit]:
    """Quote the other cells of the leading table whose headers fit the question as well as those of the leading cell.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        result: First passage, which prints the leading cell.

    Returns:
        Units of these cells; empty where the headers of the leading cell fit best.
    """
    table_id = searcher.passages.tables.get(ranking.candidates[0].row)
    if searcher.tables is None or table_id is None:
        return []
    matches_by_table = find_table_cells(question, searcher.tables, tables=[table_id], forms=ranking.route.forms)
    matches = matches_by_table[0][: load_answers().tables.cells] if matches_by_table else []
    if ranking.cell not in (match.words for match in matches):
        return []
    heading = result.heading_path.rpartition(" > ")[2]
    pieces = (
        Piece(role="cell", text=match.words, chunk_id=result.chunk_id, node_id=result.node_id)
        for match in matches
        if match.words != ranking.cell
    )
    return [Unit(rank=1, label=heading, pieces=[piece]) for piece in pieces]


def quote_row(cell: str, result: Result, facts: PassageFacts) -> list[Unit]:
    """Quote the whole row of a cell, each value after its column header, so that readers can verify the cell.

    Args:
        cell: Cell in words.
        result: Passage that prints the cell.
        facts: Columns of passages.

    Returns:
        One unit; empty where the row is uncertain or too long.
    """
    hit = facts.row_of_chunk[result.chunk_id]
    context = open_contexts([hit], facts)[hit]
    lines = context.lines_by_row[hit]
    row_line = find_row(lines, cell) if facts.is_table[hit] else None
    if row_line is None:
        return []
    headers = [header.rpartition(" > ")[2] for header in find_headers(lines, row_line) or ()]
    text = read_row(headers, row_line.text)
    if len(text.split()) > load_answers().tables.row_words:
        return []
    piece = Piece(role="row", text=text, chunk_id=result.chunk_id, node_id=context.node(row_line))
    return [Unit(rank=result.rank, label=result.heading_path.rpartition(" > ")[2], pieces=[piece])]


def covers_question(ranking: Ranking) -> bool:
    """Return whether a cell with its headers covers enough of the question to be the whole answer.

    Args:
        ranking: Ranking of the question, with the cell that leads it.
    """
    share = score_overlap(ranking.query_term_idf, frozenset(find_terms(ranking.cell)))
    return bool(share >= load_answers().cell_share)
