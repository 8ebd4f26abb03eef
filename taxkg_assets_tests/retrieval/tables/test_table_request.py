"""Cells of the tables among the candidates: what people name a row, a column or a form by, and what is quoted of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Candidate, Ranking
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, TableContext, build_table_catalogue
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, find_table_cells, list_statuses
from taxkg_assets.retrieval.tables.table_question import (
    find_covered_months,
    find_form_numbers,
    find_words,
    is_for_other_status,
)
from taxkg_assets.retrieval.tables.table_ranges import find_ranges
from taxkg_assets.retrieval.tables.table_request import find_requested_cells


def _table(table_id: str, title: str, header: list[str], rows: list[list[str]]) -> dict[str, Any]:
    """A table whose first column names its rows."""
    cells = [
        {
            "row_ix": row_ix,
            "col_ix": col_ix,
            "row_path": row[0] if col_ix else "",
            "col_path": header[col_ix],
            "text": text,
        }
        for row_ix, row in enumerate(rows)
        for col_ix, text in enumerate(row)
    ]
    return {"table_id": table_id, "document_id": table_id.split(":")[0], "title": title, "cells": cells}


MONTHS = _table(
    "dues:1", "Berth Dues by Period", ["Line", "(a) 1/1/31–3/31/31", "(b) 1/1/31–5/31/31", "(c) 1/1/31–8/31/31"],
    [["Share of the dues", "$10", "$17", "$27"], ["Share of the toll", "$1", "$2", "$3"]],
)  # fmt: skip
CORRECTIONS = _table(
    "fix:1", "How To Correct a Log", ["IF you filed ...", "CORRECT it with ..."],
    [["Form 7041 or Form 7041-SS", "Form 7041-X"], ["Form 7043", "Form 7043-X"]],
)  # fmt: skip
LATE = _table(
    "late:1", "Surcharges", ["Surcharge", "Charged for ..."],
    [["3%", "Dues paid 1 to 4 days late."], ["6%", "Dues paid 5 to 20 days late."], ["9%", "Dues that nobody paid."]],
)  # fmt: skip
BRACKETS = _table(
    "toll:1", "Toll on Cargo", ["Value of cargo over—", "Value of cargo not over—", "Rate on the excess"],
    [["20,000", "40,000", "7%"], ["40,000", "60,000", "8%"], ["60,000", "- - -", "9%"]],
)  # fmt: skip
HARBORS = _table(
    "mail:1", "Where To Send a Log", ["IF the harbor is in ...", "And the crew is ...", "Use this address"],
    [
        ["Norland, Suland", "less than 10", "Pier 1"],
        ["Norland, Suland", "10 or more", "Pier 2"],
        ["Westland", "any", "Pier 3"],
    ],
)  # fmt: skip
WORKSHEET = _table(
    "sheet:1", "Worksheet for Berth Dues of the Crew", ["", ""],
    [["1.", "Enter the dues of the crew"], ["2.", "Multiply line 1 by 2.5% (0.025)"]],
)  # fmt: skip
STATES = _table(
    "fleet:1", "Where To Send a Log", ["IF you moor in ...", "Form 7041 without a log", "Form 7041 with a log"],
    [["Alabama, Alaska, or Texas", "Pier 1", "Pier 2"], ["Maine, Ohio, or Utah", "Pier 3", "Pier 4"]],
)  # fmt: skip
CODES = _table(
    "codes:1", "Codes of Boats", ["", ""],
    [["48310", "Coastal ferries"], ["48320", "Barges and towboats"], ["48700", "Sightseeing on lakes"]],
)  # fmt: skip
COVERED = _table(
    "berth:1", "Duty if You Are Insured by a Club", ["IF the value is ...", "Duty"],
    [["$10 or more", "full duty"], ["at least $500 but less than $900", "half of the duty"]],
)  # fmt: skip
UNCOVERED = _table(
    "berth:2", "Duty if You Aren't Insured by a Club", ["IF the value is ...", "Duty"],
    [["$10 or more", "double duty"], ["at least $500 but less than $900", "whole duty"]],
)  # fmt: skip
LIMITS = _table(
    "limit:1", "Limit of Berths", ["Year", "Limit", "Limit if age 50 or older"],
    [["2031 through 2033", "$5", "$6"], ["2034 through 2036", "$7", "$8"]],
)  # fmt: skip
SEASONS = _table(
    "season:1", "When To Pay the Berth Levy", ["If the boat first moors:", "Pay by"],
    [["Before March 1", "March 15"], ["March 1–May 31", "June 15"], ["June 1–Sept. 30", "Oct. 15"]],
)  # fmt: skip
RENEWALS = _table(
    "renewal:1", "Share of the Hull", ["Year", "Month moored > 1", "Month moored > 5", "Month moored > 8"],
    [["1", "3.5%", "2.5%", "1.5%"], ["2", "4.5", "4.4", "4.3"], ["8", "", "5.1", "5.2"]],
)  # fmt: skip
TERMS = [
    _table(
        f"term:{number}", f"Hull Shares, Mid-Quarter Rule, Moored in {name} Quarter", ["Year", "Share"], [["1", share]]
    )
    for number, (name, share) in enumerate([("First", "35%"), ("Second", "25%"), ("Third", "15%")])
]
TO_FILL_IN = _table(
    "sheet:2", "Penalty Worksheet of Days in July", ["Line", "July", "August"], [["7", "$", "$"], ["8", "3", "4"]],
)  # fmt: skip
STATUSES = _table(
    "levy:1", "Berth Levy", ["IF your filing status is ...", "Levy"],
    [["Single", "$11"], ["Married filing jointly or Qualifying surviving spouse", "$19"]],
)  # fmt: skip
HOUSEHOLDS = _table(
    "crew:1", "Weekly Ration", ["Family Size", "Ration"], [["2", "$20"], ["3", "$31"], ["4", "$42"]],
)  # fmt: skip


def _ask(question: str, *tables: dict[str, Any]) -> list[list[CellMatch]]:
    return find_table_cells(question, _catalogue(*tables), tables=[table["table_id"] for table in tables])


def _catalogue(*tables: dict[str, Any]) -> TableCatalogue:
    return build_table_catalogue(tables)


@pytest.mark.parametrize(
    ("question", "table", "value"),
    [
        ("share of the dues through august", MONTHS, "$27"),
        ("share of the toll for january to may", MONTHS, "$2"),
        ("we filed a 7041, what do we correct it with", CORRECTIONS, "Form 7041-X"),
        ("i filed 7043 wrong, correct it how", CORRECTIONS, "Form 7043-X"),
        ("surcharge for dues 7 days late", LATE, "Dues paid 5 to 20 days late."),
        ("rate for cargo with a value of 45,000", BRACKETS, "8%"),
        ("cargo of 70,000 in value, one log, what rate", BRACKETS, "9%"),
        ("i moor in texas, where to send my 7041 without a log", STATES, "Pier 1"),
        ("code for towboats and barges", CODES, "Barges and towboats"),
        ("insured by a club, value 700, what duty", COVERED, "half of the duty"),
        ("limit of berths in 2035 at age 52", LIMITS, "$8"),
        ("limit of berths in 2035, i am 30 years old", LIMITS, "$7"),
        ("boat first moors in may, pay the levy by when", SEASONS, "June 15"),
        ("boat first moors in july, pay the levy by when", SEASONS, "Oct. 15"),
        ("share of the hull in year 2, moored in august, percent", RENEWALS, "4.3"),
        ("share of the hull in the second year, moored in may, percent", RENEWALS, "4.4"),
        ("rate for cargo with a value of forty-five thousand", BRACKETS, "8%"),
        ("penalty worksheet, days in july", TO_FILL_IN, "3"),
    ],
)
def test_what_people_say_finds_the_cell(question: str, table: dict[str, Any], value: str) -> None:
    """A month in a header of dates, between its ends or by its number, a form by its bare number, a number in words.

    One state of a list, a code by what it means, the bracket that closes on both sides, the year of a row, and the
    column for all other ages.
    """
    assert _ask(question, table)[0][0].value == value


@pytest.mark.parametrize(
    ("text", "is_other"),
    [
        ("married filing separately | no berth", True),
        ("single or married filing separately | one berth", False),
        ("any boat | two berths", False),
        ("not married filing separately | two berths", False),
    ],
)
def test_a_row_names_another_filing_status(text: str, is_other: bool) -> None:
    assert is_for_other_status(text, "how many berths for a single owner") is is_other


def test_a_month_names_its_quarter() -> None:
    first, second, third = (
        found[0].score for found in _ask("mid-quarter rule, moored in may, share of the hull", *TERMS)
    )
    assert second > max(first, third)


@pytest.mark.parametrize("question", ["dues of berths in march", "dues of berths for march"])
def test_the_number_of_a_month_is_no_count(question: str) -> None:
    crews = _table(
        "crew:2", "Dues of Berths", ["Berth", "Crew", "Dues"], [["North", "5", "$40"], ["South", "3", "$60"]]
    )
    assert {match.value for match in _ask(question, crews)[0]} == {"$40", "$60"}


@pytest.mark.parametrize(
    ("header", "months"),
    [
        ("June 1–Sept. 30", {"june", "july", "august", "september"}),
        ("January 1st, 2031, through March 31, 2031", {"january", "february", "march"}),
        ("Nov. 1 to Jan. 31", {"november", "december", "january"}),
        ("March", set()),
    ],
)
def test_a_range_of_dates_covers_the_months_between(header: str, months: set[str]) -> None:
    assert find_covered_months(header) == frozenset().union(*map(find_words, months))


def test_days_of_other_headers_are_numbers() -> None:
    assert not find_ranges("June 1–Sept. 30")
    assert find_ranges("Quarterly (by April 30)")


def test_a_household_counts_its_people() -> None:
    assert _ask("ration for three of us in the family", HOUSEHOLDS)[0][0].value == "$31"


def test_a_cell_states_what_distinguishes_its_row_from_others_with_the_same_header() -> None:
    """Two rows are for the same places; only the second condition says which address is meant."""
    (found,) = _ask("norland, crew of 12, address for the log", HARBORS)
    assert {match.words for match in found} <= {
        "Where To Send a Log | Norland, Suland > less than 10 | Use this address: Pier 1",
        "Where To Send a Log | Norland, Suland > 10 or more | Use this address: Pier 2",
    }
    assert found[0].value.startswith("Pier")


def test_a_title_that_denies_what_the_question_says_counts_against_a_table() -> None:
    """Two tables differ only in whether somebody is insured."""
    for question, best in (
        ("insured by a club, value 700, what duty", "half of the duty"),
        ("i am not insured by a club, value 700, what duty", "whole duty"),
    ):
        found = [matches[0] for matches in _ask(question, COVERED, UNCOVERED)]
        assert max(found, key=lambda match: match.score).value == best


def test_a_row_for_a_filing_status_needs_the_status() -> None:
    """Without it, the answer lists the rows: one of them would state the levy of somebody else."""
    stated = {question: _ask(question, STATUSES)[0][0] for question in ("berth levy, single", "berth levy for a QSS")}
    assert [match.value for match in stated.values()] == ["$11", "$19"]
    (found,) = _ask("what is the berth levy", STATUSES)
    assert found[0].assumes_status
    assert [match.value for match in list_statuses(found[0], _catalogue(STATUSES).by_id["levy:1"])] == ["$11", "$19"]


def test_the_text_of_a_worksheet_is_no_value() -> None:
    """A line of a worksheet has no column header: it says what to do, not what something is."""
    assert _ask("dues of the crew worksheet", WORKSHEET) == []


def test_a_title_alone_finds_no_cell() -> None:
    """A cell is requested by its row or column, not only by what the table is about."""
    assert _ask("weekly", HOUSEHOLDS) == []


def test_numbers_of_forms_and_months_of_dates_are_words() -> None:
    """What a header prints as a number, a person says as a name."""
    assert find_form_numbers("Form 7041 or Form 7041-SS") == {7041}
    assert find_words("August") <= find_words("1/1/31–8/31/31")


def test_a_table_far_down_opens_no_answer() -> None:
    """The fit of the headers and the place of the table count both."""
    facts = PassageFacts(pl.DataFrame({"table_id": [None, "toll:1"]}))
    facts.__dict__["tables"] = {1: "toll:1"}
    catalogue, question = _catalogue(BRACKETS), "rate for cargo with a value of 45,000"

    def find(score: float) -> list[list[CellMatch]]:
        candidates = tuple(Candidate(row, own, None, None, 0.0) for row, own in ((0, 4.0), (1, score)))
        ranking = Ranking(Route(wants_amount=True), candidates, {}, {}, np.zeros(1, np.float32))
        return find_requested_cells(question, ranking, tables=catalogue, facts=facts)

    assert (find(3.9)[0][0].value, find(3.9)[0][0].may_open_answer) == ("8%", True)
    catalogue.cached_results.clear()
    assert not find(0.1)[0][0].may_open_answer
    catalogue.cached_results.clear()
    ranking = Ranking(Route(keys=("box_1",)), (Candidate(1, 4.0, None, None, 0.0),), {}, {}, np.zeros(1, np.float32))
    assert find_requested_cells("what is in box 1", ranking, tables=catalogue, facts=facts) == []


def test_a_question_for_yes_or_no_gets_words_and_no_figure() -> None:
    """A table that says "half of the duty" answers it, one that says "8%" does not."""
    facts = PassageFacts(pl.DataFrame({"table_id": ["toll:1", "berth:1"]}))
    facts.__dict__["tables"] = {0: "toll:1", 1: "berth:1"}

    def find(question: str, row: int) -> list[list[CellMatch]]:
        ranking = Ranking(Route(), (Candidate(row, 4.0, None, None, 0.0),), {}, {}, np.zeros(1, np.float32))
        return find_requested_cells(question, ranking, tables=_catalogue(BRACKETS, COVERED), facts=facts)

    assert find("is there a rate for cargo with a value of 45,000", 0) == []
    assert find("is there a duty if insured by a club, value 700", 1)[0][0].value == "half of the duty"


@pytest.mark.parametrize(("forms", "values"), [((), {"Pier 2", "Quay 7"}), (("7041",), {"Pier 2"})])
def test_a_table_of_the_requested_form_goes_before_those_that_do_not_name_it(
    forms: tuple[str, ...], values: set[str]
) -> None:
    """A booklet lists the same states for another log."""
    other = _table("guide:1", "Where To Send a Log", ["IF you moor in ...", "Address for a log"],
                   [["Alabama, Alaska, or Texas", "Quay 7"], ["Maine, Ohio, or Utah", "Quay 9"]])  # fmt: skip
    contexts = {"fleet:1": TableContext(forms=("7041",)), "guide:1": TableContext(forms=("Pub. 99",))}
    catalogue = build_table_catalogue([STATES, other], contexts)
    facts = PassageFacts(pl.DataFrame({"table_id": ["fleet:1", "guide:1"]}))
    facts.__dict__["tables"] = {0: "fleet:1", 1: "guide:1"}
    candidates = tuple(Candidate(row, 4.0, None, None, 0.0) for row in (0, 1))
    ranking = Ranking(Route(forms=forms), candidates, {}, {}, np.zeros(1, np.float32))
    found = find_requested_cells("i moor in texas, where to send a log", ranking, tables=catalogue, facts=facts)
    assert {matches[0].value for matches in found} == values
