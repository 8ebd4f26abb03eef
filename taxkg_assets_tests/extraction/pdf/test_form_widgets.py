"""Form fields as they stand in a file: name, kind, value, place, and what they state about themselves."""

from __future__ import annotations

import pymupdf

from taxkg_assets.extraction.pdf.form_widgets import read_template, read_widgets
from taxkg_assets.rules.loader import load_family
from taxkg_assets_tests.extraction.navigation_pdfs import new_object
from taxkg_assets_tests.extraction.templated import attach_template


def _page(kind: int = pymupdf.PDF_WIDGET_TYPE_TEXT) -> pymupdf.Page:
    page = pymupdf.open().new_page()
    widget = pymupdf.Widget()
    widget.field_name, widget.field_type, widget.field_label = "box1", kind, "1. Boats."
    widget.rect = pymupdf.Rect(10, 10, 60, 24)
    if kind == pymupdf.PDF_WIDGET_TYPE_TEXT:
        widget.field_value = "25"
    page.add_widget(widget)
    return page


def test_form_fields_come_with_name_kind_value_and_spoken_words() -> None:
    found = read_widgets(_page())
    assert [(field.name, field.kind, field.value, field.x0, field.label) for field in found] == [
        ("box1", "Text", "25", 10.0, "1. Boats.")
    ]


def test_fields_are_those_that_pymupdf_gives() -> None:
    page = _page(pymupdf.PDF_WIDGET_TYPE_CHECKBOX)
    ours, theirs = read_widgets(page), list(page.widgets())
    assert [(one.name, one.kind) for one in ours] == [(one.field_name, one.field_type_string) for one in theirs]
    assert [round(one.y1, 3) for one in ours] == [round(one.rect.y1, 3) for one in theirs]


def test_a_template_is_unpacked_no_further_than_it_may_be_long() -> None:
    page = _page()
    most = int(load_family("spoken")["limits"]["template_bytes"])
    attach_template(page.parent, b"<a>" + b" " * (most + 5_000_000))
    # Packed a thousand times smaller.
    document = pymupdf.open(stream=page.parent.tobytes(deflate=True))
    assert len(read_template(document)) == most + 1


def test_a_form_without_a_template_has_none() -> None:
    assert read_template(_page().parent) == b""


def test_a_field_that_is_its_own_parent_is_left_out_and_the_others_stay() -> None:
    page = _page()
    document, valid = page.parent, next(iter(page.widgets())).xref
    looped = new_object(document, "<<>>")
    place = "/Type/Annot/Subtype/Widget/FT/Tx/T(a)/Rect[50 50 90 70]"
    document.update_object(looped, f"<<{place}/Parent {looped} 0 R>>")
    document.xref_set_key(page.xref, "Annots", f"[{looped} 0 R {valid} 0 R]")
    written = pymupdf.open(stream=document.tobytes(), filetype="pdf")
    assert [field.name for field in read_widgets(written[0])] == ["box1"]
