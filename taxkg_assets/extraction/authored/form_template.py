"""The form template (XFA): every fillable field as its maker described it, by the path of its names.

A template is a file inside a file and may be hostile: document types and entities are refused, bytes, elements and
depth are bounded, and nothing in it is ever run or followed. What cannot be trusted is empty and says why. Elements
that only say what is drawn are taken out unread, so damage inside one of them does not count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from taxkg_assets.rules.models.spoken import load_spoken

# Elements that take part in the path of a field's names; all others only group what is drawn.
_NAMED = frozenset({"subform", "exclGroup", "subformSet", "area"})
_CONTROLS = {
    "textEdit": "text",
    "numericEdit": "text",
    "passwordEdit": "text",
    "dateTimeEdit": "text",
    "barcode": "text",
    "imageEdit": "text",
    "checkButton": "checkbox",
    "choiceList": "choice",
    "signature": "signature",
    "button": "button",
}
# Nine of ten elements print texts of their own, or only say how a field is drawn. They are taken out before the rest is
# followed: first whole elements that are not in one of their own kind, then those without content.
_ATTRIBUTES = rb"""[^<>"'/]*+(?:"[^"<]*+"[^<>"'/]*+)*+"""
_DRAWN_WHOLE = re.compile(
    rb"<(bind|border|draw|event|fill|font|items|keep|traversal)(?=[\s>])"
    + _ATTRIBUTES
    + rb">(?:[^<]++|<(?!/?\1[\s>]))*+</\1\s*+>"
)
_DRAWN = re.compile(
    rb"<(?:bind|border|color|comb|corner|edge|fill|font|integer|keep|linear|margin|para|solid|text|traverse)(?=[\s/])"
    + _ATTRIBUTES
    + rb"/>"
)
# Begins a comment, a declaration or quoted text, in which what looks like an element may be none.
_MAY_QUOTE = b"<!"
# A note of the maker's program that quotes an element.
_QUOTING_NOTE = re.compile(rb"<\?(?:[^?<]|\?(?!>))*+<")


@dataclass(frozen=True, slots=True)
class TemplateField:
    """One field of a template.

    Attributes:
        name: Path of the names of its groups with their counts, as the form field is called.
        kind: `text`, `checkbox`, `choice`, `signature` or `button`.
        order: Position among all fields.
    """

    name: str
    kind: str
    spoken: str
    caption: str
    order: int


@dataclass(frozen=True, slots=True)
class FormTemplate:
    """The fields of a template in their order; an untrusted one has none, and a reason."""

    fields: tuple[TemplateField, ...] = ()
    is_trusted: bool = False
    reason: str = ""


class _RefusedError(Exception):
    """A template that is not read to its end."""


@dataclass(slots=True)
class _OpenElement:
    """An element that is not closed yet: its path, how often each name was used in it, and what a field says."""

    path: str
    counts: dict[str, int] = field(default_factory=dict)
    is_field: bool = False
    kind: str = "text"
    spoken: list[str] = field(default_factory=list)
    caption: list[str] = field(default_factory=list)


def read_form_template(data: bytes) -> FormTemplate:
    """Parse the fields of an XFA template.

    Args:
        data: XML of the template, alone or inside a whole XFA form; empty if the file has none.

    Returns:
        The template's fields in order. If it is missing, damaged, or beyond the limits of `rules/spoken.yaml`, there
        are no fields but a reason; no error is raised.
    """
    limits = load_spoken().limits
    if not data:
        return FormTemplate(reason="The form has no template.")
    if len(data) > limits.template_bytes:
        return FormTemplate(reason=f"The template has more than {limits.template_bytes} bytes.")
    reader = _Reader(most_nodes=int(limits.template_nodes), most_depth=int(limits.template_depth))
    try:
        reader.read(data)
    except _RefusedError as error:
        return FormTemplate(reason=str(error))
    except (expat.ExpatError, ValueError, LookupError) as error:
        return FormTemplate(reason=f"The template is damaged ({error}).")
    if not reader.fields:
        return FormTemplate(reason="The template has no fields.")
    return FormTemplate(tuple(reader.fields), is_trusted=True)


class _Reader:
    """Follows the elements of a template one by one; nothing is called within itself, however deep it goes."""

    def __init__(self, *, most_nodes: int, most_depth: int) -> None:
        self.fields: list[TemplateField] = []
        self._most_nodes, self._most_depth = most_nodes, most_depth
        self._depth = 0
        self._open: list[_OpenElement] = []
        self._text_parts: list[str] | None = None
        self._parser = expat.ParserCreate()
        # The depth at which the assist, the caption or the control of a field began; 0 outside.
        self._assist = self._caption = self._ui = 0

    def read(self, data: bytes) -> None:
        self._check_nodes(data.count(b"<") - data.count(b"</") - data.count(b"<?"))
        data = _without_drawing(data)
        parser = self._parser
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = _refuse_doctype
        parser.EntityDeclHandler = _refuse_doctype
        parser.Parse(data, True)

    def _check_nodes(self, count: int) -> None:
        if count > self._most_nodes:
            raise _RefusedError(f"The template has more than {self._most_nodes} elements.")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > self._most_depth:
            raise _RefusedError(f"The template is nested more than {self._most_depth} levels deep.")
        if ":" in tag:
            tag = tag.rpartition(":")[2]
        if tag in _NAMED or tag == "field":
            self._enter(tag, attributes.get("name", ""))
        elif self._open and self._open[-1].is_field:
            self._start_in_field(tag)

    def _enter(self, tag: str, name: str) -> None:
        parent = self._open[-1] if self._open else None
        name = name or f"#{tag}"
        path = f"{name}[0]"
        if parent is not None:
            count = parent.counts.get(name, 0)
            path = f"{parent.path}.{name}[{count}]"
            parent.counts[name] = count + 1
        self._open.append(_OpenElement(path, is_field=tag == "field"))

    def _start_in_field(self, tag: str) -> None:
        element = self._open[-1]
        if tag == "assist":
            self._assist = self._depth
        elif tag == "caption":
            self._caption = self._depth
        elif tag == "ui":
            self._ui = self._depth
        elif self._ui and tag in _CONTROLS and self._depth == self._ui + 1:
            element.kind = _CONTROLS[tag]
        elif self._assist and tag in ("speak", "toolTip"):
            # The words for screen readers are preferred to the tooltip.
            self._listen(element.spoken if tag == "speak" or not element.spoken else None)
            if tag == "speak":
                element.spoken.clear()
        if self._caption and self._text_parts is None:
            self._listen(element.caption)

    def _end(self, tag: str) -> None:
        if ":" in tag:
            tag = tag.rpartition(":")[2]
        if tag in _NAMED or tag == "field":
            self._leave(is_field=tag == "field")
        elif tag in ("speak", "toolTip"):
            self._listen(None)
        elif self._depth == self._caption:
            self._caption = 0
            self._listen(None)
        elif self._depth == self._assist:
            self._assist = 0
        elif self._depth == self._ui:
            self._ui = 0
        elif self._text_parts is not None and tag in ("p", "span", "text"):
            self._text_parts.append(" ")
        self._depth -= 1

    def _leave(self, *, is_field: bool) -> None:
        element = self._open.pop()
        if is_field:
            spoken, caption = (" ".join("".join(parts).split()) for parts in (element.spoken, element.caption))
            self.fields.append(TemplateField(element.path, element.kind, spoken, caption, len(self.fields)))
        self._listen(None)
        self._assist, self._caption, self._ui = 0, 0, 0

    def _listen(self, text_parts: list[str] | None) -> None:
        """Take text from here on; most of a template's text, as of its pictures, is not even handed over."""
        if text_parts is not self._text_parts:
            self._text_parts = text_parts
            self._parser.CharacterDataHandler = text_parts.append if text_parts is not None else None


def _without_drawing(data: bytes) -> bytes:
    """Take out the elements that only draw."""
    if _MAY_QUOTE in data or _QUOTING_NOTE.search(data):
        return data
    return _DRAWN.sub(b"", _DRAWN_WHOLE.sub(b"", data))


def _refuse_doctype(*_: Any) -> None:
    raise _RefusedError("The template declares a document type or entities, which are not read for safety.")
