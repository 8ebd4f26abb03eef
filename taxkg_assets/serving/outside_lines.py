"""Lines of forms that the library does not contain: what its instructions and statements say about them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from taxkg_assets.graph.explanations import find_headings
from taxkg_assets.records import DocumentRecord, iter_records
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.serving.line_explanations import read_explanations
from taxkg_assets.serving.query_words import PARENT, name_schedule, read_forms, spell_part
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import FlowRow, LineRow

_KEY = re.compile(
    r"(?i)^\W*(?:form\b\W*)?(?:part\s+(?P<part>[ivx]+|\d+)\b\W*)?(?:(?P<kind>line|box)(?:e?s)?[\s_]+)?"
    r"\(?(?P<key>\d{1,2}[a-z]{0,4})\)?\W*$"
)
_KINDS = ("line", "box")
_YEAR = r"--(\d{4})"
_BOOKLET = "filer_instructions"


@dataclass(frozen=True, slots=True)
class OutsideLine:
    """A line that documents of the library mention, on a form that the library does not contain.

    Attributes:
        form: Name of the form, as other documents print it.
        key: `line_31`, `box_1`.
        part_spellings: Spellings of the part that the query names, `III` and `3`; empty if it names none.
        stated_parts: Parts that statements name with the line; if the query names a part, only this one.
        headings: Ids of the headings that explain the line, by document, newest first.
    """

    form: str
    key: str
    part_spellings: tuple[str, ...] = ()
    stated_parts: tuple[str, ...] = ()
    headings: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def part(self) -> str:
        """Return the part that the query names, else the only one that statements name; else empty."""
        if self.part_spellings:
            return self.part_spellings[0]
        return self.stated_parts[0] if len(self.stated_parts) == 1 else ""


def name_forms(released: Released, query: str) -> list[tuple[str, str]]:
    """Find the forms that a query may name, in the library or outside it, with the words that remain.

    Args:
        released: The release to read.
        query: Form and key: Schedule C 31, 2441 line 26, Schedule K (Form 1065) 3c.

    Returns:
        Form and remaining words. A query that names a schedule without its return may name several; if the library
        contains some of these, only they are returned.
    """
    library_forms = {*released.table("lines")["form"].unique()}
    forms = library_forms | {*list_outside_forms(released)}
    form_candidates = read_forms(query, sorted(forms | {*name_schedule(query, forms)}))
    return [(form, key_words) for form, key_words in form_candidates if form in library_forms] or form_candidates


def find_outside_lines(released: Released, forms: Sequence[tuple[str, str]]) -> list[OutsideLine]:
    """Find the lines that a query may mean among those that documents mention but no form of the library prints.

    Args:
        released: The release to read.
        forms: Forms that the query may name, each with the words that name the line, from `name_forms`.

    Returns:
        At most one line per form; none for a form whose line no document mentions.
    """
    ends = _list_ends(released)
    return [line for form, key_words in forms for line in _find_on(form, key_words, ends, released)]


def list_outside_forms(released: Released) -> list[str]:
    """List the forms outside the library that statements or titles of instructions name.

    Args:
        released: The release to read.

    Returns:
        Names in alphabetical order, without the forms of the library.
    """
    booklets = released.table("documents").filter(pl.col("doc_type") == _BOOKLET)["form"].drop_nulls()
    library_forms = {*released.table("lines")["form"].unique()}
    named_forms = {*_list_ends(released)["form"].unique(), *(form for forms in booklets for form in split_forms(forms))}
    return sorted(named_forms - library_forms - {""})


def _find_on(form: str, key_words: str, ends: pl.DataFrame, released: Released) -> Iterator[OutsideLine]:
    """Find the line that words name on a form, if a document states something about it."""
    key_match = _KEY.match(key_words)
    if key_match is None:
        return
    part_spellings = tuple(spell_part(key_match["part"])) if key_match["part"] else ()
    number = key_match["key"].lower()
    kinds = (key_match["kind"].lower(),) if key_match["kind"] else _KINDS
    keys = [f"{kind}_{number}" for kind in kinds]
    ends_of_line = ends.filter(pl.col("form") == form, pl.col("key").str.to_lowercase().is_in(keys))
    ends_of_line = ends_of_line.filter(pl.col("part").is_in([*part_spellings, ""])) if part_spellings else ends_of_line
    headings = (
        _find_headings(released, form, number, part_spellings[0] if part_spellings else "") if "line" in kinds else {}
    )
    if ends_of_line.height or headings:
        key = ends_of_line["key"].sort()[0] if ends_of_line.height else f"line_{number}"
        yield OutsideLine(form, key, part_spellings, tuple(sorted({*ends_of_line["part"]} - {""})), headings)


def read_outside_line(released: Released, line: OutsideLine) -> LineRow:
    """Read what the library states about a line of a form that it does not contain.

    Args:
        released: The release to read.
        line: A line from `find_outside_lines`.

    Returns:
        The line with its flows and explanations, without document, revision, label and fields.
    """
    anchor_ids = [anchor_id for ids_of_document in line.headings.values() for anchor_id in ids_of_document]
    explanations_by_line = read_explanations(
        {line.key: [(anchor_id, "same_field") for anchor_id in anchor_ids]}, released
    )
    return LineRow(
        document_id="",
        form=line.form,
        revision="",
        part=line.part,
        key=line.key,
        kind=line.key.partition("_")[0],
        section="",
        label="",
        page=0,
        flows_in=_read_flows(released, line, "target"),
        flows_out=_read_flows(released, line, "source"),
        explanations=explanations_by_line.get(line.key, []),
    )


def _read_flows(released: Released, line: OutsideLine, end: str) -> list[FlowRow]:
    """Read the statements about a line, those of the newest documents first."""
    if not released.holds("flows"):
        return []
    is_line = (pl.col(f"{end}_form") == line.form) & (pl.col(f"{end}_key") == line.key)
    if line.part_spellings:
        is_line &= pl.col(f"{end}_part").is_in([*line.part_spellings, ""])
    flows_of_line = released.table("flows").filter(is_line & pl.col(f"{end}_document_id").is_null())
    year = pl.col("document_id").str.extract(_YEAR).fill_null("")
    sorted_flows = flows_of_line.sort(year, "document_id", "page", "start", "flow_id", descending=[True, *[False] * 4])
    return [FlowRow(**row) for row in sorted_flows.iter_rows(named=True)]


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


def _find_headings(released: Released, form: str, number: str, part: str) -> dict[str, list[str]]:
    """Find the headings of instructions that explain a line, by document, newest first."""
    schedule = PARENT.search(form)
    documents = released.table("documents").filter(pl.col("doc_type") == _BOOKLET).sort("document_id")
    form_names = {form, schedule["parent"]} if schedule else {form}
    booklets = [
        row for row in iter_records(documents, DocumentRecord) if form_names & {*split_forms(row["form"] or "")}
    ]
    booklets.sort(key=lambda row: (row["revision"] or "", row["document_id"]), reverse=True)
    if not booklets:
        return {}
    anchors = released.read_documents("anchors", [row["document_id"] for row in booklets])
    headings_by_document: dict[str, list[str]] = defaultdict(list)
    for anchor_id in find_headings(form, number, anchors, documents=booklets, part=part):
        headings_by_document[anchor_id.rpartition("#")[0]].append(anchor_id)
    return {
        row["document_id"]: headings_by_document[row["document_id"]]
        for row in booklets
        if row["document_id"] in headings_by_document
    }
