from __future__ import annotations

from taxkg_assets.training.near_duplicates import PassageText, group_near_duplicates

_RENT = (
    "Enter the rent that the owner of the lot was paid in {year}. Do not enter deposits or fees that were paid back."
)


def test_the_same_paragraph_in_two_years_is_one_and_keeps_the_first_name() -> None:
    texts = {
        "a": PassageText(_RENT.format(year=2023), "box_3", "d--2023"),
        "b": PassageText(_RENT.format(year=2024), "box_3", "d--2024"),
        "c": PassageText(
            "Enter what the lodger paid for the use of the laundry and of the garden.", "box_3", "d--2024"
        ),
    }
    assert group_near_duplicates(texts) == {"a": "a", "b": "a", "c": "c"}


def test_another_box_is_no_near_duplicate_however_similar_its_words() -> None:
    same = _RENT.format(year=2024)
    assert group_near_duplicates({"a": PassageText(same, "box_2e", "x"), "b": PassageText(same, "box_2f", "x")}) == {
        "a": "a",
        "b": "b",
    }


def test_rows_of_one_table_under_the_same_header_are_no_near_duplicates() -> None:
    header = "Sample table of rents by the week for lots with a fence "
    texts = {
        "a": PassageText(header + "100 120 7 8 9 11 12 14 15 16 18", "", "x"),
        "b": PassageText(header + "120 140 8 9 10 13 15 16 17 18 21", "", "x"),
    }
    assert group_near_duplicates(texts) == {"a": "a", "b": "b"}
