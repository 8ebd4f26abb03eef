"""Documents, pages and sections are made of their passages and ranked by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.embeddings import stack_vectors
from taxkg_assets.retrieval.index.levels import Level, build_units
from taxkg_assets.retrieval.query.router import find_topic
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.schemas import Summaries
from taxkg_assets.settings import Settings


@pytest.fixture(scope="module")
def with_levels(searcher: Searcher, index_rows: pl.DataFrame) -> Searcher:
    units = build_units(index_rows, summaries=Summaries.create_empty())
    index = replace(searcher.index, units=units, unit_vectors=stack_vectors(units["vector"]))
    return replace(searcher, index=index)


def test_every_passage_is_in_one_document_one_page_and_at_most_one_section(index_rows: pl.DataFrame) -> None:
    units = build_units(index_rows, summaries=Summaries.create_empty())
    for level in ("document", "page", "section"):
        children = units.filter(pl.col("level") == level)["children"].explode().to_list()
        assert sorted(children) == sorted(index_rows["chunk_id"])
    assert np.linalg.norm(stack_vectors(units["vector"]), axis=1) == pytest.approx(np.ones(units.height), abs=1e-3)


def test_a_unit_with_more_evidence_wins_over_one_with_an_equal_best_passage() -> None:
    units = pl.DataFrame({"terms": ["a", "b"]})
    level = Level(units, np.eye(2, dtype=np.float32), np.array([0, 1, 1, -1]))
    ranked = level.rank(
        ["a"], np.zeros(2, dtype=np.float32), rows=np.array([0, 1, 2, 3]), scores=np.array([3.0, 3.0, 2.0, 1.0])
    )
    assert [number for number, _ in ranked] == [1, 0]


def test_a_question_for_documents_is_answered_with_documents(with_levels: Searcher) -> None:
    rows = with_levels.search("which documents discuss harbour rent", k=10)
    assert len({row.document for row in rows}) == len(rows)
    assert (rows[0].via.unit or "").startswith("document:")
    assert rows[0].via.drill_down[0] in rows[0].via.chunk_ids
    assert rows[0].via.route.intent == "broad_discovery"


def test_a_question_which_documents_there_are_an_answer_names_those_that_mention_it(with_levels: Searcher) -> None:
    found = ask(with_levels, "which documents mention shipyard repair fees?", settings=Settings())
    assert found.answer is not None
    assert (found.level, found.outcome) == ("document", "answer")
    assert 0.5 < found.confidence < 1.0
    (line,) = found.answer.splitlines()
    title, _, said = line.removesuffix(" [1]").partition(": ")
    assert title == "Instructions for Form 2077-ZED (2031)"
    assert said == "Repair fees of a shipyard are never harbour rent."
    assert len(found.results) > 1


@pytest.mark.parametrize(
    ("question", "document", "is_summed_up"),
    [
        ("summarize the 2031 instructions for Form 2077-ZED", None, True),
        ("what is Form 2077-ZED about?", None, True),
        ("what is Form 2077-ZED of 2019 about?", None, False),
        ("what is Form 3099-Q about?", None, False),
        ("what is this document about?", "town-code", True),
    ],
)
def test_what_a_document_is_about_is_its_summary(
    searcher: Searcher, index_rows: pl.DataFrame, question: str, document: str | None, is_summed_up: bool
) -> None:
    own = searcher.index.rows["document_id"].unique().sort().to_list()
    said = [{"unit_id": f"document:{name}", "text": f"This is {name}. It tells of berths."} for name in own]
    units = build_units(index_rows, summaries=pl.DataFrame(said))
    index = replace(searcher.index, units=units, unit_vectors=stack_vectors(units["vector"]))
    found = ask(replace(searcher, index=index), question, settings=Settings(), document=document)
    reported = [f"This is {found.results[0].document}. [1]", "It tells of berths. [1]"]
    assert ((found.answer or "").splitlines() == reported) is is_summed_up


def test_no_document_is_named_for_a_topic_of_unknown_words(with_levels: Searcher) -> None:
    found = ask(with_levels, "which documents mention zeppelin repair fees?", settings=Settings())
    assert found.answer is None
    assert found.confidence < 0.25


def test_words_that_ask_for_documents_are_no_part_of_the_topic(with_levels: Searcher) -> None:
    assert set(with_levels.rank("which documents discuss harbour rent").query_term_idf) == set(
        find_terms("harbour rent")
    )
    assert find_topic("which documents discuss the", "broad_discovery") == "which documents discuss the"
    assert find_topic("which documents discuss rent", "comparison") == "which documents discuss rent"


def test_sections_are_handed_over_whole(with_levels: Searcher) -> None:
    top = with_levels.search("where does the booklet explain harbour rent of berths", k=1)[0]
    assert (top.via.unit or "").startswith("section:")
    assert "include the amounts of box 1b" in top.text or "Shows" in top.text


def test_other_questions_get_passages(with_levels: Searcher) -> None:
    assert with_levels.search("harbour rent of a berth", k=1)[0].via.unit is None
