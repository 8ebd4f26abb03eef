"""Find the cells that a question asks for in the top-ranked tables of a search."""

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
        Matches by table, best table first, each table's best match first; empty where no headers fit.
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
    """Return the matches that the question probably asks for, by table, each table's best match first."""
    limits = load_answers().tables
    matches_by_table = _list_good_matches(question, ranking, tables=tables, facts=facts)
    shares = score_shares(ranking, facts=facts)
    rated = [
        [rate_cell(match, question, tables=tables, share=shares.get(match.table_id, 0.0)) for match in matches]
        for matches in matches_by_table
    ]
    min_aptness = load_table_lookup().aptness.least
    apt = [matches for matches in rated if matches[0].aptness >= min_aptness]
    apt = _prefer_requested_form(apt, ranking.route.forms, tables)
    apt.sort(key=lambda matches: (-matches[0].aptness, matches[0].table_id))
    return [matches for matches in apt if matches[0].aptness >= apt[0][0].aptness - limits.within][: limits.most]


def _list_good_matches(
    question: str, ranking: Ranking, *, tables: TableCatalogue, facts: PassageFacts
) -> list[list[CellMatch]]:
    """Return the matches of the top tables whose headers fit well; of a row for a status, the rows of all statuses."""
    limits = load_answers().tables
    found = find_table_cells(question, tables, tables=_list_tables(ranking, facts), forms=ranking.route.forms)
    is_yes_or_no = not may_request_cell(question, ranking.route)
    min_score = limits.least_closed if is_yes_or_no else limits.least_score
    expanded = [
        list_statuses(matches[0], tables.by_id[matches[0].table_id]) if matches[0].assumes_status else matches
        for matches in found
        if matches[0].score >= min_score
    ]
    expanded = [matches for matches in expanded if matches]
    if is_yes_or_no:  # a cell of words may answer such a question, a figure does not
        return [matches for matches in expanded if not load_answers().values.matches(matches[0].value)]
    return expanded


def _prefer_requested_form(
    rated: list[list[CellMatch]], forms: Collection[str], tables: TableCatalogue
) -> list[list[CellMatch]]:
    """Leave out tables that do not name the question's form, if a table of that form has a match."""
    form_scores = [score_entry_form(frozenset(forms), tables.by_id[matches[0].table_id]) for matches in rated]
    if 1.0 not in form_scores:
        return rated
    return [matches for matches, form_score in zip(rated, form_scores, strict=True) if form_score > 0]


def _list_tables(ranking: Ranking, facts: PassageFacts) -> list[str]:
    """Return the ids of the first tables among the candidates."""
    limits = load_answers().tables
    rows = (candidate.row for candidate in ranking.candidates[: limits.candidates])
    table_ids = (facts.tables.get(row) for row in rows)
    return list(dict.fromkeys(table_id for table_id in table_ids if table_id is not None))[: limits.read]
