"""Cells of tables in answers: the one that leads the ranking, and those that headers fit among the first tables."""

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
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result], leads: bool
) -> list[Unit]:
    """Quote the cells that the question asks for, besides the one that leads the answer.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first; those of `add_tables` among them.
        leads: True for the cells that may open an answer, False for those that only follow its sentences.

    Returns:
        Units of the best-fitting tables, best first, each cell with its headers and its row.
    """
    limits, units = load_answers().tables, list[Unit]()
    leading = ranking.cell if quote_cell(ranking, results[0]) else ""
    for matches in (group for group in _find_cells(searcher, question, ranking) if group[0].may_open_answer is leads):
        shown = [(own, _find_result(own, results, searcher.passages)) for own in matches]
        most = len(shown) if matches[0].assumes_status else limits.cells
        printed = [(own, result) for own, result in shown if result is not None][:most]
        for match, result in [pair for pair in printed if pair[0].words != leading]:
            piece = Piece(role="cell", text=match.words, chunk_id=result.chunk_id, node_id=result.node_id)
            label = result.heading_path.rpartition(" > ")[2]
            named = [] if match.title else [label]
            named += _name_edition(match.words, result, ranking)
            title = [Piece(role="label", text=", ".join(named), chunk_id=result.chunk_id)] if named else []
            row = [] if match.assumes_status else quote_row(match.words, result, searcher.passages)
            others = () if row or match.assumes_status else match.other_cells
            more = [piece.model_copy(update={"text": f"— {text}"}) for text in others]
            units += [Unit(rank=result.rank, label=label, pieces=[*title, piece, *more]), *row]
    return units


def add_tables(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> list[Result]:
    """Replace the last passages by those that print the requested cells, if no passage prints them yet.

    The first passages, which an answer quotes, stay.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.

    Returns:
        As many passages; the first ones, which an answer quotes, stay.
    """
    facts, found = searcher.passages, list(results)
    matches = [group[0] for group in _find_cells(searcher, question, ranking)]
    missing = [own for own in matches if _find_result(own, results, facts) is None]
    free = range(load_answers().passages, len(found))
    for place, match in zip(reversed(free), reversed(missing), strict=False):
        row = find_row_of_cell(match, facts=facts)
        if row is None:
            continue
        near = next((candidate for candidate in ranking.candidates if candidate.row == row), None)
        near = near or next(
            candidate for candidate in ranking.candidates if facts.tables.get(candidate.row) == match.table_id
        )
        shown = searcher.assemble(replace(ranking, candidates=(replace(near, row=row),)), k=1)
        found[place] = shown[0].model_copy(update={"rank": place + 1})
    return found


def find_aptness(searcher: Searcher, question: str, ranking: Ranking) -> float:
    """Return the highest probability that a quoted cell is what the question asks for; 0 without a quoted cell.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
    """
    return max((matches[0].aptness for matches in _find_cells(searcher, question, ranking)), default=0.0)


def find_listed_places(searcher: Searcher, question: str, ranking: Ranking) -> frozenset[str]:
    """Find the states whose rows an answer quotes from a list of addresses or rates by state.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.

    Returns:
        Ids of the rules of `router.places`.
    """
    rows = (match.row_path for matches in _find_cells(searcher, question, ranking) for match in matches)
    return frozenset().union(*map(find_states, rows))


def find_quoted_tables(searcher: Searcher, question: str, ranking: Ranking) -> frozenset[str]:
    """Find the tables that probably contain the requested cell; their other rows answer other questions.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.

    Returns:
        Ids of tables.
    """
    least = load_table_lookup().aptness.leading
    found = (matches[0] for matches in _find_cells(searcher, question, ranking))
    return frozenset(match.table_id for match in found if match.aptness >= least)


def _find_cells(searcher: Searcher, question: str, ranking: Ranking) -> list[list[CellMatch]]:
    if searcher.tables is None or not searcher.parts.cells:
        return []
    return find_requested_cells(question, ranking, tables=searcher.tables, facts=searcher.passages)


def _find_result(match: CellMatch, results: Sequence[Result], facts: PassageFacts) -> Result | None:
    """Return the first passage that prints the row of a cell: a long table is several."""
    row = find_row_of_cell(match, facts=facts)
    chunk = None if row is None else facts.columns["chunk_id"][row]
    return next((result for result in results if chunk in result.via.chunk_ids), None)


def quote_cell(ranking: Ranking, result: Result) -> list[Unit]:
    """Quote the cell that leads the ranking, unless the question asks for a number and the cell has none.

    Args:
        ranking: Ranking of the question.
        result: First passage, which prints the cell.

    Returns:
        One unit, or none where no such cell leads.
    """
    value = ranking.cell.rpartition(": ")[2]
    prints_figure = load_answers().values.matches(value)
    if not ranking.cell or (ranking.route.wants_amount and not prints_figure):
        return []
    piece = Piece(role="cell", text=ranking.cell, chunk_id=result.chunk_id, node_id=result.node_id)
    edition = _name_edition(ranking.cell, result, ranking)
    title = [Piece(role="label", text=own, chunk_id=result.chunk_id) for own in edition]
    return [Unit(rank=1, label=result.heading_path.rpartition(" > ")[2], pieces=[*title, piece])]


def _name_edition(words: str, result: Result, ranking: Ranking) -> list[str]:
    """Return form and edition of a figure, unless the question names a year or the table prints one."""
    if ranking.route.years or _YEAR.search(words) or not result.revision:
        return []
    return [f"{result.form} {result.revision}".strip()]


def quote_alike(searcher: Searcher, question: str, ranking: Ranking, *, result: Result) -> list[Unit]:
    """Quote the other cells of the leading table whose headers fit the question equally well.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        result: First passage, which prints the leading cell.

    Returns:
        Units of other rows; none where the leading cell fits best.
    """
    table = searcher.passages.tables.get(ranking.candidates[0].row)
    if searcher.tables is None or table is None:
        return []
    found = find_table_cells(question, searcher.tables, tables=[table], forms=ranking.route.forms)
    matches = found[0][: load_answers().tables.cells] if found else []
    if ranking.cell not in (match.words for match in matches):
        return []
    label = result.heading_path.rpartition(" > ")[2]
    pieces = (
        Piece(role="cell", text=match.words, chunk_id=result.chunk_id, node_id=result.node_id)
        for match in matches
        if match.words != ranking.cell
    )
    return [Unit(rank=1, label=label, pieces=[piece]) for piece in pieces]


def quote_row(cell: str, result: Result, facts: PassageFacts) -> list[Unit]:
    """Quote the whole row of a cell, each value with its column header, so that readers can verify the cell.

    Args:
        cell: Cell in words.
        result: Passage that prints it.
        facts: Columns of passages.

    Returns:
        One unit; none where the row is unsure or too long.
    """
    hit = facts.row_of_chunk[result.chunk_id]
    context = open_contexts([hit], facts)[hit]
    lines = context.lines_by_row[hit]
    row = find_row(lines, cell) if facts.is_table[hit] else None
    if row is None:
        return []
    headers = [header.rpartition(" > ")[2] for header in find_headers(lines, row) or ()]
    text = read_row(headers, row.text)
    if len(text.split()) > load_answers().tables.row_words:
        return []
    piece = Piece(role="row", text=text, chunk_id=result.chunk_id, node_id=context.node(row))
    return [Unit(rank=result.rank, label=result.heading_path.rpartition(" > ")[2], pieces=[piece])]


def covers_question(ranking: Ranking) -> bool:
    """Return whether a cell with its headers covers enough of the question to be the whole answer.

    Args:
        ranking: Ranking of the question, with the cell that leads it.
    """
    share = score_overlap(ranking.query_term_idf, frozenset(find_terms(ranking.cell)))
    return bool(share >= load_answers().cell_share)
