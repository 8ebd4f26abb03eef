"""Promotion of the unit that prints the requested table cell over what was ranked by words and meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.retrieval.tables.table_aptness import rate_cell
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, find_cells, find_unit, score_shares, score_tables
from taxkg_assets.retrieval.tables.table_question import asks_for_date, is_date
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets.rules.models.table_lookup import load_table_lookup


def requests_table_cell(query: str, ranking: Ranking, *, index_context: IndexContext) -> bool:
    """Return whether a question may ask for a table value, and a table is among its top candidates.

    False for yes-or-no questions, and for questions that name a box and do not ask for an amount.

    Args:
        query: The user's question.
        ranking: Ranking of the question.
        index_context: Context of the index.
    """
    if not may_request_cell(query, ranking.route):
        return False
    leaders = ranking.candidates[: load_ranking().cells.candidates]
    return any(index_context.passages.is_table[candidate.row] for candidate in leaders)


def may_request_cell(query: str, route: Route) -> bool:
    """Return whether a question may ask for a table value, not for an explanation or a yes or no.

    Args:
        query: Words of the user.
        route: Route of the question.
    """
    is_closed = any(rule.pattern.search(query) for rule in load_ranking().yes_or_no)
    return route.wants_amount or not (route.keys or is_closed)


def promote_table_cell(query: str, ranking: Ranking, *, tables: TableCatalogue, index_context: IndexContext) -> Ranking:
    """Move the row that prints the requested cell to the top of the ranking if its headers identify it clearly.

    Args:
        query: The user's question.
        ranking: Ranking of the question.
        tables: Tables of the corpus.
        index_context: Context of the index.

    Returns:
        New ranking with the cell in words as `cell`; the same ranking where no cell is certain.
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
    row = find_unit(match, facts=index_context.passages)
    return ranking if row is None else _lead_with(ranking, row, match, facts=index_context.passages)


def take_newest_edition(
    matches: Sequence[CellMatch], *, tables: TableCatalogue, shares: Mapping[str, float]
) -> CellMatch:
    """Of the cells whose headers equal those of the best match, return the one from the newest document.

    Args:
        matches: Cells, best first.
        tables: Tables of the corpus.
        shares: Score of each table among the candidates; other tables are considered only if none of these has the
            cell.
    """
    first = matches[0]
    alike = [match for match in matches if (match.row_path, match.col_path) == (first.row_path, first.col_path)]
    found = [own for own in alike if own.table_id in shares] or [first]
    return max(found, key=lambda own: max(tables.by_id[own.table_id].context.years, default=0))


def _lead_with(ranking: Ranking, row: int, match: CellMatch, *, facts: PassageFacts) -> Ranking:
    """Put the unit that prints a cell first; of a long table another unit may be the one that was found.

    Returns:
        New ranking; the same one where no unit of the table is a candidate.
    """
    candidates, limits = ranking.candidates, load_ranking().cells
    places = [place for place, candidate in enumerate(candidates) if candidate.row == row]
    nearest = places or [
        place for place, candidate in enumerate(candidates) if facts.tables.get(candidate.row) == match.table_id
    ]
    if not nearest:
        return ranking
    order = [nearest[0], *(place for place in range(len(candidates)) if place not in places)]
    own = replace(candidates[nearest[0]], row=row, score=candidates[0].score)
    return replace(
        ranking,
        candidates=(own, *(candidates[place] for place in order[1:])),
        features={name: values[order] for name, values in ranking.features.items()},
        cell=match.words if match.leads and len(match.value.split()) <= limits.most_words else "",
    )
