"""A question about a line is answered first by the words that its form prints for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from taxkg_assets.records import LineRecord
from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.openings import has_one_request, prepend_opening
from taxkg_assets.retrieval.answering.printed_lines import (
    asks_for_line,
    asks_for_line_to_use,
    choose_lines,
    list_names,
    match_lines,
    select_lines,
)
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings


def line(number: int, **columns: Any) -> dict[str, Any]:
    row = {"document_id": "f2077--2031", "part": "", "key": "line_3", "form": "2077", "revision": "2031"}
    return row | {"kind": "line", "line_ix": number, "label": f"Rent {number}", "page": 1} | columns


def choose(*rows: dict[str, Any], **route: Any) -> list[str]:
    own = Route(**{"forms": ("2077",), "keys": ("line_3",)} | route)
    return [row["label"] for row in choose_lines(select(*rows, route=own), own)]


def select(*rows: dict[str, Any], route: Route) -> list[LineRecord]:
    newest = ("f2077--2031", "f2077--2031__copy", "f88--2031")
    return select_lines(pl.DataFrame(list(rows)), route, newest_documents=newest)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is line 3 of Form 2077?", True),
        ("How do I figure line 3 of Form 2077?", True),
        ("What was line 3 of the 2029 Form 2077?", True),
        ("Where does line 3 of Form 2077 go?", False),
        ("Who may leave line 3 of Form 2077 empty?", False),
    ],
)
def test_who_asks_for_a_line(question: str, *, expected: bool) -> None:
    assert asks_for_line(question, Route(forms=("2077",), keys=("line_3",))) is expected
    assert not asks_for_line(question, Route(forms=("2077",), keys=("box_3",)))
    assert not asks_for_line(question, Route(forms=("2077", "88"), keys=("line_3",)))


def test_the_newest_revision_counts_unless_a_year_is_named() -> None:
    older = {"revision": "2029", "document_id": "f2077--2029"}
    rows = [line(0, **older), line(1), line(2, key="line_4"), line(3, form="88"), line(4, label="")]
    assert choose(*rows) == ["Rent 1"]
    assert choose(*rows, years=(2029,)) == ["Rent 0"]
    assert choose(*rows, years=(2020,)) == []
    assert choose(line(0, **older), line(2, key="line_4")) == []


def test_two_files_of_one_revision_print_one_line() -> None:
    assert choose(line(1), line(1, document_id="f2077--2031__copy")) == ["Rent 1"]


def test_each_part_with_the_line_is_named_in_the_order_of_the_form() -> None:
    assert choose(line(7, part="II"), line(2, part="I")) == ["Rent 2", "Rent 7"]


@pytest.mark.parametrize(
    ("question", "forms", "expected"),
    [
        ("Where do I report berth dues on Form 2077?", ("2077",), ["Berth dues"]),
        ("On which line do I enter the rent of barges?", (), ["Rent of barges. If a barge sank, check here"]),
        ("Where do I report the sale of a boat?", (), []),
        ("Where do I report gifts?", (), []),
        ("Where do I report the rent of a house for gulls and barges?", (), []),
    ],
)
def test_a_line_is_found_by_its_name(question: str, forms: tuple[str, ...], expected: list[str]) -> None:
    rows = [
        line(0, label="Berth dues"),
        line(1, key="line_4", label="Rent of barges. If a barge sank, check here"),
        *(line(2 + number, key=f"line_{5 + number}", label="Gifts") for number in range(3)),
        line(0, form="88", document_id="f88--2031", label="Other dues"),
        line(1, form="88", document_id="f88--2031", label="Berth dues", kind="box"),
    ]
    route = Route(forms=forms)
    assert asks_for_line_to_use(question, route)
    assert not asks_for_line_to_use(question, Route(keys=("line_3",)))
    found = match_lines(select(*rows, route=route), question, route)
    assert [row["label"] for row in found] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which line is total tax?", ["line_7"]),
        ("Which line is my total income on Form 2077?", ["line_3"]),
        ("What line has my net mooring income?", ["line_5"]),
        ("Which line are total mooring credits?", ["line_8"]),
        ("Which line is tax?", []),
    ],
)
def test_a_line_is_found_by_what_it_calls_its_result(question: str, expected: list[str]) -> None:
    rows = [
        line(0, label="Add lines 1 and 2. This is your total income"),
        line(
            1, key="line_5", label="Subtract line 4 from line 3 (if less, enter -0-). This is your net mooring income"
        ),
        line(2, key="line_6", label="Tax (see instructions)"),
        line(3, key="line_7", label="Add lines 5 and 6. This is your total tax. Enter it here"),
        line(4, key="line_8", label="Add lines 1 to 7. These are your total mooring credits"),
        line(5, key="line_9", label="Mooring credits from Form 88"),
    ]
    route = Route(forms=("2077",))
    assert [row["key"] for row in match_lines(select(*rows, route=route), question, route)] == expected


def test_the_printed_words_open_the_answer_with_their_passage(searcher: Searcher) -> None:
    columns = searcher.passages.columns
    row = next(row for row in range(searcher.index.height) if columns["document_id"][row] == "i2077zed--2031")
    words = " ".join(columns["text"][row].splitlines()[-1].split())
    place = {"document_id": "i2077zed--2031", "form": "2077-ZED", "page": int(searcher.passages.pages[row])}
    known = replace(searcher, open_lines=lambda: pl.DataFrame([line(0, label=words, **place)]))
    question = "What was line 3 of the 2031 Form 2077-ZED?"
    found = ask(known, question, settings=Settings())
    assert found.answer is not None
    assert found.answer.splitlines()[0].startswith(f"Form 2077-ZED, line 3 (2077-ZED 2031): {words}")
    assert found.results[0].document == "i2077zed--2031"
    absent = replace(searcher, open_lines=lambda: pl.DataFrame([line(0, **place)]))
    assert ask(absent, question, settings=Settings()) == ask(searcher, question, settings=Settings())


def test_nothing_follows_a_line_that_contains_the_whole_question(searcher: Searcher) -> None:
    columns = searcher.passages.columns
    row = next(row for row in range(searcher.index.height) if columns["document_id"][row] == "i2077zed--2031")
    words = " ".join(columns["text"][row].splitlines()[-1].split())
    place = {"document_id": "i2077zed--2031", "form": "2077-ZED", "page": int(searcher.passages.pages[row])}
    known = replace(searcher, open_lines=lambda: pl.DataFrame([line(0, label=words, **place)]))
    name = list_names(words)[0]
    found = ask(known, f"On which line of the 2031 Form 2077-ZED do I report {name}?", settings=Settings())
    assert [unit.label for unit in found.units] == ["Form 2077-ZED, line 3"]
    conditional = ask(
        known, f"On which line of the 2031 Form 2077-ZED do I report {name} if I sold a barge?", settings=Settings()
    )
    assert len(conditional.units) > 1


def test_what_only_repeats_is_left_out_and_another_document_is_named(searcher: Searcher) -> None:
    results = searcher.search("rent", k=10, level="paragraph")
    own = results[0]
    other = next(row for row in results if row.document != own.document)

    def unit(rank: int, *texts: str) -> Unit:
        return Unit(rank=rank, label="", pieces=[Piece(role="sentence", text=text) for text in texts])

    stated, repeated = unit(own.rank, "Rent. Enter it there. Not here."), unit(own.rank, "Enter it  there")
    more, elsewhere = unit(own.rank, "Enter it there.", "Or not."), unit(other.rank, "Never enter it.")
    kept = prepend_opening([stated], [repeated, more, elsewhere], results=results)
    assert [unit.text for unit in kept[:2]] == [stated.text, "Or not."]
    assert kept[2].text == f"{other.form} {other.revision}".strip() + ": Never enter it."
    assert prepend_opening([], [repeated], results=results) == [repeated]


def test_a_line_with_two_names_for_its_amount_is_found_once() -> None:
    route = Route(forms=("2077",))
    row = line(0, label="Net mooring rent. Subtract line 2 from line 1. This is your net mooring rent")
    question = "Where do I report the net mooring rent on Form 2077?"
    assert [found["key"] for found in match_lines(select(row, route=route), question, route)] == ["line_3"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does line 9 of Form 2077 go?", True),
        ("Which line is the total tax?", True),
        ("How do I calculate line 9 of Form 2077, and where does it go?", False),
        ("What does line 9 of Form 2077 include, and where do I enter it?", False),
        ("Where does line 9 of Form 2077 go, and how is it taxed?", False),
        ("Explain where line 9 goes", False),
    ],
)
def test_a_question_for_more_than_a_line_is_not_settled_by_it(question: str, *, expected: bool) -> None:
    assert has_one_request(question) is expected
