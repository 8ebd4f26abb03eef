from __future__ import annotations

from taxkg_assets.training.twins import Said, find_twins

_RENT = (
    "Enter the rent that the owner of the lot was paid in {year}. Do not enter deposits or fees that were paid back."
)


def test_the_same_paragraph_in_two_years_is_one_and_keeps_the_first_name() -> None:
    texts = {
        "a": Said(_RENT.format(year=2023), "box_3", "d--2023"),
        "b": Said(_RENT.format(year=2024), "box_3", "d--2024"),
        "c": Said("Enter what the lodger paid for the use of the laundry and of the garden.", "box_3", "d--2024"),
    }
    assert find_twins(texts) == {"a": "a", "b": "a", "c": "c"}


def test_another_box_is_no_twin_however_like_its_words() -> None:
    same = _RENT.format(year=2024)
    assert find_twins({"a": Said(same, "box_2e", "x"), "b": Said(same, "box_2f", "x")}) == {"a": "a", "b": "b"}


def test_rows_of_one_table_under_the_same_header_are_no_twins() -> None:
    header = "Sample table of rents by the week for lots with a fence "
    texts = {
        "a": Said(header + "100 120 7 8 9 11 12 14 15 16 18", "", "x"),
        "b": Said(header + "120 140 8 9 10 13 15 16 17 18 21", "", "x"),
    }
    assert find_twins(texts) == {"a": "a", "b": "b"}
