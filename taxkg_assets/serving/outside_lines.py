"""Lines of forms that the library does not contain: what its instructions and statements say about them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from taxkg_assets.graph.explanations import find_headings
from taxkg_assets.records import DocumentRecord, iter_records
from taxkg_assets.rules.forms import form_pattern, split_forms
from taxkg_assets.serving.line_explanations import read_explanations
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import FlowRow, LineRow

_PARENT = re.compile(r"(?i)\(\s*form\s+(?P<parent>[^()]*?)\s*\)")
_SCHEDULE = re.compile(r"(?i)\bschedule ([a-z]{1,3}(?:-\d{1,2})?|\d{1,4}(?:-[a-z])?)\b")
_KEY = re.compile(
    r"(?i)^\W*(?:form\b\W*)?(?:part\s+(?P<part>[ivx]+|\d+)\b\W*)?(?:(?P<kind>line|box)(?:e?s)?[\s_]+)?"
    r"\(?(?P<key>\d{1,2}[a-z]{0,4})\)?\W*$"
)
_KINDS = ("line", "box")
_YEAR = r"--(\d{4})"
_BOOKLET = "filer_instructions"


@dataclass(frozen=True, slots=True)
class OutsideLine:
    """A line that documents name, on a form that none of them is.

    Attributes:
        form: The form's name in statements, or in the title of its instructions.
        key: `line_31`, `box_1`.
        parts: Parts of the form in which statements name the line; those without a part may mean any.
        headings: Headings that explain it, by document, newest first.
    """

    form: str
    key: str
    parts: tuple[str, ...] = ()
    headings: Mapping[str, Sequence[str]] = field(default_factory=dict)


def find_outside_lines(released: Released, query: str, *, with_contained: bool = False) -> list[OutsideLine]:
    """Find the lines that a query may mean on forms that the library does not contain.

    Args:
        released: The release to read.
        query: Form and key: Schedule C 31, 2441 line 26, Schedule K (Form 1065) 3c.
        with_contained: Whether to find also lines that statements name on forms of the library that do not print them.

    Returns:
        One line for each form with such a name of which documents state something; several if the query names a
        schedule without its form.
    """
    ends = _list_ends(released)
    contained = [] if not with_contained else released.table("lines")["form"].unique().to_list()
    schedule, parent = _SCHEDULE.search(query), _PARENT.search(query)
    stated = [f"Schedule {schedule[1].upper()} (Form {parent['parent']})"] if schedule and parent else []
    named = _read_forms(query, sorted({*_list_forms(released, ends), *contained, *stated}))
    for same_length in named:
        found = [line for form, rest in same_length for line in _find_on(form, rest, ends, released)]
        if found:
            return found
    return []


def name_outside_forms(released: Released, query: str) -> list[str]:
    """List the forms that a query may name, of those that only documents about them or statements name.

    Args:
        released: The release to read.
        query: Form and key.

    Returns:
        Names of the forms; empty if the query names none of them.
    """
    named = _read_forms(query, _list_forms(released, _list_ends(released)))
    return [form for form, _ in named[0]] if named else []


def _find_on(form: str, rest: str, ends: pl.DataFrame, released: Released) -> Iterator[OutsideLine]:
    """Find the line that words name on a form, if a document states something about it."""
    named = _KEY.match(rest)
    if named is None:
        return
    part, number = (named["part"] or "").upper(), named["key"].lower()
    kinds = (named["kind"].lower(),) if named["kind"] else _KINDS
    keys = [f"{kind}_{number}" for kind in kinds]
    own = ends.filter(pl.col("form") == form, pl.col("key").str.to_lowercase().is_in(keys))
    own = own.filter(pl.col("part").is_in([part, ""])) if part else own
    headings = _find_headings(released, form, number, part) if "line" in kinds else {}
    if own.height or headings:
        key = own["key"].sort()[0] if own.height else f"line_{number}"
        yield OutsideLine(form, key, tuple(sorted({*own["part"]} - {""})), headings)


def read_outside_line(released: Released, line: OutsideLine) -> LineRow:
    """Read what the library states about a line of a form that it does not contain.

    Args:
        released: The release to read.
        line: One of `find_outside_lines`.

    Returns:
        The line without document, revision, label and fields.
    """
    explained = read_explanations(
        {"": [(name, "same_field") for own in line.headings.values() for name in own]}, released
    )
    return LineRow(
        document_id="",
        form=line.form,
        revision="",
        part=line.parts[0] if len(line.parts) == 1 else "",
        key=line.key,
        kind=line.key.partition("_")[0],
        section="",
        label="",
        page=0,
        flows_in=_read_flows(released, line, "target"),
        flows_out=_read_flows(released, line, "source"),
        explanations=explained.get("", []),
    )


def _read_flows(released: Released, line: OutsideLine, end: str) -> list[FlowRow]:
    """Read the statements about a line, those of the newest documents first."""
    if not released.holds("flows"):
        return []
    is_line = (pl.col(f"{end}_form") == line.form) & (pl.col(f"{end}_key") == line.key)
    own = released.table("flows").filter(is_line & pl.col(f"{end}_document_id").is_null())
    year = pl.col("document_id").str.extract(_YEAR).fill_null("")
    ordered = own.sort(year, "document_id", "page", "start", "flow_id", descending=[True, *[False] * 4])
    return [FlowRow(**row) for row in ordered.iter_rows(named=True)]


def _list_ends(released: Released) -> pl.DataFrame:
    """List the ends of statements that are on no form of the library: form, part and key."""
    if not released.holds("flows"):
        return pl.DataFrame(schema=dict.fromkeys(("form", "part", "key"), pl.String))
    flows = released.table("flows")
    ends = [
        flows.filter(pl.col(f"{end}_document_id").is_null()).select(
            *(pl.col(f"{end}_{name}").alias(name) for name in ("form", "part", "key"))
        )
        for end in ("source", "target")
    ]
    return pl.concat(ends).unique().sort("form", "part", "key")


def _list_forms(released: Released, ends: pl.DataFrame) -> list[str]:
    """List the forms that statements or titles of instructions name."""
    booklets = released.table("documents").filter(pl.col("doc_type") == _BOOKLET)["form"].drop_nulls()
    contained = {*released.table("lines")["form"].unique()}
    named = {*ends["form"].unique(), *(form for forms in booklets for form in split_forms(forms))}
    return sorted(named - contained - {""})


def _read_forms(query: str, forms: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Read which forms a query may name, with the words that remain: the longest names first, by length."""
    stated = _PARENT.search(query)
    rest = _PARENT.sub(" ", query).strip()
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for form in forms:
        match, own = form_pattern(form).search(rest), _PARENT.search(form)
        parent = own["parent"].lower() if own else ""
        if match is not None and (stated is None or stated["parent"].lower() == parent):
            left = f"{rest[: match.start()]} {rest[match.end() :]}".strip()
            found[len(_PARENT.sub("", form))].append((form, left))
    return [found[length] for length in sorted(found, reverse=True)]


def _find_headings(released: Released, form: str, number: str, part: str) -> dict[str, list[str]]:
    """Find the headings of instructions that explain a line, by document, newest first."""
    own = _PARENT.search(form)
    documents = released.table("documents").filter(pl.col("doc_type") == _BOOKLET).sort("document_id")
    about = {form, own["parent"]} if own else {form}
    booklets = [row for row in iter_records(documents, DocumentRecord) if about & {*split_forms(row["form"] or "")}]
    booklets.sort(key=lambda row: (row["revision"] or "", row["document_id"]), reverse=True)
    if not booklets:
        return {}
    anchors = released.read_documents("anchors", [row["document_id"] for row in booklets])
    found: dict[str, list[str]] = defaultdict(list)
    for anchor_id in find_headings(form, number, anchors, documents=booklets, part=part):
        found[anchor_id.partition("#")[0]].append(anchor_id)
    return {row["document_id"]: found[row["document_id"]] for row in booklets if row["document_id"] in found}
