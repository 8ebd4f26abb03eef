"""What worksheets hold besides their lines: columns, answers, steps, words that lead rows in, tables with headers."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from taxkg_assets_tests.extraction.tagged_pdf import TaggedPdf


def _worksheet() -> TaggedPdf:
    return TaggedPdf().put("H2", "Swarm Worksheet", face="b", size=12)


def _cells(pdf: TaggedPdf) -> list[dict[str, Any]]:
    return [cell for cells in pdf.extract().frames["tables"]["cells"].to_list() for cell in cells]


def _paths(pdf: TaggedPdf) -> dict[str, tuple[str, str]]:
    return {cell["text"]: (cell["row_path"], cell["col_path"]) for cell in _cells(pdf)}


def _with_columns(*heads: str) -> TaggedPdf:
    pdf = _worksheet()
    with pdf.tag("Table"):
        pdf.row((60, "For beekeepers"), *zip((360, 420, 480), heads, strict=False))
        pdf.row((60, "1."), (80, "Enter the swarms of the year"), (330, "1."))
        pdf.row((60, "2."), (80, "Share of the season"), (330, "2."), (365, "25"), (425, "50.5"), (485, "75"))
        pdf.row((60, "3."), (80, "Multiply line 1 by line 2"), (330, "3."))
    return pdf


def test_headers_over_the_amounts_of_a_worksheet_lead_to_them() -> None:
    paths = _paths(_with_columns("March", "June", "August"))
    assert paths["50.5"] == ("2. > Share of the season", "June")
    assert paths["75"] == ("2. > Share of the season", "August")
    assert paths["Share of the season"] == ("2.", "")
    assert paths["For beekeepers"] == ("For beekeepers", "")
    assert "June" not in paths


def test_one_text_over_the_amounts_is_no_header() -> None:
    assert _paths(_with_columns("Keep this"))["50.5"] == ("2. > Share of the season", "")


QUERIED = "2. > Is line 1 more than the hives that you own?"


@pytest.mark.parametrize("is_one_cell", [True, False])
def test_answers_have_rows_of_their_own_however_they_are_tagged(is_one_cell: bool) -> None:
    pdf = _worksheet()
    with pdf.tag("Table"):
        pdf.row((60, "1."), (80, "Enter the swarms"), (430, "1."), (450, "____"))
        with pdf.tag("TR"):
            with pdf.tag("TD"):
                pdf.to(60, pdf.y + 4).run("2.")
            with pdf.tag("TD"):
                for text in ("Is line 1 more than the hives", "that you own?"):
                    pdf.to(80, pdf.y).set(text)
                for text in ("Yes. Report the swarms", "that left.", "No. Stop here.") if is_one_cell else ():
                    pdf.to(80, pdf.y).set(text)
        for text in () if is_one_cell else ("Yes. Report the swarms that left.", "No. Stop here."):
            pdf.row((80, text))
        pdf.row((60, "3."), (80, "No. of the last swarm"), (430, "3."), (450, "____"))
    paths = _paths(pdf)
    assert paths["Report the swarms that left."] == (f"{QUERIED} > Yes.", "")
    assert paths["Stop here."] == (f"{QUERIED} > No.", "")
    assert paths["No. of the last swarm"] == ("3.", "")


def test_words_before_a_colon_lead_to_the_rows_that_complete_them() -> None:
    pdf = _worksheet()
    with pdf.tag("Table"):
        pdf.row((60, "1."), (80, "Add the swarms of:"))
        pdf.row((80, "The orchard"), (430, "____"))
        pdf.row((80, "•"), (95, "The heath"), (430, "____"))
        pdf.row((60, "2."), (80, "Enter the queens"), (430, "2."), (450, "____"))
        pdf.row((80, "Count no drones."))
    paths = _paths(pdf)
    assert paths["The orchard"] == paths["The heath"] == ("1. > Add the swarms of:", "")
    assert paths["Count no drones."] == ("2.", "")


def test_steps_and_short_bold_names_lead_to_the_lines_below_them() -> None:
    pdf = _worksheet()
    with pdf.tag("Table"):
        for step, what in (("Step 1. Count the swarms, wherever they are.", "swarms"), ("Queens", "queens")):
            pdf.row((60, step), face="b")
            pdf.row((60, "1."), (80, f"Enter the {what} of spring"), (430, "1."), (450, "____"))
            pdf.row((60, "If there are none, skip line 2."), face="b")
            pdf.row((60, "2."), (80, f"Enter the {what} of summer"), (430, "2."), (450, "____"))
        pdf.row((60, "What was lost on the way"))
        pdf.row((60, "3."), (80, "Enter the losses"), (430, "3."), (450, "____"))
    paths = _paths(pdf)
    step = "Step 1. Count the swarms, wherever they are."
    assert paths["Enter the swarms of spring"] == (f"{step} > 1.", "")
    assert paths["Enter the swarms of summer"] == (f"{step} > 2.", "")
    assert paths["Enter the queens of summer"] == ("Queens > 2.", "")
    assert paths["Enter the losses"] == ("3.", "")


def _with_table() -> TaggedPdf:
    """A worksheet with a table of limits between its lines; a name is set over the two rows of each group."""
    pdf = _worksheet()
    with pdf.tag("Table"):
        pdf.row((60, "1."), (80, "Enter the swarms"), (430, "1."), (450, "____"))
        pdf.row((60, "2."), (80, "Find the limit in the table below"), (430, "2."), (450, "____"))
        pdf.row((80, "Kind of hive"), (220, "Queens"), (330, "Limit"), face="b")
        for first, second, base in (("Hives made", "of straw", 10), ("Wooden", "hives", 20), ("Logs", "", 30)):
            pdf.draw(f"0.5 w 60 {792 - pdf.y - 2:.1f} m 400 {792 - pdf.y - 2:.1f} l S")
            pdf.row((80, first), (230, "1"), (330, f"${base}.5"))
            pdf.row((80, second), (230, "2"), (330, f"${base}.7"))
        pdf.draw(f"0.5 w 60 {792 - pdf.y - 2:.1f} m 400 {792 - pdf.y - 2:.1f} l S")
        pdf.row((60, "3."), (80, "Subtract line 2 from line 1"), (430, "3."), (450, "____"))
    return pdf


def test_a_table_with_headers_inside_a_worksheet_is_a_table_of_its_own() -> None:
    tables = _with_table().extract().frames["tables"]
    assert tables["has_headers"].to_list() == [True, False]
    assert tables["title"].to_list() == ["Swarm Worksheet"] * 2
    paths = _paths(_with_table())
    assert paths["Subtract line 2 from line 1"] == ("3.", "")
    assert paths["$30.5"] == ("Logs > 1", "Limit")


def test_a_name_over_several_rows_between_lines_is_one_and_names_them_all() -> None:
    paths = _paths(_with_table())
    assert paths["$10.5"] == ("Hives made of straw > 1", "Limit")
    assert paths["$10.7"] == ("Hives made of straw > 2", "Limit")
    assert paths["$20.7"] == ("Wooden hives > 2", "Limit")
    assert paths["$30.7"] == ("Logs > 2", "Limit")


def test_the_lines_of_a_worksheet_and_its_table_are_all_kept() -> None:
    elements = _with_table().extract().frames["elements"]
    texts = " ".join(elements.filter(pl.col("role") == "TableBlock")["text"])
    assert all(word in texts for word in ("Enter the swarms", "Hives made", "$20.7", "Subtract line 2"))


def test_ranges_inside_a_worksheet_name_their_rows_by_both_ends() -> None:
    pdf = _worksheet()
    with pdf.tag("Table"):
        pdf.row((60, "1."), (80, "Enter the swarms"), (430, "1."), (450, "____"))
        pdf.row((60, "2."), (80, "Find the share in the table below"), (430, "2."), (450, "____"))
        gap = [(60.0, "")] * 3
        pdf.row(*gap, (120, "Over:"), (160, ""), (200, "But not over:"), (330, "THEN the share is:"), face="b")
        for first, last, share in ((0, 10, ".35"), (10, 20, ".34"), (20, 30, ".33")):
            pdf.row(*gap, (120, str(first)), (170, "—"), (210, str(last)), (340, share))
        pdf.row((60, "3."), (80, "Multiply line 1 by line 2"), (430, "3."), (450, "____"))
    paths = _paths(pdf)
    assert paths[".34"] == ("10 > 20", "THEN the share is:")
    assert paths["Multiply line 1 by line 2"] == ("3.", "")
