"""Cells of tables in answers: the one that leads the ranking, and those of the tables among the first passages."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.retrieval.answering.table_rows import find_headers, find_row, read_row
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.lines import open_contexts
from taxkg_assets.retrieval.ranking.rerank import score_overlap
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.retrieval.tables.table_boost import may_request_cell
from taxkg_assets.retrieval.tables.table_lookup import find_table_cells, find_unit
from taxkg_assets.rules.anchored_search import matches_any
from taxkg_assets.rules.models.answers import load_answers


def quote_table_cells(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> list[Unit]:
    """Quote the cells of the tables among some passages that the question requests, as far as their headers fit.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first.

    Returns:
        Units of the best-fitting tables, best first, each cell with its headers and its row.
    """
    facts, limits = searcher.passages, load_answers().tables
    shown: dict[str, Result] = {}
    for result in results:
        table_id = facts.tables.get(facts.row_of_chunk[result.chunk_id])
        if table_id is not None:
            shown.setdefault(table_id, result)
    if not shown or searcher.tables is None or not may_request_cell(question, ranking.route):
        return []
    found = find_table_cells(question, searcher.tables, tables=list(shown), forms=ranking.route.forms)
    rows = {id(own): find_unit(own, facts=facts) for matches in found for own in matches}
    found = [[own for own in matches if _prints(shown[own.table_id], rows[id(own)], facts)] for matches in found]
    found = [own for own in found if own]
    found = sorted((own for own in found if own[0].score >= limits.least_score), key=lambda own: -own[0].score)
    units: list[Unit] = []
    for match in [match for own in found[: limits.most] for match in own[: limits.cells]]:
        result = shown[match.table_id]
        piece = Piece(role="cell", text=match.words, chunk_id=result.chunk_id, node_id=result.node_id)
        label = result.heading_path.rpartition(" > ")[2]
        title = [] if match.title else [Piece(role="label", text=label, chunk_id=result.chunk_id)]
        units += [Unit(rank=result.rank, label=label, pieces=[*title, piece])]
        units += quote_row(match.words, result, facts)
    return units


def _prints(result: Result, row: int | None, facts: PassageFacts) -> bool:
    """Return whether a passage contains a row of the index: a long table is several."""
    return row is not None and facts.columns["chunk_id"][row] in result.via.chunk_ids


def quote_cell(ranking: Ranking, result: Result) -> list[Unit]:
    """Quote the cell that leads the ranking; a question for a figure gets no other value.

    Args:
        ranking: Ranking of the question.
        result: First passage, which prints the cell.

    Returns:
        One unit, or none where no such cell leads.
    """
    value = ranking.cell.rpartition(": ")[2]
    prints_figure = matches_any("answers", "values", value)
    if not ranking.cell or (ranking.route.wants_amount and not prints_figure):
        return []
    piece = Piece(role="cell", text=ranking.cell, chunk_id=result.chunk_id, node_id=result.node_id)
    return [Unit(rank=1, label=result.heading_path.rpartition(" > ")[2], pieces=[piece])]


def quote_row(cell: str, result: Result, facts: PassageFacts) -> list[Unit]:
    """Quote the row of a cell, each value with its column header: its other values show which one was read.

    Args:
        cell: Cell in words.
        result: Passage that prints it.
        facts: Columns of passages.

    Returns:
        One unit; none where the row is unsure or too long.
    """
    hit = facts.row_of_chunk[result.chunk_id]
    context = open_contexts([hit], facts)[hit]
    lines = context.of_row[hit]
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
