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
    """A line that documents name, on a form that none of them is.

    Attributes:
        form: The form's name in statements, or in the title of its instructions.
        key: `line_31`, `box_1`.
        queried: Ways to count the part that the query names; empty for any part.
        parts: Parts of the form, of those queried, in which statements name the line; those without a part may mean
            any.
        headings: Headings that explain it, by document, newest first.
    """

    form: str
    key: str
    queried: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    headings: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def part(self) -> str:
        """Return the part that the query or the statements name; empty for several or none."""
        return self.queried[0] if self.queried else self.parts[0] if len(self.parts) == 1 else ""


def name_forms(released: Released, query: str) -> list[tuple[str, str]]:
    """Find the forms that a query may name, in the library or outside it, with the words that remain.

    Args:
        released: The release to read.
        query: Form and key: Schedule C 31, 2441 line 26, Schedule K (Form 1065) 3c.

    Returns:
        Form and remaining words; several if the query names a schedule without its return, and then only those of the
        library if it contains any.
    """
    contained = {*released.table("lines")["form"].unique()}
    forms = contained | {*list_outside_forms(released)}
    named = read_forms(query, sorted(forms | {*name_schedule(query, forms)}))
    return [(form, left) for form, left in named if form in contained] or named


def find_outside_lines(released: Released, named: Sequence[tuple[str, str]]) -> list[OutsideLine]:
    """Find lines that documents explain or state, but whose form is not in the library.

    Args:
        released: The release to read.
        named: Forms that a query may name, with the words that remain; a form of the library has such a line if
            statements name one that it does not print.

    Returns:
        One line for each form of which documents state something.
    """
    ends = _list_ends(released)
    return [line for form, rest in named for line in _find_on(form, rest, ends, released)]


def list_outside_forms(released: Released) -> list[str]:
    """List the forms outside the library that statements or titles of instructions name.

    Args:
        released: The release to read.

    Returns:
        Names in alphabetical order, without the forms of the library.
    """
    booklets = released.table("documents").filter(pl.col("doc_type") == _BOOKLET)["form"].drop_nulls()
    contained = {*released.table("lines")["form"].unique()}
    named = {*_list_ends(released)["form"].unique(), *(form for forms in booklets for form in split_forms(forms))}
    return sorted(named - contained - {""})


def _find_on(form: str, rest: str, ends: pl.DataFrame, released: Released) -> Iterator[OutsideLine]:
    """Find the line that words name on a form, if a document states something about it."""
    named = _KEY.match(rest)
    if named is None:
        return
    queried, number = tuple(spell_part(named["part"])) if named["part"] else (), named["key"].lower()
    kinds = (named["kind"].lower(),) if named["kind"] else _KINDS
    keys = [f"{kind}_{number}" for kind in kinds]
    own = ends.filter(pl.col("form") == form, pl.col("key").str.to_lowercase().is_in(keys))
    own = own.filter(pl.col("part").is_in([*queried, ""])) if queried else own
    headings = _find_headings(released, form, number, queried[0] if queried else "") if "line" in kinds else {}
    if own.height or headings:
        key = own["key"].sort()[0] if own.height else f"line_{number}"
        yield OutsideLine(form, key, queried, tuple(sorted({*own["part"]} - {""})), headings)


def read_outside_line(released: Released, line: OutsideLine) -> LineRow:
    """Read what the library states about a line of a form that it does not contain.

    Args:
        released: The release to read.
        line: One of `find_outside_lines`.

    Returns:
        The line without document, revision, label and fields.
    """
    explained = read_explanations(
        {"": [(name, "same_field") for heading in line.headings.values() for name in heading]}, released
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
        explanations=explained.get("", []),
    )


def _read_flows(released: Released, line: OutsideLine, end: str) -> list[FlowRow]:
    """Read the statements about a line, those of the newest documents first."""
    if not released.holds("flows"):
        return []
    is_line = (pl.col(f"{end}_form") == line.form) & (pl.col(f"{end}_key") == line.key)
    if line.queried:
        is_line &= pl.col(f"{end}_part").is_in([*line.queried, ""])
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


def _find_headings(released: Released, form: str, number: str, part: str) -> dict[str, list[str]]:
    """Find the headings of instructions that explain a line, by document, newest first."""
    own = PARENT.search(form)
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
