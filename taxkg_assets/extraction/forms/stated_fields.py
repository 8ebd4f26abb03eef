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
    """Return the copy of a form that a field is on: `Copy B` by its spoken text, else by its name."""
    match = _COPY.search(pdf_field.subform)
    return spoken.copy or (match["copy"] if match is not None else "")


def _add_to_context(context: _Context, pdf_field: FormField, spoken: Spoken, *, is_boxed: bool) -> str:
    """Add what one field states to the context, and return the key of the field.

    After a field `Line 4a`, one that only says `b` has the key `line_4b`.

    Args:
        context: What the fields before it stated; changed.
        pdf_field: The field.
        spoken: Its parsed spoken text.
        is_boxed: Whether its page is a form face with boxes.
    """
    _enter_section(context, spoken)
    context.step = spoken.step or (context.step if not spoken.key.isdigit() else "")
    key = _complete_number(context, pdf_field, spoken, is_boxed=is_boxed)
    if not key:
        return ""
    if spoken.kind == "option":
        return f"box_{key}"
    is_in_step = bool(context.step) and (bool(spoken.step) or key.isalpha() or key == context.step)
    if is_in_step and not is_boxed:
        return f"step_{context.step}{key if key.isalpha() else ''}"
    return f"box_{key}" if spoken.kind == "box" or is_boxed else f"line_{key}"


def _enter_section(context: _Context, spoken: Spoken) -> None:
    """Set part and section to those that a field states; the heading of a table ends with the table."""
    if spoken.part and spoken.part != context.part:
        context.part, context.section, context.number = spoken.part, spoken.section, ""
    elif spoken.section:
        context.section, context.is_of_table = spoken.section, bool(spoken.row)
    elif context.is_of_table and not spoken.row and not spoken.column:
        context.section, context.is_of_table = "", False


def _complete_number(context: _Context, pdf_field: FormField, spoken: Spoken, *, is_boxed: bool) -> str:
    """Return the number of a field: a letter alone, or a row of a table, continues the number before it.

    Args:
        context: What the fields before it stated; its number and table are changed by a field with a key.
        pdf_field: The field.
        spoken: Its parsed spoken text.
        is_boxed: Whether its page is a form face with boxes.
    """
    key, row = spoken.key, spoken.row
    table = _table_of(pdf_field)
    is_roman_row = _ROMAN.fullmatch(row) is not None
    if spoken.kind == "letter" and not is_boxed and not context.step:
        digits = context.number.rstrip("abcdefghijklmnopqrstuvwxyz")
        key = f"{digits}{key}" if digits else ""
    if key:
        if spoken.kind != "option":
            context.number, context.table = key.removesuffix(row) if is_roman_row else key, table
        return key
    is_row_of_same_table = bool(row) and table == context.table
    if is_row_of_same_table and context.number:
        return f"{context.number}{row}" if is_roman_row else context.number
    return ""


def _table_of(pdf_field: FormField) -> str:
    """Return the group that the rows of a field's table are in."""
    return pdf_field.subform.rpartition(".")[0]
