"""Questions for the lines that amounts go to are written from the graph, and the lines of an answer are read."""

from __future__ import annotations

import polars as pl
import pytest

from benchmarks.destinations import names_place, write_questions


def test_a_question_names_the_line_and_every_place_that_is_right() -> None:
    rows = [
        ("2077", "line_3", "", "88-SR", "line_1"),
        ("2077", "line_3", "", "Schedule K (Form 88)", "line_2a"),
        ("2077", "line_3", "", "2077", "line_5"),
        ("W-9", "box_2", "G", "amount", ""),
    ]
    names = ("source_form", "source_key", "source_code", "target_form", "target_key")
    found = list(write_questions(pl.DataFrame(rows, schema=names, orient="row"), count=9, seed=1))
    assert len(found) == 1
    question, places = found[0]
    assert "line 3" in question
    assert "Form 2077" in question
    assert places == {("88", "1"), ("Schedule K", "2a")}


@pytest.mark.parametrize(
    ("answer", "is_named"),
    [
        ("Enter it on Form 88, line 1. [1]", True),
        ("Enter it on Form 88, lines 3 and 1. [1]", True),
        ("Enter it on Form 88, line 12. [1]", False),
        ("Enter it on Form 88. [1]\nEnter it on line 1. [2]", False),
    ],
)
def test_a_line_of_an_answer_names_form_and_number(answer: str, *, is_named: bool) -> None:
    assert names_place(answer, frozenset({("88", "1")})) is is_named
