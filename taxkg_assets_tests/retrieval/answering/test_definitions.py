"""A question for the meaning of a term is answered first by the sentences that define it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.definitions import (
    find_abbreviations,
    mark_term,
    rate_statements,
    read_terms,
)
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings
from taxkg_assets_tests.retrieval.answering.conftest import Section, make_facts, state
from tools.rule_switch import every_rule


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a berth lease?", "berth lease"),
        ("what does “berth lease” mean", "berth lease"),
        ("Who counts as a dock hand?", "dock hand"),
        ("Please define harbour rent.", "harbour rent"),
        ("harbour rent definition", "harbour rent"),
        ("What is it?", ""),
        ("What is harbour rent in 2031?", "harbour rent"),
        ("When is harbour rent due?", ""),
        ("What is the maximum amount?", ""),
        ("What is the deduction?", ""),
        ("What is the deadline for the harbour return?", ""),
        ("What is the rent that a tenant who moved out in May owes for the year?", ""),
    ],
)
def test_the_term_is_read(question: str, term: str) -> None:
    assert read_terms(question) == ((term,) if term else ())


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between a berth lease and a pier lease?",
        "How is a berth lease different from a pier lease?",
        "berth lease vs. pier lease",
    ],
)
def test_both_terms_of_a_comparison_are_read(question: str) -> None:
    assert read_terms(question) == ("berth lease", "pier lease")


def test_a_term_is_marked_in_any_number_and_only_whole() -> None:
    assert mark_term("Berth leases and a berth's lease are leases.", "berth lease") == "@ and a @ are leases."
    assert mark_term("The lease of a berth", "berth lease") == "The lease of a berth"
    assert find_abbreviations("A berth lease (BL) is one.", "berth lease") == ["BL"]


def rate(*sections: Section, term: str = "berth lease") -> list[tuple[str, int]]:
    """The definitions of a term in a booklet, with their strength."""
    (context,) = open_contexts([0], make_facts(*sections)).values()
    rated = rate_statements(state(context), term)
    return [(own.statement.text, own.strength) for own in rated]


def test_words_that_define_count_more_under_the_name_of_the_term() -> None:
    definition = "A berth lease is a lease of one berth or of several."
    ((_, alone),) = rate(("Harbours", [definition]))
    ((_, named),) = rate(("Berth lease", [definition]))
    ((_, limited),) = rate(("Harbours", [f"For purposes of the berth duty, {definition.lower()}"]))
    assert limited < alone < named


@pytest.mark.parametrize(
    "text",
    [
        "A berth lease isn't a lease of several berths.",
        "A berth lease is taxed where the berth is.",
        "Your berth lease ends when you move out of it.",
        "Example. A berth lease is a lease of one berth.",
        "See the definition of a berth lease, later.",
    ],
)
def test_other_statements_about_a_term_define_nothing(text: str) -> None:
    assert not rate(("Harbours", [text]))


def test_a_list_defines_where_its_lead_in_does() -> None:
    items = ["• A lease of one berth, or", "• A lease of a whole pier."]
    assert rate(("Harbours", ["The term “berth lease” means:", *items]))
    assert not rate(("Harbours", ["A berth lease must be recorded if it is:", *items]))


def test_the_first_sentence_below_a_term_may_leave_it_out() -> None:
    with every_rule():
        assert rate(("Berth lease", ["Generally, this is a lease of one berth for at least a month."]))
        assert not rate(("Berth lease", ["If you moor at a pier, this is a lease of one berth."]))
        assert not rate(("Harbours", ["Generally, this is a lease of one berth for at least a month."]))


def test_an_abbreviation_is_read_as_the_term() -> None:
    text = ["Berth lease (BL). Moorings have their own rules for every lease. A BL is a lease of one berth."]
    assert [words for words, _ in rate(("Harbours", text))] == ["A BL is a lease of one berth."]


def test_a_definition_opens_the_answer_with_its_passage(searcher: Searcher) -> None:
    words = "Repair fees are amounts that a shipyard charges for its work on a hull."
    is_own = pl.col("heading_path").str.ends_with("Repair fees") & pl.col("text").str.contains("shipyard")
    rows = searcher.passages.rows.with_columns(text=pl.when(is_own).then(pl.lit(words)).otherwise("text"))
    known = replace(searcher, index=replace(searcher.index, rows=rows))
    found = ask(known, "What are repair fees?", settings=Settings())
    assert found.answer is not None
    assert words in found.answer.splitlines()[0]
    assert found.results[0].document == "i2077zed--2031"
    assert found.outcome == "answer"
    off = ask(known.with_parts(replace(known.parts, openings=False)), "What are repair fees?", settings=Settings())
    named = ask(known, "What are repair fees of Form 2077-ZED?", settings=Settings())
    assert not any(own.units and own.units[0].text == found.units[0].text for own in (off, named))
    assert len(found.units) > 1
