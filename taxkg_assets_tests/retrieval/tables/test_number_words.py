"""Numbers in words, as people say them."""

from __future__ import annotations

import pytest

from taxkg_assets.retrieval.tables.number_words import spell_ordinals, write_digits


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("half a million", "500000"),
        ("two and a half million", "2500000"),
        ("1,200 thousand", "1200000"),
        ("sixty-two-thousand", "62000"),
        ("two hundred thirty-five thousand", "235000"),
        ("one hundred and five", "105"),
        ("a thousand", "1000"),
        ("15 grand", "15000"),
        ("1.5 million", "1500000"),
        ("$3 million", "$3000000"),
        ("twenty-one", "21"),
    ],
)
def test_a_number_in_words_becomes_digits(said: str, value: str) -> None:
    assert write_digits(f"I made {said} there").split()[2:-1][-1] == value
    assert len(write_digits(said)) == len(said)


@pytest.mark.parametrize(("said", "value"), [("third year", "3"), ("the first years", "1")])
def test_the_ordinal_of_a_year_is_its_number(said: str, value: str) -> None:
    assert value in write_digits(said).split()
    assert not {"first", "third"} & set(write_digits(said).split())


@pytest.mark.parametrize(
    "text",
    [
        "third quarter",
        "one of the boats",
        "half of them",
        "a boat, 20,500 feet",
        "line 5 and 12%",
        "the millions",
        "2031",
    ],
)
def test_what_is_no_number_in_words_stays(text: str) -> None:
    assert write_digits(text) == text


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("dues for the 2nd quarter", "dues for the second quarter"),
        ("Q4 dues", "fourth quarter dues"),
        ("my 3rd installment", "my third installment"),
        ("the last 3 months of the year", "the fourth quarter of the year"),
        ("the first three months of 2031", "the first quarter of 2031"),
        ("dues for the first three months", "dues for the first quarter"),
        ("I had no boat the last three months", "I had no boat the last three months"),
        ("the first three months of rent", "the first three months of rent"),
        ("the 3rd boat", "the 3rd boat"),
        ("Q5", "Q5"),
        ("the 31st payment", "the 31st payment"),
    ],
)
def test_the_number_of_a_period_is_read_as_a_word(said: str, read: str) -> None:
    assert spell_ordinals(said) == read
