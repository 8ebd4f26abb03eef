"""Form fields of an open PDF: the widgets of a page, what somebody filled in, and the form template.

The template is returned as bytes of XML; authored/form_template.py parses it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.model import Widget
from taxkg_assets.extraction.pdf.sanitize import strip_control_characters
from taxkg_assets.rules.models.spoken import load_spoken

# PyMuPDF has no complete type annotations. Its widget objects read some thirty properties of each field, which takes
# ten times as long as the text of the page: only the properties used here are read, from MuPDF itself.
_MUPDF: Any = pymupdf
_LIBRARY: Any = _MUPDF.mupdf
_DAMAGE: tuple[type[Exception], ...] = (RuntimeError, ValueError, _LIBRARY.FzErrorBase)
_PACKET = re.compile(r"(?:\(template\)|<74656[dD]706[cC]617465>)\s*(\d+)\s+\d+\s+R")
_UNFILLED = ("", "Off")
"""Values of a field that no one has filled in; an empty check box is off."""
_KINDS = {
    _LIBRARY.PDF_WIDGET_TYPE_BUTTON: "Button",
    _LIBRARY.PDF_WIDGET_TYPE_CHECKBOX: "CheckBox",
    _LIBRARY.PDF_WIDGET_TYPE_COMBOBOX: "ComboBox",
    _LIBRARY.PDF_WIDGET_TYPE_LISTBOX: "ListBox",
    _LIBRARY.PDF_WIDGET_TYPE_RADIOBUTTON: "RadioButton",
    _LIBRARY.PDF_WIDGET_TYPE_SIGNATURE: "Signature",
    _LIBRARY.PDF_WIDGET_TYPE_TEXT: "Text",
}


def read_widgets(page: Any) -> tuple[Widget, ...]:
    """Read the form fields on a page in annotation order, with rectangles on the displayed page.

    A damaged field, such as one that is its own parent, is skipped; the page is read without it.

    Args:
        page: Open page of PyMuPDF.

    Returns:
        Form fields, in the order of the annotations.
    """
    widgets: list[Widget] = []
    max_widgets = load_spoken().limits.widgets_per_page
    low_page = _MUPDF._as_pdf_page(page)
    spoken_key = _LIBRARY.pdf_new_name("TU")
    # Low-level functions make no Python object for each of the many fields.
    for widget in _walk(_LIBRARY.ll_pdf_first_widget(low_page.m_internal), _LIBRARY.ll_pdf_next_widget):
        if len(widgets) == max_widgets:
            break
        with suppress(*_DAMAGE):
            widgets.append(_read_widget(widget, spoken_key.m_internal))
    return tuple(widgets)


def _read_widget(widget: Any, spoken_key: Any) -> Widget:
    entry = _LIBRARY.ll_pdf_annot_obj(widget)
    bounds = _LIBRARY.ll_pdf_bound_annot(widget)
    # An option of a group may inherit the spoken text of the group.
    spoken = _LIBRARY.ll_pdf_dict_get_inheritable(entry, spoken_key)
    label = (_LIBRARY.ll_pdf_to_text_string(spoken) or "") if spoken is not None else ""
    return Widget(
        strip_control_characters(_LIBRARY.ll_pdf_load_field_name(entry) or ""),
        strip_control_characters(label),
        _KINDS.get(_LIBRARY.ll_pdf_widget_type(widget), ""),
        strip_control_characters(_LIBRARY.ll_pdf_field_value(entry) or ""),
        bounds.x0,
        bounds.y0,
        bounds.x1,
        bounds.y1,
    )


def hide_additions(page: Any) -> str | None:
    """Hide what somebody added to a page, so that no one reads it as printed: values of fields, comments and stamps.

    Args:
        page: Open page of PyMuPDF, on which these are not drawn from now on.

    Returns:
        Text of the page with comments and stamps, but without values of fields; "" if it has values alone, and None if
        it has no text to hide, as with highlights.
    """
    low_page = _MUPDF._as_pdf_page(page).m_internal
    widgets = list(_walk(_LIBRARY.ll_pdf_first_widget(low_page), _LIBRARY.ll_pdf_next_widget))
    comments = list(_walk(_LIBRARY.ll_pdf_first_annot(low_page), _LIBRARY.ll_pdf_next_annot))
    filled = widgets if any(map(_is_filled, widgets)) else []
    _hide(filled)
    if comments:
        text = str(page.get_text())
        _hide(comments)
        if text != page.get_text():
            return text
    return "" if filled else None


def _hide(annotations: Sequence[Any]) -> None:
    flags_key = _LIBRARY.pdf_new_name("F")
    for annotation in annotations:
        with suppress(*_DAMAGE):
            entry = _LIBRARY.ll_pdf_annot_obj(annotation)
            _LIBRARY.ll_pdf_dict_put_int(entry, flags_key.m_internal, _LIBRARY.PDF_ANNOT_IS_HIDDEN)


def _walk(annotation: Any, find_next: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield an annotation and those after it."""
    while annotation is not None:
        yield annotation
        annotation = find_next(annotation)


def _is_filled(widget: Any) -> bool:
    try:
        if _LIBRARY.ll_pdf_widget_type(widget) == _LIBRARY.PDF_WIDGET_TYPE_SIGNATURE:
            return bool(_LIBRARY.ll_pdf_widget_is_signed(widget))
        return (_LIBRARY.ll_pdf_field_value(_LIBRARY.ll_pdf_annot_obj(widget)) or "") not in _UNFILLED
    except _DAMAGE:
        return False


def read_template(document: Any) -> bytes:
    """Read the XFA template of a form, from its own packet or from a single stream.

    Args:
        document: Open PDF.

    Returns:
        Bytes of the template; empty where there is none.
    """
    try:
        return _read_template(document)
    except _DAMAGE:
        return b""


def _read_template(document: Any) -> bytes:
    kind, value = document.xref_get_key(document.pdf_catalog(), "AcroForm/XFA")
    if kind == "xref":
        number = int(value.split()[0])
        if document.xref_is_stream(number):
            return _read_stream(document, number)
        value = document.xref_object(number, compressed=True)
    elif kind != "array":
        return b""
    packet = _PACKET.search(value)
    return _read_stream(document, int(packet[1])) if packet is not None else b""


def _read_stream(document: Any, number: int) -> bytes:
    """Unpack a stream, up to one byte more than a template may have."""
    max_bytes = int(load_spoken().limits.template_bytes) + 1
    raw_bytes = document.xref_stream_raw(number) or b""
    kind, name = document.xref_get_key(number, "Filter")
    if (kind, name) == ("null", "null"):
        return bytes(raw_bytes[:max_bytes])
    is_deflated = name.strip("[] ") == "/FlateDecode" and document.xref_get_key(number, "DecodeParms")[0] == "null"
    if not is_deflated or document.needs_pass or document.metadata.get("encryption"):
        # Several filters, or encryption: the length is unknown before unpacking, so that only short ones are unpacked.
        is_short = len(raw_bytes) * load_spoken().limits.deflate_ratio <= max_bytes
        return bytes((document.xref_stream(number) or b"")[:max_bytes]) if is_short else b""
    try:
        return zlib.decompressobj().decompress(raw_bytes, max_bytes)
    except zlib.error:
        return b""
