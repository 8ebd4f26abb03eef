"""Extractive answers: select the statements of the first passages that answer a question."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from taxkg_assets.retrieval.answering.code_list import list_codes
from taxkg_assets.retrieval.answering.comparisons import COMPARISON, find_compared_statements
from taxkg_assets.retrieval.answering.context import complete_lists
from taxkg_assets.retrieval.answering.editions import find_other_editions, name_editions
from taxkg_assets.retrieval.answering.statement_scores import (
    find_figures,
    find_key_statements,
    rank_statements,
    score_statements,
)
from taxkg_assets.retrieval.answering.statements import Statement, find_statements
from taxkg_assets.retrieval.answering.table_cells import (
    covers_question,
    find_quoted_tables,
    quote_cell,
    quote_equal_cells,
    quote_row,
    quote_table_cells,
)
from taxkg_assets.retrieval.answering.units import Draft, Piece, Unit, draft_unit, finish_unit, merge_drafts
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.retrieval.tables.table_question import is_for_other_status
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.sentences import find_sentences as find_sentence_ranges


def excerpt_answer(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> list[Unit]:
    """Quote the statements that answer a question, each with the context that makes it understandable.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first; at least one.

    Returns:
        Units in the order of the answer; at least one.
    """
    cell_units = quote_cell(ranking, results[0])
    if cell_units:
        cell_units += quote_row(ranking.cell, results[0], searcher.passages)
    if cell_units and ranking.route.wants_amount and covers_question(ranking):
        return [*cell_units, *quote_equal_cells(searcher, question, ranking, result=results[0])]
    cell_units += quote_table_cells(searcher, question, ranking, results=results, may_open_answer=True)
    further_cells = quote_table_cells(searcher, question, ranking, results=results, may_open_answer=False)
    statements = _list_candidates(searcher, question, ranking, results=results)
    if cell_units:  # the other rows of its table answer other questions
        statements = [statement for statement in statements if not statement.line.is_table]
    elif further_cells and (tables := find_quoted_tables(searcher, question, ranking)):
        table_by_row = searcher.passages.tables
        statements = [statement for statement in statements if table_by_row.get(statement.row) not in tables]
    if not statements:
        return [*cell_units, *further_cells] or [_quote_whole(results[0])]
    if code_units := list_codes(question, results, route=ranking.route, facts=searcher.passages):
        return code_units
    units = _quote_best(searcher, ranking, statements, results=results, with_tables=not cell_units)
    return [*cell_units, *drop_repeated_headings(units), *further_cells]


def _list_candidates(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]
) -> list[Statement]:
    """Return the statements of the first passages that may answer a question."""
    quoted_results = results[: load_answers().passages]
    statements = find_statements(
        quoted_results,
        searcher.passages,
        route=ranking.route,
        question_terms=frozenset(ranking.query_term_idf),
        other_editions=find_other_editions(quoted_results, ranking.route, searcher.facts),
    )
    statements = [statement for statement in statements if not statement.is_foreign] or statements
    return [
        statement
        for statement in statements
        if not (statement.line.is_table and is_for_other_status(statement.text, question))
    ]


def _quote_best(
    searcher: Searcher,
    ranking: Ranking,
    statements: Sequence[Statement],
    *,
    results: Sequence[Result],
    with_tables: bool,
) -> list[Unit]:
    """Quote the best statements, and those that explain a key of the question or a side of a comparison."""
    route = ranking.route
    scores = score_statements(
        statements, encoder=searcher.encoder, tokens=searcher.index_context.index.tokens, ranking=ranking
    )
    required, is_comparison = find_key_statements(statements, route.keys), route.intent == COMPARISON
    if is_comparison:
        required += find_compared_statements(
            statements, scores, route=route, results=results, documents=searcher.facts, facts=searcher.passages
        )
    required = list(dict.fromkeys(required))
    drafts = choose_units(
        statements,
        scores,
        order=rank_statements(statements, scores, required=required, term_idf=ranking.query_term_idf),
        required=required,
        leading=find_key_statements(statements, route.codes or route.keys),
        codes={key for statement in statements for key in statement.explained_keys if key.startswith("code_")},
        with_tables=with_tables,
    )
    quoted = [(draft, results[draft.passage]) for draft in drafts]
    editions = name_editions(quoted, searcher.facts, is_comparison=is_comparison)
    return [
        finish_unit(draft, rank=result.rank, edition=edition)
        for (draft, result), edition in zip(quoted, editions, strict=True)
    ]


def drop_repeated_headings(units: Sequence[Unit]) -> list[Unit]:
    """Remove the heading of each unit that repeats the heading of the unit before it.

    Args:
        units: Units in the order of the answer.

    Returns:
        Units in the same order.
    """
    shortened: list[Unit] = []
    for previous_unit, unit in zip([None, *units], units, strict=False):
        repeats_heading = previous_unit is not None and (previous_unit.rank, previous_unit.label) == (
            unit.rank,
            unit.label,
        )
        pieces = [piece for piece in unit.pieces if not (repeats_heading and piece.role == "label")]
        shortened.append(unit.model_copy(update={"pieces": pieces}))
    return shortened


def choose_units(
    statements: Sequence[Statement],
    scores: dict[int, float],
    *,
    order: Sequence[int],
    required: Sequence[int] = (),
    leading: Sequence[int] = (),
    codes: Collection[str] = frozenset(),
    with_tables: bool = True,
) -> list[Draft]:
    """Compose the units of an answer from the best statements, within the length limits.

    Units of one passage stay together.

    Args:
        statements: Statements of the passages.
        scores: Score of each candidate statement by its index.
        order: Indices of statements, best first.
        required: Indices of statements that are included even if a chosen unit repeats them.
        leading: Indices of statements with which the answer opens, if they are included: for "box 12, code W" the
            explanation of the code.
        codes: Codes of the question that a statement explains; other codes are left out of lists. Empty for all.
        with_tables: Whether to add the tables that statements announce.

    Returns:
        Drafts in the order of the answer.
    """
    limits = load_answers()
    drafts: list[Draft] = []
    for statement_ix in order:
        new_draft = draft_unit(
            statements[statement_ix],
            score=scores.get(statement_ix, 0.0),
            with_paragraph=not drafts,
            codes=codes,
            with_table=with_tables,
        )
        merged = merge_drafts([*drafts, new_draft])
        is_full = len(merged) > limits.units or sum(draft.words for draft in merged) > limits.words
        if drafts and (is_full or (statement_ix not in required and repeats(new_draft, drafts))):
            continue
        drafts = merged
    if not codes:
        for draft in drafts:
            draft.refs |= complete_lists(draft.context, draft.refs)
    passage_score: dict[int, float] = {}
    for draft in drafts:
        passage_score[draft.passage] = max(draft.score, passage_score.get(draft.passage, draft.score))
    leading_statements = [statements[statement_ix] for statement_ix in leading]

    def sort_key(draft: Draft) -> tuple[object, ...]:
        is_leading = any(draft.contains(statement) for statement in leading_statements)
        return not is_leading, -passage_score[draft.passage], draft.passage, min(draft.context.rows), min(draft.refs)

    return sorted(drafts, key=sort_key)


def repeats(draft: Draft, drafts: Sequence[Draft]) -> bool:
    """Return whether a draft repeats chosen drafts from other passages, as booklets on one subject print similar text.

    A draft with a figure that no chosen draft prints is no repetition.

    Args:
        draft: Draft to check.
        drafts: Chosen drafts.
    """
    min_share = load_answers().same_unit_share
    terms, chosen_terms = draft.terms, [other.terms for other in drafts if other.passage != draft.passage]
    if find_figures(terms) - frozenset[str]().union(*chosen_terms):
        return False
    return any(len(terms & other) >= min_share * max(1, len(terms)) for other in chosen_terms)


def list_documents(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> list[Unit]:
    """Quote for each document on the subject its title and its best statement.

    Args:
        searcher: Opened search.
        question: Words of the user; not used.
        ranking: Ranking of the question.
        results: Documents, best first.

    Returns:
        One unit for each document that covers enough of the question's words.
    """
    best_coverage = max(result.via.coverage for result in results)
    units: list[Unit] = []
    for result in results:
        if result.via.coverage < load_answers().least_coverage * best_coverage:
            continue
        title = result.heading_path.split(" > ")[0]
        pieces: list[Piece] = []
        statements = find_statements(
            [result], searcher.passages, route=ranking.route, question_terms=frozenset(ranking.query_term_idf)
        )
        if statements:
            scores = score_statements(
                statements, encoder=searcher.encoder, tokens=searcher.index_context.index.tokens, ranking=ranking
            )
            best_ix = max(scores, key=lambda statement_ix: (scores[statement_ix], -statement_ix))
            pieces = finish_unit(draft_unit(statements[best_ix], score=scores[best_ix]), rank=result.rank).pieces
        units.append(Unit(rank=result.rank, label=title, pieces=[Piece(role="label", text=title), *pieces]))
    return units


def quote_summary(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> list[Unit]:
    """Quote the summary of the best document, or its best statements where it has no summary.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Documents, best first; at least one.

    Returns:
        One unit per sentence of the summary.
    """
    level = searcher.index_context.levels["document"]
    summary = level.read_text(unit) if level is not None and (unit := results[0].via.unit) else ""
    title = results[0].heading_path.split(" > ")[0]
    units = [
        Unit(rank=1, label=title, pieces=[Piece(role="sentence", text=summary[start:end])])
        for start, end in find_sentence_ranges(summary)
    ]
    return units or excerpt_answer(searcher, question, ranking, results=results)


def _quote_whole(result: Result) -> Unit:
    piece = Piece(role="sentence", text=" ".join(result.text.split()), chunk_id=result.chunk_id, node_id=result.node_id)
    return Unit(rank=result.rank, label=result.heading_path.rpartition(" > ")[2], pieces=[piece])
