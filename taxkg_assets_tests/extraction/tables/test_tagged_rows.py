"""Rows of tagged tables: line numbers, row names, groups and joined cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.extract import extract
from taxkg_assets_tests.extraction.tagged_pdf import HEIGHT, LEFT, TaggedPdf, fill


def _row_paths(pdf: TaggedPdf) -> dict[str, str]:
    cells = [cell for cells in pdf.extract().frames["tables"]["cells"].to_list() for cell in cells]
    return {cell["text"]: cell["row_path"] for cell in cells}


def test_letters_of_a_worksheet_belong_to_the_number_before_them() -> None:
    pdf = TaggedPdf().put("H2", "Swarm Worksheet", face="b", size=12)
    with pdf.tag("Table"):
        pdf.row((60, "1."), (80, "a."), (100, "Enter the swarms of spring"), (430, "1a."), (450, "_______"))
        pdf.row((80, "b."), (100, "Enter the swarms of summer"), (430, "1b."), (450, "_______"))
        pdf.row((60, "2a."), (100, "Enter the queens of spring"), (430, "2a."), (450, "_______"))
        pdf.row((80, "b."), (100, "Enter the queens of summer"), (430, "2b."), (450, "_______"))
        pdf.row((60, "3"), (100, "Add lines 1a and 2a"), (450, "_______"))
        pdf.row((60, "Keep the swarms and the queens apart."))
    paths = _row_paths(pdf)
    assert [paths[f"Enter the {what} of {when}"] for what in ("swarms", "queens") for when in ("spring", "summer")] == [
        "1. > a.",
        "1. > b.",
        "2a.",
        "2b.",
    ]
    assert paths["Add lines 1a and 2a"] == "3"
    assert paths["Keep the swarms and the queens apart."] == "Keep the swarms and the queens apart."


def test_a_bare_number_with_a_letter_in_a_cell_of_its_own_begins_a_line() -> None:
    pdf = TaggedPdf().put("H2", "Swarm Worksheet", face="b", size=12)
    with pdf.tag("Table"):
        pdf.row((60, "1"), (80, "a."), (100, "Enter the swarms of spring"), (430, "1a."), (450, "_______"))
        pdf.row((80, "b."), (100, "Enter the swarms of summer"), (430, "1b."), (450, "_______"))
        pdf.row((60, "2."), (100, "Add lines 1a and 1b"), (430, "2."), (450, "_______"))
        pdf.row((60, "7"), (80, "c."), (100, "Swarms that nobody counted"), (430, "3d."))
    paths = _row_paths(pdf)
    assert paths["Enter the swarms of spring"] == "1 > a."
    assert paths["Enter the swarms of summer"] == "1 > b."
    assert paths["Swarms that nobody counted"] != "7 > c."


def test_the_period_of_a_number_belongs_to_it_in_whatever_font() -> None:
    pdf = TaggedPdf().put("H2", "Swarm Worksheet", face="b", size=12)
    with pdf.tag("Table"):
        for number in ("1", "2"):
            with pdf.tag("TR"):
                with pdf.tag("TD"), pdf.tag("P"):
                    with pdf.tag("Span"):
                        pdf.to(60, pdf.y).run(number, "b")
                    pdf.run(".")
                with pdf.tag("TD"):
                    pdf.to(80, pdf.y).set(f"Enter the swarms of field {number * 2}")
            pdf.to(LEFT, pdf.y)
    assert _row_paths(pdf)["Enter the swarms of field 11"] == "1."


def test_an_amount_equal_to_its_line_is_kept_where_lines_do_not_repeat_their_numbers() -> None:
    pdf = TaggedPdf().put("H2", "Swarm Worksheet", face="b", size=12)
    with pdf.tag("Table"):
        for number, amount in (("1.", "7"), ("2.", "2"), ("3.", "9")):
            pdf.row((60, number), (80, f"Enter the swarms of year {number}"), (450, amount))
    assert _row_paths(pdf)["2"] == "2. > Enter the swarms of year 2."


def _coded() -> TaggedPdf:
    """Codes in two printed columns of one table, under bold names of groups."""
    pdf = TaggedPdf().put("H2", "Codes of Trades", face="b", size=14).put("P", *fill(3))
    top = pdf.y
    with pdf.tag("Table"):
        pdf.row((60, "Beekeeping"), face="b").row((60, "Hives"), face="b")
        pdf.row((60, "1110"), (100, "Hive makers")).row((60, "1120"), (100, "Hive menders"))
        pdf.row((60, "Honey"), face="b").row((60, "1210"), (100, "Honey presses"))
        pdf.to(330, top).row((330, "1220"), (370, "Honey shops"))
        pdf.row((330, "Candles"), face="b").row((330, "Wax"), face="b").row((330, "2110"), (370, "Wax bleachers"))
    return pdf.to(LEFT, pdf.y + 60).put("P", *fill(3))


@pytest.mark.parametrize(
    ("text", "row_path"),
    [
        ("Hive menders", "Beekeeping > Hives > 1120"),
        ("Honey presses", "Honey > 1210"),
        ("Honey shops", "Honey > 1220"),
        ("Wax bleachers", "Candles > Wax > 2110"),
    ],
)
def test_bold_names_in_two_columns_head_the_rows_below_them(text: str, row_path: str) -> None:
    assert _row_paths(_coded())[text] == row_path


def test_a_group_right_below_the_header_is_no_header() -> None:
    pdf = TaggedPdf().put("H2", "Leases of Hives", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "The lease began:"), (300, "And the hive was worth:"), face="b")
        for kind, base in (("Straw hives", 10), ("Wooden hives", 20)):
            pdf.row((60, kind), face="b")
            for ix in range(3):
                pdf.row((60, f"In year {ix}"), (300, f"${base + ix}"))
    (cells,) = pdf.extract().frames["tables"]["cells"].to_list()
    found = {cell["text"]: (cell["row_path"], cell["col_path"]) for cell in cells}
    assert found["$11"] == ("Straw hives > In year 1", "And the hive was worth:")
    assert found["$22"] == ("Wooden hives > In year 2", "And the hive was worth:")


def test_rows_without_a_name_continue_the_row_above() -> None:
    pdf = TaggedPdf().put("H2", "Feeding", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "Month"), (200, "Feed"), (400, "Amount"), face="b")
        pdf.row((60, "January"), (200, "Sugar"), (400, "$4"))
        pdf.row((60, ""), (200, "Syrup"), (400, "$5"))
        pdf.row((60, "June"), (200, "Pollen"), (400, "$6"))
        pdf.row((60, ""), (200, ""), (400, "$15"))
    paths = _row_paths(pdf)
    assert (paths["Syrup"], paths["$6"], paths["$15"]) == ("January", "June", "")


def test_a_first_column_that_no_row_fills_names_none() -> None:
    pdf = TaggedPdf().put("H2", "Feeding", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, ""), (200, "For the season"), (400, "Feed by"), face="b")
        pdf.row((60, ""), (200, "Spring"), (400, "April 3"))
        pdf.row((60, ""), (200, "Autumn"), (400, "October 4"))
    paths = _row_paths(pdf)
    assert (paths["April 3"], paths["October 4"]) == ("Spring", "Autumn")


def test_bold_words_over_numbered_rows_are_their_headers() -> None:
    pdf = TaggedPdf().put("H2", "When To Feed", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "The Season Includes"), (250, "It Ends"), (400, "Feed By"), face="b")
        for number, month in enumerate(("March", "June", "September", "December"), 1):
            pdf.row((60, f"{number}. {month} and the month before"), (250, f"{month} 30"), (400, f"{month} 3"))
    (cells,) = pdf.extract().frames["tables"]["cells"].to_list()
    assert next(cell["col_path"] for cell in cells if cell["text"] == "June 3") == "Feed By"


def test_heads_of_a_condition_table_need_only_their_first_words() -> None:
    pdf = TaggedPdf().put("H2", "Swarms", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        with pdf.tag("TR"):
            for x, word, rest in ((60, "IF", " a swarm is found in..."), (300, "THEN", " report it to...")):
                with pdf.tag("TD"):
                    pdf.to(x, pdf.y).run(word, "b").run(rest)
        pdf.y += 12
        for place, office in (("a garden", "the owner"), ("a street", "the town"), ("a harbor", "the port")):
            pdf.row((60, place), (300, office))
    (cells,) = pdf.extract().frames["tables"]["cells"].to_list()
    assert next(cell["col_path"] for cell in cells if cell["text"] == "the town") == "THEN report it to..."


def test_a_name_that_reaches_over_wider_columns_stays_in_the_first() -> None:
    pdf = TaggedPdf().put("H2", "Feeding", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "Year"), (100, "Days on the heather"), (300, "Factor"), (400, "Product"), face="b")
        pdf.row((60, "2031"), (100, "12"), (300, "1.000"), (400, "12.000"))
        pdf.row((60, "2030"), (100, "15"), (300, "0.333"), (400, "4.995"))
        with pdf.tag("TR"):
            with pdf.tag("TD"):
                pdf.to(60, pdf.y + 4).run("Total of all the years")
            with pdf.tag("TD"):
                pdf.to(400, pdf.y).run("16.995")
    (cells,) = pdf.extract().frames["tables"]["cells"].to_list()
    assert next(cell["col_ix"] for cell in cells if cell["text"] == "Total of all the years") == 0
    assert next(cell["row_path"] for cell in cells if cell["text"] == "16.995") == "Total of all the years"


def test_a_sum_below_its_line_is_no_amount_of_the_row_above() -> None:
    pdf = TaggedPdf().put("H2", "Cost", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "Sugar for the hives"), (400, "$40"))
        pdf.row((60, "Frames and their wire"), (400, "$55"))
        y = HEIGHT - pdf.y - 2
        pdf.draw(f"0.5 w 395 {y} m 425 {y} l S")
        pdf.row((60, ""), (400, "$95"))
    assert _row_paths(pdf)["$95"] != "Frames and their wire"


def test_rows_that_their_tags_join_are_read_by_their_drawing() -> None:
    pdf = TaggedPdf().put("H2", "Fees", face="b", size=14).put("P", *fill(3))
    top = pdf.y + 8
    ys = [top, top + 16]
    with pdf.tag("Table"):
        pdf.row((60, "IF you keep"), (220, "AND you are"), (400, "THEN pay"), face="b", gap=10)
        for name, fee in (("bees", 12), ("wasps", 25), ("ants", 36)):
            pdf.y = ys[-1] + 2
            with pdf.tag("TR"):
                with pdf.tag("TD"):
                    pdf.to(60, pdf.y + 6).run(name)
                pdf.y -= 6
                with pdf.tag("TD"):
                    pdf.to(220, pdf.y).set("under 65").set("65 or older")
                pdf.y = ys[-1] + 2
                with pdf.tag("TD"):
                    pdf.to(420, pdf.y).set(f"${fee}").set(f"{fee + 1}")
            ys.append(ys[-1] + 28)
    for y in ys:
        pdf.draw(f"0.5 w 50 {HEIGHT - y} m 560 {HEIGHT - y} l S")
    for x in (50, 210, 390, 560):
        pdf.draw(f"0.5 w {x} {HEIGHT - ys[0]} m {x} {HEIGHT - ys[-1]} l S")
    paths = _row_paths(pdf)
    assert (paths["$12"], paths["26"]) == ("bees > under 65", "wasps > 65 or older")


def test_a_header_with_a_bold_word_in_it_is_not_torn(corpus: Path) -> None:
    document: Any = pymupdf.open(corpus / "corpus" / "p15t--2026.pdf")
    document.select([57])
    tables = extract(document.tobytes(), document_id="sample").frames["tables"]
    paths = {cell["col_path"] for cells in tables["cells"].to_list() for cell in cells}
    assert len(paths) == 10
    assert all("checked.) > " in path for path in paths)


def test_a_drawing_with_more_words_over_its_columns_is_read(corpus: Path) -> None:
    document: Any = pymupdf.open(corpus / "corpus" / "fw4--2026.pdf")
    document.select([4])
    tables = extract(document.tobytes(), document_id="sample").frames["tables"]
    paths = {cell["col_path"] for cells in tables["cells"].to_list() for cell in cells}
    assert all("Paying Job" in path for path in paths)


def test_tables_below_each_other_keep_their_own_rows_where_their_lines_run_together() -> None:
    pdf = TaggedPdf().put("H2", "Fees", face="b", size=14).put("P", *fill(3))
    for name, base in (("one", 100), ("two", 500)):
        pdf.put("P", f"Use these if you keep {name} hive.", gap=16)
        ys = [pdf.y + 4]
        with pdf.tag("Table"):
            pdf.row((60, "Weight of honey"), (240, "Rate"), (420, "Fee"), face="b", gap=6)
            ys.append(pdf.y + 2)
            for row in range(4):
                pdf.row((60, f"Over {base + row} pounds"), (240, f"{row}.5%"), (420, f"${base + row}"), gap=4)
                ys.append(pdf.y + 2)
        for y in ys:
            pdf.draw(f"0.5 w 50 {HEIGHT - y} m 560 {HEIGHT - y} l S")
        for x in (50, 230, 410, 560):
            pdf.draw(f"0.5 w {x} {HEIGHT - ys[0]} m {x} {HEIGHT - ys[-1]} l S")
    tables = pdf.extract().frames["tables"]
    fees = [[cell["text"] for cell in cells if cell["text"].startswith("$")] for cells in tables["cells"].to_list()]
    assert fees == [["$100", "$101", "$102", "$103"], ["$500", "$501", "$502", "$503"]]
