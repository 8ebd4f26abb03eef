"""Ranges as headers print them, and the numbers that lie in them."""

from __future__ import annotations

import pytest

from taxkg_assets.retrieval.tables.table_ranges import Number, find_ranges, join_ends


@pytest.mark.parametrize(
    ("header", "inside", "outside"),
    [
        ("$30,001 to $35,000", (30_001, 35_000), (30_000, 35_001)),
        ("55 through 64", (55, 64), (54, 65)),
        ("Under 25", (24.99, 0), (25,)),
        ("70 and above", (70, 200), (69.9,)),
        ("$90 or more but under $700", (90, 699), (89, 700)),
        ("Not over $310", (310,), (310.5,)),
        ("Over 40 miles", (41,), (40,)),
        ("before 2020", (2019,), (2020,)),
        ("FAMILY SIZE 4:", (4,), (3, 5)),
        ("$ 7,670", (7670,), (7669,)),
    ],
)
def test_a_number_is_in_a_range_or_not(header: str, inside: tuple[float, ...], outside: tuple[float, ...]) -> None:
    (found,) = find_ranges(header)
    assert all(found.holds(Number(value)) for value in inside)
    assert not any(found.holds(Number(value)) for value in outside)


def test_a_share_is_no_amount() -> None:
    (share,) = find_ranges("45%")
    assert share.holds(Number(45, is_percent=True))
    assert not share.holds(Number(45))


@pytest.mark.parametrize("header", ["Form W-4, Step 2", "line 12b", "Total", "see section 1202 and box 3"])
def test_numbers_of_forms_and_lines_measure_nothing(header: str) -> None:
    assert find_ranges(header) == ()


def test_ends_in_two_cells_make_a_bracket() -> None:
    bracket = join_ends("$605", "$615", includes_low=True)
    assert bracket is not None
    assert [bracket.holds(Number(value)) for value in (604, 605, 614.99, 615)] == [False, True, True, False]
    last = join_ends("$788,000", "- - - -", includes_low=True)
    assert last is not None
    assert last.holds(Number(1e9))
