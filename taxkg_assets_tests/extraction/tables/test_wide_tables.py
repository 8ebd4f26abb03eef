"""Wide tagged tables: states over blocks of columns, shaded bands of amounts, headers that are printed again."""

from __future__ import annotations

from typing import Any

from taxkg_assets.extraction.tables.tagged import find_tagged_tables
from taxkg_assets_tests.extraction.tagged_pdf import HEIGHT, LEFT, TaggedPdf, fill

SIZES = (120.0, 170.0, 240.0, 290.0)


def _find(pdf: TaggedPdf) -> dict[str, tuple[str, str]]:
    cells: list[dict[str, Any]] = [
        cell for cells in pdf.extract().frames["tables"]["cells"].to_list() for cell in cells
    ]
    return {cell["text"]: (cell["row_path"], cell["col_path"]) for cell in cells}


def _of_states() -> TaggedPdf:
    """Two bold rows, each with the names and rates of two states over a block of columns."""
    pdf = TaggedPdf().put("H2", "Hive Taxes", face="b", size=14).put("P", *fill(3))
    top = pdf.y
    with pdf.tag("Table"):
        pdf.row((60, "Income"), *zip(SIZES, ("One", "Two", "One", "Two"), strict=True), kind="TH", face="b")
        for states, base in ((("Clover", "Heather"), 100), (("Linden", "Thyme"), 200)):
            with pdf.tag("TR"):
                for x, text in ((120, states[0]), (175, "5.50%"), (240, states[1]), (295, "6.25%")):
                    with pdf.tag("TD"):
                        pdf.to(x, pdf.y).run(text, "b")
            pdf.to(LEFT, pdf.y + 14)
            for ix in range(3):
                pdf.row((60, f"${ix},000"), *((x, f"{base + 10 * ix + k}") for k, x in enumerate(SIZES)))
    for x in (110, 230):
        pdf.draw(f"0.7 w {x} {HEIGHT - top} m {x} {HEIGHT - pdf.y} l S")
    return pdf.to(LEFT, pdf.y + 20).put("P", *fill(3))


def test_a_row_of_states_names_the_columns_below_it() -> None:
    found = _find(_of_states())
    assert found["111"] == ("$1,000", "Two > Clover 5.50%")
    assert found["222"] == ("$2,000", "One > Thyme 6.25%")
    assert "Linden" not in found


def test_a_row_of_amounts_is_no_header_however_it_is_shaded() -> None:
    pdf = TaggedPdf().put("H2", "Hive Taxes", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "At least"), (160, "But less than"), (300, "Your tax is"), face="b")
        pdf.draw(f"0.8 g 50 {HEIGHT - pdf.y - 16} 400 13 re f")
        for low in (100, 200, 300, 400):
            pdf.row((60, f"{low}"), (160, f"{low + 100}"), (300, f"{low // 10 + 1}"))
    found = _find(pdf)
    assert found["11"] == ("100 > 200", "Your tax is")
    assert found["41"] == ("400 > 500", "Your tax is")


def test_headers_printed_again_on_the_next_page_are_no_title() -> None:
    pdf = TaggedPdf().put("H2", "Codes of Honey", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "IF the honey is"), (300, "THEN enter"), kind="TH", face="b")
        pdf.row((60, "light"), (300, "code L")).row((60, "dark"), (300, "code D"))
        pdf.turn()
        pdf.to(60, 60).bare("IF the honey is", "b").to(300, 60).bare("THEN enter", "b").to(LEFT, 74)
        pdf.row((60, "mixed"), (300, "code M")).row((60, "of the heath"), (300, "code H"))
    pdf.to(LEFT, pdf.y + 20).put("P", *fill(16))
    frame = pdf.extract().frames["tables"]
    assert frame["title"].n_unique() == 1
    assert _find(pdf)["code H"] == ("of the heath", "THEN enter")


def test_a_total_under_a_line_does_not_take_the_name_above() -> None:
    pdf = TaggedPdf().put("H2", "Costs of Hives", face="b", size=14).put("P", *fill(3))
    with pdf.tag("Table"):
        pdf.row((60, "Part"), (200, "Spring"), (300, "Autumn"), kind="TH", face="b")
        pdf.row((60, "Frames"), (200, "$10"), (300, "$20")).row((60, "Wax"), (200, "$30"), (300, "$40"))
        pdf.draw(f"0.7 w 300 {HEIGHT - pdf.y - 2} m 330 {HEIGHT - pdf.y - 2} l S")
        pdf.row((60, ""), (200, ""), (300, "$60"))
    (table,) = find_tagged_tables(pdf.pages()[0])
    assert next(cell.row_path for cell in table.cells if cell.text == "$60") == ""


def test_the_header_of_a_cell_over_several_columns_names_them_all() -> None:
    pdf = TaggedPdf().put("H2", "Leases of Hives", face="b", size=14).put("P", *fill(3))
    top = pdf.y
    with pdf.tag("Table"):
        pdf.row((60, "Kind"), (200, "Spring"), (300, "Summer"), face="b")
        pdf.row((60, "Straw"), (200, "$10"), (300, "$11"))
        pdf.row((60, "Wood"), (200, "$20"), (300, "$21"))
        foot = pdf.y
        pdf.row((60, "Log"), (200, "On request"))
    for x, bottom in ((190, pdf.y), (290, foot), (345, pdf.y)):
        pdf.draw(f"0.5 w {x} {792 - top:.1f} m {x} {792 - bottom:.1f} l S")
    (cells,) = pdf.extract().frames["tables"]["cells"].to_list()
    headers = {cell["text"]: cell["col_path"] for cell in cells}
    assert headers["On request"] == "Spring, Summer"
    assert (headers["$20"], headers["$21"]) == ("Spring", "Summer")
    assert "Spring, Summer" not in pdf.extract().frames["tables"]["markdown"].to_list()[0]
