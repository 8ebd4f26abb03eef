"""Form fields of an open PDF: the widgets of a page, and the form template as it is stored.

The template's XML is handed on as bytes; it is read in authored/form_template.py.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from typing import Any

from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.model import Widget
from taxkg_assets.extraction.pdf.sanitize import strip_control_characters
from taxkg_assets.rules.models.spoken import load_spoken

# PyMuPDF carries no complete type annotations. Its widget objects read some thirty properties of each field, ten times
# as slow as reading the text of the page: only what is needed is read from MuPDF itself.
_MUPDF: Any = pymupdf
_LIBRARY: Any = _MUPDF.mupdf
_DAMAGE: tuple[type[Exception], ...] = (RuntimeError, ValueError, _LIBRARY.FzErrorBase)
_PACKET = re.compile(r"(?:\(template\)|<74656[dD]706[cC]617465>)\s*(\d+)\s+\d+\s+R")
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
    found: list[Widget] = []
    most = load_spoken().limits.widgets_per_page
    spoken_key = _LIBRARY.pdf_new_name("TU")
    widget = _LIBRARY.pdf_first_widget(_MUPDF._as_pdf_page(page))
    while widget.m_internal and len(found) < most:
        with suppress(*_DAMAGE):
            found.append(_read_widget(widget, spoken_key))
        widget = _LIBRARY.pdf_next_widget(widget)
    return tuple(found)


def _read_widget(widget: Any, spoken_key: Any) -> Widget:
    entry = _LIBRARY.pdf_annot_obj(widget)
    shown = _LIBRARY.pdf_bound_annot(widget)
    return Widget(
        name=strip_control_characters(_LIBRARY.pdf_load_field_name(entry) or ""),
        label=strip_control_characters(_read_spoken(entry, spoken_key)),
        kind=_KINDS.get(_LIBRARY.pdf_widget_type(widget), ""),
        value=strip_control_characters(_LIBRARY.pdf_field_value(entry) or ""),
        x0=float(shown.x0),
        y0=float(shown.y0),
        x1=float(shown.x1),
        y1=float(shown.y1),
    )


def _read_spoken(entry: Any, key: Any) -> str:
    """Return the spoken name of a field; an option of a group may inherit that of the group."""
    own = _LIBRARY.pdf_dict_get_inheritable(entry, key)
    return _LIBRARY.pdf_to_text_string(own) or "" if own.m_internal else ""


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
    """Unpack a stream, one byte further than a template may be long at most."""
    most = int(load_spoken().limits.template_bytes) + 1
    raw = document.xref_stream_raw(number) or b""
    kind, name = document.xref_get_key(number, "Filter")
    if (kind, name) == ("null", "null"):
        return bytes(raw[:most])
    is_deflated = name.strip("[] ") == "/FlateDecode" and document.xref_get_key(number, "DecodeParms")[0] == "null"
    if not is_deflated or document.needs_pass or document.metadata.get("encryption"):
        # Filters one upon another, or enciphered: only short ones are unpacked, as they may be of any length then.
        is_short = len(raw) * load_spoken().limits.deflate_ratio <= most
        return bytes((document.xref_stream(number) or b"")[:most]) if is_short else b""
    try:
        return zlib.decompressobj().decompress(raw, most)
    except zlib.error:
        return b""
