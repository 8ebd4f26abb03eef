"""The table `lines`: every numbered field of a form, once for all its copies, with one identity over the revisions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.graph.line_history import LineId, assign_stable_ids, find_histories, id_of
from taxkg_assets.records import AnchorRecord, DocumentRecord, FaceRecord, FieldRecord, LineRecord, iter_records

_NUMBERED = ("box", "line", "column")
_LINE_KEY = re.compile(r"^line_(\d*)([a-z]*)$")
# Heads of one table are no farther below each other than a row.
_ROW_PT = 12.0
# Tops of boxes of one printed row differ by less.
_SAME_TOP_PT = 1.5


def build_lines(
    fields: dy.DataFrame[schemas.Fields],
    anchors: dy.DataFrame[schemas.Anchors],
    *,
    faces: dy.DataFrame[schemas.Faces],
    documents: dy.DataFrame[schemas.Documents],
) -> dy.DataFrame[schemas.Lines]:
    """Build one row per numbered line of a form revision, with its label, copies, entries and history.

    Args:
        fields: Fillable fields of the forms.
        anchors: Headings, among them numbered lines that nothing is filled in for, and columns.
        faces: Boxes of information returns, also those without a field.
        documents: Forms and revisions.

    Returns:
        One row per (document_id, part, key).
    """
    of_forms = documents.filter(pl.col("doc_type") == "form")
    forms = {row["document_id"]: row for row in iter_records(of_forms, DocumentRecord)}
    boxes = {(row["document_id"], "", row["box_key"]): row for row in iter_records(faces, FaceRecord)}
    entries: dict[LineId, list[FieldRecord]] = {}
    numbered = fields.filter(pl.col("key") != "").sort("document_id", "page", "field_ix")
    for field in iter_records(numbered, FieldRecord):
        if field["document_id"] in forms:
            entries.setdefault(id_of(field), []).append(field)
    printed = _printed_lines(anchors, forms, entries=entries)
    rows = [
        _row_of(
            line_key,
            forms[line_key[0]],
            entries=entries.get(line_key, []),
            anchor=printed.get(line_key),
            face=boxes.get(line_key),
        )
        for line_key in {**entries, **printed, **_unfilled(boxes, entries, forms)}
    ]
    rows = _drop_options(rows, printed)
    _count(rows)
    drafts = {name for name, row in forms.items() if row["is_draft"]}
    past = find_histories(rows, drafts=drafts)
    for row in rows:
        row["history"] = past[id_of(row)]
    identities = assign_stable_ids(rows)
    for row in rows:
        row["canonical_id"] = identities[id_of(row)]
    frame = pl.DataFrame(rows, schema=schemas.dtypes(schemas.Lines)).sort("document_id", "part", "key")
    return schemas.validated(frame, schemas.Lines)


def find_doubled_lines(lines: dy.DataFrame[schemas.Lines]) -> pl.DataFrame:
    """Return the lines that have the identity of an earlier line of the same revision.

    Args:
        lines: Registered lines.

    Returns:
        `document_id`, `part`, `key` and `canonical_id`.
    """
    is_later = ~pl.struct("document_id", "canonical_id").is_first_distinct()
    return lines.sort("document_id", "line_ix").filter(is_later).select("document_id", "part", "key", "canonical_id")


def find_unregistered_fields(lines: dy.DataFrame[schemas.Lines], fields: dy.DataFrame[schemas.Fields]) -> pl.DataFrame:
    """Return the numbered fields that belong to no line.

    A field without a letter (`5`) is not returned if there are lines `5a`, `5b`: it may be an option of another line.

    Args:
        lines: Registered lines.
        fields: Fields that they were made from.

    Returns:
        `document_id`, `part` and `key`, without repetitions.
    """
    key = ["document_id", "part", "key"]
    unmatched = fields.filter(pl.col("key") != "").join(lines, on=key, how="anti").select(key).unique()
    lettered = lines.select("document_id", "part", key=pl.col("key").str.extract(r"^(line_\d+)[a-z]+$", 1)).unique()
    return unmatched.join(lettered, on=key, how="anti").sort(key)


def _printed_lines(
    anchors: pl.DataFrame, forms: Collection[str], *, entries: Mapping[LineId, Sequence[FieldRecord]]
) -> dict[LineId, AnchorRecord]:
    """Collect the numbered headings of the forms themselves: the first of each part and key on a page of its fields."""
    anchors_by_id = {row["anchor_id"]: row for row in iter_records(anchors, AnchorRecord)}
    printed_lines: dict[LineId, list[AnchorRecord]] = {}
    for row in anchors_by_id.values():
        is_numbered = row["kind"] in _NUMBERED and row["perspective"] == "face"
        if is_numbered and row["key"] and row["document_id"] in forms:
            printed_lines.setdefault((row["document_id"], _part_of(row, anchors_by_id), row["key"]), []).append(row)
    pages = {line_key: {row["page"] for row in of_line} for line_key, of_line in entries.items()}
    return {
        line_key: next((row for row in printed if row["page"] in pages.get(line_key, ())), printed[0])
        for line_key, printed in printed_lines.items()
    }


def _drop_options(rows: Iterable[LineRecord], printed: Mapping[LineId, AnchorRecord]) -> list[LineRecord]:
    """Leave out the numbers and letters of check boxes within a line.

    The heading of lines 1a to 1z is printed above them: a 1 below them and below line 4 is a choice of line 4. A letter
    alone that nothing is filled in for is a choice, too.
    """
    places: dict[tuple[str, str], list[tuple[int, str, tuple[int, float]]]] = {}
    for (document_id, part, key), row in printed.items():
        match = _LINE_KEY.match(key)
        if match is not None and match[1]:
            of_part = places.setdefault((document_id, part), [])
            of_part.append((int(match[1]), match[2], (row["page"], row["bbox"]["y0_pt"])))
    return [row for row in rows if not _is_option(row, places)]


def _is_option(row: LineRecord, places: Mapping[tuple[str, str], Sequence[tuple[int, str, tuple[int, float]]]]) -> bool:
    match = _LINE_KEY.match(row["key"])
    if match is None or (match[2] and match[1]):
        return False
    if not match[1]:
        return not row["field_count"]
    number = int(match[1])
    of_part = places.get((row["document_id"], row["part"]), ())
    line_place = next((place for other, letters, place in of_part if other == number and not letters), None)
    if line_place is None:
        return False
    lettered = [place for other, letters, place in of_part if other == number and letters and place[0] == line_place[0]]
    later = [place for other, _, place in of_part if other > number and place[0] == line_place[0]]
    return bool(lettered and later) and line_place > max(lettered) and line_place > min(later)


def _part_of(row: AnchorRecord, known: Mapping[str, AnchorRecord]) -> str:
    """Return the number of the part above a heading; empty where there is none."""
    for above in _headings_above(row, known):
        if above["kind"] == "part":
            return str(above["key"]).partition("_")[2]
    return ""


def _headings_above(row: AnchorRecord, known: Mapping[str, AnchorRecord]) -> Iterator[AnchorRecord]:
    while row["parent_anchor_id"] is not None:
        row = known[row["parent_anchor_id"]]
        yield row


def _unfilled(
    boxes: Mapping[LineId, FaceRecord], entries: Iterable[LineId], forms: Collection[str]
) -> dict[LineId, FaceRecord]:
    """Keep the boxes of a face that have no field anywhere on it."""
    filled = {(document_id, key) for document_id, _, key in entries}
    return {box_id: row for box_id, row in boxes.items() if box_id[0] in forms and (box_id[0], box_id[2]) not in filled}


def _row_of(
    own: LineId,
    document: DocumentRecord,
    *,
    entries: Sequence[FieldRecord],
    anchor: AnchorRecord | None,
    face: FaceRecord | None,
) -> LineRecord:
    """Return a line; its place among the others, its past and its identity follow from all lines together."""
    document_id, part, key = own
    place = entries[0] if entries else anchor or face
    assert place is not None
    section = next((row["section"] for row in entries if row["section"]), "")
    return {
        "document_id": document_id,
        "part": part,
        "key": key,
        "form": document["form"],
        "revision": document["revision"],
        "kind": key.partition("_")[0],
        "section": section,
        "label": _label_of(key, entries, anchor=anchor, face=face),
        "column_letters": sorted({row["column"] for row in entries if row["column"]}),
        "copies": list(dict.fromkeys(row["copy"] for row in entries if row["copy"])),
        "entries": sorted({row["kind"] for row in entries}),
        "field_count": len(entries),
        "anchor_id": anchor["anchor_id"] if anchor is not None else None,
        "page": place["page"],
        "bbox": place["bbox"],
        "line_ix": 0,
        "history": [],
        "canonical_id": "",
    }


def _label_of(key: str, entries: Sequence[FieldRecord], *, anchor: AnchorRecord | None, face: FaceRecord | None) -> str:
    """Return the printed label: of the face, the heading, or a field that is not named after its column."""
    if face is not None:
        return face["label"]
    number = key.partition("_")[2]
    printed = [anchor["heading"]] if anchor is not None else []
    labels = [row["label"] for row in entries if not row["column"]]
    return next(
        (
            text
            for text in (*printed, *labels)
            if any(map(str.isalpha, text)) and not number.endswith(text.strip("() "))
        ),
        "",
    )


def _count(rows: list[LineRecord]) -> None:
    """Number the lines of each document by page from the top, boxes of one row and heads of columns from the left."""
    rows.sort(key=lambda row: (row["document_id"], row["page"], row["bbox"]["y0_pt"], row["bbox"]["x0_pt"], row["key"]))
    pages = groupby(rows, key=lambda row: (row["document_id"], row["page"]))
    rows[:] = [row for _, page in pages for row in _by_row(page)]
    runs = groupby(rows, key=lambda row: (row["document_id"], row["page"], row["part"], row["kind"] == "column"))
    rows[:] = [row for (*_, are_columns), run in runs for row in (_by_table(run) if are_columns else run)]
    counts: dict[str, int] = {}
    for row in rows:
        row["line_ix"] = counts.get(row["document_id"], 0)
        counts[row["document_id"]] = row["line_ix"] + 1


def _by_row(lines: Iterable[LineRecord]) -> Iterator[LineRecord]:
    """Yield the lines of a page, given from the top; where tops are as good as one, boxes from left to right.

    Lines of one number are in one row in the order of their letters.
    """
    row: list[LineRecord] = []
    for line in lines:
        is_next = bool(row) and line["bbox"]["y0_pt"] <= row[0]["bbox"]["y0_pt"] + _SAME_TOP_PT
        if not (is_next and _group_of(line) == _group_of(row[0])):
            yield from sorted(row, key=_order_in_row)
            row.clear()
        row.append(line)
    yield from sorted(row, key=_order_in_row)


def _group_of(line: LineRecord) -> str:
    """Return what lines of one row must share to be ordered: the kind of a box, the number of a line."""
    match = _LINE_KEY.match(line["key"])
    return line["kind"] if match is None else f"line {match[1]}"


def _order_in_row(line: LineRecord) -> tuple[str, float]:
    """Return a sort key within a row."""
    return (line["key"], 0.0) if line["kind"] == "line" else ("", line["bbox"]["x0_pt"])


def _by_table(heads: Iterable[LineRecord]) -> Iterator[LineRecord]:
    """Yield heads of columns, given from the top, from left to right; one below all before it is of another table."""
    table: list[LineRecord] = []
    bottom = 0.0
    for row in heads:
        if table and row["bbox"]["y0_pt"] > bottom + _ROW_PT:
            yield from sorted(table, key=lambda row: row["bbox"]["x0_pt"])
            table.clear()
        table.append(row)
        bottom = max(bottom, row["bbox"]["y1_pt"])
    yield from sorted(table, key=lambda row: row["bbox"]["x0_pt"])
