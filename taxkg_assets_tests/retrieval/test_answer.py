"""Answers quote; guidance carries its notice; what the corpus does not hold is met with silence."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from taxkg_assets.retrieval.answer import ask
from taxkg_assets.retrieval.excerpt import find_sentences
from taxkg_assets.retrieval.facts import PassageFacts
from taxkg_assets.retrieval.guardrail import find_mode
from taxkg_assets.retrieval.search import Searcher
from taxkg_assets.settings import Settings

OPEN = Settings(guardrail=False)


def test_every_sentence_is_verbatim_and_cited(searcher: Searcher) -> None:
    found = ask(searcher, "what do we enter in box 1a of the 2077-ZED, and are repair fees part of it", settings=OPEN)
    assert found.answer is not None
    lines = found.answer.splitlines()
    for line in lines:
        match = re.fullmatch(r"(.+) \[(\d+)\]", line)
        assert match is not None
        assert match[1] in found.results[int(match[2]) - 1].text
    assert any("repair fees" in line for line in lines)
    assert len(lines) == len(set(lines))


def test_an_answer_tells_nothing_of_a_neighbour_box(searcher: Searcher) -> None:
    question = "on the recipient's copy of the 2031 Form 2077-ZED, what does box 1b show"
    found = ask(searcher, question, settings=OPEN)
    assert found.answer is not None
    assert "foreign vessels" in found.answer
    assert "harbour rent a tenant" not in found.answer
    assert "harbour rent a tenant" in " ".join(result.text for result in found.results)


def test_a_sentence_of_a_neighbour_that_names_the_box_stays(searcher: Searcher) -> None:
    ranking = searcher.rank("what becomes of box 1b on the 2077-ZED")
    results = searcher.assemble(ranking, k=10)
    kept = [own.text for own in find_sentences(results, searcher.passages, route=ranking.route) if not own.is_foreign]
    assert "Enter all harbour rent paid for berths, and include the amounts of box 1b." in kept
    assert "Do not include repair fees." not in kept


def test_what_a_neighbour_says_does_not_hide_the_same_words_of_the_box_itself(searcher: Searcher) -> None:
    alike = PassageFacts(searcher.index.rows.with_columns(text=pl.lit("See the general rules for this amount.")))
    results = searcher.assemble(searcher.rank("berths on the 2077-ZED"), k=20, level="paragraph")
    of_key = {row.anchor_key: row for row in results}
    route = replace(searcher.rank("the 2077-ZED").route, keys=("box_1b",))
    found = find_sentences([of_key["box_1a"], of_key["box_1b"]], alike, route=route)
    assert [own.is_foreign for own in found] == [True, False]


def test_no_sentence_of_another_form_answers_a_question_that_names_one(searcher: Searcher) -> None:
    ranking = searcher.rank("box 1a of the 2077-ZED")
    route = replace(ranking.route, forms=("2077-XED",))
    results = searcher.assemble(ranking, k=10)
    found = find_sentences(results, searcher.passages, route=route)
    assert {own.is_foreign for own in found if results[own.passage].form == "2077-ZED"} == {True}
    assert {own.is_foreign for own in found if not results[own.passage].form} <= {False}


def test_silence_keeps_the_ranking(searcher: Searcher) -> None:
    found = ask(searcher, "which code of Form 1042-S applies to the 1987 lottery", settings=Settings())
    assert (found.answer, found.abstained, found.mode) == (None, True, "silence")
    assert found.results


def test_guidance_says_that_it_is_general(searcher: Searcher) -> None:
    settings = Settings(answer_relevance=10.0, guidance_relevance=0.0)
    found = ask(searcher, "box 1a of the 2077-ZED", settings=settings)
    assert found.mode == "general"
    assert found.answer is not None
    assert "potentially related" in found.answer


def test_another_tax_authority_is_named(searcher: Searcher) -> None:
    found = ask(searcher, "harbour rent in box 1a of the 2077-ZED in Texas", settings=OPEN)
    assert found.answer is not None
    assert "texas" in found.answer


def test_modes_follow_the_thresholds() -> None:
    graded = [find_mode(grade, answer_at=8, guide_at=7) for grade in (8.0, 7.9, 7.0, 6.9)]
    assert graded == ["answer", "general", "general", "silence"]
    assert find_mode(0.0, answer_at=8, guide_at=7, is_on=False) == "answer"
