"""Extractive answers: which statements of the first passages answer the question."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from taxkg_assets.retrieval.answering.code_list import list_codes
from taxkg_assets.retrieval.answering.editions import find_other_editions, name_editions
from taxkg_assets.retrieval.answering.sides import COMPARISON, find_sides
from taxkg_assets.retrieval.answering.statement_scores import (
    find_figures,
    find_openings,
    rank_statements,
    score_statements,
)
from taxkg_assets.retrieval.answering.statements import Statement, find_statements
from taxkg_assets.retrieval.answering.table_cells import (
    covers_question,
    find_quoted_tables,
    quote_alike,
    quote_cell,
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
    """Select the statements that answer the question, each with the context that makes it understandable.

    Args:
        searcher: Opened search.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages, best first; at least one.

    Returns:
        Units in the order of the answer; at least one.
    """
    cell = quote_cell(ranking, results[0])
    if cell:
        cell += quote_row(ranking.cell, results[0], searcher.passages)
    if cell and ranking.route.wants_amount and covers_question(ranking):
        return [*cell, *quote_alike(searcher, question, ranking, result=results[0])]
    cell += quote_table_cells(searcher, question, ranking, results=results, leads=True)
    more = quote_table_cells(searcher, question, ranking, results=results, leads=False)
    limits = load_answers()
    shown = results[: limits.passages]
    found = find_statements(
        shown,
        searcher.passages,
        route=ranking.route,
        wanted=frozenset(ranking.query_term_idf),
        others=find_other_editions(shown, ranking.route, searcher.facts),
    )
    statements = [own for own in found if not own.is_foreign] or found
    statements = [own for own in statements if not (own.line.is_table and is_for_other_status(own.text, question))]
    if cell:  # the other rows of its table answer other questions
        statements = [own for own in statements if not own.line.is_table]
    elif more and (known := find_quoted_tables(searcher, question, ranking)):
        statements = [own for own in statements if searcher.passages.tables.get(own.row) not in known]
    if not statements:
        return [*cell, *more] or [_quote_whole(results[0])]
    if codes := list_codes(question, results, route=ranking.route, facts=searcher.passages):
        return codes
    worth = score_statements(
        statements, encoder=searcher.encoder, tokens=searcher.index_context.index.tokens, ranking=ranking
    )
    first, is_compared = find_openings(statements, ranking.route.keys), ranking.route.intent == COMPARISON
    if is_compared:
        first += find_sides(
            statements,
            worth,
            route=ranking.route,
            results=results,
            documents=searcher.facts,
            facts=searcher.passages,
        )
    first = list(dict.fromkeys(first))
    order = rank_statements(statements, worth, openings=first, wanted=ranking.query_term_idf)
    explained = {key for own in statements for key in own.opens if key.startswith("code_")}
    opened = find_openings(statements, ranking.route.codes or ranking.route.keys)
    drafts = choose_units(
        statements, worth, order=order, openings=first, leading=opened, codes=explained, with_tables=not cell
    )
    quoted = [(draft, results[draft.passage]) for draft in drafts]
    editions = name_editions(quoted, searcher.facts, is_compared=is_compared)
    units = [finish_unit(own, rank=row.rank, edition=name) for (own, row), name in zip(quoted, editions, strict=True)]
    return [*cell, *say_headings_once(units), *more]


def say_headings_once(units: Sequence[Unit]) -> list[Unit]:
    """Remove the heading of each unit that repeats the heading of the unit before it.

    Args:
        units: Units in the order of the answer.

    Returns:
        Units in the same order.
    """
    found: list[Unit] = []
    for before, unit in zip([None, *units], units, strict=False):
        is_same = before is not None and (before.rank, before.label) == (unit.rank, unit.label)
        pieces = [piece for piece in unit.pieces if not (is_same and piece.role == "label")]
        found.append(unit.model_copy(update={"pieces": pieces}))
    return found


def choose_units(
    statements: Sequence[Statement],
    worth: dict[int, float],
    *,
    order: Sequence[int],
    openings: Sequence[int] = (),
    leading: Sequence[int] = (),
    codes: Collection[str] = frozenset(),
    with_tables: bool = True,
) -> list[Draft]:
    """Compose the units of an answer from the best statements, passage by passage, within the length limits.

    The explanation of the most specific key in the question leads: of "box 12, code W" the code, not the box.

    Args:
        statements: Statements of the passages.
        worth: Score of each likely statement by its place in the list.
        order: Places of statements, best first.
        openings: Places of statements that are included even where others repeat them.
        leading: Places of statements that the answer opens with, if they are included.
        codes: Codes of the question that a statement explains; other codes are left out of lists. Empty for all.
        with_tables: Whether to add the tables that statements announce.

    Returns:
        Drafts in the order of the answer.
    """
    limits = load_answers()
    drafts: list[Draft] = []
    for place in order:
        own = draft_unit(
            statements[place],
            worth=worth.get(place, 0.0),
            is_whole=not drafts,
            codes=codes,
            with_table=with_tables,
        )
        merged = merge_drafts([*drafts, own])
        is_full = len(merged) > limits.units or sum(draft.words for draft in merged) > limits.words
        if drafts and (is_full or (place not in openings and repeats(own, drafts))):
            continue
        drafts = merged
    best = {draft.passage: max(own.worth for own in drafts if own.passage == draft.passage) for draft in drafts}
    leads = [statements[place] for place in leading]

    def find_place(draft: Draft) -> tuple[object, ...]:
        is_leading = any(draft.contains(own) for own in leads)
        return not is_leading, -best[draft.passage], draft.passage, min(draft.context.rows), min(draft.spots)

    return sorted(drafts, key=find_place)


def repeats(own: Draft, drafts: Sequence[Draft]) -> bool:
    """Return whether a draft repeats an earlier draft from another passage.

    Booklets on one subject print similar text. A draft with a figure that no other draft prints is not a repetition.

    Args:
        own: Draft to check.
        drafts: Drafts that were chosen before.
    """
    least = load_answers().same_unit_share
    terms, others = own.terms, [other.terms for other in drafts if other.passage != own.passage]
    if find_figures(terms) - frozenset[str]().union(*others):
        return False
    return any(len(terms & other) >= least * max(1, len(terms)) for other in others)


def list_documents(searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result]) -> list[Unit]:
    """Quote the documents on the subject: the title of each, and its best statement.

    Args:
        searcher: Opened search.
        question: Words of the user; not used.
        ranking: Ranking of the question.
        results: Documents, best first.

    Returns:
        One unit per document that covers enough of the question's words.
    """
    most = max(result.via.coverage for result in results)
    units: list[Unit] = []
    for result in results:
        if result.via.coverage < load_answers().least_coverage * most:
            continue
        title = result.heading_path.split(" > ")[0]
        pieces: list[Piece] = []
        found = find_statements(
            [result], searcher.passages, route=ranking.route, wanted=frozenset(ranking.query_term_idf)
        )
        if found:
            worth = score_statements(
                found, encoder=searcher.encoder, tokens=searcher.index_context.index.tokens, ranking=ranking
            )
            best = max(worth, key=lambda place: (worth[place], -place))
            pieces = finish_unit(draft_unit(found[best], worth=worth[best]), rank=result.rank).pieces
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
    summary = level.read(unit) if level is not None and (unit := results[0].via.unit) else ""
    title = results[0].heading_path.split(" > ")[0]
    units = [
        Unit(rank=1, label=title, pieces=[Piece(role="sentence", text=summary[start:end])])
        for start, end in find_sentence_ranges(summary)
    ]
    return units or excerpt_answer(searcher, question, ranking, results=results)


def _quote_whole(result: Result) -> Unit:
    piece = Piece(role="sentence", text=" ".join(result.text.split()), chunk_id=result.chunk_id, node_id=result.node_id)
    return Unit(rank=result.rank, label=result.heading_path.rpartition(" > ")[2], pieces=[piece])
