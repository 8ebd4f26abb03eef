"""Fields of a form with part, line and copy, which a spoken text may leave to the spoken texts of earlier fields.

A form's spoken texts state a part once, and the number of a line once for all rows of its table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taxkg_assets.extraction.authored.form_fields import FormField
from taxkg_assets.extraction.forms.spoken import Spoken, find_entries, read_spoken

_COPY = re.compile(r"(?:^|\.)Copy_?(?P<copy>[A-Z]|\d)(?:_|\[|$|(?=[A-Z]))")
_ROMAN = re.compile(r"[ivx]{1,5}")


@dataclass(frozen=True, slots=True)
class StatedField:
    """A form field with the information in its spoken text and in those of the fields before.

    Attributes:
        field: Field as the PDF stores it.
        spoken: Parsed spoken text of the field.
        key: Key, such as `box_1b`, `line_8b` or `step_4b`; "" for none.
        part: Number of the part that was stated last.
        section: Heading that was stated last.
        copy: Copy of the form: `B`; "" for none.
    """

    field: FormField
    spoken: Spoken
    key: str
    part: str
    section: str
    copy: str

    @property
    def column(self) -> str:
        """Return the column letter in the spoken text; empty if it names none."""
        return self.spoken.column

    @property
    def row(self) -> str:
        """Return the row name in the spoken text; empty if it names none."""
        return self.spoken.row


@dataclass(slots=True)
class _Context:
    """What the fields of a page or copy have stated so far.

    Attributes:
        copy: Copy of the form.
        part: Number of the part.
        section: Heading inside the part.
        step: Number of the step.
        number: Number of the line.
        table: Group of fields (table of the PDF) for which `number` was stated.
        is_of_table: Whether the section was stated with the first row of a table, and ends with that table.
    """

    copy: str = ""
    part: str = ""
    section: str = ""
    step: str = ""
    number: str = ""
    table: str = ""
    is_of_table: bool = False


def find_stated_fields(fields: Sequence[FormField], *, boxed_pages: Mapping[int, bool]) -> list[StatedField]:
    """Parse the spoken texts of all fields, using the fields before them for context.

    Args:
        fields: Fields in the order of the template.
        boxed_pages: Whether each page is a form face with boxes, by page number.

    Returns:
        Fields with key, label, part and column.
    """
    stated_fields: list[StatedField] = []
    texts_by_page: dict[int, list[str]] = defaultdict(list)
    for pdf_field in fields:
        texts_by_page[pdf_field.page].append(pdf_field.spoken)
    entries = {page: find_entries(texts) for page, texts in texts_by_page.items()}
    context = _Context()
    page = 0
    for pdf_field in fields:
        spoken = read_spoken(pdf_field.spoken, is_entry=pdf_field.spoken in entries[pdf_field.page])
        copy = _copy_of(pdf_field, spoken)
        is_boxed = boxed_pages.get(pdf_field.page, False)
        if (copy and copy != context.copy) or (pdf_field.page != page and is_boxed):
            context = _Context(copy=copy)
        page = pdf_field.page
        key = _add_to_context(context, pdf_field, spoken, is_boxed=is_boxed)
        stated_fields.append(StatedField(pdf_field, spoken, key, context.part, context.section, copy or context.copy))
    return stated_fields


def _copy_of(pdf_field: FormField, spoken: Spoken) -> str:
    match = _COPY.search(pdf_field.subform)
    return spoken.copy or (match["copy"] if match is not None else "")


def _add_to_context(context: _Context, pdf_field: FormField, spoken: Spoken, *, is_boxed: bool) -> str:
    """Add what one field states to the context, and return the key of the field."""
    if spoken.part and spoken.part != context.part:
        context.part, context.section, context.number = spoken.part, spoken.section, ""
    elif spoken.section:
        context.section, context.is_of_table = spoken.section, bool(spoken.row)
    elif context.is_of_table and not (spoken.row or spoken.column):
        # The table that the section heads has ended.
        context.section, context.is_of_table = "", False
    context.step = spoken.step or (context.step if not spoken.key.isdigit() else "")
    table = _table_of(pdf_field)
    key, row = spoken.key, spoken.row
    if spoken.kind == "letter" and not is_boxed and not context.step:
        digits = context.number.rstrip("abcdefghijklmnopqrstuvwxyz")
        key = f"{digits}{key}" if digits else ""
    if key and spoken.kind != "option":
        context.number = key.removesuffix(row) if _ROMAN.fullmatch(row) else key
        context.table = table
    elif not key and row and table == context.table and context.number:
        key = context.number + (row if _ROMAN.fullmatch(row) else "")
    if not key:
        return ""
    if spoken.kind == "option":
        return f"box_{key}"
    if context.step and not is_boxed and (spoken.step or key.isalpha() or key == context.step):
        return f"step_{context.step}{key if key.isalpha() else ''}"
    return f"{'box' if spoken.kind == 'box' or is_boxed else 'line'}_{key}"


def _table_of(pdf_field: FormField) -> str:
    """Return the group that the rows of a field's table are in."""
    return pdf_field.subform.rpartition(".")[0]
