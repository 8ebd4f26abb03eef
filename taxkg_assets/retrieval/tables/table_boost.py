"""Move the passage with the requested table cell to the top of a ranking by words and meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.retrieval.tables.table_aptness import rate_cell
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue
from taxkg_assets.retrieval.tables.table_lookup import (
    CellMatch,
    find_cells,
    find_row_of_cell,
    score_shares,
    score_tables,
)
from taxkg_assets.retrieval.tables.table_question import asks_for_date, is_date
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets.rules.models.table_lookup import load_table_lookup


def requests_table_cell(query: str, ranking: Ranking, *, index_context: IndexContext) -> bool:
    """Return whether a question may ask for a table value, and a table is among its top candidates.

    Args:
        query: The user's question.
        ranking: Ranking of the question.
        index_context: Context of the index.
    """
    if not may_request_cell(query, ranking.route):
        return False
    top_candidates = ranking.candidates[: load_ranking().cells.candidates]
    return any(index_context.passages.is_table[candidate.row] for candidate in top_candidates)


def may_request_cell(query: str, route: Route) -> bool:
    """Return whether a question may ask for a table value.

    False for yes-or-no questions, and for questions that name a box or line and do not ask for an amount.

    Args:
        query: Words of the user.
        route: Route of the question.
    """
    is_yes_or_no = any(rule.pattern.search(query) for rule in load_ranking().yes_or_no)
    return route.wants_amount or not (route.keys or is_yes_or_no)


def promote_table_cell(query: str, ranking: Ranking, *, tables: TableCatalogue, index_context: IndexContext) -> Ranking:
    """Move the row that prints the requested cell to the top of the ranking if its headers identify it clearly.

    Args:
        query: The user's question.
        ranking: Ranking of the question.
        tables: Tables of the corpus.
        index_context: Context of the index.

    Returns:
        New ranking with the cell in words as `cell`; the given ranking where no cell is certain.
    """
    matches = find_cells(
        query,
        tables,
        k=load_ranking().cells.alike,
        forms=ranking.route.forms,
        names_place=bool(ranking.route.places),
        priors=score_tables(ranking, facts=index_context.passages),
    )
    limits = load_ranking().cells
    if not matches or matches[0].assumes_status:
        return ranking
    is_requested = ranking.route.wants_amount or (is_date(matches[0].value) and asks_for_date(query))
    if matches[0].score < (limits.least_score if is_requested else limits.least_unasked):
        return ranking
    shares = score_shares(ranking, facts=index_context.passages)
    match = matches[0] if ranking.route.years else take_newest_edition(matches, tables=tables, shares=shares)
    match = rate_cell(match, query, tables=tables, share=shares.get(match.table_id, 0.0))
    if match.aptness < load_table_lookup().aptness.leading:
        return ranking
    row = find_row_of_cell(match, facts=index_context.passages)
    return ranking if row is None else _promote_row(ranking, row, match, facts=index_context.passages)


def take_newest_edition(
    matches: Sequence[CellMatch], *, tables: TableCatalogue, shares: Mapping[str, float]
) -> CellMatch:
    """Return the cell of the newest document among the cells with the same headers as the best match.

    Args:
        matches: Cells, best first.
        tables: Tables of the corpus.
        shares: Score of each table that is among the candidates. A cell of another table is returned only if no such
            table has one.
    """
    best = matches[0]
    same_headers = [match for match in matches if (match.row_path, match.col_path) == (best.row_path, best.col_path)]
    among_candidates = [match for match in same_headers if match.table_id in shares] or [best]
    return max(among_candidates, key=lambda match: max(tables.by_id[match.table_id].context.years, default=0))


def _promote_row(ranking: Ranking, row: int, match: CellMatch, *, facts: PassageFacts) -> Ranking:
    """Put the index row that prints a cell first.

    Where the row is no candidate itself, it takes the values of the first candidate row of its table.

    Returns:
        New ranking; the given one where no row of the table is a candidate.
    """
    candidates, limits = ranking.candidates, load_ranking().cells
    ranks = [rank for rank, candidate in enumerate(candidates) if candidate.row == row]
    table_ranks = ranks or [
        rank for rank, candidate in enumerate(candidates) if facts.tables.get(candidate.row) == match.table_id
    ]
    if not table_ranks:
        return ranking
    order = [table_ranks[0], *(rank for rank in range(len(candidates)) if rank not in ranks)]
    promoted = replace(candidates[table_ranks[0]], row=row, score=candidates[0].score)
    return replace(
        ranking,
        candidates=(promoted, *(candidates[rank] for rank in order[1:])),
        features={name: values[order] for name, values in ranking.features.items()},
        cell=match.words if match.may_open_answer and len(match.value.split()) <= limits.most_words else "",
    )
