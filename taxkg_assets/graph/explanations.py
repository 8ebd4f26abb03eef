"""Which headings of instructions explain a line or column of a form: `Line 5a`, `Lines 1 through 3`, `Column (d)`.

Boxes of information returns are aligned in `alignment`, with the registry as the fixed point; here the fixed point is
the table `lines`. A booklet of another revision explains the line that its own revision of the form continues.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.graph.alignment import Link
from taxkg_assets.graph.catalogue import Catalogue, Entry
from taxkg_assets.graph.line_nodes import node_of
from taxkg_assets.graph.schedule_scopes import find_scopes
from taxkg_assets.records import AnchorRecord, DocumentRecord, LineRecord, iter_records
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.lines import load_lines

_SURE = 0.95
_NEAR = 0.8
_BOOKLET = "filer_instructions"
_PARENT = re.compile(r" \(Form (.+)\)$")
_PIECE = re.compile(r"(?P<through>(?i:through|to)\s+)?(?:(?i:lines?)\s+)?(?P<key>\b\d+[a-z]*|\b[a-z]\b)")
_OF_SCHEDULE = re.compile(r"^Lines? .* of (Schedule (?:[A-Z]{1,3}|\d{1,4})(?:-[A-Z\d]{1,2})?)\b")
"""Heading that names the schedule of its lines: `Lines 2 through 9 of Schedule B`."""
_KEY = re.compile(r"^lines?_(?P<first>\d+[a-z]*)(?:-(?P<last>\d+[a-z]*))?$")
_ORDERED = re.compile(r"^(\d{1,4})([a-z]*)$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that explains lines or columns of a form.

    Attributes:
        anchor_id: Heading.
        spans: First and last key of each range that it names; equal ends for a single line.
        columns: Letters of the columns that it names; those of the lines, if it names lines, too.
        part: Part of the form that it is under; empty where the booklet does not follow parts.
        schedule: Schedule that this passage of the booklet explains; empty for the form itself.
        forms: Forms that the booklet's passage is about.
    """

    anchor_id: str
    spans: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    part: str
    schedule: str
    forms: tuple[str, ...]


def find_explanations(
    lines: Iterable[LineRecord], anchors: Iterable[AnchorRecord], *, documents: Sequence[DocumentRecord]
) -> Iterator[Link]:
    """Link the lines and columns of each form to the instruction headings that explain them.

    Line 9 of Form 2889 (2031) is linked to the heading `Line 9` of its instructions of 2031; without these, to that of
    the nearest year, if line 9 is the same field there.

    Args:
        lines: Rows of `lines`.
        anchors: Rows of `anchors`.
        documents: Rows of `documents`.

    Returns:
        `same_field` where the booklet applies to the form's revision, else `same_field_other_revision`.
    """
    headings = _read_headings(anchors, documents)
    booklets = Catalogue([row for row in documents if row["document_id"] in headings])
    faces = _Faces(lines, documents)
    for document_id, lines_of_document in faces.lines.items():
        form = lines_of_document[0]["form"]
        parent = _PARENT.search(form)
        form_names = [form, parent[1]] if parent else [form]
        booklet, is_same_revision = _find_booklet(booklets, form_names, face=faces.catalogue.entries[document_id])
        if booklet is None:
            continue
        if is_same_revision:
            counterparts = [(line, line) for line in lines_of_document]
        else:
            counterparts = faces.translate(lines_of_document, booklet, form)
        # The booklet of a form has passages for each of its schedules.
        is_in_booklet_of_parent = parent is not None and form not in booklet.forms
        schedule = form.partition(" (")[0].lower() if is_in_booklet_of_parent else ""
        headings_of_form = [
            heading
            for heading in headings[booklet.document_id]
            if heading.schedule == schedule and not set(form_names).isdisjoint(heading.forms)
        ]
        yield from _link_headings(headings_of_form, counterparts, is_same_revision=is_same_revision)


def _find_booklet(books: Catalogue, form_names: Sequence[str], *, face: Entry) -> tuple[Entry | None, bool]:
    """Return the instructions nearest in revision to a face, and whether they are for its revision."""
    for form_name in form_names:
        nearest = books.find_nearest(form_name, _BOOKLET, citing=face)
        if nearest is not None:
            return nearest
    return None, False


def _link_headings(
    headings: Iterable[Heading], counterparts: Sequence[tuple[LineRecord, LineRecord]], *, is_same_revision: bool
) -> Iterator[Link]:
    """Link each line to the headings that explain its counterpart, the same line in the booklet's revision."""
    keys = {counterpart["key"] for _, counterpart in counterparts}
    relation, confidence = ("same_field", _SURE) if is_same_revision else ("same_field_other_revision", _NEAR)
    for heading in headings:
        for line, counterpart in counterparts:
            if _explains(heading, counterpart, keys):
                yield Link(node_of(line), heading.anchor_id, relation, confidence)


def find_headings(
    form: str, number: str, anchors: pl.DataFrame, *, documents: Sequence[DocumentRecord], part: str = ""
) -> Iterator[str]:
    """Find the headings of instructions that explain a line of a form that the library does not contain.

    Args:
        form: Form or schedule.
        number: Number of the line: 31, 15c.
        anchors: Rows of `anchors` of the instructions.
        documents: Rows of `documents` for the instructions.
        part: Part of the form; empty for any.

    Returns:
        anchor_id of each heading, in the order of the documents.
    """
    schedule, _, parent = form.removesuffix(")").partition(" (Form ")
    scope_of_anchor = find_scopes(anchors)
    texts = dict(anchors.select("anchor_id", "heading").iter_rows())
    forms_of_booklet = {row["document_id"]: split_forms(row["form"]) for row in documents}
    rows = iter_records(anchors, AnchorRecord)
    for document_id, headings in _read_headings(rows, documents).items():
        # In a booklet on the form itself, a heading without a schedule is on the form.
        scopes_of_form = {schedule, form, ""} if form in forms_of_booklet[document_id] else {schedule, form}
        for heading in headings:
            stated_schedule = _OF_SCHEDULE.search(texts[heading.anchor_id])
            scope = stated_schedule[1] if stated_schedule else scope_of_anchor.get(heading.anchor_id, "")
            is_of_form = scope in scopes_of_form and not {form, parent}.isdisjoint(heading.forms)
            is_of_part = not part or heading.part in (part, "")
            if is_of_form and is_of_part and any(_covers(span, number) for span in heading.spans):
                yield heading.anchor_id


class _Faces:
    """Lines and columns of the forms, by document."""

    def __init__(self, lines: Iterable[LineRecord], documents: Sequence[DocumentRecord]) -> None:
        """Index the lines and the documents that print them."""
        self.lines: dict[str, list[LineRecord]] = defaultdict(list)
        for row in lines:
            if row["kind"] in ("line", "column") and row["anchor_id"] is not None:
                self.lines[row["document_id"]].append(row)
        self.catalogue = Catalogue([row for row in documents if row["document_id"] in self.lines])

    def translate(self, own: Sequence[LineRecord], booklet: Entry, form: str) -> list[tuple[LineRecord, LineRecord]]:
        """Map lines to the corresponding lines in the revision of the form that a booklet explains."""
        face = self.catalogue.find_nearest(form, "form", citing=booklet)
        if face is None:
            return []
        by_canonical_id = {row["canonical_id"]: row for row in self.lines[face[0].document_id]}
        return [(row, by_canonical_id[row["canonical_id"]]) for row in own if row["canonical_id"] in by_canonical_id]


def _read_headings(anchors: Iterable[AnchorRecord], documents: Sequence[DocumentRecord]) -> dict[str, list[Heading]]:
    """Read the headings of the instructions that name lines or columns of a form, in the order of the booklets."""
    forms = {row["document_id"]: row["form"] for row in documents if row["doc_type"] == _BOOKLET}
    anchors_by_id = {row["anchor_id"]: row for row in anchors if row["document_id"] in forms}
    names = {anchor_id: _read_names(row["heading"]) for anchor_id, row in anchors_by_id.items()}
    # Booklets that name lines in the words of their headings; of others, the keys of the headings count.
    naming_booklets = {anchors_by_id[anchor_id]["document_id"] for anchor_id, (spans, _) in names.items() if spans}
    headings: dict[str, list[Heading]] = defaultdict(list)
    current_schedule: dict[str, str] = {}
    in_order = sorted(anchors_by_id.values(), key=lambda row: (row["document_id"], row["element_id"], row["anchor_id"]))
    for row in in_order:
        document_id = row["document_id"]
        if row["kind"] in ("section", "subsection") and (schedule := _read_schedule(row["heading"])) is not None:
            current_schedule[document_id] = schedule
        spans, columns = names[row["anchor_id"]]
        if document_id not in naming_booklets and not columns:
            spans = _read_key(row)
        names_nothing = not spans and not columns
        if names_nothing or not _is_of_form(row, spans, anchors_by_id):
            continue
        headings[document_id].append(
            Heading(
                row["anchor_id"],
                spans,
                columns,
                part=_part_above(row, anchors_by_id),
                schedule=current_schedule.get(document_id, ""),
                forms=split_forms(row["form"] or forms[document_id]),
            )
        )
    return headings


def _read_schedule(heading: str) -> str | None:
    """Return the schedule that a heading opens, in lower case; empty for the form itself, None for neither."""
    schedule = None
    for rule in load_lines().subjects:
        if (match := rule.pattern.search(heading)) is not None:
            schedule = re.sub(r"\s+", " ", match["schedule"] or "").lower()
    return schedule


def _read_names(heading: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Read the ranges of lines and the letters of columns that a heading names."""
    spans: list[tuple[str, str]] = []
    columns: tuple[str, ...] = ()
    for rule in load_lines().explains:
        match = rule.pattern.match(heading)
        if match is None:
            continue
        groups = match.groupdict()
        for piece in _PIECE.finditer(groups.get("keys") or ""):
            key = piece["key"]
            if key.isalpha() and spans:
                key = re.sub(r"[a-z]+$", "", spans[-1][0]) + key
            spans[len(spans) - bool(piece["through"]) :] = [(spans[-1][0] if piece["through"] and spans else key, key)]
        columns = tuple(re.findall(r"\(([a-z])\)", groups.get("columns") or ""))
    return tuple(spans), columns


def _read_key(row: AnchorRecord) -> tuple[tuple[str, str], ...]:
    """Read the lines of a heading from its key, in booklets whose headings begin with bare numbers: `5a. Wages`."""
    match = _KEY.match(row["key"] or "") if row["kind"] == "line" else None
    return ((match["first"], match["last"] or match["first"]),) if match else ()


def _is_of_form(row: AnchorRecord, spans: Sequence[tuple[str, str]], known: Mapping[str, AnchorRecord]) -> bool:
    """Decide whether a heading names lines of the form: neither of a worksheet nor of another form."""
    for above in _headings_above(row, known):
        if load_lines().worksheets.matches(above["heading"]):
            return False
        outer, _ = _read_names(above["heading"])
        if outer and spans:
            return all(any(_covers(span, first) or first.startswith(span[0]) for span in outer) for first, _ in spans)
    return not load_lines().worksheets.matches(row["heading"])


def _headings_above(row: AnchorRecord, known: Mapping[str, AnchorRecord]) -> Iterator[AnchorRecord]:
    above = known.get(row["parent_anchor_id"] or "")
    while above is not None:
        yield above
        above = known.get(above["parent_anchor_id"] or "")


def _part_above(row: AnchorRecord, known: Mapping[str, AnchorRecord]) -> str:
    """Return the part of the form that a heading is under; empty where there is none."""
    parts = (above["key"] for above in _headings_above(row, known) if above["kind"] == "part" and above["key"])
    return str(next(parts, "")).partition("_")[2]


def _explains(heading: Heading, line: LineRecord, keys: Collection[str]) -> bool:
    """Decide whether a heading explains a line; one of a number means its letters where the number is not printed."""
    if heading.part and heading.part != line["part"]:
        return False
    kind, _, key = line["key"].partition("_")
    if kind == "column":
        return not heading.spans and key in heading.columns
    return any(
        _covers(span, key) or (f"line_{span[0]}" not in keys and re.fullmatch(rf"{span[0]}[a-z]+", key))
        for span in heading.spans
    )


def _covers(span: tuple[str, str], key: str) -> bool:
    """Decide whether a range contains a key; a range to 5 contains 5a."""
    if span[0] == span[1]:
        return key == span[0]
    position, low, high = _order(key), _order(span[0]), _order(span[1])
    return (
        position is not None
        and low is not None
        and high is not None
        and (low <= position <= high or (not high[1] and position[0] == high[0]))
    )


def _order(key: str) -> tuple[int, str] | None:
    match = _ORDERED.match(key)
    return (int(match[1]), match[2]) if match is not None else None
