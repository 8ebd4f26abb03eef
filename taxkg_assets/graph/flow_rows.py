"""Rows of the table `flows`: one for each pair of lines that a statement names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from taxkg_assets.graph.flow_ends import NO_FORM, About, End, Lines
from taxkg_assets.graph.flow_statements import FlowStatement
from taxkg_assets.graph.places import Place

Row = Mapping[str, Any]
_PUNCTUATION = " ,.;:—”)"
"""Marks that end what is printed before a statement."""


def names_other(place: Place | None, about: About, known_lines: Lines) -> bool:
    """Return whether a place is on a different form from the one that the text is about.

    Args:
        place: Place, if any.
        about: What the text is about.
        known_lines: Lines of all documents.

    Returns:
        False also for a place without a form.
    """
    return place is not None and any(known_lines.name_form(form, about) != about.form for form in place.forms)


def list_rows(
    statement: FlowStatement, own_end: End | None, about: About, *, known_lines: Lines, printed_at: Row, text: str
) -> Iterator[dict[str, Any]]:
    """Build one row of `flows` for each pair of lines that a statement names.

    Args:
        statement: Statement with its places.
        own_end: Line whose label states the flow, or that the heading is about; it replaces an end that is not named.
        about: What the text is about.
        known_lines: Lines of all documents.
        printed_at: Where the statement is printed: document_id, page, bbox, element_id.
        text: Label or passage that contains the statement.

    Yields:
        Rows of `flows`.
    """
    stated_words = text[statement.start : statement.end]
    evidence = stated_words.lstrip(_PUNCTUATION)
    start = statement.start + len(stated_words) - len(evidence)
    where = {
        **printed_at,
        "start": start,
        "end": statement.end,
        "evidence": evidence,
        "rule_id": statement.rule_id,
    }
    for source in _find_ends(statement.source, own_end, about, known_lines, ""):
        for target in _find_ends(statement.target, own_end, about, known_lines, source.form):
            yield make_row(statement.relation, source, target, where)


def _find_ends(
    place: Place | None, own_end: End | None, about: About, known_lines: Lines, other_form: str
) -> list[End]:
    if place is None:
        return [own_end] if own_end is not None else []
    named_lines = [(form, key) for form in place.forms or ("",) for key in place.keys or ("",)]
    if place.kind == "column":
        return [end for form, key in named_lines for end in known_lines.find_columns(place, about, key=key, form=form)]
    ends = [known_lines.find(place, about, key=key, form=form, other_form=other_form) for form, key in named_lines]
    return ends if place.keys else _share_key(ends)


def _share_key(ends: list[End]) -> list[End]:
    """Assign to a label on several forms the key that it has on the ones that the library contains."""
    keys = {end.key for end in ends if end.line is not None}
    if len(keys) != 1:
        return ends
    key = keys.pop()
    return [end if end.line is not None or end.problem != NO_FORM else replace(end, key=key) for end in ends]


def make_row(relation: str, source: End, target: End, statement: Row) -> dict[str, Any]:
    """Build one row of `flows` from a statement that one of the two forms prints.

    Its `agreement` is `unresolved` if an end has a problem, else `one_side`: whether the other form states the same
    flow is not known yet.

    Args:
        relation: flows_to, from_form or computed_from.
        source: Where the amount comes from.
        target: Where it goes.
        statement: Columns of the printed statement: where the document prints it, the quoted words, and the id of the
            rule that matched them.

    Returns:
        Columns of the table by name.
    """
    row: dict[str, Any] = {"relation": relation, **statement}
    for name, end in (("source", source), ("target", target)):
        row |= {
            f"{name}_document_id": end.line["document_id"] if end.line else None,
            f"{name}_form": end.form,
            f"{name}_part": end.part,
            f"{name}_key": end.key,
            f"{name}_column": end.column,
            f"{name}_code": end.code,
            f"{name}_line": end.line["canonical_id"] if end.line else None,
        }
    row["problem"] = "; ".join(
        f"{name}: {end.problem}" for name, end in (("source", source), ("target", target)) if end.problem
    )
    row["is_same_year"] = source.is_same_year and target.is_same_year
    row["agreement"] = "unresolved" if row["problem"] else "one_side"
    ends = [
        row[f"{name}_{part}"]
        for name in ("source", "target")
        for part in ("document_id", "form", "part", "key", "column")
    ]
    words = "\n".join(map(str, [relation, row["document_id"], row["page"], row["evidence"], *ends]))
    row["flow_id"] = hashlib.sha256(words.encode()).hexdigest()[:16]
    return row
