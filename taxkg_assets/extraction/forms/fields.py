"""The table `fields`: every fillable field of a form with its key, its printed label and its place.

A key that the PDF states for a field is used if the page prints that key. Otherwise the key is read from the page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.extraction.forms.box_order import sort_by_rows
from taxkg_assets.extraction.forms.field_labels import add_spoken_words, combine_over, group_by_label, split_label
from taxkg_assets.extraction.forms.label_words import (
    find_part,
)
from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.forms.spoken import find_formula
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.regions import FaceBox
from taxkg_assets.rules.models.form_lines import load_form_lines

Row = Mapping[str, Any]
_HEADINGS = ("part", "section", "subsection")
_NUMBERED = ("line", "box", "column")
# The edges of the fields of one column differ by less than this; the gap between two is at most this many heights.
_SAME_EDGE_PT, _COLUMN_HEIGHTS = 1.0, 3.0


def build_fields(
    stated_fields: Sequence[StatedField],
    *,
    anchors: dy.DataFrame[schemas.Anchors],
    faces: Mapping[int, Sequence[FaceBox]],
    lines: Mapping[int, Sequence[Line]],
    document_id: str,
    is_trusted: bool,
) -> dy.DataFrame[schemas.Fields]:
    """Build one row per fillable field of a form.

    Args:
        stated_fields: Fields of all pages, with what the PDF and the fields' spoken texts state about them.
        anchors: Headings, numbered lines, boxes and columns of the document.
        faces: Boxes of each page.
        lines: Printed lines of each page.
        document_id: Id of the document.
        is_trusted: Whether the keys that the PDF's form template states are reliable.

    Returns:
        One row per (page, field_ix); a face with boxes and no form fields at all has one row per box.
    """
    if not stated_fields and not any(faces.values()):
        return schemas.empty(schemas.Fields)
    printed_form = _PrintedForm(anchors, faces, stated_fields)
    rows: list[dict[str, Any]] = []
    field_counts: dict[int, int] = defaultdict(int)
    for stated_field in stated_fields:
        page = stated_field.field.page
        rows.append(_row_of(stated_field, printed_form, field_ix=field_counts[page], is_trusted=is_trusted))
        field_counts[page] += 1
    _split_labels(rows, [stated_field.spoken.label for stated_field in stated_fields], printed_form, lines)
    _complete_columns(rows)
    if not stated_fields:
        rows = [_row_of_box(box, ix) for boxes in faces.values() for ix, box in enumerate(sort_by_rows(boxes))]
    for row in rows:
        row["document_id"] = document_id
    frame = pl.DataFrame(rows, schema=schemas.dtypes(schemas.Fields)).sort("document_id", "page", "field_ix")
    return schemas.validated(frame, schemas.Fields)


def _split_labels(
    rows: Sequence[dict[str, Any]],
    spoken_labels: Sequence[str],
    printed_form: _PrintedForm,
    lines: Mapping[int, Sequence[Line]],
) -> None:
    """Give each of several fields of a box, or check boxes of a line, its own part of their common label.

    Check boxes that answer a question: the question and the answer ("Are you blind? Yes"). Check boxes of one column:
    the words above all of them, and the words above each. Options: the words before the options, and the option.
    Other fields of a line: the label of the line, and the words of the field's spoken text that the label lacks.

    Args:
        rows: Rows of `fields`; their labels are changed.
        spoken_labels: Label in the spoken text of each field, in the order of the rows.
        printed_form: Headings, lines, boxes and columns of the form.
        lines: Printed lines of each page.
    """
    for field_ixs in group_by_label(rows):
        first_row = rows[field_ixs[0]]
        page, label, column = first_row["page"], first_row["label"], first_row["column"]
        is_box = first_row["key"].startswith("box_") and not column
        if not is_box:
            spoken_differ = len({spoken_labels[ix] for ix in field_ixs} - {""}) > 1
            if spoken_differ and not column:
                add_spoken_words(rows, field_ixs, spoken_labels)
            # The entries of a line or column have their label in common.
            field_ixs = [ix for ix in field_ixs if rows[ix]["kind"] == "checkbox"]
        if len(field_ixs) < 2:
            continue
        bottom = rows[field_ixs[0]]["bbox"]["y1_pt"]
        column_head = printed_form.find(page, f"column_{column}", y=bottom) if column else None
        boxes = [rows[ix]["bbox"] for ix in field_ixs]
        words_over = [_find_words_over(label, box, column_head, lines.get(page, ())) for box in boxes]
        labels = combine_over(label, words_over) or split_label(
            label, [rows[ix] for ix in field_ixs], [spoken_labels[ix] for ix in field_ixs]
        )
        for ix, own_label in zip(field_ixs, labels, strict=True):
            rows[ix]["label"] = own_label


@dataclass(frozen=True, slots=True)
class _Owner:
    """What is printed for a field.

    Attributes:
        key: Key of its line or box; empty for a field in a table or without one.
        source: What the key is from: the form's `template`, or the `layout` of the page.
        anchor: Its printed line; None for none.
        box: Its box on a face; None for none.
    """

    key: str
    source: str
    anchor: Row | None
    box: FaceBox | None


def _find_owner(stated_field: StatedField, printed_form: _PrintedForm, *, is_trusted: bool) -> _Owner:
    """Find the line or box of a field: the one it states, if that is printed, else the one next to it."""
    page, key = stated_field.field.page, stated_field.key
    source = "template" if stated_field.field.is_from_template and is_trusted else "layout"
    anchor = printed_form.find(page, key, y=stated_field.field.y1) if key else None
    box = printed_form.boxes.get((page, key)) if key.startswith("box_") else None
    if anchor is not None or box is not None:
        return _Owner(key, source, anchor, box)
    if key or source == "layout":
        # The stated key is not printed, or the field states none: what is printed near the field decides.
        box = printed_form.find_box(stated_field)
        adjacent_line = printed_form.find_adjacent(stated_field)
        if box is not None:
            return _Owner(box.box_key, "layout", None, box)
        if adjacent_line is not None:
            return _Owner(str(adjacent_line["key"]), "layout", adjacent_line, None)
    # The field may be in a table, and the line that it states not printed.
    return _Owner("" if (page, key) in printed_form.unprinted_keys else key, source, None, None)


def _find_words_over(label: str, field_box: Row, column_head: Row | None, lines: Sequence[Line]) -> str:
    """Find the part of a label that is printed over a check box in the head of its column; empty for none."""
    if column_head is None:
        return ""
    middle_x = (field_box["x0_pt"] + field_box["x1_pt"]) / 2
    room = limits().row_pt
    lines_over = [
        line
        for line in lines
        if line.x0 <= middle_x <= line.x1
        and column_head["bbox"]["y0_pt"] - room <= line.y0
        and line.y1 <= min(column_head["bbox"]["y1_pt"] + room, field_box["y0_pt"] + room)
        and line.text != label
        and find_part(label, line.text) >= 0
    ]
    return max(lines_over, key=lambda line: line.base).text if lines_over else ""


def _complete_columns(rows: Sequence[dict[str, Any]]) -> None:
    """Give the fields of a line, some of which name their columns, the columns of the fields above or below them."""
    column_rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
    columns_by_line: dict[tuple[int, str], set[str]] = defaultdict(set)
    for row in rows:
        if row["column"]:
            column_rows[row["page"]].append(row)
            columns_by_line[row["page"], row["key"]].add(row["column"])
    for row in rows:
        line_columns = columns_by_line[row["page"], row["key"]]
        if not row["key"] or row["column"] or not line_columns:
            continue
        near_columns = _find_near_letters(row["bbox"], column_rows[row["page"]])
        if len(near_columns) == 1 and not near_columns & line_columns:
            (row["column"],) = near_columns
            line_columns.add(row["column"])
            column_rows[row["page"]].append(row)


def _find_near_letters(field_box: Row, column_rows: Sequence[Row]) -> set[str]:
    """Find the columns of the nearest fields right above and right below a place that have its edges."""
    most_gap = _COLUMN_HEIGHTS * (field_box["y1_pt"] - field_box["y0_pt"])
    columns_above: list[tuple[float, str]] = []
    columns_below: list[tuple[float, str]] = []
    for row in column_rows:
        other_box = row["bbox"]
        if max(abs(other_box[edge] - field_box[edge]) for edge in ("x0_pt", "x1_pt")) >= _SAME_EDGE_PT:
            continue
        is_above = other_box["y0_pt"] < field_box["y0_pt"]
        gap = field_box["y0_pt"] - other_box["y1_pt"] if is_above else other_box["y0_pt"] - field_box["y1_pt"]
        if gap <= most_gap:
            (columns_above if is_above else columns_below).append((gap, row["column"]))
    return {min(side)[1] for side in (columns_above, columns_below) if side}


class _PrintedForm:
    """What a form prints.

    Attributes:
        anchors: Row of `anchors` by id.
        anchors_by_key: Rows of numbered lines, boxes and columns by page and key.
        numbers_by_page: The same rows by page.
        headings_by_page: Rows of parts, sections and subsections by page.
        boxes: First box by page and key.
        faces: All boxes by page.
        rows: Left edge of the leftmost field by page and lower edge of the row.
        unprinted_keys: Pages and keys of numbered lines that no page prints, although fields of a table state them.
    """

    def __init__(
        self, anchors: pl.DataFrame, faces: Mapping[int, Sequence[FaceBox]], stated_fields: Sequence[StatedField]
    ) -> None:
        self.anchors: dict[str, Row] = {}
        self.anchors_by_key: dict[tuple[int, str], list[Row]] = defaultdict(list)
        self.numbers_by_page: dict[int, list[Row]] = defaultdict(list)
        self.headings_by_page: dict[int, list[Row]] = defaultdict(list)
        self.boxes: dict[tuple[int, str], FaceBox] = {}
        self.faces = faces
        self.rows: dict[tuple[int, int], float] = {}
        for pdf_field in (stated_field.field for stated_field in stated_fields):
            row_key = pdf_field.page, round(pdf_field.y1)
            self.rows[row_key] = min(pdf_field.x0, self.rows.get(row_key, pdf_field.x0))
        for row in anchors.iter_rows(named=True):
            self.anchors[row["anchor_id"]] = row
            if row["key"] and row["kind"] in _NUMBERED:
                self.anchors_by_key[row["page"], row["key"]].append(row)
                self.numbers_by_page[row["page"]].append(row)
            elif row["kind"] in _HEADINGS:
                self.headings_by_page[row["page"]].append(row)
        for page, boxes in faces.items():
            for box in boxes:
                self.boxes.setdefault((page, box.box_key), box)
        # Fields of a table may state the number of a line that is not printed.
        column_field_keys = {
            (stated_field.field.page, stated_field.key)
            for stated_field in stated_fields
            if stated_field.column and (stated_field.field.page, f"column_{stated_field.column}") in self.anchors_by_key
        }
        self.unprinted_keys = column_field_keys - {*self.anchors_by_key, *self.boxes}

    def find(self, page: int, key: str, *, y: float) -> Row | None:
        """Find the anchor of a key on a page: the last one above a height, else the first."""
        key_anchors = self.anchors_by_key.get((page, key), [])
        anchors_above = [row for row in key_anchors if row["bbox"]["y0_pt"] <= y + limits().field_drop_pt]
        if anchors_above:
            return anchors_above[-1]
        return key_anchors[0] if key_anchors else None

    def find_adjacent(self, stated_field: StatedField) -> Row | None:
        """Find the numbered line printed to the left of a field, in the same row."""
        pdf_field = stated_field.field
        middle = (pdf_field.y0 + pdf_field.y1) / 2
        room = limits().field_drop_pt
        adjacent_lines = [
            row
            for row in self.numbers_by_page.get(pdf_field.page, ())
            if row["kind"] == "line"
            and row["bbox"]["x0_pt"] < pdf_field.x0 + room
            and row["bbox"]["y0_pt"] - room <= middle <= row["bbox"]["y1_pt"] + room
        ]
        return max(adjacent_lines, key=lambda row: (row["bbox"]["x0_pt"], row["bbox"]["y0_pt"]), default=None)

    def find_box(self, stated_field: StatedField) -> FaceBox | None:
        """Return the smallest box of the form that contains the center of a field, or None.

        Args:
            stated_field: The field.
        """
        pdf_field = stated_field.field
        x, y = (pdf_field.x0 + pdf_field.x1) / 2, (pdf_field.y0 + pdf_field.y1) / 2
        enclosing_boxes = [
            face_box
            for face_box in self.faces.get(pdf_field.page, ())
            if face_box.x0 <= x <= face_box.x1 and face_box.y0 <= y <= face_box.y1
        ]
        return min(enclosing_boxes, key=lambda box: (box.x1 - box.x0) * (box.y1 - box.y0), default=None)

    def find_head(self, stated_field: StatedField) -> Row | None:
        """Find the heading next to or above a field that has no number."""
        pdf_field = stated_field.field
        middle = (pdf_field.y0 + pdf_field.y1) / 2
        room = limits().field_drop_pt
        heads_above = [row for row in self.headings_by_page[pdf_field.page] if row["bbox"]["y0_pt"] <= middle + room]
        head = max(heads_above, key=lambda row: row["bbox"]["y0_pt"], default=None)
        # A heading in the margin is that of the rows next to it, but not of a row that begins in the margin itself.
        is_below = head is not None and self.rows[pdf_field.page, round(pdf_field.y1)] <= head["bbox"]["x0_pt"] + room
        return None if head is None or (head["kind"] == "section" and is_below) else head

    def headings_of(self, row: Row | None) -> Iterable[Row]:
        """Return the headings above an anchor, innermost first."""
        while row is not None and row["parent_anchor_id"] is not None:
            row = self.anchors[row["parent_anchor_id"]]
            if row["kind"] in _HEADINGS:
                yield row


def _row_of(
    stated_field: StatedField, printed_form: _PrintedForm, *, field_ix: int, is_trusted: bool
) -> dict[str, Any]:
    """Build the row of a field.

    Args:
        stated_field: The field, with what the PDF and its spoken text state about it.
        printed_form: Headings, lines, boxes and columns of the form.
        field_ix: Number of the field on its page, from 0.
        is_trusted: Whether the keys that the PDF's form template states are reliable.
    """
    pdf_field, page = stated_field.field, stated_field.field.page
    owner = _find_owner(stated_field, printed_form, is_trusted=is_trusted)
    column_head = None
    if stated_field.column:
        column_head = printed_form.find(page, f"column_{stated_field.column}", y=pdf_field.y1)
    nearest_anchor = owner.anchor or column_head
    headings = list(printed_form.headings_of(nearest_anchor))
    if not headings and not owner.key and (heading_above := printed_form.find_head(stated_field)) is not None:
        headings = [heading_above, *printed_form.headings_of(heading_above)]
    parts = [str(heading["key"]).partition("_")[2] for heading in headings if heading["kind"] == "part"]
    label = _label_of(stated_field, owner.anchor, owner.box, column_head)
    column, row_name = _place_in_table(stated_field)
    return {
        "page": page,
        "field_ix": field_ix,
        "name": pdf_field.name,
        "kind": pdf_field.kind,
        "copy": stated_field.copy,
        "part": parts[0] if parts else stated_field.part,
        "section": str(headings[0]["heading"]) if headings else stated_field.section,
        "key": owner.key,
        "column": column,
        "row": row_name,
        "label": label,
        "spoken": pdf_field.spoken,
        "formula": find_formula(f"{label}.") or stated_field.spoken.formula,
        "source": owner.source,
        "anchor_id": nearest_anchor["anchor_id"] if nearest_anchor is not None else None,
        "bbox": {"x0_pt": pdf_field.x0, "y0_pt": pdf_field.y0, "x1_pt": pdf_field.x1, "y1_pt": pdf_field.y1},
    }


def _label_of(stated_field: StatedField, anchor: Row | None, box: FaceBox | None, column_head: Row | None) -> str:
    """Return the printed label of a field's line, box or column; else its caption, else its spoken text."""
    if box is not None and box.label:
        return box.label
    # In a table, the column says more of a field than the line.
    for row in (column_head, anchor) if stated_field.row else (anchor, column_head):
        if row is not None and any(map(str.isalpha, row["heading"])) and not _is_number(row):
            return str(row["heading"])
    if any(map(str.isalpha, stated_field.field.caption)):
        return stated_field.field.caption
    return _label_of_row(stated_field) or stated_field.spoken.label or stated_field.spoken.head


def _place_in_table(stated_field: StatedField) -> tuple[str, str]:
    """Return the column and the row of a field; rows numbered like columns, over entries, count for the columns."""
    number_match = load_form_lines().column_numbers.column_number.pattern.match(stated_field.row)
    if number_match is None or not stated_field.spoken.entry:
        return stated_field.column, stated_field.row
    return f"{number_match['letter']}{stated_field.column}", stated_field.spoken.entry


def _label_of_row(stated_field: StatedField) -> str:
    """Return the label of a field in a table whose rows are numbered like columns, and whose columns are entries."""
    number_match = load_form_lines().column_numbers.column_number.pattern.match(stated_field.row)
    if number_match is None:
        return ""
    words = stated_field.row[number_match.end() :].removesuffix(f". {stated_field.spoken.entry}")
    return f"{words} {stated_field.spoken.label or stated_field.spoken.head}".strip()


def _is_number(row: Row) -> bool:
    """Decide whether nothing but its number is printed for a line."""
    return str(row["key"]).partition("_")[2].endswith(str(row["heading"]).strip("() "))


def _row_of_box(box: FaceBox, ix: int) -> dict[str, Any]:
    """Build the row of a box on a face without form fields, which is filled in by hand or by a printer."""
    return {
        "page": box.page,
        "field_ix": ix,
        "name": box.box_key,
        "kind": "text",
        "copy": "",
        "part": "",
        "section": "",
        "key": box.box_key,
        "column": "",
        "row": "",
        "label": box.label,
        "spoken": "",
        "formula": "",
        "source": "layout",
        "anchor_id": None,
        "bbox": {"x0_pt": box.x0, "y0_pt": box.y0, "x1_pt": box.x1, "y1_pt": box.y1},
    }
