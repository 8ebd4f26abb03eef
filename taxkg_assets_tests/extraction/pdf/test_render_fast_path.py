"""A page is plain only where what it says and what it prints cannot differ: whatever may hide text is read twice."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.pdf.render_fast_path import (
    has_form_xobjects,
    has_replacement_text,
    is_plain,
    without_clipped_drawings,
)
from taxkg_assets_tests.extraction.pdf.test_visibility import say, write_operators

WORDS = "Report the rent here."
LINE = "q 60 20 500 1 re W n [3 1] 0 d 60 20 m 560 20 l S Q"


def write_page(operators: str) -> Any:
    """A page with a sentence, and with more instructions behind it."""
    document: Any = pymupdf.open()
    page = document.new_page(width=612, height=792)
    page.insert_text((72, 100), "Enter the rent in box 3.")
    write_operators(page, operators)
    return pymupdf.open(stream=document.tobytes())[0]


def _is_plain(page: Any) -> bool:
    blocks = page.get_text("dict")["blocks"]
    return is_plain(page, page.read_contents(), blocks=blocks) and not has_replacement_text(page)


@pytest.mark.parametrize(
    "operators",
    [
        say(WORDS),
        f"{LINE} {say(WORDS)}",
        f"q 1 0 0 1 0 0 cm {LINE} q {LINE} Q {say(WORDS)} Q",
        f"q /Artifact << /Type /Layout >> BDC 60 20 500 1 re W* n 0 0 9 9 re f EMC Q {say(WORDS)}",
        say("Write WE beside it: 50% of it"),
        say(WORDS).replace("BT", "BT 0 Tr"),
    ],
    ids=["text", "a clipped line", "groups in groups", "a marked drawing", "letters and signs", "filled letters"],
)
def test_text_with_clips_for_drawings_alone_is_plain(operators: str) -> None:
    assert _is_plain(write_page(operators))


@pytest.mark.parametrize(
    "operators",
    [
        f"q 60 470 500 40 re W n {say(WORDS)} Q",
        f"q 60 470 500 40 re W n q {say(WORDS)} Q Q",
        f"q 60 470 500 40 re W n 1 0 0 1 0 0 cm Q Q 9 9 9 9 re W n {say(WORDS)}",
        f"60 470 500 40 re W n {say(WORDS)}",
        f"% q \n60 470 500 40 re W n Q {say(WORDS)}",
        f"[ q ] 60 470 500 40 re W n Q {say(WORDS)}",
        f"q 60 470 500 40 re W n {say(WORDS).replace('BT', 'BT (Q) Tj')} Q",
        f"q 60 470 500 40 re W* 0 Tr n {say(WORDS)} Q",
        say(WORDS).replace("BT", "BT 7 Tr"),
        say(WORDS).replace("BT", "BT 10.7 Tr"),
        f"/Span <</ActualText (Other words)>>BDC {say(WORDS)} EMC",
        f"/Span <</Actual#54ext (Other words)>>BDC {say(WORDS)} EMC",
        f"q 60 470 500 40 re W n BI /W 1 /H 1 /BPC 8 /CS /G ID q EI {say(WORDS)} Q",
    ],
    ids=[
        "a clip",
        "a clip around a group",
        "a second clip",
        "a clip of the whole page",
        "a group in a comment",
        "a group in a list",
        "an end of a group in a string",
        "a clip later on",
        "clipping letters",
        "no mode",
        "other words",
        "other words, masked",
        "a picture within",
    ],
)
def test_what_may_hide_text_is_not_plain(operators: str) -> None:
    assert not _is_plain(write_page(operators))


def test_a_page_with_a_text_field_is_not_plain() -> None:
    page = write_page(say(WORDS))
    field: Any = pymupdf.Widget()
    field.field_type, field.field_name, field.rect = (
        pymupdf.PDF_WIDGET_TYPE_TEXT,
        "rent",
        pymupdf.Rect(72, 200, 200, 220),
    )
    page.add_widget(field)
    assert not _is_plain(page)


def test_a_form_xobject_of_the_page_may_print_text() -> None:
    document: Any = pymupdf.open()
    document.new_page(width=612, height=792).show_pdf_page(
        pymupdf.Rect(0, 0, 612, 792), write_page(say(WORDS)).parent, 0
    )
    assert has_form_xobjects(document[0])
    assert not has_form_xobjects(write_page(say(WORDS)))


def test_clips_stay_where_something_is_painted_by_its_name() -> None:
    icon = b"q 9 9 9 9 re W n q 0 0 1 1 re f Q /Icon Do Q"
    assert b"W n" not in without_clipped_drawings(f"{LINE} BT ET q {LINE} Q".encode())
    assert b"W n" in without_clipped_drawings(LINE.encode() + b" " + icon)


@pytest.mark.parametrize(("corner", "plain"), [((72, 100), True), ((585, 100), False), ((700, 400), True)])
def test_text_over_the_edge_of_the_page_is_not_plain(corner: tuple[int, int], plain: bool) -> None:
    page = write_page("")
    page.insert_text(corner, WORDS)
    text = page.get_textpage(clip=(-999, -999, 1999, 1999), flags=pymupdf.TEXT_PRESERVE_WHITESPACE)
    assert is_plain(page, page.read_contents(), blocks=page.get_text("dict", textpage=text)["blocks"]) is plain


@pytest.mark.parametrize("reported", [True, False])
def test_words_reported_by_the_structure_of_the_document_are_not_plain(reported: bool) -> None:
    document: Any = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 72), WORDS)
    (content,) = page.get_contents()
    marked = b"/P <</MCID 0>> BDC\n" + document.xref_stream(content) + b"\nEMC\n"
    document.update_stream(content, marked)
    part, root, parents = (document.get_new_xref() for _ in range(3))
    words = "/ActualText(other words)" if reported else ""
    document.update_object(part, f"<</Type/StructElem/S/P/P {root} 0 R/K 0/Pg {page.xref} 0 R{words}>>")
    document.update_object(parents, f"<</Nums[0 [{part} 0 R]]>>")
    document.update_object(root, f"<</Type/StructTreeRoot/K {part} 0 R/ParentTree {parents} 0 R>>")
    document.xref_set_key(document.pdf_catalog(), "StructTreeRoot", f"{root} 0 R")
    document.xref_set_key(page.xref, "StructParents", "0")
    assert _is_plain(pymupdf.open(stream=document.tobytes())[0]) is not reported
