"""Promotion of the unit that prints the requested table cell over what was ranked by words and meaning."""

from __future__ import annotations

from dataclasses import replace

from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue
from taxkg_assets.retrieval.tables.table_lookup import find_cells, find_unit, score_tables
from taxkg_assets.rules.loader import load_rules
from taxkg_assets.rules.models.ranking import load_ranking


def requests_table_cell(query: str, ranking: Ranking, *, index_context: IndexContext) -> bool:
    """Return whether a table is among the top candidates, and the question could ask for a value in it.

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
    """Return whether a question may request a figure of a table: not an explanation of a box, not a yes or no.

    Args:
        query: Words of the user.
        route: Route of the question.
    """
    is_closed = any(rule.pattern.search(query) for rule in load_rules("ranking", "yes_or_no"))
    return route.wants_amount or not (route.keys or is_closed)


def promote_table_cell(query: str, ranking: Ranking, *, tables: TableCatalogue, index_context: IndexContext) -> Ranking:
    """Move the unit that prints the requested cell to the top, where headers identify it beyond doubt.

    Args:
        query: The user's question.
        ranking: Ranking of the question.
        tables: Tables of the corpus.
        index_context: Context of the index.

    Returns:
        New ranking with the cell in words as `cell`; the same ranking where no cell is sure.
    """
    matches = find_cells(
        query,
        tables,
        k=1,
        forms=ranking.route.forms,
        names_place=bool(ranking.route.places),
        priors=score_tables(ranking, facts=index_context.passages),
    )
    limits = load_ranking().cells
    least = limits.least_score if ranking.route.wants_amount else limits.least_unasked
    if not matches or matches[0].score < least:
        return ranking
    row = find_unit(matches[0], facts=index_context.passages)
    places = [place for place, candidate in enumerate(ranking.candidates) if candidate.row == row]
    if not places:
        return ranking
    order = [*places, *(place for place in range(len(ranking.candidates)) if place not in places)]
    own = replace(ranking.candidates[places[0]], score=ranking.candidates[0].score)
    return replace(
        ranking,
        candidates=(own, *(ranking.candidates[place] for place in order[1:])),
        features={name: values[order] for name, values in ranking.features.items()},
        cell=matches[0].words if len(matches[0].value.split()) <= limits.most_words else "",
    )
