"""Whether a question asks for the cell that fits it best."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.retrieval.tables.table_aptness import rate_cell
from taxkg_assets.retrieval.tables.table_boost import take_newest_edition
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, TableContext, build_table_catalogue
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, find_table_cells
from taxkg_assets.retrieval.tables.table_question import asks_for_date, find_covered_months, is_date


def _list(title: str, header: list[str], rows: list[list[str]]) -> dict[str, Any]:
    """A table whose first column names its rows."""
    cells = [
        {"row_ix": row_ix, "col_ix": ix, "row_path": row[0] if ix else "", "col_path": header[ix], "text": text}
        for row_ix, row in enumerate(rows)
        for ix, text in enumerate(row)
    ]
    return {"table_id": "z:1", "document_id": "z", "title": title, "cells": cells}


PERIODS = _list(
    "Service Lives of Moored Property", ["Property", "Service life"],
    [["Lanterns on moored boats", "5 years"], ["Boats from 20 to 40 feet", "27 years"]],
)  # fmt: skip
CHART = _list("Who Files a Log", ["Status", "File if the dues are at least"], [["Single", "$70"], ["Married", "$90"]])
EXAMPLE = _list("Example of a Harbor Toll", ["Length", "Toll"], [["20 to 40 feet", "$12"], ["over 40 feet", "$15"]])


def _rate(question: str, table: dict[str, Any], *, share: float = 1.0, years: tuple[int, ...] = ()) -> CellMatch:
    context = TableContext(document="Harbor Dues and Discounts", headings="Booklet > Logs", years=years)
    catalogue: TableCatalogue = build_table_catalogue([table], {"z:1": context})
    match = find_table_cells(question, catalogue, tables=["z:1"])[0][0]
    return rate_cell(match, question, tables=catalogue, share=share)


def test_a_cell_leads_where_something_of_the_question_selects_its_row() -> None:
    assert _rate("service life of property: a boat of 30 feet", PERIODS).may_open_answer
    assert not _rate("service life of moored property", PERIODS).may_open_answer


def test_a_status_alone_selects_a_row_of_a_table_about_something_else() -> None:
    """Only the name of the document says "discount": the table is about who has to file."""
    found = _rate("discount for single", CHART)
    assert not found.may_open_answer


@pytest.mark.parametrize(("share", "leads"), [(1.0, True), (0.1, False)])
def test_a_table_that_the_search_finds_far_down_does_not_lead(share: float, leads: bool) -> None:
    assert _rate("service life of a boat, 30 feet long", PERIODS, share=share).may_open_answer is leads


def test_an_invented_case_and_another_year_are_never_apt() -> None:
    assert _rate("toll for a length of 30 feet", EXAMPLE).aptness == 0.0
    question = "service life of property in 2031: a boat of 30 feet"
    assert _rate(question, PERIODS, years=(2029,)).aptness == 0.0
    assert _rate(question, PERIODS, years=(2031,)).aptness > 0.5


ADDRESSES = _list(
    "Where To Send the Log", ["Port", "With a fee", "Without a fee", "Hours"],
    [["Northport", "Pier 3, Northport", "Box 44, Southport", "8 to 12"], ["Southport", "Box 1", "Box 2", "9 to 1"]],
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "header"), [("where do I send the log from Northport", True), ("Northport, log without a fee", False)]
)
def test_where_nothing_selects_a_column_the_others_of_the_row_are_listed(question: str, header: bool) -> None:
    found = _rate(question, ADDRESSES)
    assert found.row_path == "Northport"
    assert len(found.other_cells) == (2 if header else 0)


def test_of_editions_with_the_same_headers_the_newest_leads() -> None:
    tables = [PERIODS | {"table_id": name} for name in ("old", "new", "unfound")]
    contexts = {name: TableContext(years=(year,)) for name, year in (("old", 2029), ("new", 2030), ("unfound", 2031))}
    catalogue = build_table_catalogue(tables, contexts)
    question = "service life of a boat, 30 feet long"
    matches = [own[0] for own in find_table_cells(question, catalogue, tables=list(contexts))]
    assert take_newest_edition(matches, tables=catalogue, shares={"old": 1.0, "new": 0.9}).table_id == "new"


RANGES = ["Jan. 1 1 – March 31", "April 1 – May 31", "June 1 – Aug. 31", "Sept. 1 – Dec. 31"]
LISTS = ["1. January, February, March", "2. April, May, June", "3. July, Aug., Sept.", "4. Oct., Nov., and Dec."]
DAYS = ["April 15", "June 15", "Sept. 15", "Jan. 15"]


@pytest.mark.parametrize("periods", [RANGES, LISTS])
@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("when are harbor dues of the third quarter due", "Sept. 15"),
        ("Q1 harbor dues due date", "April 15"),
        ("due date of the 4th installment of harbor dues", "Jan. 15"),
    ],
)
def test_a_quarter_is_one_of_the_four_periods_of_a_year(periods: list[str], question: str, day: str) -> None:
    table = _list("", ["For the period:", "Due date:*"], [list(row) for row in zip(periods, DAYS, strict=True)])
    found = _rate(question, table | {"title": "Dues of first, second, third and fourth quarters"})
    assert found.value == day
    assert found.may_open_answer
    assert found.words.endswith(f"| Due date: {day}")


def test_periods_that_are_no_year_have_no_quarters() -> None:
    table = _list("", ["For the period:", "Due date:"], [list(row) for row in zip(RANGES[:3], DAYS, strict=False)])
    assert not _rate("harbor dues of the third quarter, due date", table).may_open_answer


@pytest.mark.parametrize(
    ("header", "months"),
    [
        ("2. April, May, June", {"april", "may", "jun"}),
        ("Oct. and Nov.", {"october", "november"}),
        ("Jan.–Feb.–Mar.", {"january", "february", "march"}),
        ("May", set()),
        ("boats of June and July", set()),
    ],
)
def test_a_list_of_months_covers_them(header: str, months: set[str]) -> None:
    assert find_covered_months(header) == months


def test_a_question_for_a_day_prefers_the_day_that_something_is_due() -> None:
    rows = [[period, day, due] for period, day, due in zip(LISTS, reversed(DAYS), DAYS, strict=True)]
    table = _list("Harbor dues of first, second, third and fourth quarters", ["For", "Ending", "Due Date"], rows)
    assert _rate("when do I pay harbor dues for the 3rd quarter", table).value == "Sept. 15"


@pytest.mark.parametrize(
    ("question", "is_day"),
    [
        ("when are dues due", True),
        ("deadline for dues", True),
        ("how much are dues when I pay late", False),
        ("dues due on 20 feet", False),
    ],
)
def test_a_question_asks_for_a_day(question: str, is_day: bool) -> None:
    assert asks_for_date(question) is is_day


def test_a_cell_is_a_day_if_it_begins_with_one() -> None:
    assert is_date("Jan. 15, next year 2")
    assert not is_date("May be paid later")
    assert not is_date("15 boats")
