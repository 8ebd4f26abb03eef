"""Tagged tables on further pages: the header that is printed again, and rows that are numbered but no worksheet."""

from __future__ import annotations

from functools import cache
from typing import Any

from taxkg_assets.extraction.extract import Extraction
from taxkg_assets_tests.extraction.tagged_pdf import LEFT, TaggedPdf, fill

_NUMBER, _NAME, _SPRING, _AUTUMN = 44.0, 66.0, 250.0, 400.0


def _row(pdf: TaggedPdf, number: str, name: str, spring: str, autumn: str) -> None:
    pdf.row((_NUMBER, number), (_NAME, name), (_SPRING, spring), (_AUTUMN, autumn))


def _head(pdf: TaggedPdf) -> None:
    """Print the header again, under no tag: names of columns on one line."""
    y = pdf.y
    for x, text in ((_NUMBER, "Kind of hive"), (_SPRING, "Care in spring"), (_AUTUMN, "Care in autumn")):
        pdf.to(x, y).bare(text, "b")
    pdf.to(LEFT, y + 12.0)


@cache
def _read() -> Extraction:
    pdf = TaggedPdf().put("H1", "Care of Hives", face="b", size=14).put("P", *fill(4))
    with pdf.tag("Table"):
        with pdf.tag("THead"), pdf.tag("TR"):
            y = pdf.y
            for x, text in ((_NUMBER, "Kind of hive"), (_SPRING, "Care in spring"), (_AUTUMN, "Care in autumn")):
                with pdf.tag("TH", "/A <</O /Table /ColSpan 2>>" if x == _NUMBER else ""):
                    pdf.to(x, y).set(text, "b")
        pdf.to(LEFT, pdf.y + 8.0)
        for number, name in (("1.", "Straw"), ("2.", "Wood"), ("3.", "Clay")):
            _row(pdf, number, f"{name} hives", f"Clean the {name.lower()}", f"Cover the {name.lower()}")
        pdf.turn()
        _head(pdf)
        for number, name in (("4.", "Glass"), ("5.", "Cork"), ("6.", "Reed")):
            _row(pdf, number, f"{name} hives", f"Clean the {name.lower()}", f"Cover the {name.lower()}")
    pdf.put("P", *fill(9), gap=20.0)
    return pdf.extract()


def _cell(page: int, text: str) -> dict[str, Any]:
    tables = _read().frames["tables"]
    cells = tables.filter(tables["page"] == page)["cells"].to_list()[0]
    return next(cell for cell in cells if cell["text"] == text)


def test_a_table_with_numbered_rows_keeps_its_headers() -> None:
    cell = _cell(1, "Cover the wood")
    assert (cell["row_path"], cell["col_path"]) == ("2. > Wood hives", "Care in autumn")


def test_the_next_page_takes_headers_and_names_of_rows() -> None:
    cell = _cell(2, "Clean the cork")
    assert (cell["row_path"], cell["col_path"]) == ("5. > Cork hives", "Care in spring")


def test_a_header_that_is_printed_again_is_part_of_the_table() -> None:
    elements = _read().frames["elements"]
    roles = set(elements.filter((elements["page"] == 2) & elements["text"].str.contains("Care in autumn"))["role"])
    assert roles == {"TableBlock"}
    assert _read().frames["anchors"]["heading"].to_list() == ["Care of Hives"]


def test_other_words_above_a_table_stay_out_of_it() -> None:
    pdf = TaggedPdf().put("H1", "Care of Hives", face="b", size=14).put("P", *fill(4))
    with pdf.tag("Table"):
        pdf.row((_NAME, "Kind"), (_SPRING, "Spring"), (_AUTUMN, "Autumn"), kind="TH", face="b")
        pdf.row((_NAME, "Straw"), (_SPRING, "2.50"), (_AUTUMN, "3.50"))
        pdf.row((_NAME, "Wood"), (_SPRING, "4.50"), (_AUTUMN, "5.50"))
        pdf.turn().bare("Hives of glass are rare", "b")
        pdf.to(LEFT, pdf.y + 2.0)
        pdf.row((_NAME, "Glass"), (_SPRING, "6.50"), (_AUTUMN, "7.50"))
        pdf.row((_NAME, "Cork"), (_SPRING, "8.50"), (_AUTUMN, "9.50"))
    elements = pdf.put("P", *fill(9), gap=20.0).extract().frames["elements"]
    assert elements.filter(elements["text"] == "Hives of glass are rare")["role"].to_list() != ["TableBlock"]
