"""Columns of check boxes, and of fields that say nothing, have the heads that are printed above them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets_tests.extraction.templated import TemplatedForm


def _crew_list(
    *, is_spoken: bool, rows: int = 3, third: tuple[str, str, str] = ("Check if trained for:", "Cooking", "Steering")
) -> TemplatedForm:
    """A form with a table of a crew: two columns to write in, and one with two check boxes a row."""
    form = TemplatedForm()
    form.put(36, 60, "Form 9999", "b")
    for ix in range(2):
        form.put(90, 100 + 14 * ix, str(ix + 1), "b")
        form.put(110, 100 + 14 * ix, ("Length of the boat", "Width of the boat")[ix])
        form.add((500, 90 + 14 * ix, 570, 102 + 14 * ix), f"{ix + 1}. {('Length', 'Width')[ix]} of the boat.")
    form.put(120, 150, "(1) Sailor")
    form.put(270, 150, "(2) Rank")
    form.put(380, 150, f"(3) {third[0]}")
    form.put(370, 162, third[1])
    form.put(484, 162, third[2])
    for row in range(rows):
        y = 170 + 14 * row
        spoken = (f"Row: {row + 1}. Column: ({key}) " if is_spoken else "" for key in "1233")
        for x0, x1, kind, said in zip(
            (100, 250, 376, 488), (250, 330, 384, 496), ("text", "text", "checkbox", "checkbox"), spoken, strict=True
        ):
            form.add((x0, y, x1, y + (14 if kind == "text" else 8)), said and f"{said}Word.", kind=kind)
    for ix in range(2):
        form.put(90, 250 + 14 * ix, str(ix + 3), "b")
        form.put(110, 250 + 14 * ix, ("Price of the boat", "Oil of the boat")[ix])
        form.add((500, 240 + 14 * ix, 570, 252 + 14 * ix), f"{ix + 3}. {('Price', 'Oil')[ix]} of the boat.")
    return form


def _fields(form: TemplatedForm) -> pl.DataFrame:
    return extract(form.save(), document_id="f9999").frames["fields"]


def test_check_boxes_of_a_column_have_its_head_and_what_is_printed_over_each() -> None:
    fields = _fields(_crew_list(is_spoken=True))
    boxes = fields.filter(pl.col("kind") == "checkbox")
    assert set(boxes["column"]) == {"3"}
    assert set(boxes["label"]) == {"Check if trained for: Cooking", "Check if trained for: Steering"}
    assert set(fields.filter(pl.col("column") == "2")["label"]) == {"Rank"}


def test_only_whole_words_over_check_boxes_are_taken_out_of_their_head() -> None:
    boxes = _fields(_crew_list(is_spoken=True, third=("Notice given:", "Yes", "No"))).filter(kind="checkbox")
    assert set(boxes["label"]) == {"Notice given: Yes", "Notice given: No"}


@pytest.mark.parametrize("is_spoken", [True, False])
def test_columns_of_check_boxes_next_to_each_other_have_their_own_heads(*, is_spoken: bool) -> None:
    form = _crew_list(is_spoken=True, rows=0)
    for ix, word in enumerate(("Cook", "Pilot", "Mate")):
        form.put(118 + 80 * ix, 185, f"({ix + 4}) {word}")
        for row in range(2):
            y = 200 + 14 * row
            spoken = f"Row: {row + 1}. Column: ({ix + 4}) {word}." if is_spoken else ""
            form.add((130 + 80 * ix, y, 138 + 80 * ix, y + 8), spoken, kind="checkbox")
    boxes = _fields(form).filter(kind="checkbox")
    assert dict(boxes.select("column", "label").iter_rows()) == {"4": "Cook", "5": "Pilot", "6": "Mate"}


def test_a_column_ends_with_its_table_though_fields_below_have_its_edges() -> None:
    form = _crew_list(is_spoken=False)
    form.add((250, 212, 330, 226), "")
    form.add((250, 226, 330, 240), "")
    silent = _fields(form).filter(pl.col("spoken") == "", kind="text").sort("field_ix")
    assert silent["column"].to_list() == ["1", "2"] * 3 + ["", ""]


def test_fields_that_say_nothing_are_in_the_column_above_them() -> None:
    fields = _fields(_crew_list(is_spoken=False)).filter(pl.col("spoken") == "")
    assert dict(fields.filter(pl.col("kind") == "text").select("column", "label").iter_rows()) == {
        "1": "Sailor",
        "2": "Rank",
    }


def test_a_single_row_that_says_nothing_is_no_table() -> None:
    fields = _fields(_crew_list(is_spoken=False, rows=1)).filter(pl.col("spoken") == "")
    assert set(fields["column"]) == {""}


@pytest.mark.parametrize(
    ("name", "section", "heads"),
    [("f1040--2020", "Dependents", 5), ("f1040--2023", "Dependents", 5), ("f1040--2017", "Exemptions", 4)],
)
def test_real_returns_have_a_head_for_each_column_of_persons(corpus: Path, name: str, section: str, heads: int) -> None:
    data = (corpus / "library" / f"{name}.pdf").read_bytes()
    fields = extract(data, document_id=name).frames["fields"].filter(pl.col("column") != "")
    assert set(fields["column"]) == {"1", "2", "3", "4"}
    assert set(fields["section"]) == {section}
    assert fields["label"].n_unique() == heads
    assert "" not in set(fields["label"])


def test_a_row_with_a_field_for_each_person_names_the_person(corpus: Path) -> None:
    data = (corpus / "library" / "f1040--2025.pdf").read_bytes()
    fields = extract(data, document_id="f1040--2025").frames["fields"]
    names = fields.filter(column="1")
    assert set(names["label"]) == {"First name"}
    assert names["row"].to_list() == [f"Dependent {ix}" for ix in range(1, 5)]
