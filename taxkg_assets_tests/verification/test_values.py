"""Values: kinds, figures, units, bounds."""

from __future__ import annotations

import pytest

from taxkg_assets.verification.values import find_values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("costs more than $1,250.50", [("amount", "1250.5", "", "up")]),
        ("2 million dollars", [("amount", "2000000", "", "")]),
        ("isn’t more than 7.50 percent", [("percent", "7.5", "", "down")]),
        ("by April 15, 2031", [("date", "15", "april", "")]),
        ("within thirty days", [("measure", "30", "day", "")]),
        ("a 180-day period", [("measure", "180", "day", "")]),
        ("65 or older", [("age", "65", "", "up")]),
        ("call 800-555-0199", [("phone", "800-555-0199", "", "")]),
        ("Single 626,350", [("number", "626350", "", "")]),
        ("from 25 returns since 2031", [("count", "25", "", ""), ("year", "2031", "", "")]),
        ("under section 401(k)", []),
    ],
)
def test_values_are_read_with_unit_and_bound(text: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert [(value.kind, value.figure, value.unit, value.bound) for value in find_values(text)] == expected


def test_an_amount_equals_a_bare_number_of_a_table() -> None:
    (amount,), (number,) = find_values("$626,350"), find_values("626,350")
    assert amount.equals(number)
    assert amount.competes(number)


def test_an_age_equals_a_bare_number() -> None:
    (age,), (count,), (other,) = (find_values(text) for text in ("at least age 50", "who turned 50", "who turned 51"))
    assert count.equals(age)
    assert not other.equals(age)


def test_dates_differ_by_year_only_where_both_name_one() -> None:
    (with_year,), (other_year,), (without,) = (
        find_values(text) for text in ("April 15, 2031", "April 15, 2030", "April 15")
    )
    assert with_year.equals(without)
    assert not with_year.equals(other_year)


def test_measures_of_other_units_do_not_compete() -> None:
    (days,), (years,) = find_values("30 days"), find_values("2 years")
    assert not days.competes(years)


def test_bounds_from_both_sides_oppose() -> None:
    (more,), (less,), (plain,) = (find_values(text) for text in ("more than $5", "less than $5", "$5"))
    assert more.opposes(less)
    assert not more.opposes(plain)


def test_offsets_slice_back() -> None:
    text = "It’s over $600 – or 10%."
    assert [text[value.start : value.end] for value in find_values(text)] == ["$600", "10%"]
