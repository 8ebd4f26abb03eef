"""Fields of a form, their own texts completed by those of earlier fields: part, line, copy.

A voice says a part once, and the number of a line once for all rows of its table; a reader of one field needs both.
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
    """A form field with the information in its spoken text; `key` is box_1b, line_8b, step_4b or empty."""

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
    """What was said so far on a page or copy; `is_of_table`: the section was said with the first row of a table."""

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
    found: list[StatedField] = []
    on_page: dict[int, list[str]] = defaultdict(list)
    for one in fields:
        on_page[one.page].append(one.spoken)
    entries = {page: find_entries(texts) for page, texts in on_page.items()}
    so_far = _Context()
    page = 0
    for one in fields:
        spoken = read_spoken(one.spoken, is_entry=one.spoken in entries[one.page])
        copy = _copy_of(one, spoken)
        is_boxed = boxed_pages.get(one.page, False)
        if (copy and copy != so_far.copy) or (one.page != page and is_boxed):
            so_far = _Context(copy=copy)
        page = one.page
        key = _follow(so_far, one, spoken, is_boxed=is_boxed)
        found.append(StatedField(one, spoken, key, so_far.part, so_far.section, copy or so_far.copy))
    return found


def _copy_of(one: FormField, spoken: Spoken) -> str:
    match = _COPY.search(one.subform)
    return spoken.copy or (match["copy"] if match is not None else "")


def _follow(so_far: _Context, one: FormField, spoken: Spoken, *, is_boxed: bool) -> str:
    """Take what one field says into what is known, and give its key."""
    if spoken.part and spoken.part != so_far.part:
        so_far.part, so_far.section, so_far.number = spoken.part, spoken.section, ""
    elif spoken.section:
        so_far.section, so_far.is_of_table = spoken.section, bool(spoken.row)
    elif so_far.is_of_table and not (spoken.row or spoken.column):
        # The table that the section heads has ended.
        so_far.section, so_far.is_of_table = "", False
    so_far.step = spoken.step or (so_far.step if not spoken.key.isdigit() else "")
    table = _table_of(one)
    key, row = spoken.key, spoken.row
    if spoken.kind == "letter" and not is_boxed and not so_far.step:
        digits = so_far.number.rstrip("abcdefghijklmnopqrstuvwxyz")
        key = f"{digits}{key}" if digits else ""
    if key and spoken.kind != "option":
        so_far.number = key.removesuffix(row) if _ROMAN.fullmatch(row) else key
        so_far.table = table
    elif not key and row and table == so_far.table and so_far.number:
        key = so_far.number + (row if _ROMAN.fullmatch(row) else "")
    if not key:
        return ""
    if spoken.kind == "option":
        return f"box_{key}"
    if so_far.step and not is_boxed and (spoken.step or key.isalpha() or key == so_far.step):
        return f"step_{so_far.step}{key if key.isalpha() else ''}"
    return f"{'box' if spoken.kind == 'box' or is_boxed else 'line'}_{key}"


def _table_of(one: FormField) -> str:
    """Return the group that the rows of a field's table are in."""
    return one.subform.rpartition(".")[0]
