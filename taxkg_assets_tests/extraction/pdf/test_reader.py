"""What is refused at the door, what is let in with a warning, and what a page holds."""

from __future__ import annotations

from typing import Any

import pymupdf
import pytest

from taxkg_assets.extraction.errors import StageError
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.structure.identity import read_identity
from taxkg_assets_tests.extraction.typeset import Booklet


def _booklet() -> Any:
    return Booklet().lines("First words on the page.").turn().lines("More words.")


def _image_page(document: Any) -> None:
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 40, 40))
    document.new_page().insert_image((0, 0, 400, 400), pixmap=pixmap)


def _encrypted() -> bytes:
    options = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "user_pw": "a", "owner_pw": "b"}
    return bytes(_booklet().document.tobytes(**options))


def _images_only() -> bytes:
    document = pymupdf.open()
    _image_page(document)
    return bytes(document.tobytes())


def _only_blanks() -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), " ")
    return bytes(document.tobytes())


def _dynamic_form() -> bytes:
    booklet = Booklet().lines("Please wait...")
    catalog = booklet.document.pdf_catalog()
    booklet.document.xref_set_key(catalog, "NeedsRendering", "true")
    booklet.document.xref_set_key(catalog, "AcroForm", "<</XFA[(config) 1 0 R]>>")
    return bytes(booklet.bytes())


def _without_pages() -> bytes:
    return b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"


def _lost_page() -> bytes:
    """Cut the stream of one page out and let the cross-reference table dangle."""
    booklet = _booklet()
    number = booklet.document[1].get_contents()[0]
    data = booklet.bytes()
    start = data.index(f"\n{number} 0 obj".encode())
    return data[:start] + data[data.index(b"endobj", start) + 6 :]


def _broken_array() -> bytes:
    """MuPDF raises an error of its own there, which is no RuntimeError."""
    return bytes(_booklet().bytes()).replace(b"/MediaBox[", b"/MediaBox[R ")


def _object_that_is_no_page() -> bytes:
    """The page tree names an object that is no page, which MuPDF finds only as it loads the page."""
    booklet = _booklet()
    number = booklet.document.page_xref(1)
    booklet.document.update_object(number, "<</Kind/Nothing>>")
    data = bytes(booklet.bytes())
    return data[: data.rindex(b"startxref")] + b"startxref\n7\n%%EOF"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"plain words", "no PDF header"),
        (b"%PDF-1.7\nnothing else", "damaged"),
        (_without_pages(), "pages"),
        (_encrypted(), "encrypted"),
        (_images_only(), "only images"),
        (_only_blanks(), "blank"),
        (_dynamic_form(), "dynamic XFA form"),
        (_lost_page(), "1 of 2 pages are lost"),
        (_broken_array(), "Page 1 is missing or damaged (cannot parse"),
        (_object_that_is_no_page(), "1 of 2 pages are lost"),
    ],
)
def test_unreadable_bytes_are_refused_with_a_reason_and_a_remedy(data: bytes, reason: str) -> None:
    with pytest.raises(StageError) as refused:
        read_source(data, document_id="bad")
    assert refused.value.stage == "open"
    assert reason in refused.value.reason
    assert refused.value.remedy.endswith(".")


def test_broken_cross_reference_is_repaired_with_a_warning() -> None:
    data = _booklet().bytes()
    cut = data[: data.rindex(b"startxref")] + b"startxref\n7\n%%EOF"
    source = read_source(cut, document_id="repaired")
    assert len(source.pages) == 2
    assert "rebuilt" in source.warnings[0]


def test_a_page_that_cannot_be_read_to_its_end_is_named() -> None:
    booklet = _booklet().lines("Words that come after the damage.")
    document = booklet.document
    number = document[1].get_contents()[0]
    whole = document.xref_stream(number)
    document.update_stream(number, whole[: len(whole) // 2] + b" ) ] >> (", compress=False)
    source = booklet.source()
    assert source.warnings == ("Damaged page(s) 2: some of their text may be missing.",)
    assert source.pages[0].spans[0].text == "First words on the page."


@pytest.mark.parametrize("surplus", [b"\nQ Q", b"\n/Nope gs", b"\nfoo"])
def test_content_that_can_be_read_to_its_end_is_not_damaged(surplus: bytes) -> None:
    booklet = _booklet()
    document = booklet.document
    number = document[0].get_contents()[0]
    document.update_stream(number, document.xref_stream(number) + surplus)
    source = booklet.source()
    assert source.pages[0].spans[0].text == "First words on the page."
    assert source.warnings == ()


def test_blanks_of_an_ocr_layer_stand_between_its_words() -> None:
    document = pymupdf.open()
    page = document.new_page()
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 40, 40))
    page.insert_image(page.rect, pixmap=pixmap, keep_proportion=False)
    x = 72.0
    for ix, word in enumerate(("Bees", " ", "pay", " ", "no", " ", "toll")):  # each word and each blank by itself
        page.insert_text((x, 100), word, render_mode=3, fontname=("helv", "tiro")[ix % 2])
        x += pymupdf.get_text_length(word, ("helv", "tiro")[ix % 2], 11)
    source = read_source(document.tobytes(), document_id="scan")
    assert "".join(span.text for span in source.pages[0].spans) == "Bees pay no toll"


def test_what_somebody_filled_in_or_commented_is_not_read_as_printed() -> None:
    booklet = _booklet()
    page = booklet.document[0]
    for ix, value in enumerate(("Ada Hive", "")):
        widget = pymupdf.Widget()
        widget.field_name, widget.field_type = f"box{ix}", pymupdf.PDF_WIDGET_TYPE_TEXT
        widget.rect, widget.field_value = pymupdf.Rect(72, 300 + 30 * ix, 200, 320 + 30 * ix), value
        page.add_widget(widget)
    page.add_freetext_annot(pymupdf.Rect(72, 400, 300, 420), "A reader's remark.")
    source = booklet.source()
    assert [span.text for span in source.pages[0].spans] == ["First words on the page."]
    assert [widget.name for widget in source.pages[0].widgets] == ["box0", "box1"]
    assert source.warnings == ("Left out: values of fields, or comments, on page(s) 1.",)


def test_a_highlight_hides_nothing() -> None:
    booklet = _booklet()
    booklet.document[0].add_highlight_annot(pymupdf.Rect(72, 60, 300, 120))
    source = booklet.source()
    assert source.warnings == ()
    assert source.pages[0].spans[0].text == "First words on the page."


def test_a_draft_is_known_by_a_comment_that_says_so() -> None:
    booklet = _booklet()
    booklet.document[0].add_freetext_annot(pymupdf.Rect(72, 400, 400, 420), "DRAFT AS OF June 1, 2031")
    source = booklet.source()
    assert read_identity(source).is_draft
    assert "DRAFT" not in "".join(span.text for span in source.pages[0].spans)


def test_a_file_whose_text_is_all_in_comments_says_what_to_do() -> None:
    document = pymupdf.open()
    document.new_page().add_freetext_annot(pymupdf.Rect(72, 400, 400, 420), "Bees pay no toll.")
    with pytest.raises(StageError, match="Print it to a PDF"):
        read_source(document.tobytes(), document_id="comments")


def test_letters_that_their_font_does_not_state_are_not_read() -> None:
    booklet = _booklet()
    document = booklet.document
    page = document.new_page()
    page.insert_font(fontname="bees", fontbuffer=pymupdf.Font("cobi").buffer)
    page.insert_text((72, 100), "Bees pay no toll on this bridge.", fontname="bees")
    assert "Bees pay" in booklet.source().pages[2].spans[0].text
    (font,) = (entry[0] for entry in page.get_fonts() if entry[4] == "bees")
    document.xref_set_key(font, "ToUnicode", "null")
    source = booklet.source()
    assert source.pages[2].spans == ()
    assert source.unreadable_pages == (3,)
    assert source.warnings[0].startswith("Text that cannot be read on page(s) 3: images, or fonts")
    page.insert_text((72, 200), "Every other word on this page is printed in letters that can be read.")
    assert [span.text[:11] for span in booklet.source().pages[2].spans] == ["Every other"]


def test_one_code_that_is_repeated_may_be_a_leader_and_stays() -> None:
    booklet = _booklet()
    page = booklet.document.new_page()
    page.insert_font(fontname="bees", fontbuffer=pymupdf.Font("cobi").buffer)
    page.insert_text((72, 100), "BBBBBB", fontname="bees")
    (font,) = (entry[0] for entry in page.get_fonts() if entry[4] == "bees")
    booklet.document.xref_set_key(font, "ToUnicode", "null")
    source = booklet.source()
    assert len(source.pages[2].spans) == 1
    assert source.warnings == ()


def test_a_portfolio_is_read_without_its_embedded_files_and_says_so() -> None:
    booklet = _booklet()
    booklet.document.embfile_add("tolls.txt", b"Bees pay no toll.")
    booklet.document.xref_set_key(booklet.document.pdf_catalog(), "Collection", "<</View/D>>")
    (warning,) = booklet.source().warnings
    assert warning.startswith("Left out: the embedded files of a portfolio.")


def test_image_only_page_among_text_is_listed() -> None:
    booklet = _booklet()
    _image_page(booklet.document)
    source = booklet.source()
    assert source.unreadable_pages == (3,)
    assert "3" in source.warnings[0]


def test_invisible_text_is_left_out_and_reported() -> None:
    booklet = _booklet()
    page = booklet.document[0]
    page.insert_text((72, 300), "White words that nobody can read on paper.", color=(1, 1, 1))
    page.insert_text((72, 320), "Words in render mode three.", render_mode=3)
    page.insert_text((72, 340), "Tiny", fontsize=0.5)
    source = booklet.source()
    assert [span.text for span in source.pages[0].spans] == ["First words on the page."]
    assert source.warnings == ("Invisible text was left out on page(s) 1.",)


def test_text_file_has_pages_and_rectangles() -> None:
    source = read_source(b"Section one.\n   a. Indented.\n", document_id="code", is_text=True)
    span = source.pages[0].spans[0]
    assert source.is_text_file
    assert span.text == "Section one."
    assert span.x1 > span.x0
    assert "\xa0" not in "".join(span.text for span in source.pages[0].spans)


def test_rotated_page_is_read_as_it_is_shown() -> None:
    booklet = Booklet()
    booklet.page.insert_text((100, 700), "Reads upright on the turned page.", rotate=90)
    booklet.page.draw_line((80, 100), (80, 700))
    booklet.page.set_rotation(90)
    page = booklet.source().pages[0]
    assert (page.width_pt, page.height_pt) == (792, 612)
    assert page.spans[0].x1 - page.spans[0].x0 > 5 * (page.spans[0].y1 - page.spans[0].y0)
    assert page.rules[0].is_horizontal
