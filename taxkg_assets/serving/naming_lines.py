"""Lines whose labels say that their amount is from a form, without saying from which of its lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from taxkg_assets.graph.places import find_places
from taxkg_assets.rules.forms import form_pattern
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import NamingLine, Trace

_PARENT = re.compile(r" \(Form ([^()]+)\)$")
_IN_PARENTHESES = re.compile(r"\(Forms? [^()]+\)")
_BEFORE = re.compile(r"(?i)\b(?:from|attach)\b(?!.*\binstructions for\b)[^.;]{0,40}$")
_NO_FORM_AFTER = re.compile(r"(?i),? \(?(?:(?:Parts?|lines?|box(?:es)?|columns?)\b|(?:\w+ ){0,3}worksheet)")
_COLUMNS = ("document_id", "form", "revision", "part", "key", "label")


def find_naming_lines(released: Released, trace: Trace) -> list[NamingLine]:
    """Find the lines of other forms that take an amount from the traced form without saying from which of its lines.

    A label such as `Credit from Form 9999` is an example. Readers get these lines if a trace reaches no other form.

    Args:
        released: The release to read.
        trace: Trace of a line.

    Returns:
        Lines in printed order; of each form, those of the revision nearest to that of the trace.
    """
    documents = released.table("documents").select("document_id", "is_draft")
    lines = released.table("lines").filter(pl.col("form") != trace.form).join(documents, on="document_id")
    nearest_by_form: dict[str, Mapping[str, Any]] = {}
    for row in lines.select("document_id", "form", "revision", "is_draft").unique().sort("document_id").to_dicts():
        if _is_of_same_return(row["form"], trace.form):
            nearest_by_form[row["form"]] = min(
                nearest_by_form.get(row["form"], row), row, key=lambda edition: _distance(edition, trace.revision)
            )
    lines_of_nearest = lines.filter(
        pl.col("document_id").is_in([row["document_id"] for row in nearest_by_form.values()])
    )
    return [
        NamingLine(**{name: row[name] for name in _COLUMNS})
        for row in lines_of_nearest.sort("document_id", "line_ix").iter_rows(named=True)
        if _names_whole_form(row["label"], trace.form)
    ]


def _is_of_same_return(form: str, named_form: str) -> bool:
    """Decide whether a form may name another without its return: a schedule is one of the same return."""
    parent, parent_of_form = _PARENT.search(named_form), _PARENT.search(form)
    return parent is None or parent[1] in (form, parent_of_form[1] if parent_of_form else "")


def _names_whole_form(label: str, form: str) -> bool:
    """Decide whether a label says that its amount is from a form, and from no line of it."""
    open_text = _IN_PARENTHESES.sub(lambda parent: "_" * len(parent[0]), label)
    for place in find_places(label, columns=True):
        open_text = f"{open_text[: place.start]}{'_' * (place.end - place.start)}{open_text[place.end :]}"
    return any(
        _BEFORE.search(open_text[: form_match.start()]) and not _NO_FORM_AFTER.match(open_text, form_match.end())
        for form_match in form_pattern(form).finditer(open_text)
    )


def _distance(row: Mapping[str, Any], revision: str) -> tuple[bool, int, int]:
    """Return how far a document is from a revision: final ones first, then by years; the newest if there is none."""
    year = int(row["revision"][:4]) if row["revision"][:4].isdigit() else 0
    target_year = int(revision[:4]) if revision[:4].isdigit() else year
    return row["is_draft"], abs(year - target_year), -year
