"""What a passage or table is about: the form, and the box or line that its heading explains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from taxkg_assets.graph.flow_ends import About, End, Lines, year_of
from taxkg_assets.graph.places import Place, find_places, range_keys
from taxkg_assets.graph.schedule_scopes import WORKSHEET

Row = Mapping[str, Any]
_HEADING_FORM = re.compile(r"^Form ([\w-]+)\.?$")
_BOOK_FORM = re.compile(r"(?:^|\b(?:on|for) )Form (\d{4}(?:-[A-Z]+)?)(?: or (?:Form )?\d{4}-[A-Z]+)?\.?$")
_RANGE = re.compile(r"^(?:lines|boxes)_(\w+)-(\w+)$")


class Subject(NamedTuple):
    """What a passage is about.

    Attributes:
        about: The form, its year and its schedules.
        heading_kind: What its heading explains: `boxes` of a form that the reader received, `given` boxes that the
            reader fills in for somebody else, `lines`, or empty.
        end: The box or line; None for a heading on none.
    """

    about: About
    heading_kind: str
    end: End | None


def list_heading_keys(key: str) -> list[str]:
    """List the keys of a heading on a range of lines or boxes: `1`, `2`, `3` for `boxes_1-3`.

    Args:
        key: Key of the heading.

    Returns:
        The keys; none for a heading on no range.
    """
    match = _RANGE.match(key)
    return list(range_keys(match[1], match[2])) if match else []


def find_subject(
    row: Row, document: Row, heading: str, known_lines: Lines, *, scope: str, schedules: Mapping[str, str]
) -> Subject:
    """Determine the form that a passage is about, and the box or line that its heading explains.

    Args:
        row: Passage or table with the columns of its heading.
        document: Row of `documents`.
        heading: Words of the heading.
        known_lines: Lines of all documents.
        scope: Schedule or worksheet that owns its lines, from `find_scopes`.
        schedules: Full names of the schedules that the document names.

    Returns:
        The subject; without a line if the passage is in a publication, or below a heading that is not about a line.
    """
    is_book = document["doc_type"] == "publication"
    heading_form = _find_form_of_heading(row, document, heading)
    form = heading_form
    if not heading_form and not is_book:
        form = row["form"] or document["form"]
    about = About(form, year_of(document), schedules=schedules)
    is_printed = document["doc_type"] == "form" and (scope != WORKSHEET or row["perspective"] == "face")
    if scope and not heading_form and not is_book and not is_printed:
        about = replace(about, form="" if scope == WORKSHEET else known_lines.name_schedule(scope, about))
    if is_book or not about.form:
        return Subject(about, "", None)
    kind, _, number = (row["key"] or "").partition("_")
    if kind in ("lines", "boxes") and list_heading_keys(row["key"]):
        return Subject(about, "lines" if kind == "lines" else "given", End(about.form, row["key"]))
    if kind not in ("box", "line") or not number:
        return Subject(about, "", None)
    is_on_own_form = document["doc_type"] == "form" and form == document["form"]
    about = replace(about, document_id=row["document_id"] if is_on_own_form else None)
    end = known_lines.find(Place((), (number,), kind, "", "", "", 0, 1), about, key=number, form="")
    if kind == "line":
        return Subject(about, "lines", end)
    return Subject(about, "boxes" if row["perspective"] == "recipient" else "given", end)


def _find_form_of_heading(row: Row, document: Row, heading: str) -> str:
    """Return the form that a heading names for the passages below it; empty where they are on the document's form."""
    form_match = _HEADING_FORM.match(heading)
    if document["doc_type"] == "publication":
        form_match = form_match or _BOOK_FORM.search(heading)
        return form_match[1] if form_match else ""
    if form_match is None:
        return ""
    explains_line = (row["key"] or "").startswith("line_")
    return "" if explains_line or _is_amount_of(form_match[1], row, document) else form_match[1]


def _is_amount_of(form: str, row: Row, document: Row) -> bool:
    """Decide whether a passage of a booklet names a line of the form in its heading: other lines are the booklet's."""
    if form == document["form"]:
        return False
    return any(form in place.forms for place in find_places(row.get("text", "")))
