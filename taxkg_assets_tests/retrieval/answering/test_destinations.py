"""Where an amount goes is read from the statements of the graph, and quoted with its passage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.destinations import (
    FROM_SOURCE,
    FROM_TARGET,
    Direction,
    choose_flows,
    find_direction,
    find_form_groups,
)
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

NEWEST = ("f2077--2031", "f99--2031")
ENDS = ("document_id", "form", "part", "key", "column", "code")


def flow(number: int, source: str, target: str, **columns: Any) -> dict[str, Any]:
    """A row of `flows`: its ends are a form and a key, "2077 line_3"."""
    row: dict[str, Any] = {"flow_id": f"f{number}", "relation": "flows_to", "is_same_year": True, "problem": ""}
    for end, words in (("source", source), ("target", target)):
        form, _, key = words.rpartition(" ")
        row |= dict.fromkeys((f"{end}_{name}" for name in ENDS), "")
        row |= {f"{end}_form": form, f"{end}_key": key, f"{end}_document_id": f"f{form.lower()}--2031"}
    said = {"document_id": row["source_document_id"], "element_id": None, "evidence": f"Enter {number}.", "page": 1}
    return row | said | columns


def choose(question: str, *rows: dict[str, Any], keys: tuple[str, ...] = ("line_3",), **route: Any) -> list[str]:
    flows = pl.DataFrame(list(rows), infer_schema_length=None)
    own = Route(keys=keys, **route)
    direction = find_direction(question, own)
    assert direction is not None
    forms = find_form_groups(question, own, flows)
    found = choose_flows(flows, own, forms=forms, direction=direction, newest_documents=NEWEST)
    return [chosen.flow_id for chosen in found]


@pytest.mark.parametrize(
    ("question", "direction"),
    [
        ("Where do I report line 3 of Form 2077?", FROM_SOURCE),
        ("On what line of the 88 do I enter line 3 of the 2077?", FROM_SOURCE),
        ("Where does line 3 of Form 2077 come from?", FROM_TARGET),
        ("What goes on line 3 of Form 2077?", FROM_TARGET),
        ("Where do I find the amount to enter on line 3 of Form 2077?", FROM_TARGET),
        ("Which lines of Form 2077 add up to line 3?", FROM_TARGET),
        ("Which boxes of Form 88 go to line 3 of Form 2077?", FROM_TARGET),
        ("Which line does line 3 of Form 2077 go to?", FROM_SOURCE),
        ("What is line 3 of Form 2077?", None),
        ("Who may leave line 3 of Form 2077 empty?", None),
    ],
)
def test_a_question_is_for_one_direction(question: str, direction: Direction | None) -> None:
    assert find_direction(question, Route(forms=("2077",), keys=("line_3",))) == direction
    assert find_direction(question, Route(forms=("2077",))) is None


def test_only_the_line_and_code_of_the_question_count() -> None:
    rows = [
        flow(0, "2077 line_3", "88 line_1"),
        flow(1, "2077 line_4", "88 line_2"),
        flow(2, "99 line_3", "88 line_3"),
        flow(3, "2077 line_3", "88 line_4", source_code="G"),
    ]
    assert choose("Where does line 3 of Form 2077 go?", *rows) == ["f0"]
    assert choose("Where does line 3 code G of Form 2077 go?", *rows, keys=("line_3", "code_G")) == ["f3"]


def test_where_two_forms_are_named_the_amount_goes_from_one_to_the_other() -> None:
    rows = [
        flow(0, "2077 line_3", "88 line_1"),
        flow(1, "2077 line_3", "99 line_1"),
        flow(2, "2077 line_3", "2077 line_5"),
    ]
    assert choose("Where does line 3 of Form 2077 go on Form 99?", *rows) == ["f1"]
    assert choose("Which line of Form 55 does line 3 of Form 2077 go on?", *rows) == ["f0", "f1", "f2"]


def test_the_best_statements_come_first() -> None:
    rows = [
        flow(0, "2077 line_3", "88 line_1", relation="from_form", document_id="f88--2031"),
        flow(1, "2077 line_3", "2077 line_5", relation="computed_from"),
        flow(2, "2077 line_3", "99 line_9", evidence=", enter it on line 9"),
        flow(3, "2077 line_3", "77 line_7"),
        flow(4, "2077 line_3", "66 line_7", document_id="f66--2024"),
    ]
    assert choose("Where does line 3 of Form 2077 go?", *rows) == ["f3", "f2", "f1"]


def test_a_line_is_named_once_by_its_newest_statement_and_variants_of_a_form_are_one() -> None:
    rows = [
        flow(0, "2077 line_3", "88 line_1", document_id="i88--2030", is_same_year=False),
        flow(1, "2077 line_3", "88 line_1"),
        flow(2, "2077 line_3", "88-SR line_1"),
        flow(3, "2077 line_3", "88 line_4", document_id="i88--2030", is_same_year=False),
    ]
    assert choose("Where does line 3 of Form 2077 go?", *rows) == ["f1"]


def test_of_two_open_statements_the_one_to_a_known_line_comes_first() -> None:
    rows = [
        flow(0, "2077 line_3", "88-SR line_1", target_document_id=None, problem="source: no line"),
        flow(1, "2077 line_3", "88 line_1", problem="source: no line"),
    ]
    assert choose("Where does line 3 of Form 2077 go?", *rows) == ["f1"]


def test_flows_are_of_the_newest_revision_or_of_the_year_requested() -> None:
    older = {"source_document_id": "f2077--2029", "document_id": "f2077--2029"}
    rows = [flow(0, "2077 line_3", "88 line_1", **older), flow(1, "2077 line_3", "88 line_2")]
    assert choose("Where does line 3 of Form 2077 go?", *rows) == ["f1"]
    assert choose("Where did line 3 of Form 2077 go in 2029?", *rows, years=(2029,)) == ["f0"]
    assert choose("Where did line 3 of Form 2077 go in 1999?", *rows, years=(1999,)) == []
    both = choose("Where did line 3 of Form 2077 go in 2029 and 2031?", *rows, years=(2029, 2031))
    assert sorted(both) == ["f0", "f1"]


def test_a_line_that_the_newest_revision_lacks_goes_nowhere() -> None:
    older = {"source_document_id": "f2077--2029", "document_id": "f2077--2029"}
    rows = [flow(0, "2077 line_3", "88 line_1", **older), flow(1, "2077 line_4", "88 line_2")]
    assert choose("Where does line 3 of Form 2077 go?", *rows) == []


def test_each_line_of_the_question_has_its_turn() -> None:
    rows = [flow(number, "2077 line_3", f"9{number}0 line_1") for number in range(5)]
    rows += [
        flow(5, "2077 line_4", "88 line_2"),
        flow(6, "2077 line_5", "88 line_3"),
        flow(7, "2077 line_6", "88 line_4"),
    ]
    keys = ("line_3", "line_4", "line_5", "line_6")
    assert choose("Where do lines 3 through 6 of Form 2077 go?", *rows, keys=keys) == ["f0", "f5", "f6", "f7"]


@pytest.mark.parametrize(
    ("question", "forms", "expected"),
    [
        ("line 3 of Schedule K (Form 55)", (), [{"Schedule K (Form 55)"}]),
        ("line 3 of Schedule K", ("Schedule K (Form 66)",), [{"Schedule K (Form 66)", "Schedule K"}]),
        ("line 3 of Schedule K", (), [{"Schedule K", "Schedule K (Form 55)", "Schedule K (Form 66)"}]),
        ("line 3 of Schedule K (Form 55) on Form 66", (), [{"Schedule K (Form 55)"}, {"66"}]),
        ("line 3 of the barge form", ("66",), [{"66"}]),
        ("line 3 of Form 77ZED", (), [{"77-ZED", "77ZED"}]),
    ],
)
def test_a_schedule_is_that_of_the_form_it_is_named_with(
    question: str, forms: tuple[str, ...], expected: list[set[str]]
) -> None:
    rows = [
        flow(0, "Schedule K (Form 55) line_3", "66 line_1"),
        flow(1, "Schedule K line_3", "Schedule K (Form 66) line_1"),
    ]
    rows += [flow(2, "77-ZED line_3", "77ZED line_1")]
    found = find_form_groups(question, Route(forms=forms, keys=("line_3",)), pl.DataFrame(rows))
    assert [set(own) for own in found] == expected


def test_the_statement_opens_the_answer_with_its_passage(searcher: Searcher) -> None:
    columns = searcher.passages.columns
    row = next(row for row in range(searcher.index.height) if columns["document_id"][row] == "i2077zed--2031")
    sentence = columns["text"][row].split(". ")[0].split("\n")[-1]
    stated = flow(
        0,
        "2077-ZED box_1a",
        "88 line_1",
        source_document_id=None,
        document_id="i2077zed--2031",
        evidence=sentence,
        page=int(searcher.passages.pages[row]),
    )
    known = replace(searcher, open_flows=lambda: pl.DataFrame([stated]))
    question = "Where does box 1a of the 2077-ZED go?"
    found = ask(known, question, settings=Settings())
    assert found.outcome == "answer"
    assert found.confidence > ask(searcher, question, settings=Settings()).confidence
    assert found.answer is not None
    first = found.answer.splitlines()[0]
    assert first.startswith("Form 2077-ZED, box 1a goes to Form 88, line 1 (2077-ZED 2031): ")
    assert sentence.rstrip(".") in first
    assert found.results[found.units[0].rank - 1].document == "i2077zed--2031"
    assert [result.rank for result in found.results] == list(range(1, len(found.results) + 1))
    without = ask(searcher, question, settings=Settings())
    assert "goes to" not in (without.answer or "")

    elsewhere = ask(known, question, settings=Settings(), form="2078")
    assert "goes to" not in (elsewhere.answer or "")


def test_a_passage_that_has_the_element_without_the_words_is_not_cited(searcher: Searcher) -> None:
    columns = searcher.passages.columns
    row, other, *_ = [row for row in range(searcher.index.height) if columns["document_id"][row] == "i2077zed--2031"]
    sentence = columns["text"][row].split(". ")[0].split("\n")[-1]
    assert sentence not in columns["text"][other]
    page = int(searcher.passages.pages[row])
    stated = flow(0, "2077-ZED box_1a", "88 line_1", source_document_id=None, document_id="i2077zed--2031")
    stated |= {"evidence": sentence, "page": page, "element_id": columns["node_ids"][other][0]}
    known = replace(searcher, open_flows=lambda: pl.DataFrame([stated]))
    found = ask(known, "Where does box 1a of the 2077-ZED go?", settings=Settings())
    assert found.answer is not None
    assert found.units[0].pieces[0].chunk_id == columns["chunk_id"][row]


def test_a_question_about_something_else_is_not_answered_by_the_line(searcher: Searcher) -> None:
    columns = searcher.passages.columns
    row = next(row for row in range(searcher.index.height) if columns["document_id"][row] == "i2077zed--2031")
    place = {"document_id": "i2077zed--2031", "page": int(searcher.passages.pages[row])}
    sentence = columns["text"][row].split(". ")[0].split("\n")[-1]
    stated = flow(0, "2077-ZED box_1a", "88 line_1", source_document_id=None, evidence=sentence, **place)
    known = replace(searcher, open_flows=lambda: pl.DataFrame([stated]))
    question = "Where do I report a lazy captain if box 1a of the 2077-ZED is wrong?"
    assert ask(known, question, settings=Settings()) == ask(searcher, question, settings=Settings())
    doubtful = "Where does box 1a of the 2077-ZED go in Atlantis?"
    assert (
        ask(known, doubtful, settings=Settings()).confidence == ask(searcher, doubtful, settings=Settings()).confidence
    )


def test_a_statement_without_a_passage_is_not_quoted(searcher: Searcher) -> None:
    stated = flow(0, "2077-ZED box_1a", "88 line_1", document_id="i2077zed--2031", evidence="Words of no passage.")
    known = replace(searcher, open_flows=lambda: pl.DataFrame([stated]))
    question = "Where does box 1a of the 2077-ZED go?"
    assert ask(known, question, settings=Settings()) == ask(searcher, question, settings=Settings())
