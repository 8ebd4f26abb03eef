"""Which statements are about the form, box, line or code of the question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxkg_assets.retrieval.answering.excerpt import choose_units
from taxkg_assets.retrieval.answering.statements import Statement, names_form, read_row
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets_tests.retrieval.answering.conftest import make_facts


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Report the toll on Form 4711.", True),
        ("Report the toll on Form 4711 or 4711-B.", True),
        ("Report the toll on Schedule 2 (Form 4711).", False),
        ("Report the toll on Schedule 2 (Form 4711), and on Form 4711 itself.", True),
        ("Report the toll on Form 47110.", False),
    ],
)
def test_a_schedule_does_not_name_the_form_that_it_is_filed_with(text: str, *, is_named: bool) -> None:
    assert names_form(text, ["4711"]) is is_named


def test_a_schedule_of_the_question_is_named_by_its_whole_name() -> None:
    assert names_form("Report the toll on Schedule 2 (Form 4711).", ["Schedule 2 (Form 4711)"])


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Report it on Form 4711 or 4711-B, line 2b.", True),
        ("Add the amount on line 2b of your Form 4711.", True),
        ("Enter it on Form 88, line 2b. But don't enter it on your Form 4711, line 3a.", False),
        ("Report it on Form 4711, line 2bb.", False),
        ("Report it on Form 4711.", False),
    ],
)
def test_a_line_of_a_form_is_named_with_its_form(text: str, *, is_named: bool) -> None:
    assert names_form(text, ["4711"], keys=["line_2b"]) is is_named


def test_the_same_line_of_another_form_is_foreign_even_if_it_names_the_form() -> None:
    facts = make_facts(
        ("Line 2b", ["Enter the rent of barges. Do not enter it on Form 4711, line 3a, too."]),
        ("Line 6", ["The rent of barges is also entered on Form 4711, line 2b, in the spring."]),
        keys=["line_2b", "line_6"],
    )
    route = Route(forms=("4711",), keys=("line_2b",), certainty=1.0)
    contexts = open_contexts(range(facts.rows.height), facts)

    def read(row: int) -> list[bool]:
        found = read_row(row, contexts[row], route=route, passage=1, hit=row, question_terms=frozenset())
        return [own.is_foreign for own in found]

    assert read(0) == [True, True]
    assert read(1) == [False]


def test_the_code_of_the_question_comes_before_its_box() -> None:
    facts = make_facts(
        ("Box 9", ["Box 9 shows what the harbor paid, and the codes say why."]),
        ("Codes", ["F—Paid for a ferry that sank.", "G—Paid for a gull."]),
        keys=["box_9", None],
    )
    route = Route(keys=("box_9", "code_G"))
    contexts = open_contexts(range(facts.rows.height), facts)
    found: list[Statement] = [
        replace(own, is_foreign=False)
        for row in range(2)
        for own in read_row(row, contexts[row], route=route, passage=row, hit=row, question_terms=frozenset())
    ]
    box, code = (next(n for n, own in enumerate(found) if text in own.text) for text in ("the harbor paid", "gull"))
    drafts = choose_units(
        found, {box: 1.0, code: 0.0}, order=[box, code], required=[box, code], leading=[code], codes={"code_G"}
    )
    assert [draft.passage for draft in drafts] == [1, 0]
