"""Forms with a template for tests: fields on a page, and the XML that says what each of them is."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

import pymupdf

from taxkg_assets_tests.extraction.typeset import Booklet

Box = tuple[float, float, float, float]
TOP = "top[0].Page1[0]"
HEAD = b'<template xmlns="http://www.xfa.org/schema/xfa-template/3.6"><subform name="top"><subform name="Page1">'
FOOT = b"</subform></subform></template>"


def field_xml(name: str, spoken: str = "", *, caption: str = "", control: str = "textEdit") -> bytes:
    """One field of a template."""
    words = f"<caption><value><text>{escape(caption)}</text></value></caption>" if caption else ""
    return (
        f'<field name="{name}"><ui><{control}/></ui>{words}<assist><speak>{escape(spoken)}</speak></assist></field>'
    ).encode()


@dataclass
class TemplatedForm:
    """A form under construction: what is printed, and fields with what each states about itself."""

    page: Booklet = field(default_factory=Booklet)
    xml: list[bytes] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)

    def put(self, x: float, y: float, text: str, face: str = "") -> None:
        """Print words that stand on a height."""
        self.page.to(x, y - 11).set((text, face), size=9)

    def add(self, box: Box, spoken: str, *, name: str = "", kind: str = "text") -> None:
        """Add a field at a place, on the page and in the template."""
        name = name or f"f{len(self.xml)}"
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        widget = pymupdf.Widget()
        is_text = kind == "text"
        widget.field_type = pymupdf.PDF_WIDGET_TYPE_TEXT if is_text else pymupdf.PDF_WIDGET_TYPE_CHECKBOX
        widget.field_name, widget.rect = f"{TOP}.{name}[{count}]", pymupdf.Rect(box)
        self.page.page.add_widget(widget)
        self.xml.append(field_xml(name, spoken, control="textEdit" if is_text else "checkButton"))

    @property
    def template(self) -> bytes:
        return HEAD + b"".join(self.xml) + FOOT

    def save(self, template: bytes | None = None, *, layout: str = "inline") -> bytes:
        """Write the form as PDF bytes, its template inline, in an array of its own, or as one stream."""
        document = self.page.document
        attach_template(document, self.template if template is None else template, layout=layout)
        data: bytes = document.tobytes()
        return data


def attach_template(document: pymupdf.Document, template: bytes, *, layout: str = "inline") -> None:
    """Put a template into an open form."""
    stream = document.get_new_xref()
    document.update_object(stream, "<<>>")
    document.update_stream(stream, template)
    value = f"[(preamble) {stream} 0 R (template) {stream} 0 R]"
    if layout == "stream":
        value = f"{stream} 0 R"
    elif layout == "indirect":
        array = document.get_new_xref()
        document.update_object(array, value)
        value = f"{array} 0 R"
    kind, form = document.xref_get_key(document.pdf_catalog(), "AcroForm")
    if kind == "xref":
        document.xref_set_key(int(form.split()[0]), "XFA", value)
    else:
        document.xref_set_key(document.pdf_catalog(), "AcroForm/XFA", value)
