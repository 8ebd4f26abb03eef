"""Cells that a question requests, in the tables among the candidates of a search."""

from __future__ import annotations

from collections.abc import Collection

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.retrieval.tables.table_aptness import rate_cell
from taxkg_assets.retrieval.tables.table_boost import may_request_cell
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, find_table_cells, list_statuses, score_shares
from taxkg_assets.retrieval.tables.table_scores import score_entry_form
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.models.table_lookup import load_table_lookup


def find_requested_cells(
    question: str, ranking: Ranking, *, tables: TableCatalogue, facts: PassageFacts
) -> list[list[CellMatch]]:
    """Find the requested cells in the top-ranked tables of a question.

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
        (question, ranking.route.forms, tuple(candidate.row for candidate in ranking.candidates)),
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
        found = [matches for matches in found if not load_answers().values.matches(matches[0].value)]
    shares = score_shares(ranking, facts=facts)
    rated = [
        [rate_cell(match, question, tables=tables, share=shares.get(match.table_id, 0.0)) for match in matches]
        for matches in found
    ]
    least = load_table_lookup().aptness.least
    rated = _prefer_requested_form([own for own in rated if own[0].aptness >= least], ranking.route.forms, tables)
    rated = sorted(
        rated,
        key=lambda matches: (-matches[0].aptness, matches[0].table_id),
    )
    return [matches for matches in rated if matches[0].aptness >= rated[0][0].aptness - limits.within][: limits.most]


def _prefer_requested_form(
    rated: list[list[CellMatch]], forms: Collection[str], tables: TableCatalogue
) -> list[list[CellMatch]]:
    """Leave out tables that do not name the form of the question where a table of that form answers, too."""
    shares = [score_entry_form(frozenset(forms), tables.by_id[own[0].table_id]) for own in rated]
    if 1.0 not in shares:
        return rated
    return [own for own, share in zip(rated, shares, strict=True) if share > 0]


def _list_tables(ranking: Ranking, facts: PassageFacts) -> list[str]:
    """Return the first tables among the candidates."""
    limits = load_answers().tables
    rows = (candidate.row for candidate in ranking.candidates[: limits.candidates])
    found = (facts.tables.get(row) for row in rows)
    return list(dict.fromkeys(table_id for table_id in found if table_id is not None))[: limits.read]
