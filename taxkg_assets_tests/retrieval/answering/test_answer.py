"""Answers quote; guidance carries its notice; what the corpus does not hold is met with silence."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.excerpt import excerpt_answer
from taxkg_assets.retrieval.answering.guardrail import find_outcome
from taxkg_assets.retrieval.answering.notices import find_absent_forms
from taxkg_assets.retrieval.answering.statements import find_statements
from taxkg_assets.retrieval.answering.table_cells import quote_table_cells
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.tables.table_boost import requests_table_cell
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, build_table_catalogue
from taxkg_assets.settings import Settings

OPEN = Settings(guardrail=False)


def test_every_piece_is_verbatim_and_every_line_cited(searcher: Searcher) -> None:
    found = ask(searcher, "what do we enter in box 1a of the 2077-ZED, and are repair fees part of it", settings=OPEN)
    assert found.answer is not None
    lines = found.answer.splitlines()
    assert all(re.fullmatch(r".+ \[\d+\]", line) for line in lines)
    assert len(lines) == len(set(lines))
    assert lines == [line for unit in found.units for line in unit.quote().splitlines()]
    for unit in found.units:
        shown = found.results[unit.rank - 1]
        assert all(piece.text in f"{shown.heading_path} {shown.text}" for piece in unit.pieces)
        assert {piece.chunk_id for piece in unit.pieces} <= set(shown.via.chunk_ids)
    assert any("repair fees" in line for line in lines)


def test_an_answer_is_to_the_question_without_its_typing_errors_and_says_so(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "what do we enter in box 1a of the 2077-ZED, and are {} fees part of it"
    spelled = ask(searcher, question.format("repair"), settings=OPEN)
    monkeypatch.setattr(
        "taxkg_assets.retrieval.ranking.search.correct_typos",
        lambda query, **_: (query.replace("repiar", "repair"), {"repiar": "repair"} if "repiar" in query else {}),
    )
    typed = ask(searcher, question.format("repiar"), settings=OPEN)
    assert spelled.corrections == {}
    assert typed.corrections == {"repiar": "repair"}
    assert (spelled.answer or "").splitlines() == (typed.answer or "").splitlines()[1:]
    assert (typed.answer or "").splitlines()[0] == "Searched for “repair” instead of “repiar”."
    assert typed.units == spelled.units


def test_an_answer_states_nothing_of_a_neighbor_box(searcher: Searcher) -> None:
    question = "on the recipient's copy of the 2031 Form 2077-ZED, what does box 1b show"
    found = ask(searcher, question, settings=OPEN)
    assert found.answer is not None
    assert "foreign vessels" in found.answer
    assert "harbour rent a tenant" not in found.answer
    assert "harbour rent a tenant" in " ".join(result.text for result in found.results)


def test_a_sentence_of_a_neighbor_that_names_the_box_stays(searcher: Searcher) -> None:
    ranking = searcher.rank("what becomes of box 1b on the 2077-ZED")
    results = searcher.assemble(ranking, k=10)
    kept = [own.text for own in find_statements(results, searcher.passages, route=ranking.route) if not own.is_foreign]
    assert "Enter all harbour rent paid for berths, and include the amounts of box 1b." in kept
    assert "Do not include repair fees." not in kept


def test_what_a_neighbor_says_does_not_hide_the_same_words_of_the_box_itself(searcher: Searcher) -> None:
    alike = PassageFacts(searcher.index.rows.with_columns(text=pl.lit("See the general rules for this amount.")))
    results = searcher.assemble(searcher.rank("berths on the 2077-ZED"), k=20, level="paragraph")
    of_key = {row.anchor_key: row for row in results}
    route = replace(searcher.rank("the 2077-ZED").route, keys=("box_1b",))
    found = find_statements([of_key["box_1a"], of_key["box_1b"]], alike, route=route)
    assert [own.is_foreign for own in found] == [True, False]


def test_what_a_box_is_comes_before_what_is_stated_about_it(searcher: Searcher) -> None:
    reported = "Box 1b. Shows all the tides. See the chart of the tides. Use it for a berth of the mooring form."
    facts = PassageFacts(searcher.index.rows.with_columns(text=pl.lit(reported)))
    ranking = searcher.rank("how is box 1b of the 2031 mooring form used for a berth")
    results = [row for row in searcher.assemble(ranking, k=20, level="paragraph") if row.anchor_key == "box_1b"]
    opening, pointer, said = find_statements(results, facts, route=ranking.route)
    assert opening.text == "Box 1b. Shows all the tides."
    assert (opening.explained_keys, said.explained_keys) == (("box_1b",), ())
    assert (opening.is_pointer, pointer.is_pointer) == (False, True)


def test_a_listed_code_is_a_sentence_however_short(searcher: Searcher) -> None:
    facts = PassageFacts(
        searcher.index.rows.with_columns(text=pl.lit("The codes are these.\n6—Sold to another one of them.\n7—Sunk."))
    )
    ranking = searcher.rank("code 7 of the 2077-ZED")
    route = replace(ranking.route, keys=("code_7",))
    found = find_statements(searcher.assemble(ranking, k=1, level="paragraph"), facts, route=route)
    assert [own.text for own in found if own.explained_keys] == ["7—Sunk."]
    assert "6—Sold to another one of them." not in [own.text for own in found if not own.is_foreign]


def test_a_question_for_one_code_gets_no_other_code_of_its_list(searcher: Searcher) -> None:
    listed = "The codes below say what became of the boat.\n6—Sold to another owner.\n7—Sunk in the harbor.\n8—Burned."
    searcher = replace(
        searcher, index=replace(searcher.index, rows=searcher.index.rows.with_columns(text=pl.lit(listed)))
    )
    ranking = searcher.rank("code 7 of the 2077-ZED")
    ranking = replace(ranking, route=replace(ranking.route, keys=("code_7",)))
    results = searcher.assemble(ranking, k=1)
    answer = "\n".join(unit.quote() for unit in excerpt_answer(searcher, "what is code 7", ranking, results=results))
    assert "what became of the boat" in answer
    assert "7—Sunk in the harbor." in answer
    assert "6—" not in answer
    assert "8—" not in answer


def test_a_cell_that_leads_is_the_answer(searcher: Searcher) -> None:
    ranking = replace(searcher.rank("how much is the berth duty"), cell="Duties | berth | a foot: 30 cents")
    results = searcher.assemble(ranking, k=3)
    quotes = [unit.quote() for unit in excerpt_answer(searcher, "", ranking, results=results)]
    assert quotes == ["Duties | berth | a foot: 30 cents [1]"]
    unasked = replace(ranking, route=replace(ranking.route, wants_amount=False))
    first, *others = excerpt_answer(searcher, "the berth duty", unasked, results=results)
    assert (first.quote(), bool(others)) == ("Duties | berth | a foot: 30 cents [1]", True)


def test_who_asks_for_a_figure_is_reported_no_other_value(searcher: Searcher) -> None:
    ranking = replace(searcher.rank("how much is the berth duty"), cell="Duties | berth | line: see line 8c.")
    units = excerpt_answer(searcher, "the berth duty", ranking, results=searcher.assemble(ranking, k=3))
    assert [piece for unit in units for piece in unit.pieces if piece.role == "cell"] == []
    assert units


@pytest.mark.parametrize(
    ("question", "is_queried"),
    [("the yearly duty of a berth", True), ("is a berth free of duty", False), ("is there a limit of the duty", True)],
)
def test_yes_or_no_is_no_cell(searcher: Searcher, question: str, is_queried: bool) -> None:
    index_context = IndexContext(searcher.index)
    index_context.passages.__dict__["is_table"] = np.ones(searcher.index.rows.height)
    assert requests_table_cell(question, searcher.rank(question), index_context=index_context) is is_queried


def test_no_sentence_of_another_form_answers_a_question_that_names_one(searcher: Searcher) -> None:
    ranking = searcher.rank("box 1a of the 2077-ZED")
    route = replace(ranking.route, forms=("2077-XED",))
    results = searcher.assemble(ranking, k=10)
    found = find_statements(results, searcher.passages, route=route)
    assert {own.is_foreign for own in found if results[own.passage].form == "2077-ZED"} == {True}
    assert {own.is_foreign for own in found if not results[own.passage].form} <= {False}


def test_a_sentence_of_another_form_that_names_the_form_stays(searcher: Searcher) -> None:
    said = "Report the rent of Form 2077-XED on line 3. Keep a copy of it for all of your records."
    facts = PassageFacts(searcher.index.rows.with_columns(text=pl.lit(said)))
    ranking = searcher.rank("box 1a of the 2077-ZED")
    route = replace(ranking.route, forms=("2077-XED",), keys=())
    results = [row for row in searcher.assemble(ranking, k=10, level="paragraph") if row.form == "2077-ZED"]
    names, silent = find_statements(results[:1], facts, route=route)[:2]
    assert (names.is_foreign, silent.is_foreign) == (False, True)


def test_only_a_form_with_a_filer_and_a_recipient_has_text_for_another_reader(searcher: Searcher) -> None:
    ranking = searcher.rank("box 1a of the 2077-ZED")
    route = replace(ranking.route, keys=(), perspective="recipient", certainty=1.0)
    results = [row for row in searcher.assemble(ranking, k=20) if row.form == "2077-ZED"]
    rows = searcher.index.rows
    both, one = PassageFacts(rows), PassageFacts(rows.filter(pl.col("perspective") == "filer"))
    filer = [row for row in results if both.columns["perspective"][both.row_of_chunk[row.chunk_id]] == "filer"][:1]
    own = [row.model_copy(update={"via": row.via.model_copy(update={"chunk_ids": [row.chunk_id]})}) for row in filer]
    foreign = [{said.is_foreign for said in find_statements(own, facts, route=route)} for facts in (both, one)]
    assert foreign == [{True}, {False}]


def test_a_cell_comes_with_its_row(searcher: Searcher) -> None:
    rows = ("Berth | A foot | A yard", "small | 30 cents | 90 cents | $2", "large | 40 cents | 80 cents | $3")
    text = "\n".join(["Duties", *rows])
    facts = searcher.index.rows.with_columns(text=pl.lit(text), level=pl.lit("table"))
    index = replace(searcher.index, rows=facts)
    tabled = Searcher(index=index, encoder=searcher.encoder)
    ranking = replace(tabled.rank("how much is the berth duty"), cell="Duties | small | A foot: 30 cents")
    units = excerpt_answer(tabled, "how much is the berth duty", ranking, results=tabled.assemble(ranking, k=3))
    assert [unit.pieces[0].role for unit in units[:2]] == ["cell", "row"]
    assert all(value in units[1].text for value in ("small", "30 cents", "90 cents"))
    assert "40 cents" not in units[1].text


def list_tables(table_id: str) -> TableCatalogue:
    """Two rows and two columns, as the extraction gives them."""
    cells = [
        {"row_ix": row, "col_ix": column, "row_path": size, "col_path": unit, "text": text}
        for row, size, values in ((0, "small", ("30 cents", "90 cents")), (1, "large", ("40 cents", "80 cents")))
        for column, (unit, text) in enumerate(zip(("A foot", "A yard"), values, strict=True), 1)
    ]
    return build_table_catalogue([{"table_id": table_id, "document_id": "z", "title": "Duties", "cells": cells}])


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("when is the berth duty due for a large yard", [["80 cents"]]),
        ("is the berth duty for a large yard due", []),
        ("which duty is due where tall poppies grow", []),
    ],
)
def test_the_cell_of_a_table_among_the_passages_is_quoted(
    searcher: Searcher, question: str, values: list[list[str]]
) -> None:
    rows = ("Berth | A foot | A yard", "small | 30 cents | 90 cents", "large | 40 cents | 80 cents")
    first = searcher.index.rows["node_ids"].list.first()
    facts = searcher.index.rows.with_columns(text=pl.lit("\n".join(["Duties", *rows])), level=pl.lit("table"))
    tabled = Searcher(
        index=replace(searcher.index, rows=facts), encoder=searcher.encoder, open_tables=lambda: list_tables(first[0])
    )
    ranking = tabled.rank(question)
    found = next(own for own in ranking.candidates if own.row == 0)
    ranking = replace(ranking, cell="", candidates=(found,))
    result = next(row for row in tabled.assemble(ranking, k=9) if row.node_id == first[0])
    units = [
        unit
        for leads in (True, False)
        for unit in quote_table_cells(tabled, question, ranking, results=[result], may_open_answer=leads)
    ]
    assert [
        [piece.text.rpartition(": ")[2] for piece in unit.pieces if piece.role == "cell"] for unit in units
    ] == values


def test_silence_keeps_the_ranking(searcher: Searcher) -> None:
    found = ask(searcher, "which code of Form 1042-S applies to the 1987 lottery", settings=Settings())
    assert (found.answer, found.abstained, found.outcome) == (None, True, "abstention")
    assert found.results


def test_guidance_says_that_it_is_general(searcher: Searcher) -> None:
    settings = Settings(answer_relevance=10.0, guidance_relevance=0.0)
    found = ask(searcher, "box 1a of the 2077-ZED", settings=settings)
    assert found.outcome == "guidance"
    assert found.answer is not None
    assert "potentially related" in found.answer


def test_another_tax_authority_is_named(searcher: Searcher) -> None:
    found = ask(searcher, "harbour rent in box 1a of the 2077-ZED in Texas", settings=OPEN)
    assert found.answer is not None
    assert "texas" in found.answer


def test_modes_follow_the_thresholds() -> None:
    graded = [find_outcome(grade, answer_at=8, guide_at=7) for grade in (8.0, 7.9, 7.0, 6.9)]
    assert graded == ["answer", "guidance", "guidance", "abstention"]
    assert find_outcome(0.0, answer_at=8, guide_at=7, is_on=False) == "answer"


def test_an_answer_says_that_the_library_lacks_the_form(searcher: Searcher) -> None:
    opened = Settings(guardrail=False)
    found = ask(searcher, "what is box 1a of Form 9099-R", settings=opened)
    assert (found.answer or "").startswith("The library has no document about Form 9099-R;")
    assert "The library has no" not in (ask(searcher, "box 1a of the 2077-ZED", settings=opened).answer or "")
    other = ask(searcher, "what does Publication 9099 say about box 1a", settings=opened)
    assert (other.answer or "").startswith("The library has no document about Publication 9099;")
    results = searcher.search("box 1a", k=3)
    route = Route(unknown_forms=("9099-r",))
    assert find_absent_forms(route, results) == ["9099-r"]
    named = [results[0].model_copy(update={"text": "See Form 9099-R."})]
    assert find_absent_forms(route, named) == []
    assert find_absent_forms(replace(route, forms=("2077-ZED",)), results) == []
