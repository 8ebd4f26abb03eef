"""Cells that a question requests, in the tables among the candidates of a search."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.retrieval.tables.table_boost import may_request_cell
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, find_table_cells, list_statuses
from taxkg_assets.rules.anchored_search import matches_any
from taxkg_assets.rules.models.answers import load_answers


def find_requested_cells(
    question: str, ranking: Ranking, *, tables: TableCatalogue, facts: PassageFacts
) -> list[list[CellMatch]]:
    """Find the cells that a question requests in the first tables among the candidates, as far as their headers fit.

    Args:
        question: Words of the user.
        ranking: Ranking of the question.
        tables: Tables of the corpus.
        facts: Columns of passages.

    Returns:
        Matches of the best-fitting tables, best first, each table's best match first; none where no headers fit.
    """
    if ranking.route.keys and not ranking.route.wants_amount:
        return []
    return tables.remember(
        (question, ranking.route.forms, tuple(own.row for own in ranking.candidates)),
        lambda: _choose_cells(question, ranking, tables=tables, facts=facts),
    )


def _choose_cells(
    question: str, ranking: Ranking, *, tables: TableCatalogue, facts: PassageFacts
) -> list[list[CellMatch]]:
    limits = load_answers().tables
    found = find_table_cells(question, tables, tables=_list_tables(ranking, facts), forms=ranking.route.forms)
    is_closed = not may_request_cell(question, ranking.route)
    least = limits.least_closed if is_closed else limits.least_score
    found = [
        list_statuses(matches[0], tables.by_id[matches[0].table_id]) if matches[0].assumes_status else matches
        for matches in found
        if matches[0].score >= least
    ]
    found = [matches for matches in found if matches]
    if is_closed:  # words answer a question for yes or no, a figure does not
        found = [matches for matches in found if not matches_any("answers", "values", matches[0].value)]
    best = ranking.candidates[0].score if ranking.candidates else 0.0
    shares = {table_id: score / best for table_id, score in _score_tables(ranking, facts).items() if best > 0}

    def rate(matches: Sequence[CellMatch]) -> float:
        return (matches[0].score + shares.get(matches[0].table_id, 0.0)) / 2

    found = sorted(
        (matches for matches in found if rate(matches) >= limits.least_rate),
        key=lambda matches: (-rate(matches), matches[0].table_id),
    )
    return [matches for matches in found if rate(matches) >= rate(found[0]) - limits.within][: limits.most]


def _score_tables(ranking: Ranking, facts: PassageFacts) -> dict[str, float]:
    """Return the best score of a candidate of each table."""
    scores: dict[str, float] = {}
    for own in ranking.candidates:
        if (table_id := facts.tables.get(own.row)) is not None:
            scores[table_id] = max(scores.get(table_id, own.score), own.score)
    return scores


def _list_tables(ranking: Ranking, facts: PassageFacts) -> list[str]:
    """Return the first tables among the candidates."""
    limits = load_answers().tables
    rows = (candidate.row for candidate in ranking.candidates[: limits.candidates])
    found = (facts.tables.get(row) for row in rows)
    return list(dict.fromkeys(table_id for table_id in found if table_id is not None))[: limits.read]
