"""The table `fields`: every fillable field of a form with its key, its printed label and its place.

What a field states about itself is used as far as the page prints it: a key that is not printed there is read from the
page instead.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.extraction.forms.box_order import sort_by_rows
from taxkg_assets.extraction.forms.margin_labels import limits
from taxkg_assets.extraction.forms.option_labels import add_words, find_distinct_labels, find_option_labels
from taxkg_assets.extraction.forms.spoken import find_formula
from taxkg_assets.extraction.forms.stated_fields import StatedField
from taxkg_assets.extraction.layout.lines import Line
from taxkg_assets.extraction.layout.regions import FaceBox
from taxkg_assets.rules.models.form_lines import load_form_lines
from taxkg_assets.rules.models.spoken import load_spoken

Row = Mapping[str, Any]
_HEADINGS = ("part", "section", "subsection")
_NUMBERED = ("line", "box", "column")
# Fields of one column have the same edges up to this, and are at most this number of their heights apart.
_SAME_EDGE_PT, _COLUMN_HEIGHTS = 1.0, 3.0


def build_fields(
    stated: Sequence[StatedField],
    *,
    anchors: dy.DataFrame[schemas.Anchors],
    faces: Mapping[int, Sequence[FaceBox]],
    lines: Mapping[int, Sequence[Line]],
    document_id: str,
    is_trusted: bool,
) -> dy.DataFrame[schemas.Fields]:
    """Build one row per fillable field of a form.

    Args:
        stated: Fields of its pages with the information in their spoken texts.
        anchors: The headings of the document.
        faces: The boxes of each page.
        lines: The printed lines of each page.
        document_id: Id of the document.
        is_trusted: Whether the template is reliable.

    Returns:
        One row per (page, field_ix); a face with boxes and no form fields at all has one row per box.
    """
    print_ = _PrintedForm(anchors, faces, stated)
    rows: list[dict[str, Any]] = []
    counts: dict[int, int] = defaultdict(int)
    for one in stated:
        page = one.field.page
        rows.append(_row_of(one, print_, field_ix=counts[page], is_trusted=is_trusted))
        counts[page] += 1
    _split_labels(rows, [one.spoken.label for one in stated], print_, lines)
    _complete_columns(rows)
    if not stated:
        rows = [_row_of_box(box, ix) for boxes in faces.values() for ix, box in enumerate(sort_by_rows(boxes))]
    for row in rows:
        row["document_id"] = document_id
    frame = pl.DataFrame(rows, schema=schemas.dtypes(schemas.Fields)).sort("document_id", "page", "field_ix")
    return schemas.validated(frame, schemas.Fields)


def _split_labels(
    rows: Sequence[dict[str, Any]],
    spoken: Sequence[str],
    print_: _PrintedForm,
    lines: Mapping[int, Sequence[Line]],
) -> None:
    """Assign to each of several fields of a box, or check boxes of a line, the part of the label that it states.

    Check boxes that answer a question keep the question and add their answer; those of one column keep what heads
    all of them and add what is printed over each; options keep the words before them. Other fields of a line keep
    its label and add the words that it does not print with its number.
    """
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for ix, row in enumerate(rows):
        if row["key"] or row["column"]:
            # The lines of a box have one label.
            place = row["column"], "" if row["key"].startswith("box_") else row["row"]
            groups[row["page"], row["copy"], row["key"], *place, row["label"]].append(ix)
    for (page, _, key, column, _, label), of_label in groups.items():
        indices = of_label
        if not key.startswith("box_") or column:
            if not column and len({spoken[ix] for ix in of_label} - {""}) > 1:
                for ix in (ix for ix in of_label if rows[ix]["kind"] != "checkbox"):
                    rows[ix]["label"] = add_words(label, spoken[ix])
            indices = [ix for ix in of_label if rows[ix]["kind"] == "checkbox"]
        if len(indices) < 2:
            continue
        head = print_.find(page, f"column_{column}", y=rows[indices[0]]["bbox"]["y1_pt"]) if column else None
        over = [_find_words_over(label, rows[ix]["bbox"], head, lines.get(page, ())) for ix in indices]
        if all(over) and len(set(over)) > 1 and (rest := _without_parts(label, {*over})) is not None:
            for ix, part in zip(indices, over, strict=True):
                rows[ix]["label"] = " ".join(f"{rest} {part}".split())
            continue
        parts = [_find_words(label, spoken[ix]) for ix in indices]
        answers = [_find_answer(rows[ix]["spoken"]) for ix in indices]
        said = [spoken[ix] for ix in indices]
        has_checks_alone = all(rows[ix]["kind"] == "checkbox" for ix in indices)
        options = find_option_labels(label, said) if has_checks_alone else []
        if all(answers) and len(set(answers)) > 1:
            _set_labels(rows, indices, [f"{_find_question(label)} {answer}" for answer in answers])
        elif options:
            _set_labels(rows, indices, options)
        elif all(parts) and len(set(parts)) == len(indices):
            _set_labels(rows, indices, parts)
        elif has_checks_alone:
            _set_labels(rows, indices, find_distinct_labels(said) or [label] * len(indices))
        else:
            own = [_find_own_words(label, spoken[ix], key=rows[ix]["key"]) or label for ix in indices]
            _set_labels(rows, indices, own)


def _set_labels(rows: Sequence[dict[str, Any]], indices: Sequence[int], labels: Sequence[str]) -> None:
    for ix, label in zip(indices, labels, strict=True):
        rows[ix]["label"] = label


def _find_words_over(label: str, place: Row, head: Row | None, lines: Sequence[Line]) -> str:
    """Find the part of a label that is printed over a check box in the head of its column; empty for none."""
    if head is None:
        return ""
    middle, room = (place["x0_pt"] + place["x1_pt"]) / 2, limits().row_pt
    over = [
        line
        for line in lines
        if line.x0 <= middle <= line.x1
        and head["bbox"]["y0_pt"] - room <= line.y0
        and line.y1 <= min(head["bbox"]["y1_pt"] + room, place["y0_pt"] + room)
        and line.text != label
        and _find_part(label, line.text) >= 0
    ]
    return max(over, key=lambda line: line.base).text if over else ""


def _without_parts(label: str, parts: set[str]) -> str | None:
    """Take the last of each of some whole words out of a label, the longest first; None if one is not in the rest."""
    for part in sorted(parts, key=lambda part: (-len(part), part)):
        at = _find_part(label, part)
        if at < 0:
            return None
        label = f"{label[:at]} {label[at + len(part) :]}"
    return label


def _find_part(label: str, part: str) -> int:
    """Return where whole words are in a label for the last time; −1 if they are not."""
    found = list(re.finditer(rf"(?<!\w){re.escape(part)}(?!\w)", label))
    return found[-1].start() if found else -1


def _find_own_words(label: str, spoken: str, *, key: str) -> str:
    """Find what a field of a box says in addition to the label of all its fields: in printed words, else as spoken."""
    whole = _letters_of(label)
    said = [part.strip(" .") for part in spoken.split(". ")]
    own = [
        part
        for part in said
        if part[:1].isupper() and not _letters_of(part).startswith(whole) and _letters_of(part) != _letters_of(key)
    ]
    printed = (_find_words(label, part) or _find_most_words(label, part) for part in own)
    return next(filter(None, printed), "") or next(iter(own), "")


def _find_most_words(label: str, spoken: str) -> str:
    """Find the printed words from the first to the last spoken one, if they are no more, and most of them are spoken.

    An abbreviation may be spoken as one word or several.
    """
    printed, wanted = label.split(), [_letters_of(word) for word in spoken.split()]
    letters = [_letters_of(word) for word in printed]
    if len(wanted) < 2 or wanted[0] not in letters:
        return ""
    start = letters.index(wanted[0])
    if wanted[-1] not in letters[start + 1 :]:
        return ""
    end = letters.index(wanted[-1], start + 1) + 1
    common = sum(word in wanted for word in letters[start:end])
    return " ".join(printed[start:end]) if end - start <= len(wanted) < 2 * common else ""


def _letters_of(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _find_answer(spoken: str) -> str:
    """Return the answer that a spoken text gives to its question, `Yes` or `No`; empty if it gives none."""
    match = _match_answer(spoken)
    return match["answer"] if match is not None else ""


def _find_question(label: str) -> str:
    """Return the question of a label that also prints the answers; a label that begins with an answer stays whole."""
    match = _match_answer(label)
    return (label[: match.start()].rstrip() if match is not None else "") or label


def _match_answer(text: str) -> re.Match[str] | None:
    return next((found for rule in load_spoken().answers if (found := rule.pattern.search(text)) is not None), None)


def _complete_columns(rows: Sequence[dict[str, Any]]) -> None:
    """Give the fields of a line, some of which name their columns, the columns of the fields above or below them."""
    lettered: dict[int, list[dict[str, Any]]] = defaultdict(list)
    named: dict[tuple[int, str], set[str]] = defaultdict(set)
    for row in rows:
        if row["column"]:
            lettered[row["page"]].append(row)
            named[row["page"], row["key"]].add(row["column"])
    for row in rows:
        of_line = named[row["page"], row["key"]]
        if not row["key"] or row["column"] or not of_line:
            continue
        letters = _find_near_letters(row["bbox"], lettered[row["page"]])
        if len(letters) == 1 and not letters & of_line:
            (row["column"],) = letters
            of_line.add(row["column"])
            lettered[row["page"]].append(row)


def _find_near_letters(place: Row, lettered: Sequence[Row]) -> set[str]:
    """Find the columns of the nearest fields right above and right below a place that have its edges."""
    reach = _COLUMN_HEIGHTS * (place["y1_pt"] - place["y0_pt"])
    above: list[tuple[float, str]] = []
    below: list[tuple[float, str]] = []
    for row in lettered:
        other = row["bbox"]
        if max(abs(other[edge] - place[edge]) for edge in ("x0_pt", "x1_pt")) >= _SAME_EDGE_PT:
            continue
        is_above = other["y0_pt"] < place["y0_pt"]
        gap = place["y0_pt"] - other["y1_pt"] if is_above else other["y0_pt"] - place["y1_pt"]
        if gap <= reach:
            (above if is_above else below).append((gap, row["column"]))
    return {min(side)[1] for side in (above, below) if side}


def _find_words(label: str, spoken: str) -> str:
    """Find the whole printed words of a label that are spoken, whatever their blanks and signs; empty if not there."""
    places = [ix for ix, letter in enumerate(label) if letter.isalnum()]
    letters = "".join(label[ix].casefold() for ix in places)
    wanted = "".join(letter.casefold() for letter in spoken if letter.isalnum())
    at = letters.find(wanted) if wanted else -1
    while at >= 0:
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if not (label[:start][-1:].isalnum() or label[end:][:1].isalnum()):
            found = label[start:end]
            is_open = found.count("(") > found.count(")")
            return found + ")" if is_open and label[end:].startswith(")") else found
        at = letters.find(wanted, at + 1)
    return ""


class _PrintedForm:
    """What a form prints: its numbered lines, boxes and columns by page and key, with their headings."""

    def __init__(
        self, anchors: pl.DataFrame, faces: Mapping[int, Sequence[FaceBox]], stated: Sequence[StatedField]
    ) -> None:
        self.anchors: dict[str, Row] = {}
        self.by_key: dict[tuple[int, str], list[Row]] = defaultdict(list)
        self.on_page: dict[int, list[Row]] = defaultdict(list)
        self.heads: dict[int, list[Row]] = defaultdict(list)
        self.boxes: dict[tuple[int, str], FaceBox] = {}
        self.faces = faces
        self.rows: dict[tuple[int, int], float] = {}
        for place in (one.field for one in stated):
            row_of = place.page, round(place.y1)
            self.rows[row_of] = min(place.x0, self.rows.get(row_of, place.x0))
        for row in anchors.iter_rows(named=True):
            self.anchors[row["anchor_id"]] = row
            if row["key"] and row["kind"] in _NUMBERED:
                self.by_key[row["page"], row["key"]].append(row)
                self.on_page[row["page"]].append(row)
            elif row["kind"] in _HEADINGS:
                self.heads[row["page"]].append(row)
        for page, boxes in faces.items():
            for box in boxes:
                self.boxes.setdefault((page, box.box_key), box)
        # Numbers that are not printed, which fields of printed columns say that they are in.
        in_columns = {
            (one.field.page, one.key)
            for one in stated
            if one.column and (one.field.page, f"column_{one.column}") in self.by_key
        }
        self.misstated = in_columns - {*self.by_key, *self.boxes}

    def find(self, page: int, key: str, *, y: float) -> Row | None:
        """Find the anchor of a key on a page: the last one above a height, else the first."""
        found = self.by_key.get((page, key), [])
        above = [row for row in found if row["bbox"]["y0_pt"] <= y + limits().field_drop_pt]
        return above[-1] if above else found[0] if found else None

    def find_adjacent(self, one: StatedField) -> Row | None:
        """Find the numbered line printed to the left of a field, in the same row."""
        place = one.field
        middle = (place.y0 + place.y1) / 2
        room = limits().field_drop_pt
        adjacent = [
            row
            for row in self.on_page.get(place.page, ())
            if row["kind"] == "line"
            and row["bbox"]["x0_pt"] < place.x0 + room
            and row["bbox"]["y0_pt"] - room <= middle <= row["bbox"]["y1_pt"] + room
        ]
        return max(adjacent, key=lambda row: (row["bbox"]["x0_pt"], row["bbox"]["y0_pt"]), default=None)

    def find_box(self, one: StatedField) -> FaceBox | None:
        """Return the smallest box of the form that contains the center of a field, or None.

        Args:
            one: The field.
        """
        place = one.field
        x, y = (place.x0 + place.x1) / 2, (place.y0 + place.y1) / 2
        enclosing = [b for b in self.faces.get(place.page, ()) if b.x0 <= x <= b.x1 and b.y0 <= y <= b.y1]
        return min(enclosing, key=lambda box: (box.x1 - box.x0) * (box.y1 - box.y0), default=None)

    def find_head(self, one: StatedField) -> Row | None:
        """Find the heading next to or above a field that has no number."""
        place = one.field
        middle, room = (place.y0 + place.y1) / 2, limits().field_drop_pt
        above = [row for row in self.heads[place.page] if row["bbox"]["y0_pt"] <= middle + room]
        head = max(above, key=lambda row: row["bbox"]["y0_pt"], default=None)
        # What is in the margin heads the rows next to it, and none that begins in the margin itself.
        is_below = head is not None and self.rows[place.page, round(place.y1)] <= head["bbox"]["x0_pt"] + room
        return None if head is None or (head["kind"] == "section" and is_below) else head

    def headings_of(self, row: Row | None) -> Iterable[Row]:
        """Return the headings above an anchor, innermost first."""
        while row is not None and row["parent_anchor_id"] is not None:
            row = self.anchors[row["parent_anchor_id"]]
            if row["kind"] in _HEADINGS:
                yield row


def _row_of(one: StatedField, print_: _PrintedForm, *, field_ix: int, is_trusted: bool) -> dict[str, Any]:
    place, page = one.field, one.field.page
    key, source = (one.key, "template") if place.is_from_template and is_trusted else (one.key, "layout")
    anchor = print_.find(page, key, y=place.y1) if key else None
    box = print_.boxes.get((page, key)) if key.startswith("box_") else None
    if (anchor is None and box is None) and (key or source == "layout"):
        # Nothing is printed under what it is said to be, or it says nothing: the page decides.
        box, adjacent = print_.find_box(one), print_.find_adjacent(one)
        anchor = None if box is not None else adjacent
        if box is not None or anchor is not None:
            source = "layout"
            key = box.box_key if box is not None else str(anchor["key"]) if anchor is not None else key
    head = print_.find(page, f"column_{one.column}", y=place.y1) if one.column else None
    if anchor is None and box is None and (page, key) in print_.misstated:
        # It is in a table, and the line that it is said to be in is not printed.
        key = ""
    label = _label_of(one, anchor, box, head)
    column, row_name = _place_in_table(one)
    headings = list(print_.headings_of(anchor or head))
    if not headings and not key and (above := print_.find_head(one)) is not None:
        headings = [above, *print_.headings_of(above)]
    part = next((str(row["key"]).partition("_")[2] for row in headings if row["kind"] == "part"), one.part)
    return {
        "page": page,
        "field_ix": field_ix,
        "name": place.name,
        "kind": place.kind,
        "copy": one.copy,
        "part": part,
        "section": str(headings[0]["heading"]) if headings else one.section,
        "key": key,
        "column": column,
        "row": row_name,
        "label": label,
        "spoken": place.spoken,
        "formula": find_formula(f"{label}.") or one.spoken.formula,
        "source": source,
        "anchor_id": anchor["anchor_id"] if anchor is not None else head["anchor_id"] if head is not None else None,
        "bbox": {"x0_pt": place.x0, "y0_pt": place.y0, "x1_pt": place.x1, "y1_pt": place.y1},
    }


def _label_of(one: StatedField, anchor: Row | None, box: FaceBox | None, head: Row | None) -> str:
    """Return the printed label of a field's line, box or column; else its caption, else its spoken text."""
    if box is not None and box.label:
        return box.label
    for row in (head, anchor) if one.row else (anchor, head):
        if row is not None and any(map(str.isalpha, row["heading"])) and not _is_number(row):
            return str(row["heading"])
    if any(map(str.isalpha, one.field.caption)):
        return one.field.caption
    return _label_of_row(one) or one.spoken.label or one.spoken.head


def _place_in_table(one: StatedField) -> tuple[str, str]:
    """Return the column and the row of a field; rows numbered like columns, over entries, count for the columns."""
    number = load_form_lines().column_numbers.column_number.pattern.match(one.row)
    if number is None or not one.spoken.entry:
        return one.column, one.row
    return f"{number['letter']}{one.column}", one.spoken.entry


def _label_of_row(one: StatedField) -> str:
    """Return the label of a field in a table whose rows are numbered like columns, and whose columns are entries."""
    number = load_form_lines().column_numbers.column_number.pattern.match(one.row)
    if number is None:
        return ""
    words = one.row[number.end() :].removesuffix(f". {one.spoken.entry}")
    return f"{words} {one.spoken.label or one.spoken.head}".strip()


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
