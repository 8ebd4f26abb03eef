"""A page's log of painting is that of the parser, read off a display list; its letters are those that are printed."""

from __future__ import annotations

from typing import Any

import pymupdf

from taxkg_assets.extraction.pdf.occluders import Occluder
from taxkg_assets.extraction.pdf.paint_log import read_paint_log, read_printed_text
from taxkg_assets.extraction.pdf.visibility import Background, VisibilityChecker
from taxkg_assets_tests.extraction.pdf.test_visibility import say, write_operators

_TEXT_AND_PICTURES = ("fill-text", "stroke-text", "ignore-text", "fill-image")


def _write_page(operators: str) -> Any:
    document: Any = pymupdf.open()
    page = document.new_page(width=612, height=792)
    page.insert_text((72, 100), "Enter the rent in box 3.")
    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 9, 9), False)
    page.insert_image((300, 300, 330, 330), pixmap=pixels)
    write_operators(page, operators)
    return pymupdf.open(stream=document.tobytes())[0]


def test_kinds_and_rectangles_are_those_of_the_parser() -> None:
    page = _write_page(f"60 20 500 9 re f 60 50 m 500 50 l S {say('Boats')} {say('Rafts', before='3 Tr')}")
    log, expected = read_paint_log(page.get_displaylist()), page.get_bboxlog()
    assert [kind for kind, _ in log] == [kind for kind, _ in expected]
    measured = [row for row in expected if row[0] in _TEXT_AND_PICTURES]
    assert {"fill-text", "ignore-text", "fill-image"} <= {kind for kind, _ in measured}
    assert [row for row in log if row[0] in _TEXT_AND_PICTURES] == measured


def test_the_printed_text_is_that_of_the_page() -> None:
    page = _write_page(say("Boats") + " q 60 20 9 9 re W n " + say("Rafts") + " Q")
    flags = pymupdf.TEXT_MEDIABOX_CLIP | pymupdf.TEXT_PRESERVE_WHITESPACE
    printed = read_printed_text(page.get_displaylist(), flags=flags)
    assert "Boats" in printed
    assert printed.split() == page.get_textpage(flags=flags).extractText().split()


def _find_reasons(page: Any, occluders: list[Occluder]) -> list[str]:
    background = Background((), occluders, has_pictures=True)
    raws = [
        span for block in page.get_text("dict")["blocks"] for line in block.get("lines", ()) for span in line["spans"]
    ]
    boxes = [raw["bbox"] for raw in raws]
    return VisibilityChecker(page, width=612, height=792, background=background).find_reasons(
        raws, boxes, shown_boxes=boxes
    )


def test_covers_that_are_counted_otherwise_are_compared_by_the_log_of_the_parser() -> None:
    """A rectangle without area is painted and counted, and is in no display list."""
    page = _write_page(f"60 20 500 0 re f {say('Boats')} 1 1 1 rg 60 472 500 40 re f")
    drawn = [path for path in page.get_cdrawings() if path["rect"][3] > path["rect"][1] + 9]
    occluders = [Occluder(path["seqno"], path["rect"], 0xFFFFFF) for path in drawn]
    assert _find_reasons(page, occluders) == ["", "covered"]
