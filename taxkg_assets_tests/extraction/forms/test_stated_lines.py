"""What fields say leads to the numbers, columns and boxes that the print alone does not show."""

from __future__ import annotations

from typing import Any

import polars as pl

from taxkg_assets.extraction.extract import extract
from taxkg_assets_tests.extraction.templated import TemplatedForm

_ROWS = ("i", "ii", "iii")


def _put_amount(form: TemplatedForm, y: float, number: str, text: str, spoken: str) -> None:
    form.put(50, y, number, "b")
    form.put(75, y, text)
    form.put(480, y, number, "b")
    form.add((500, y - 10, 570, y + 2), spoken)


def _schedule() -> TemplatedForm:
    """A schedule with lettered boxes, a table with columns and roman rows, and letters within a line."""
    form = TemplatedForm()
    form.put(36, 60, "Schedule Q (Form 9999)", "b")
    form.put(40, 90, "Part I", "b")
    form.put(90, 90, "Boats", "b")
    for y, letter, text in ((110, "A", "Boats that you own"), (124, "B", "Boats that you rent")):
        form.put(62, y, f"({letter}) {text}")
        form.add((48, y - 9, 58, y + 1), f"({letter}) {text}.", name="c", kind="checkbox")
    form.put(50, 150, "1", "b")
    for x, letter, words in (
        (150, "a", ("Name", "of the boat")),
        (300, "b", ("Price",)),
        (450, "c", ("Day", "of sale")),
    ):
        form.put(x, 150, f"({letter}) {words[0]}", "")
        for ix, word in enumerate(words[1:]):
            form.put(x, 160 + 10 * ix, word)
    for ix, row in enumerate(_ROWS):
        y = 190 + 20 * ix
        form.put(60, y, row)
        for x, letter, head in ((100, "a", "Name of the boat"), (260, "b", "Price"), (420, "c", "Day of sale")):
            start = "1. " if (ix, letter) == (0, "a") else ""
            form.add((x, y - 10, x + 150, y + 4), f"{start}Row: {' '.join(row)}. Column: ({letter}) {head}.")
    _put_amount(
        form,
        270,
        "2",
        "Sum of the prices. Add lines 1i through 1iii",
        "2. Sum of the prices. Add lines 1 i through 1 i i i.",
    )
    _put_amount(form, 290, "3", "Oil for the boats", "3. Oil for the boats.")
    form.put(50, 310, "4", "b")
    form.put(75, 310, "Fees from Form:")
    for x, letter, words in ((200, "a", "Harbour"), (300, "b", "Mooring")):
        form.put(x, 310, letter, "b")
        form.put(x + 25, 310, words)
        spoken = f"4. Fees from Form: a. {words}." if letter == "a" else f"4b. {words}."
        form.add((x + 10, 302, x + 20, 312), spoken, kind="checkbox")
    form.put(480, 310, "4", "b")
    form.add((500, 300, 570, 312), "4. Fees from Form.")
    return form


def _frames(form: TemplatedForm, template: bytes | None = None) -> dict[str, pl.DataFrame]:
    return extract(form.save(template), document_id="f9999sq").frames


def _headings(frames: dict[str, pl.DataFrame]) -> dict[str, str]:
    return dict(frames["anchors"].filter(pl.col("key").is_not_null()).select("key", "heading").iter_rows())


def test_boxes_columns_rows_and_letters_are_anchors_with_their_printed_words() -> None:
    headings = _headings(_frames(_schedule()))
    assert headings["box_A"] == "Boats that you own"
    assert headings["column_a"] == "Name of the boat"
    assert headings["column_c"] == "Day of sale"
    assert [key for key in headings if key.startswith("line_1")] == ["line_1", "line_1i", "line_1ii", "line_1iii"]
    assert headings["line_2"] == "Sum of the prices. Add lines 1i through 1iii"
    assert (headings["line_4a"], headings["line_4b"]) == ("Harbour", "Mooring")
    assert headings["line_4"] == "Fees from Form:"


def test_lines_stand_under_their_part() -> None:
    anchors = _frames(_schedule())["anchors"].to_dicts()
    by_id = {row["anchor_id"]: row for row in anchors}

    def parts(row: dict[str, Any]) -> list[str]:
        above: list[str] = []
        while row["parent_anchor_id"] is not None:
            row = by_id[row["parent_anchor_id"]]
            above.append(row["key"])
        return above

    assert all(parts(row)[-1:] == ["part_I"] for row in anchors if row["kind"] in ("line", "box", "column"))


def test_without_a_template_only_printed_columns_are_found() -> None:
    headings = _headings(_frames(_schedule(), b""))
    assert not any(key.startswith("box_") for key in headings)
    columns = {key: heading for key, heading in headings.items() if key.startswith("column_")}
    assert columns == {"column_a": "Name of the boat", "column_b": "Price", "column_c": "Day of sale"}
    assert headings["line_3"] == "Oil for the boats"


def test_a_template_that_contradicts_the_print_adds_nothing_that_is_not_printed() -> None:
    form = _schedule()
    wrong = form.template.replace(b">3. Oil for the boats.<", b">7c. Nets for fish.<")
    frames = _frames(form, wrong)
    headings = _headings(frames)
    assert "line_7c" not in headings
    assert headings["line_3"] == "Oil for the boats"
    field = frames["fields"].filter(pl.col("spoken") == "7c. Nets for fish.").row(0, named=True)
    assert (field["key"], field["label"], field["source"]) == ("line_3", "Oil for the boats", "layout")


def test_fields_have_key_column_row_label_and_formula() -> None:
    fields = _frames(_schedule())["fields"]
    assert fields["field_ix"].to_list() == list(range(fields.height))
    columns = ("key", "column", "row", "label", "formula", "part", "kind")
    rows = {row["spoken"]: tuple(row[name] for name in columns) for row in fields.to_dicts()}
    assert rows["Row: i i. Column: (b) Price."] == ("line_1ii", "b", "ii", "Price", "", "I", "text")
    assert rows["2. Sum of the prices. Add lines 1 i through 1 i i i."] == (
        *("line_2", "", "", "Sum of the prices. Add lines 1i through 1iii", "Add lines 1i through 1iii.", "I", "text"),
    )
    assert rows["(B) Boats that you rent."][0] == "box_B"
    assert rows["4b. Mooring."] == ("line_4b", "", "", "Mooring", "", "I", "checkbox")
    assert set(fields["source"]) == {"template"}


def test_a_range_of_lines_is_what_the_form_prints_between_its_ends() -> None:
    references = _frames(_schedule())["references"].filter(kind="line")
    assert references["target"].to_list() == ["line_1i", "line_1ii", "line_1iii"]


def test_a_label_that_ends_at_a_box_to_check_continues_in_the_next_row() -> None:
    form = _schedule()
    form.put(50, 330, "5", "b")
    form.put(75, 330, "Boats that you sold. If you sold one late, check here and")
    form.put(75, 341, "enter the day of its sale:")
    form.add((330, 322, 340, 332), "5. Boats that you sold. If you sold one late, check here and.", kind="checkbox")
    form.put(480, 341, "5", "b")
    form.add((500, 331, 570, 343), "5. Boats that you sold.")
    words = "Boats that you sold. If you sold one late, check here and enter the day of its sale:"
    assert _headings(_frames(form))["line_5"] == words


def test_a_label_cut_within_its_sentence_has_the_words_that_another_field_of_the_line_says() -> None:
    form = _schedule()
    form.put(50, 330, "5", "b")
    form.put(75, 330, "Boats sold apart. Enter the day above")
    form.put(75, 341, "and the buyer’s name here.")
    form.add((330, 322, 340, 332), "5. Boats sold apart. Enter the day above.", kind="checkbox")
    form.add((250, 333, 320, 344), "5. Enter the buyer's name here.")
    assert _headings(_frames(form))["line_5"] == "Boats sold apart. Enter the day above and the buyer’s name here."


def test_lines_of_captions_side_by_side_stay_together() -> None:
    form = _schedule()
    for x, lines in ((50, ("Name of the", "keeper")), (200, ("Number of", "the berth")), (350, ("Pier",))):
        for row, text in enumerate(lines):
            form.put(x, 380 + 11 * row, text)
    texts = _frames(form)["sections"]["text"].to_list()
    assert [text for text in texts if text.startswith(("Name of", "Number of", "Pier"))] == [
        "Name of the keeper",
        "Number of the berth",
        "Pier",
    ]


def _totals(y: float, *, dx: float = 0.0) -> dict[str, str]:
    """Read the columns of a line of totals on a height, whose second amount does not name its column."""
    form = _schedule()
    form.put(50, y, "6", "b")
    form.put(75, y, "Sums:")
    form.add((100, y - 10, 250, y + 4), "6. Sums. Column: (a) Name of the boat.")
    form.add((260 + dx, y - 10, 410 + dx, y + 4), "6. Sums.")
    fields = _frames(form)["fields"].filter(pl.col("key") == "line_6")
    return dict(fields.select("spoken", "column").iter_rows())


def test_a_total_is_in_the_column_of_the_field_right_above_it() -> None:
    assert _totals(250)["6. Sums."] == "b"
    assert _totals(250, dx=0.6)["6. Sums."] == "b"


def test_a_total_far_below_is_in_no_column_that_it_does_not_name() -> None:
    assert not _totals(600)["6. Sums."]


def _with_options(*options: tuple[int, int, str], dues: str, continued: str = "") -> dict[str, str]:
    """Read three lines with check boxes, each an x, a number and an answer, and a column of dues to the right."""
    form = TemplatedForm()
    form.put(36, 60, "Schedule Q (Form 9999)", "b")
    for ix, words in enumerate(("Boats", "Berths", "Buoys")):
        y = 110 + 40 * ix
        _put_amount(form, y, f"{ix + 4}a", words, f"{ix + 4}a. {words}.")
        form.put(300, y, "b", "b")
        form.put(320, y, dues)
        form.add((440, y - 10, 500, y + 2), f"{ix + 4}b. {dues} {continued}.")
        form.put(56, y + 20, "c", "b")
        form.put(75, y + 20, "Check if")
        for x, option, answer in options:
            form.put(x, y + 20, str(option), "b")
            if answer:
                form.put(x + 28, y + 20, answer)
            form.add((x + 12, y + 11, x + 22, y + 21), f"{ix + 4}c. {option}. {answer}.", kind="checkbox")
        if continued:
            form.put(330, y + 20, continued)
    return dict(_headings(_frames(form)))


def test_numbers_of_check_boxes_that_state_another_line_are_no_lines() -> None:
    headings = _with_options((150, 1, "Sold"), (310, 2, "Rented out"), (420, 3, ""), dues="Dues")
    assert list(headings) == [f"line_{number}{letter}" for number in (4, 5, 6) for letter in "abc"]
    assert {headings[f"line_{number}c"] for number in (4, 5, 6)} == {"Check if 1 Sold 2 Rented out 3"}
    assert {headings[f"line_{number}b"] for number in (4, 5, 6)} == {"Dues"}


def test_a_row_of_check_boxes_ends_before_the_column_to_the_right() -> None:
    headings = _with_options((130, 1, "Sold"), (200, 2, "Rented"), dues="Dues that you paid", continued="to the owner")
    assert {headings[f"line_{number}c"] for number in (4, 5)} == {"Check if 1 Sold 2 Rented"}
    assert {headings[f"line_{number}b"] for number in (4, 5)} == {"Dues that you paid to the owner"}
