"""Questions find their cell by the headers alone: over the sample documents, drawn PDFs and tables written here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.tables.tables import build_tables
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, TableContext, build_table_catalogue
from taxkg_assets.retrieval.tables.table_lookup import CellMatch, find_cells, find_row_of_cell, find_table_cells
from taxkg_assets_tests.extraction import table_pdfs
from tools.rule_switch import every_rule


@pytest.fixture(autouse=True, scope="module")
def _with_every_rule() -> Iterator[None]:
    """Rules with little support are off, but their reading is tested."""
    with every_rule():
        yield


SAMPLES = Path(__file__).parents[3] / "data" / "samples"


def _table(table_id: str, title: str, header: list[str], rows: list[list[str]], *, stubs: int = 1) -> dict[str, Any]:
    """A table as the extraction gives it; a row of one text names the group of the rows after it."""
    cells, group = [], ""
    for row_ix, row in enumerate(rows):
        if len(row) == 1:
            group = row[0]
            continue
        for col_ix, text in enumerate(row):
            names = [group, *row[: min(col_ix, stubs)]]
            path = " > ".join(name for name in names if name)
            cells.append(
                {"row_ix": row_ix, "col_ix": col_ix, "row_path": path, "col_path": header[col_ix], "text": text}
            )
    return {"table_id": table_id, "document_id": table_id.split(":")[0], "title": title, "cells": cells}


FEES = _table(
    "fees:1",
    "Mooring Club Sliding Fees",
    ["% of Town Median Income", "10%", "30%", "50%", "70%"],
    [
        ["Fee as a % of Income - 1 Boat", "1.10%", "2.30%", "3.50%", "4.70%"],
        ["HOUSEHOLD SIZE 2:"],
        ["Monthly Fee - 1 Boat", "$11", "$33", "$55", "$77"],
        ["Weekly Fee - 1 Boat", "$3", "$8", "$13", "$18"],
        ["HOUSEHOLD SIZE 3:"],
        ["Monthly Fee - 1 Boat", "$12", "$36", "$60", "$84"],
        ["Weekly Fee - 1 Boat", "$2", "$9", "$14", "$19"],
        ["Monthly Fee - 2 Boats", "$15", "$45", "$75", "$105"],
    ],
)
PAIRS = _table(
    "form:1",
    "Unmarried or Filing Separately",
    [
        "Larger Engine Yearly Use",
        *(f"Smaller Engine Yearly Use > {r}" for r in ("$0 - 999", "$1,000 - 4,999", "$5,000 and over")),
    ],
    [
        ["$0 - 999", "$1", "$2", "$3"],
        ["$1,000 - 4,999", "$20", "$40", "$60"],
        ["$5,000 and over", "$300", "$500", "$700"],
    ],
)
RATES = [
    _table(
        f"rates:{period}",
        f"Withholding for Crews, {period} Payroll Period",
        [
            "Use this where the box on Form C-9 is NOT checked > If the crew wage is > At least",
            "Use this where the box on Form C-9 is NOT checked > If the crew wage is > But less than",
            "Use this where the box on Form C-9 is NOT checked > The amount to hold back is",
            "Use this where the box on Form C-9 is NOT checked > Plus this percentage—",
            "Use this where the box on Form C-9 is NOT checked > of the amount that the wage exceeds—",
        ],
        [
            ["Married Filing Jointly"],
            ["$0", f"${5 * k}00", "$0.00", "0%", "$0"],
            [f"${5 * k}00", "", "$7.00", "15%", f"${5 * k}00"],
            ["Head of Household"],
            ["$0", f"${3 * k}00", "$0.00", "2%", "$0"],
            [f"${3 * k}00", "", "$9.00", "19%", f"${3 * k}00"],
        ],
        stubs=2,
    )
    for k, period in ((1, "WEEKLY"), (2, "BIWEEKLY"), (4, "MONTHLY"))
]
ADDED = [
    _table(
        f"crew:{n}", f"Table {n}", ["Payroll period", "Add"], [["Weekly", w], ["Every other week", b], ["Monthly", m]]
    )
    for n, w, b, m in ((1, "21.10", "42.20", "91.40"), (2, "33.10", "66.20", "143.40"))
]
AGES = _table(
    "age:1", "Cost of $1,000 of Sea Cover for 1 Month", ["Age", "Cost"],
    [["Under 30", "$0.04"], ["30 through 44", "0.11"], ["45 through 59", "0.36"], ["60 and above", "1.75"]],
)  # fmt: skip
CONDITIONS = _table(
    "report:1", "Who Reports the Rent of a Berth", ["IF ...", "THEN the rent is reported by ..."],
    [
        ["you rent a berth in your own name", "you."],
        ["you rent a berth in the name of a child, who alone uses it", "the child."],
        ["you and a friend rent a berth together, each paying a part", "both of you, by what each paid."],
    ],
)  # fmt: skip
CONTEXTS = {
    "fees:1": TableContext(document="Mooring fee chart MFC2031", years=(2031,)),
    "form:1": TableContext(document="Form C-9 (2031)", forms=("C-9",), years=(2031,)),
    "crew:1": TableContext(
        document="Crew pay guide",
        headings="Foreign crew members",
        mentions=("For a foreign crew member who signed on before 2024, use Table 1.",),
        years=(2031,),
    ),
    "crew:2": TableContext(
        document="Crew pay guide",
        headings="Foreign crew members",
        mentions=("A foreign crew member who has signed on in 2024 or later is paid by Table 2.",),
        years=(2031,),
    ),
}


@cache
def _catalogue() -> TableCatalogue:
    tables: list[dict[str, Any]] = [FEES, PAIRS, *RATES, *ADDED, AGES, CONDITIONS]
    for name in ("half_ruled", "unruled", "stacked", "over_pages"):
        source = read_source(getattr(table_pdfs, name)(), document_id=name)
        tables += build_tables(source).rows(named=True)
    booklet = SAMPLES / "sample-i1099div--2024-01.pdf"
    tables += build_tables(read_source(booklet.read_bytes(), document_id=booklet.stem)).rows(named=True)
    return build_table_catalogue(tables, CONTEXTS)


def _ask(question: str) -> list[CellMatch]:
    return find_cells(question, _catalogue())


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("mooring club: three people in the household, two boats, half... 50% of the town median, monthly fee", "$75"),
        ("what does a family of 2 pay a week for one boat at 30 percent of median income", "$8"),
        ("a mother plus two at 70% of town median: weekly fee for a single boat", "$19"),
        ("fee as a share of income for 1 boat at 50 percent", "3.50%"),
        ("unmarried, larger engine 6k, smaller engine 1,200: yearly use amount", "$500"),
        ("larger engine use of $700, smaller engine $7,500, filing separately", "$3"),
        ("biweekly crew wage of 700, head of household, box on C-9 not checked: what is held back",
         "$9.00 plus this percentage 19% of the amount that the wage exceeds $600"),
        ("crew paid every two weeks, married filing jointly, wage 700, form C-9 box unticked",
         "$0.00 plus this percentage 0% of the amount that the wage exceeds $0"),
        ("weekly crew wage 499, married couple filing jointly, amount to hold back",
         "$0.00 plus this percentage 0% of the amount that the wage exceeds $0"),
        ("what is added for a foreign crew member paid fortnightly who signed on in 2026", "66.20"),
        ("foreign crew member signed on in 2019, monthly pay: what to add", "91.40"),
        ("monthly cost per $1,000 of sea cover at age 44", "0.11"),
        ("sea cover for a 61 year old, cost", "1.75"),
        ("sea cover, 29 years of age", "$0.04"),
        ("I rent a berth only in my child's name. Who reports the rent?", "the child."),
        ("harbour duty of a sailing boat of 25 feet, per week in summer", "36"),
        ("daily summer duty, motor boat, 15 feet", "6"),
        ("winter harbour duty for a motor boat 31 feet long", "41"),
        ("ferry fare of a vehicle for 12 miles", "14.50"),
        ("what does a child pay on the ferry for a distance of 55 miles", "5.95"),
        ("lock fee at the south lock by night", "16"),
        ("permits issued to visitors in 2030, western district, week", "56"),
        ("fine for a delay of a week", "$20"),
        ("summer rent of berth 14", "$214"),
        ("when is copy B due to the recipient", "January 31"),
        ("due date of copy A filed electronically", "March 31"),
        ("days needed for preferred stock", "at least 91 days"),
        ("exclusion for section 1202 stock acquired after February 17, 2009", "75%"),
        ("box 2f is part of which box", "Box 2a"),
    ],
)  # fmt: skip
def test_the_cell_that_a_question_asks_for_comes_first(question: str, value: str) -> None:
    found = _ask(question)
    assert [match.value for match in found[:1]] == [value]
    assert found[0].score <= 1


@pytest.mark.parametrize(
    "question",
    [
        "what does a lighthouse keeper earn",
        "parking fee for a lorry on Sundays",
        "depreciation of a boat in its third year",
        "who won the regatta of 2030",
        "ferry to the moon",
        "",
        "7",
    ],
)
def test_nothing_is_answered_where_no_headers_fit(question: str) -> None:
    assert _ask(question) == []


def test_a_word_is_nearby_where_another_cell_of_the_row_prints_it() -> None:
    table = _table(
        "dues:1",
        "Dues",
        ["Who", "Due", "Note"],
        [["Owner", "at the quay", "barns at the quay"], ["Guest", "on the roof", ""]],
    )
    entry = build_table_catalogue([table]).entries[0]
    owner, due, note = entry.cells_by_row[0]
    assert entry.is_in_other_cell("barn", due)
    assert not entry.is_in_other_cell("barn", note), "only its own cell prints it"
    assert entry.is_in_other_cell("quay", note)
    assert not entry.is_in_other_cell("roof", owner)


def test_a_bracket_takes_its_lower_end_and_leaves_its_upper_one() -> None:
    assert _ask("weekly crew wage of exactly 500, married filing jointly, amount to hold back")[0].row_path.endswith(
        "$500"
    )
    assert _ask("weekly crew wage of 499.99, married filing jointly, amount to hold back")[0].row_path.endswith(
        "$0 > $500"
    )


def test_another_period_or_status_is_never_offered() -> None:
    found = find_cells("biweekly crew wage of 100, head of household, amount to hold back", _catalogue(), k=20)
    assert found
    assert {match.table_id for match in found if match.table_id.startswith("rates")} == {"rates:BIWEEKLY"}
    assert all("Married" not in match.row_path for match in found)


def test_candidates_come_ranked_with_their_rows() -> None:
    found = _ask("summer duty of a sailing boat of 25 feet")
    assert [match.value for match in found[:2]] in (["7", "36"], ["36", "7"])
    assert dict(found[0].row)["Winter"] == "19"
    assert [match.score for match in found] == sorted((match.score for match in found), reverse=True)


def test_what_was_found_out_of_a_question_is_not_taken_for_another() -> None:
    questions = [
        "harbour duty of a sailing boat of 25 feet, per week in summer",
        "harbour duty of a sailing boat of 31 feet, per week in winter",
        "what does a family of 2 pay a week for one boat at 30 percent of median income",
    ]
    priors: list[dict[str, float] | None] = [None, {}, {"fees:1": 1.0}]
    known = replace(_catalogue())
    for question, names_place, prior in product(questions, (False, True), priors):
        how: dict[str, Any] = {"k": 9, "names_place": names_place, "priors": prior}
        fresh = find_cells(question, replace(_catalogue()), **how)
        assert find_cells(question, known, **how) == fresh
        assert find_cells(question, known, **how) == fresh


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("sea cover cost for 1 month, age over 59", "1.75"),
        ("sea cover cost for 1 month, age under 30", "$0.04"),
        ("sea cover cost for 1 month, age 44", "0.11"),
    ],
)
def test_what_is_over_a_bound_is_not_in_the_range_below_it(question: str, value: str) -> None:
    (found,) = find_table_cells(question, _catalogue(), tables=["age:1", "unknown"])
    assert [match.value for match in found] == [value]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("what percent of duty for a sloop", {"4%"}),
        ("what duty amount for a sloop over 20%", {"$9"}),
        ("what duty rate", {"4%", "6%"}),
    ],
)
def test_a_share_is_found_for_a_share_and_all_cells_that_fit_alike(question: str, values: set[str]) -> None:
    boats = _table(
        "boats:1", "Duty", ["Boat", "Duty amount", "Of the hull"], [["Sloop", "$9", "4%"], ["Ketch", "$8", "6%"]]
    )
    (found,) = find_table_cells(question, build_table_catalogue([boats]), tables=["boats:1"])
    assert {match.value for match in found} == values


def test_the_unit_of_a_cell_prints_its_row() -> None:
    match = find_cells(
        "weekly fee for one boat, household of 3, 30% of the median", build_table_catalogue([FEES]), k=1
    )[0]
    texts = ["A word.", "HOUSEHOLD SIZE 2: | Weekly Fee - 1 Boat | $8", "HOUSEHOLD SIZE 3: | Weekly Fee - 1 Boat | $9"]
    assert match.value == "$9"
    assert find_row_of_cell(match, facts=_print_table(match.table_id, texts)) == 2
    assert find_row_of_cell(match, facts=_print_table(match.table_id, ["A word.", "elsewhere", "nor here"])) == 1
    assert find_row_of_cell(match, facts=_print_table("another", texts)) is None


def _print_table(table_id: str, texts: list[str]) -> PassageFacts:
    """Rows of which all but the first print a table."""
    levels = ["paragraph", *["table"] * (len(texts) - 1)]
    return PassageFacts(pl.DataFrame({"text": texts, "level": levels, "node_ids": [[table_id]] * len(texts)}))
