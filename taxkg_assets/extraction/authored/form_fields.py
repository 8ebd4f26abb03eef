"""Form fields with what their template states about them: where each is, what it is, and how it is spoken.

The template knows no place that can be relied on, the form field on the page little more than its place; the path of
names joins the two.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from taxkg_assets.extraction.authored.form_template import TemplateField, read_form_template
from taxkg_assets.extraction.pdf.model import Source, Widget
from taxkg_assets.rules.models.spoken import load_spoken

_KINDS = {
    "Text": "text",
    "CheckBox": "checkbox",
    "RadioButton": "checkbox",
    "ComboBox": "choice",
    "ListBox": "choice",
    "Signature": "signature",
    "Button": "button",
}


@dataclass(frozen=True, slots=True)
class FormField:
    """One fillable field of a page; rectangles are points from the top left of the page as shown.

    Attributes:
        kind: `text`, `checkbox`, `choice` or `signature`.
        spoken: Spoken text; empty if neither template nor field has one.
        caption: Printed caption; empty if neither template nor field has one.
        subform: Path of the groups that contain the field.
        tab_ix: Position in the template's order; without a template, in the page's.
        is_from_template: Whether the template has a field of this name.
        widget_ix: Position among the fields of the page.
    """

    name: str
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    kind: str
    spoken: str
    caption: str
    subform: str
    tab_ix: int
    is_from_template: bool
    widget_ix: int


@dataclass(frozen=True, slots=True)
class FormFields:
    """All form fields of a document in tab order.

    Attributes:
        fields: The fields.
        is_trusted: Whether the template can be parsed and describes most of the fields.
        reason: Why it is not trusted, one sentence; else empty.
    """

    fields: tuple[FormField, ...] = ()
    is_trusted: bool = False
    reason: str = ""


def find_form_fields(source: Source) -> FormFields:
    """Match the form fields on a document's pages to its XFA template by the paths of their names.

    Args:
        source: Pages of the document.

    Returns:
        All fields that can be filled in (push buttons cannot), by page and in the template's order.
    """
    template = read_form_template(source.template)
    template_fields = {entry.name: entry for entry in template.fields}
    fields: list[FormField] = []
    for page in source.pages:
        for ix, widget in enumerate(page.widgets):
            form_field = _join(widget, template_fields.get(widget.name), page=page.page, widget_ix=ix)
            if form_field.kind != "button":
                fields.append(form_field)
    fields.sort(key=lambda field: (field.page, field.tab_ix, field.widget_ix))
    fault = template.reason or _find_fault(fields)
    return FormFields(tuple(fields), is_trusted=bool(fields) and not fault, reason=fault)


def _join(widget: Widget, entry: TemplateField | None, *, page: int, widget_ix: int) -> FormField:
    kind = _KINDS.get(widget.kind, "text")
    return FormField(
        name=widget.name,
        page=page,
        x0=widget.x0,
        y0=widget.y0,
        x1=widget.x1,
        y1=widget.y1,
        kind=kind,
        spoken=(entry.spoken if entry is not None else "") or widget.label,
        caption=entry.caption if entry is not None else "",
        subform=widget.name.rpartition(".")[0],
        tab_ix=entry.order if entry is not None else widget_ix,
        is_from_template=entry is not None,
        widget_ix=widget_ix,
    )


def _find_fault(fields: list[FormField]) -> str:
    """Return why a readable template is not used; empty where it is."""
    limits = load_spoken().trust
    template_fields = [field for field in fields if field.is_from_template]
    if len(template_fields) < limits.joined_frac * len(fields):
        return f"The template names {len(template_fields)} of {len(fields)} fields."
    spoken = [field.spoken for field in template_fields if field.spoken]
    if len(spoken) < limits.spoken_frac * len(template_fields):
        return f"The template describes {len(spoken)} of {len(template_fields)} fields."
    most_frequent = Counter(spoken).most_common(1)
    if most_frequent and len(spoken) > limits.alike_least and most_frequent[0][1] > limits.alike_frac * len(spoken):
        return "The template gives the same text for most fields."
    return ""
