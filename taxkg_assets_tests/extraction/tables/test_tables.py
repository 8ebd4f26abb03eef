"""Cells and their header paths on drawn pages; prose, lists of contents and forms give no tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.extraction.pdf.model import Fill
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.tables.tables import build_tables, find_cells_without_path
from taxkg_assets_tests.extraction.drawn import Canvas, source_of


def _cells(*canvases: Canvas) -> list[dict[str, Any]]:
    tables = build_tables(source_of(*canvases))
    return [cell for table in tables.iter_rows(named=True) for cell in table["cells"]]


def _lookup(cells: list[dict[str, Any]], text: str) -> list[tuple[str, str]]:
    return [(cell["row_path"], cell["col_path"]) for cell in cells if cell["text"] == text]


def _ruled(number: int = 1, *, header: bool = True, first: int = 0) -> Canvas:
    """A fully ruled table: fruit by season and price."""
    canvas = Canvas(number)
    if header:
        canvas.text(180, 80, "Table 3. Fruit of the year", bold=True, size=10)
        texts = [("Fruit", "Season", "Price"), ("Apple", "Autumn", "$3"), ("Cherry", "Summer", "$9")]
    else:
        texts = [("Plum", "Late summer", "$4"), ("Quince", "Winter", "$7")]
    top = 100 if header else 40
    for i, row in enumerate(texts):
        for x, text in zip((104, 254, 404), row, strict=True):
            canvas.text(x, top + 3 + 16 * i, text, bold=header and i == 0)
    canvas.grid([100, 250, 400, 500], [top + 16.0 * i for i in range(len(texts) + 1)])
    return canvas


def test_ruled_cells_carry_row_and_column_headers() -> None:
    tables = build_tables(source_of(_ruled()))
    table = tables.row(0, named=True)
    assert (table["table_id"], table["title"]) == ("sample:p0001:t0", "Table 3. Fruit of the year")
    assert _lookup(table["cells"], "$9") == [("Cherry", "Price")]
    assert _lookup(table["cells"], "Autumn") == [("Apple", "Season")]
    assert table["markdown"].splitlines() == [
        "| Fruit | Season | Price |",
        "| --- | --- | --- |",
        "| Apple | Autumn | $3 |",
        "| Cherry | Summer | $9 |",
    ]


def test_a_name_at_half_the_height_of_its_rows_names_them_all() -> None:
    canvas = Canvas()
    canvas.text(180, 80, "Table 4. Fee for a boat", bold=True, size=10)
    for x, text in zip((104, 254, 404), ("IF your boat is", "AND its masts are", "THEN the fee is"), strict=True):
        canvas.text(x, 103, text, bold=True)
    borders, expected = [100.0, 116.0], {}
    for name, base, rows in (("A skiff", 10, 2), ("A cutter", 20, 4), ("A barge", 30, 3)):
        top = borders[-1] + 3
        canvas.text(104, top + 12 * (rows - 1) / 2, name, bold=True)
        for row in range(rows):
            canvas.text(300, top + 12 * row, str(row + 1))
            canvas.text(430, top + 12 * row, f"${base},{row}50")
            expected[f"${base},{row}50"] = [(f"{name} > {row + 1}", "THEN the fee is")]
        borders.append(top + 12 * rows + 1)
    canvas.grid([100, 250, 400, 500], borders)
    cells = _cells(canvas)
    assert {price: _lookup(cells, price) for price in expected} == expected


def test_a_name_in_two_rows_of_three_names_all_three() -> None:
    canvas = Canvas()
    for x, text in zip((104, 254, 404), ("IF your boat is", "AND its crew is", "THEN"), strict=True):
        canvas.text(x, 103, text, bold=True)
    rows = [
        ("A skiff", "small", "you owe no duty."),
        ("A cutter that you do not", "at most two", "you owe the duty."),
        ("sail at sea", "three or four", "you owe half."),
        ("", "more than four", "you owe all."),
    ]
    for ix, row in enumerate(rows):
        for x, text in zip((104, 254, 404), row, strict=True):
            if text:
                canvas.text(x, 119 + 16 * ix, text)
    for x in (100, 250, 400, 500):
        canvas.line(x, 100, x, 180)
    for y in (100, 116, 132, 180):
        canvas.line(100, y, 500, y)
    for y in (148, 164):
        canvas.line(250, y, 500, y)
    cells = _cells(canvas)
    name = "A cutter that you do not sail at sea"
    assert _lookup(cells, "you owe half.")[0][0].startswith(name)
    assert _lookup(cells, "more than four")[0][0] == name


def test_a_name_at_half_height_names_rows_with_words_and_an_amount_each() -> None:
    canvas = Canvas()
    for x, text in zip((104, 254, 404), ("IF your boat is", "AND its crew is", "THEN the fee is"), strict=True):
        canvas.text(x, 103, text, bold=True)
    borders = [100.0, 116.0]
    for name, fee in (("A skiff", 120), ("A cutter", 250), ("A barge", 360)):
        top = borders[-1] + 3
        canvas.text(104, top + 6, name)
        for row, crew in enumerate(("under age 65", "65 or older")):
            canvas.text(254, top + 12 * row, crew)
            canvas.text(430, top + 12 * row, f"${fee + row}")
        borders.append(top + 25)
    canvas.grid([100, 250, 400, 500], borders)
    cells = _cells(canvas)
    assert _lookup(cells, "$120") == [("A skiff > under age 65", "THEN the fee is")]
    assert _lookup(cells, "$251") == [("A cutter > 65 or older", "THEN the fee is")]


def test_a_raised_mark_in_a_header_stays_with_its_word() -> None:
    canvas = _ruled()
    canvas.spans = [span for span in canvas.spans if span.text not in ("Season", "Price")]
    canvas.text(254, 103, "Season", bold=True)
    canvas.text(278.5, 102.5, "1", bold=True, size=5)
    canvas.text(282.5, 103, "of fruit", bold=True)
    canvas.text(404, 103, "Price", bold=True)
    assert _lookup(_cells(canvas), "Autumn") == [("Apple", "Season 1 of fruit")]


def test_boxes_in_line_with_the_columns_do_not_hide_the_preface_and_two_grids_have_none() -> None:
    canvas = Canvas()
    for top in (100.0, 220.0):
        for i in range(5):
            for x, text in zip((104, 254, 404), ("Boats", f"{top:.0f}", f"${i}"), strict=True):
                canvas.text(x, top + 3 + 16 * i, text if i else text.title(), bold=i == 0)
        canvas.grid([100, 250, 400, 500], [top + 16 * i for i in range(6)])
    canvas.line(100, 100, 100, 300)
    canvas.line(500, 100, 500, 300)
    shown = [cell["text"] for cell in _cells(canvas) if cell["col_ix"] >= 0]
    assert {"$1", "$2", "$3", "$4"} <= set(shown)
    assert shown.count("$4") == 2


def test_rows_above_the_columns_of_a_table_name_none_of_them() -> None:
    canvas = Canvas()
    canvas.text(104, 103, "Check each box that applies.")
    for y, who in ((116, "Your boat:"), (129, "Your raft:")):
        for x, text in zip((104, 254, 404), (who, "Built before 2001", "Rented"), strict=True):
            canvas.text(x, y, text, bold=x == 104)
    rows = [("IF your port is", "AND your boxes are", "THEN the fee is")]
    rows += [(port, str(count), f"${fee}") for port, fee in (("Eastport", 310), ("Westport", 420)) for count in (1, 2)]
    for i, row in enumerate(rows):
        for x, text in zip((104, 254, 404), row, strict=True):
            canvas.text(x, 147 + 16 * i, text, bold=i == 0 or x == 104)
    borders = [144.0 + 16 * i for i in range(len(rows) + 1)]
    canvas.grid([100, 250, 400, 500], borders)
    canvas.cell(100, 100, 500, 144)
    cells = _cells(canvas)
    assert _lookup(cells, "$310") == [("Eastport > 1", "THEN the fee is"), ("Eastport > 2", "THEN the fee is")]
    notes = [cell["text"] for cell in cells if cell["col_ix"] == -1]
    assert " ".join(notes).startswith("Check each box that applies. Your boat: Built before 2001 Rented")


def test_bold_names_of_plain_amounts_are_no_headers() -> None:
    canvas = Canvas()
    rows = [("IF your boat is", "YOUR fee is"), ("Single or set apart from others", "$15"), ("Joint", "31,000")]
    for i, row in enumerate([*rows, ("Head of a fleet", "23,000")]):
        for x, text in zip((104, 354), row, strict=True):
            canvas.text(x, 103 + 16 * i, text, bold=i == 0 or x == 104)
    canvas.grid([100, 350, 500], [100 + 16.0 * i for i in range(5)])
    cells = _cells(canvas)
    assert _lookup(cells, "$15") == [("Single or set apart from others", "YOUR fee is")]
    assert _lookup(cells, "31,000") == [("Joint", "YOUR fee is")]


def test_a_first_row_of_one_line_over_the_columns_is_the_title() -> None:
    canvas = Canvas()
    canvas.text(104, 80, "!", bold=True)
    canvas.text(104, 103, "Schedule Q—", bold=True)
    canvas.text(148, 103, "If your boat is used for")
    canvas.text(246, 103, "both trade and pleasure", bold=True)
    rows = [("If the length is over—", "The fee is:"), ("$0", "$11"), ("12,000", "48"), ("48,000", "103")]
    for i, row in enumerate(rows):
        for x, text in zip((104, 304), row, strict=True):
            canvas.text(x, 119 + 16 * i, text)
    canvas.grid([100, 300, 500], [116 + 16.0 * i for i in range(5)])
    canvas.cell(100, 100, 500, 116)
    table = build_tables(source_of(canvas)).row(0, named=True)
    assert table["title"] == "Schedule Q—If your boat is used for both trade and pleasure"
    assert _lookup(table["cells"], "$11") == [("$0", "The fee is:")]


def test_a_box_of_text_over_one_row_is_no_table() -> None:
    canvas = Canvas(1)
    for line in range(12):
        canvas.text(104, 103 + 12 * line, "Boxed words on the harbour and its fees in bold type", bold=True)
        canvas.text(304, 103 + 12 * line, "More boxed words on the harbour and its old boats", bold=True)
    canvas.text(104, 253, "12")
    canvas.text(304, 253, "14")
    canvas.grid([100, 300, 540], [100.0, 250.0, 266.0])
    assert _cells(canvas) == []


def test_a_table_that_continues_takes_the_headers_of_its_beginning() -> None:
    cells = _cells(_ruled(), _ruled(2, header=False))
    assert _lookup(cells, "$7") == [("Quince", "Price")]


def test_spanning_headers_and_range_ends_make_paths() -> None:
    canvas = Canvas()
    canvas.text(104, 64, "If the wage is")
    canvas.line(100, 76, 200, 76)
    canvas.text(104, 80, "At least")
    canvas.text(146, 80, "But less than")
    canvas.text(318, 64, "Couples")
    canvas.line(200, 76, 460, 76)
    canvas.text(220, 80, "Standard")
    canvas.text(360, 80, "Reduced")
    canvas.line(100, 60, 460, 60)
    canvas.line(100, 92, 460, 92)
    for i in range(6):
        y = 96 + 10 * i
        for x, text in ((140, 100 * i), (190, 100 * i + 100), (290, 7 * i), (430, 3 * i)):
            canvas.right(x, y, f"${text}")
    canvas.line(100, 160, 460, 160)
    for x in (100, 200, 460):
        canvas.line(x, 60, x, 160)
    cells = _cells(canvas)
    assert _lookup(cells, "$35") == [("$500 > $600", "Couples > Standard")]
    assert _lookup(cells, "$15") == [("$500 > $600", "Couples > Reduced")]
    assert ("$500", "If the wage is > But less than") in _lookup(cells, "$600")


def test_a_long_table_between_three_lines_keeps_its_header_over_groups_of_indented_rows() -> None:
    canvas = Canvas()
    for y in (60, 76, 400):
        canvas.line(40, y, 560, y)
    for x, text in ((44, "Mooring"), (250, "Day"), (400, "Week")):
        canvas.text(x, 64, text, bold=True)
    for group, top in (("East quay", 84), ("West quay", 240)):
        canvas.text(44, top, group, bold=True)
        for ix in range(10):
            y = top + 14 * (ix + 1)
            canvas.text(54, y, f"Ring {chr(65 + ix)} of {group}")
            canvas.text(250, y, f"${top + ix}")
            canvas.text(400, y, f"${1000 + top + ix:,}")
    cells = _cells(canvas)
    assert _lookup(cells, "$87") == [("East quay > Ring D of East quay", "Day")]
    assert _lookup(cells, "$1,249") == [("West quay > Ring J of West quay", "Week")]


def test_shaded_group_rows_head_the_rows_after_them() -> None:
    canvas = Canvas()
    rows = [
        ("Share", "10%", "20%"),
        ("FAMILY OF 2:",),
        ("Income", "$62", "$92"),
        ("FAMILY OF 3:",),
        ("Income", "$76", "$99"),
    ]
    for i, row in enumerate(rows):
        y = 100 + 16 * i
        for x, text in zip((104, 254, 404), row, strict=False):
            canvas.text(x, y + 3, text, bold=len(row) == 1)
        if len(row) == 1 or i == 0:
            canvas.fills.append(Fill(100, y, 500, y + 16, 0xCCCCCC))
    canvas.grid([100, 250, 400, 500], [100.0 + 16 * i for i in range(6)])
    cells = _cells(canvas)
    assert _lookup(cells, "$99") == [("FAMILY OF 3: > Income", "20%")]
    assert _lookup(cells, "$62") == [("FAMILY OF 2: > Income", "10%")]


def test_headings_in_smaller_type_stay_under_the_larger_one_above_them() -> None:
    canvas = Canvas()
    rows = [("Boats", 10), ("Of wood", 8), "100101", ("Of steel", 8), "100102", ("Rafts", 10), "100103", "100104"]
    for i, row in enumerate(rows):
        y = 100.0 + 16 * i
        if isinstance(row, tuple):
            canvas.text(104, y, row[0], bold=True, size=row[1])
        else:
            canvas.text(104, y, row)
            canvas.text(204, y, f"Name of {row}")
    canvas.grid([100, 200, 400], [96.0 + 16 * i for i in range(len(rows) + 1)])
    cells = _cells(canvas)
    paths = [_lookup(cells, f"Name of {code}")[0][0] for code in ("100101", "100102", "100103", "100104")]
    assert paths == [
        "Boats > Of wood > 100101",
        "Boats > Of steel > 100102",
        "Rafts > 100103",
        "Rafts > 100104",
    ]


def test_rows_above_rows_that_begin_with_amounts_are_headers_though_they_count() -> None:
    canvas = Canvas()
    for x, text in ((104, "If the duty is"), (304, "And the boat has")):
        canvas.text(x, 103, text, bold=True)
    for x, text in ((304, "no mast"), (404, "1")):
        canvas.text(x, 119, text)
    for x, text in ((104, "At least"), (204, "But less than"), (304, "The fee is"), (404, "The fee is")):
        canvas.text(x, 135, text)
    for i in range(20):
        for x, text in zip((104, 204, 304, 404), (1000 + 50 * i, 1050 + 50 * i, 7 + i, 30 + i), strict=True):
            canvas.text(x, 151 + 16 * i, f"{text:,}")
    canvas.grid([100, 200, 300, 400, 500], [100.0 + 16 * i for i in range(24)])
    ((row, column),) = _lookup(_cells(canvas), "49")
    assert (row, "1" in column, "At least" in column) == ("1,950 > 2,000", True, False)


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        (("Less than $900", "0%", "0"), False),
        (("Zero", "1", "2"), False),
        (("", "0%", "5"), False),
        (("", "0", "1"), True),
    ],
)
def test_a_first_row_of_amounts_that_words_name_is_no_header(first: tuple[str, ...], is_header: bool) -> None:
    canvas = Canvas()
    for x, text in zip((104, 204, 304), ("Income", "Duty", "Credit"), strict=True):
        canvas.text(x, 103, text, bold=True)
    rows = [first, *((f"${1000 + 50 * i:,}", f"{2 + i}%", f"{30 + i}") for i in range(24))]
    for i, row in enumerate(rows):
        for x, text in zip((104, 204, 304), row, strict=True):
            if text:
                canvas.text(x, 119 + 16 * i, text)
    canvas.grid([100, 200, 300, 400], [100.0 + 16 * i for i in range(27)])
    cells = _cells(canvas)
    columns = {column for _, column in _lookup(cells, "33")}
    assert columns == ({f"Credit > {first[2]}"} if is_header else {"Credit"})
    assert bool(_lookup(cells, first[1])) != is_header


def test_a_wrapped_cell_is_one_cell_and_a_repeated_name_takes_the_next_column() -> None:
    canvas = Canvas()
    rows = [
        ("Kind", "Condition", "Check it?"),
        ("Pension", "paid in now", "Yes"),
        ("Pension", "paid in before", "No"),
        ("Pension", "never", "Ask"),
    ]
    for i, row in enumerate(rows):
        for x, text in zip((104, 254, 404), row, strict=True):
            canvas.text(x, 103 + 30 * i, text, bold=i == 0)
    canvas.text(254, 173, "and only then")
    canvas.grid([100, 250, 400, 500], [100.0 + 30 * i for i in range(5)])
    assert _lookup(_cells(canvas), "No") == [("Pension > paid in before and only then", "Check it?")]


def test_tables_side_by_side_name_their_own_rows() -> None:
    canvas = Canvas()
    names = [("Over", "Tax") * 2, ("$10", "$1", "$40", "$4"), ("$20", "$2", "$50", "$5"), ("$30", "$3", "$60", "$6")]
    for i, row in enumerate(names):
        for x, text in zip((104, 154, 304, 354), row, strict=True):
            canvas.text(x, 103 + 16 * i, text, bold=i == 0)
    canvas.grid([100, 150, 300, 350, 400], [100.0 + 16 * i for i in range(5)])
    assert _lookup(_cells(canvas), "$5") == [("$50", "Tax")]


def test_leader_rows_are_a_table_without_a_frame() -> None:
    canvas = Canvas()
    canvas.text(60, 90, "Period", bold=True)
    canvas.right(290, 90, "Add", bold=True)
    for i, (label, amount) in enumerate((("Weekly", "226.90"), ("Monthly", "1,341.70"), ("Yearly", "9.00"))):
        canvas.text(60, 104 + 12 * i, label)
        canvas.leader(100, 240, 104 + 12 * i)
        canvas.right(290, 104 + 12 * i, amount)
    assert _lookup(_cells(canvas), "1,341.70") == [("Monthly", "Add")]


def test_wrapped_rows_without_borders_are_parted_by_wider_gaps() -> None:
    canvas = Canvas()
    canvas.line(60, 80, 460, 80)
    canvas.line(60, 96, 460, 96)
    canvas.text(64, 83, "IF you live in", bold=True)
    canvas.text(264, 83, "THEN send it to", bold=True)
    for x, top, lines in (
        (64, 100, ("the northern", "counties")),
        (264, 100, ("the office by", "the river")),
        (64, 130, ("the south",)),
        (264, 130, ("the office", "on the hill")),
    ):
        for i, text in enumerate(lines):
            canvas.text(x, top + 10 * i, text)
    canvas.line(60, 156, 460, 156)
    for x in (60, 460):
        canvas.line(x, 80, x, 156)
    assert _lookup(_cells(canvas), "the office on the hill") == [("the south", "THEN send it to")]


def test_indented_rows_stand_under_the_name_that_ends_with_a_colon() -> None:
    canvas = Canvas()
    rows = [("Filer", "Limit"), ("Under 65:",), ("Single", "$10"), ("Joint", "$20"), ("Anybody else", "$5")]
    for i, row in enumerate(rows):
        indent = 8 if row[0] in ("Single", "Joint") else 0
        canvas.text(104 + indent, 103 + 16 * i, row[0], bold=i == 0)
        if len(row) == 2:
            canvas.text(254, 103 + 16 * i, row[1], bold=i == 0)
    canvas.grid([100, 250, 400], [100.0 + 16 * i for i in range(6)])
    cells = _cells(canvas)
    assert _lookup(cells, "$20") == [("Under 65: > Joint", "Limit")]
    assert _lookup(cells, "$5") == [("Anybody else", "Limit")]


def test_amounts_side_by_side_are_a_table_without_lines_or_leaders() -> None:
    canvas = Canvas()
    rows = [("", "With it", "Without it"), ("Income", "$15,000", "$10,000"), ("Tax", "$1,571", "$1,003")]
    for i, (label, left, right) in enumerate(rows):
        if label:
            canvas.text(60, 100 + 11 * i, label)
        canvas.right(180, 100 + 11 * i, left)
        canvas.right(260, 100 + 11 * i, right)
    for i in range(6):
        canvas.text(60, 160 + 11 * i, "The amounts above are those of the example for the year.")
    canvas.line(60, 60, 300, 60)
    assert _lookup(_cells(canvas), "$1,003") == [("Tax", "Without it")]


def test_rows_of_amounts_alone_stand_under_heads_that_reach_over_repeated_columns() -> None:
    canvas = Canvas()
    for x, text in ((225, "Summer"), (405, "Winter")):
        canvas.text(x, 96, text, bold=True)
    for x, text in ((62, "Pay"), (190, "At least"), (262, "But less"), (370, "At least"), (442, "But less")):
        canvas.text(x, 109, text, bold=True)
    for i in range(4):
        canvas.text(62, 124 + 12 * i, f"${i + 1}00")
        for ix, x in enumerate((200, 270, 380, 450)):
            canvas.text(x, 124 + 12 * i, str(10 * i + ix + 11))
    cells = _cells(canvas)
    assert _lookup(cells, "33") == [("$300", "Winter > At least")]
    assert _lookup(cells, "32") == [("$300", "Summer > But less")]


def test_framed_worksheet_lines_are_rows() -> None:
    canvas = Canvas()
    canvas.cell(60, 90, 400, 180)
    for i, text in enumerate(("Enter the wages", "Enter the tips", "Add lines 1 and 2")):
        canvas.text(66, 100 + 24 * i, f"{i + 1}.")
        canvas.text(80, 100 + 24 * i, text)
        canvas.text(340, 100 + 24 * i, f"{i + 1}.")
        canvas.text(360, 100 + 24 * i, f"{i + 4}00")
    cells = _cells(canvas)
    assert [cell["text"] for cell in cells if cell["col_ix"] == 0] == [
        "1. Enter the wages",
        "2. Enter the tips",
        "3. Add lines 1 and 2",
    ]


def test_cells_without_any_header_are_found() -> None:
    tables = build_tables(source_of(_ruled()))
    assert find_cells_without_path(tables).height == 0
    bare = tables.with_columns(
        cells=pl.col("cells").list.eval(
            pl.struct(
                *(pl.element().struct.field(name) for name in ("row_ix", "col_ix")),
                *(pl.lit("").alias(name) for name in ("row_path", "col_path")),
                *(pl.element().struct.field(name) for name in ("text", "bbox")),
            )
        )
    )
    faults = find_cells_without_path(schemas.Tables.validate(bare))
    assert faults.height == 6
    assert set(faults["table_id"]) == {"sample:p0001:t0"}


@pytest.mark.corpus
def test_the_multiple_jobs_table_of_form_w4_keeps_rows_and_columns(corpus: Path) -> None:
    name = "fw4--2026"
    source = read_source((corpus / "corpus" / f"{name}.pdf").read_bytes(), document_id=name)
    tables = build_tables(source).filter(pl.col("page") == 5)
    assert tables.height == 3
    joint, _, head = (table["cells"] for table in tables.sort("table_id").iter_rows(named=True))
    group = "Lower Paying Job Annual Taxable Wage & Salary"
    assert ("$80,000 - 99,999", f"{group} > $40,000 - 49,999") in _lookup(joint, "5,440")
    assert ("$450,000 and over", f"{group} > $100,000 - 109,999") in _lookup(head, "28,690")
    assert (len(joint), len(head)) == (13 * 15, 13 * 14)
