"""Look-up of numbered fields: one line in all revisions of its form, or all lines of one form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from taxkg_assets.bounding_box import CORNERS
from taxkg_assets.graph.line_nodes import node_of
from taxkg_assets.records import LineRecord, iter_records
from taxkg_assets.serving.known_names import list_names
from taxkg_assets.serving.line_explanations import find_explanations
from taxkg_assets.serving.outside_lines import (
    OutsideLine,
    find_outside_lines,
    list_outside_forms,
    name_forms,
    read_outside_line,
)
from taxkg_assets.serving.query_words import spell_part
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import FieldRow, FlowRow, FormulaRow, LineRow

_KEY = re.compile(
    r"(?i)^\W*(?:form\b\W*)?(?:part\s+(?P<part>[ivx]+|\d+)\b\W*)?(?:(?P<kind>line|box|column|step)(?:e?s)?[\s_]+)?"
    r"\(?(?P<key>[0-9]*[a-z]{0,5})\)?\W*$"
)
_REVISION = re.compile(r"^\d{4}(?:-\d{2})?$")
_YEAR = 4
_FIELD_COLUMNS = ("name", "key", "part", "column", "row", "copy", "kind", "label", "page", "bbox")
LineId = tuple[str, str, str]
"""Document, part and key of a line."""


class LineNotFoundError(Exception):
    """No such form, no such line on it, or a release without lines; the message lists what exists."""


class FormNotFoundError(LineNotFoundError):
    """No form of the release has the name."""


class SeveralFormsError(LineNotFoundError):
    """Several forms may be meant; the message lists them."""


def find_lines(released: Released, words: Sequence[str]) -> list[LineRow]:
    """Look up a numbered line in every revision of its form, newest first, drafts last.

    Args:
        released: The release to read.
        words: Form and key: 8960 5a, Schedule D 7, 8949 Part II 2, 1099-DIV box 1a.

    Returns:
        One row per revision and part that print the line. For a revision that prints it only with letters, such as 12a
        and 12b for 12, one row per letter. If the release does not contain the form, or the newest revision prints the
        line only with letters, a row without a document comes first, provided that instructions explain the line or
        documents state where its amount comes from or goes.

    Raises:
        LineNotFoundError: The words name no form of the release, or no line of it.
    """
    lines = _lines_of(released)
    query = " ".join(words)
    form, key_words = _read_form(released, query, lines)
    if not form:
        queried_forms = name_forms(released, query)
        outside_lines = find_outside_lines(released, queried_forms)
        if outside_lines:
            return [read_outside_line(released, choose_outside_line(outside_lines))]
        form_names = ", ".join(name for name, _ in queried_forms)
        raise LineNotFoundError(
            f"The library does not contain {form_names}, and no document in it explains {query!r}. "
            "Fetch the form and build, or ask about another line."
        )
    match = _KEY.match(key_words)
    form_lines = lines.filter(pl.col("form") == form)
    keys = ", ".join(
        form_lines.sort("revision", "line_ix")["key"].str.replace("^[a-z]+_", "").unique(maintain_order=True)
    )
    if match is None or not match["key"]:
        raise LineNotFoundError(f"{form} has no line {query!r}. Lines: {keys}.")
    exact, lettered = _choose_rows(form_lines, match)
    drafts = released.table("documents").filter(pl.col("is_draft"))["document_id"].to_list()
    order = [pl.col("document_id").is_in(drafts), "revision", "document_id", "line_ix"]
    rows = pl.concat([exact, lettered]).sort(order, descending=[False, True, False, False])
    if rows.is_empty():
        raise LineNotFoundError(f"{form} has no line {match['key']!r}. Lines: {keys}.")
    nodes = [node_of(row) for row in iter_records(rows, LineRecord)]
    explanations = find_explanations(nodes, released)
    lines_with_nodes = zip(_read_lines(rows, released), nodes, strict=True)
    # Of a number that only older revisions print, statements of today mean all its letters together.
    is_lettered_now = rows["document_id"][0] in lettered["document_id"].to_list()
    outside_lines = find_outside_lines(released, [(form, key_words)]) if is_lettered_now else []
    return [
        *(read_outside_line(released, line) for line in outside_lines),
        *(line.model_copy(update={"explanations": explanations.get(node, [])}) for line, node in lines_with_nodes),
    ]


def _choose_rows(form_lines: pl.DataFrame, match: re.Match[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Select the lines of a form with a key, and those of documents that only print it with letters."""
    number = pl.col("key").str.replace("^[a-z]+_", "").str.to_lowercase()
    if match["kind"]:
        form_lines = form_lines.filter(pl.col("kind") == match["kind"].lower())
    if match["part"]:
        form_lines = form_lines.filter(pl.col("part").is_in(spell_part(match["part"])))
    is_named = number == match["key"].lower()
    is_numbered = pl.col("kind").is_in(["line", "box"])
    if not match["key"].isdigit():
        return form_lines.filter(is_named), form_lines.clear()
    with_number = form_lines.filter(is_named & is_numbered)["document_id"].unique().to_list()
    is_lettered = number.str.contains(f"^{match['key']}[a-z]$") & ~pl.col("document_id").is_in(with_number)
    return form_lines.filter(is_named), form_lines.filter(is_lettered & is_numbered)


def choose_outside_line(lines: Sequence[OutsideLine]) -> OutsideLine:
    """Return the line that a query means, or refuse a query that may mean several.

    Args:
        lines: Lines that the query may mean, each on another form, from `find_outside_lines`; at least one.

    Raises:
        SeveralFormsError: There are several.
    """
    if len(lines) == 1:
        return lines[0]
    several = ", ".join(line.form for line in lines)
    raise SeveralFormsError(f"Several forms have this line: {several}. Name one of them.")


def find_form(released: Released, words: Sequence[str], *, revision: str = "") -> list[LineRow]:
    """List all numbered lines of one revision of a form in printed order.

    Args:
        released: The release to read.
        words: Name of the form; the last word may be a revision or year if `revision` is empty.
        revision: Revision, year or document id; if none is given, the newest final revision is listed.

    Returns:
        Lines of the form, without explanations.

    Raises:
        LineNotFoundError: There is no such form or revision.
    """
    lines = _lines_of(released)
    query = " ".join(words)
    form, other_words = _read_form(released, query, lines)
    if not form:
        form_names = ", ".join(name for name, _ in name_forms(released, query))
        raise LineNotFoundError(
            f"The library does not contain {form_names}. Other documents explain some of its lines: look up one "
            "with `taxkg line FORM KEY`."
        )
    other_words = re.sub(r"(?i)^form\b|\bform$", "", other_words.strip()).strip()
    if other_words and (revision or not _REVISION.match(other_words)):
        raise LineNotFoundError(
            f"{other_words!r} is not part of the name of form {form}. If it is a revision, give it as `--revision`."
        )
    revision = revision or other_words
    form_lines = lines.filter(pl.col("form") == form).join(
        released.table("documents").select("document_id", "is_draft"), on="document_id"
    )
    editions = (
        form_lines.select("revision", "document_id", "is_draft").unique().sort("is_draft", "revision", "document_id")
    )
    if revision:
        is_year = pl.col("revision").str.starts_with(f"{revision}-") & (len(revision) == _YEAR)
        is_named = (pl.col("revision") == revision) | (pl.col("document_id") == revision)
        editions = editions.filter(is_named | is_year)
    if editions.is_empty():
        revision_list = ", ".join(form_lines["revision"].unique().sort())
        raise LineNotFoundError(f"{form} has no revision {revision!r}. Revisions: {revision_list}.")
    final_editions = editions.filter(~pl.col("is_draft"))
    document = (final_editions if final_editions.height else editions)["document_id"][-1]
    return _read_lines(form_lines.filter(pl.col("document_id") == document).drop("is_draft").sort("line_ix"), released)


def list_fields(rows: Sequence[LineRow]) -> pl.DataFrame:
    """Flatten lines and their fields to one row per field, for a spreadsheet.

    Args:
        rows: Lines with their fields.

    Returns:
        One row per field, with its rectangle in four columns; the columns exist even if there is no row.
    """
    entries = [
        {
            "document_id": row.document_id,
            **field.model_dump(by_alias=True, exclude={"bbox"}),
            "label": row.label or field.label,
            **field.bbox.model_dump(),
        }
        for row in rows
        for field in row.fields
    ]
    columns = ("document_id", *_FIELD_COLUMNS[:-1], *CORNERS)
    return pl.DataFrame(entries, schema=columns, infer_schema_length=None)


def _lines_of(released: Released) -> pl.DataFrame:
    if not released.holds("lines"):
        raise LineNotFoundError(
            "An older version of taxkg made this release, and it has no table `lines`. Run `taxkg build`."
        )
    return released.table("lines")


def _read_form(released: Released, query: str, lines: pl.DataFrame) -> tuple[str, str]:
    """Find the form of the library that a query names, and the words that remain; both empty for a form outside it."""
    forms = lines["form"].unique().sort().to_list()
    form_candidates = name_forms(released, query)
    library_forms = [(form, key_words) for form, key_words in form_candidates if form in forms]
    if len(library_forms) == 1:
        return library_forms[0]
    if library_forms:
        several = ", ".join(form for form, _ in library_forms)
        raise SeveralFormsError(f"{query!r} matches several forms: {several}. Name one of them.")
    outside_forms = list_outside_forms(released)
    if any(
        form in outside_forms or find_outside_lines(released, [(form, key_words)])
        for form, key_words in form_candidates
    ):
        return "", ""
    raise FormNotFoundError(f"No form with lines in this release matches {query!r}. Forms: {list_names(forms)}.")


def _read_formulas(released: Released, rows: pl.DataFrame) -> dict[LineId, FormulaRow]:
    """Read the formulas of the lines' documents; none from a release of an older version."""
    if not released.holds("formulas"):
        return {}
    documents = released.read_documents("formulas", rows["document_id"].unique().to_list())
    return {_line_id_of(row): FormulaRow(**row) for row in documents.iter_rows(named=True)}


def _line_id_of(row: Mapping[str, Any]) -> LineId:
    return row["document_id"], row["part"], row["key"]


def _find_uses(line: LineId, formulas: Mapping[LineId, FormulaRow]) -> list[str]:
    """List the lines of the document that are computed from a line; one of another part with its part."""
    document_id, part, key = line
    return [
        user if of_part in (part, "") else f"Part {of_part} {user}"
        for (document, of_part, user), formula in formulas.items()
        if document == document_id and (part, key) in _operands_of(formula, of_part)
    ]


def _operands_of(formula: FormulaRow, part: str) -> list[tuple[str, str]]:
    """Return part and key of each operand; without parts in a release of an older version."""
    parts = formula.operand_parts or [part] * len(formula.operands)
    return list(zip(parts, formula.operands, strict=True))


def _find_flows(flows: pl.DataFrame | None, line: LineId, end: str) -> list[FlowRow]:
    """List the flows of a line to or from other lines; none from a release of an older version."""
    if flows is None:
        return []
    names = ("document_id", "part", "key")
    is_line = [pl.col(f"{end}_{name}") == value for name, value in zip(names, line, strict=True)]
    return [FlowRow(**row) for row in flows.filter(*is_line).sort("flow_id").iter_rows(named=True)]


def _read_lines(rows: pl.DataFrame, released: Released) -> list[LineRow]:
    """Read lines with the fields to be filled in for them, and the quality flags of their documents."""
    fields = released.read_documents("fields", rows["document_id"].unique().to_list())
    entries: dict[LineId, list[FieldRow]] = {}
    for field in fields.filter(pl.col("key") != "").sort("document_id", "page", "field_ix").iter_rows(named=True):
        entries.setdefault(_line_id_of(field), []).append(FieldRow(**{name: field[name] for name in _FIELD_COLUMNS}))
    formulas = _read_formulas(released, rows)
    flows = released.table("flows").filter(pl.col("relation") != "computed_from") if released.holds("flows") else None
    return [
        LineRow(
            **row,
            formula=formulas.get(line_id),
            flows_in=_find_flows(flows, line_id, "target"),
            flows_out=_find_flows(flows, line_id, "source"),
            used_in=_find_uses(line_id, formulas),
            fields=entries.get(line_id, []),
            quality=released.flags_of(row["document_id"]),
        )
        for row in rows.iter_rows(named=True)
        for line_id in [_line_id_of(row)]
    ]
