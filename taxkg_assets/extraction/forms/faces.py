"""Boxes printed on the face of an information return: keyed ruled cells, their labels and form fields.

All information returns are read in one way: a key at the start of a closed cell, the label after the key. Returns,
schedules, instructions and publications have no such cells, and no boxes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any, Protocol

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.extraction.keys import expand_members
from taxkg_assets.extraction.layout.regions import FaceBox
from taxkg_assets.extraction.layout.ruling import Ruling, merge_rules
from taxkg_assets.extraction.pdf.model import Page, Source, Span, Widget
from taxkg_assets.rules.models.faces import load_faces
from taxkg_assets.rules.models.tables import load_tables


class FormIdentity(Protocol):
    """Form, type and revision of a document, as printed on its pages."""

    @property
    def form(self) -> str:
        """Form, such as "1099-DIV"; empty where none is known."""

    @property
    def doc_type(self) -> str:
        """Type of the document, such as `form` or `filer_instructions`."""

    @property
    def revision(self) -> str:
        """Revision as printed, such as "2024-01"; empty where none is known."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A span that may print the key of a box, or the keys of several boxes.

    Attributes:
        key: Key as printed: "12a–12d".
        members: Keys of the single boxes: "12a", "12b", "12c", "12d".
        rest: Text of the label in the same span.
        span: The span.
    """

    key: str
    members: tuple[str, ...]
    rest: str
    span: Span


@dataclass(frozen=True, slots=True)
class _Cell:
    """The ruled cell around a key, in points from the top left of the page."""

    key: _Key
    x0: float
    y0: float
    x1: float
    y1: float


def build_faces(
    source: Source, *, identity: FormIdentity, face_boxes: Mapping[int, Sequence[FaceBox]] | None = None
) -> dy.DataFrame[schemas.Faces]:
    """Build one row per box of a form, from the first copy that prints the box with a label.

    Args:
        source: The document's pages.
        identity: Form and revision; only documents of type `form` have a face.
        face_boxes: Result of `find_faces`; None to find the boxes here.

    Returns:
        One row per (document_id, box_key); none for documents without a face of boxes.
    """
    best_boxes: dict[str, FaceBox] = {}
    faces = face_boxes if face_boxes is not None else find_faces(source, identity=identity)
    for page in source.pages:
        for box in faces[page.page]:
            best_box = best_boxes.get(box.box_key)
            if best_box is None or (best_box.is_unlabelled and not box.is_unlabelled):
                best_boxes[box.box_key] = box
    if not best_boxes:
        return schemas.empty(schemas.Faces)
    rows = [_row(source, identity, box) for _, box in sorted(best_boxes.items())]
    frame = pl.DataFrame(rows, schema=schemas.dtypes(schemas.Faces))
    return schemas.validated(frame, schemas.Faces)


def find_faces(source: Source, *, identity: FormIdentity) -> dict[int, list[FaceBox]]:
    """Find the boxes on each page of a form; other documents have none: their numbered cells are table cells.

    Args:
        source: Pages of the document.
        identity: Form, type and revision of the document.

    Returns:
        Boxes by page, from 1.
    """
    is_form = identity.doc_type == "form"
    return {page.page: find_face_boxes(page) if is_form else [] for page in source.pages}


def find_face_boxes(page: Page) -> list[FaceBox]:
    """Find the boxes with keys on a page, on every copy of the form.

    Args:
        page: Page of a form.

    Returns:
        Boxes; none if the page has no face of boxes.
    """
    decision = load_faces().decision
    most_rules = load_tables().drawings.max_rules
    if not 2 * decision.boxes_with_copies <= len(page.rules) <= most_rules:
        return []
    keys = _find_keys(page.spans)
    if len(keys) < decision.boxes_with_copies:
        return []
    ruling = merge_rules(page.rules)
    has_copies = _has_copy_legend(page)
    other_keys = keys if has_copies else []
    cells = [cell for key in keys if (cell := _find_cell(key, ruling, other_keys=other_keys)) is not None]
    cells = _without_nested(cells)
    if not _may_be_face([key for cell in cells for key in cell.key.members], has_copies=has_copies):
        return []
    boxes = [box for cell in cells for box in _one_for_each_key(_read_box(page, cell, cells), cell.key)]
    return boxes if has_copies or _is_labeled(boxes) else []


def _row(source: Source, identity: FormIdentity, box: FaceBox) -> dict[str, Any]:
    return {
        "document_id": source.document_id,
        "form": identity.form,
        "revision": identity.revision,
        "box_key": box.box_key,
        "label": box.label,
        "is_unlabelled": box.is_unlabelled,
        "page": box.page,
        "bbox": {"x0_pt": box.x0, "y0_pt": box.y0, "x1_pt": box.x1, "y1_pt": box.y1},
        "field_names": list(box.field_names),
        "confidence": box.confidence,
    }


def _find_keys(spans: Iterable[Span]) -> list[_Key]:
    """Find spans that begin with something shaped like a box key."""
    rules = load_faces().keys
    limit = load_faces().geometry.key_size_pt
    keys = []
    for span in spans:
        if span.size_pt > limit or not span.text[:1].strip():
            continue
        for rule in rules:
            match = rule.pattern.match(span.text)
            if match and (span.is_bold or match["label"] or rule.id == "numbered_box"):
                printed_key = match["key"].lower()
                members = tuple(expand_members(printed_key)) if printed_key[0].isdigit() else (printed_key,)
                keys.append(_Key(match["key"], members, (match["label"] or "").strip(), span))
                break
    return keys


def _find_cell(key: _Key, ruling: Ruling, *, other_keys: Sequence[_Key]) -> _Cell | None:
    """Find the ruled cell whose upper (or lower) left corner the key is in.

    Where no vertical line divides a row of cells, the cell reaches to the next of the `other_keys` in that row.
    """
    limits = load_faces().geometry
    span, slack = key.span, limits.line_slack_pt
    x, y = span.x0 + 1.5, (span.y0 + span.y1) / 2
    top = ruling.above(x, span.y0 + slack)
    bottom = ruling.below(x, span.y1 - slack)
    if bottom is None:
        return None
    left = ruling.left(span.x0 + 1.0, y)
    right = ruling.right(span.x0 + 3.0, y)
    x0 = left.at if left else bottom.start
    x1 = right.at if right else bottom.end
    if top is None:
        return None
    if right is not None and x1 - x0 <= limits.key_cell_pt and not key.rest:
        # The key has a narrow cell of its own: its label is in the next cell of the row.
        next_right = ruling.right(x1 + slack, y)
        x1 = next_right.at if next_right else bottom.end
    if left is None and right is None:
        key_places = [
            mate.span.x0 for mate in other_keys if top.at < mate.span.y1 and abs(mate.span.y0 - span.y0) < slack
        ]
        x0 = max([x0, *(span.x0 - slack for x in key_places if x < span.x0)])
        x1 = min([x1, *(x - slack for x in key_places if x > span.x0)])
    is_near_top = span.y0 - top.at <= limits.key_from_top_pt
    is_near_bottom = bottom.at - span.y1 <= limits.key_from_top_pt
    if not (is_near_top or is_near_bottom) or span.x0 - x0 > limits.key_from_left_pt:
        return None
    if bottom.at - top.at > limits.cell_height_pt or not 0 < x1 - x0 <= limits.cell_width_pt:
        return None
    return _Cell(key, x0, top.at, x1, bottom.at)


def _without_nested(cells: Sequence[_Cell]) -> list[_Cell]:
    """Keep one key per cell corner: of two keys in one line of a cell the left one, unless both start a label."""
    kept_cells: list[_Cell] = []
    for cell in sorted(cells, key=lambda cell: (cell.key.span.y0, cell.key.span.x0)):
        if not any(_same_line(cell, other) for other in kept_cells):
            kept_cells.append(cell)
    return sorted(kept_cells, key=lambda cell: cell.key.span.span_ix)


def _same_line(cell: _Cell, other: _Cell) -> bool:
    is_same_cell = abs(cell.x0 - other.x0) < 1 and abs(cell.y0 - other.y0) < 1 and abs(cell.y1 - other.y1) < 1
    return is_same_cell and abs(cell.key.span.y0 - other.key.span.y0) < cell.key.span.size_pt / 2


def _read_box(page: Page, cell: _Cell, cells: Sequence[_Cell]) -> FaceBox:
    """Read the label and the form fields of one cell."""
    label = _read_label(page, cell, cells)
    fields = tuple(widget.name for widget in page.widgets if _holds(cell, widget))
    confidence = 0.7 + 0.15 * cell.key.span.is_bold + 0.15 * bool(fields)
    return FaceBox(
        page=page.page,
        box_key="",
        label=label,
        is_unlabelled=not label,
        x0=cell.x0,
        y0=cell.y0,
        x1=cell.x1,
        y1=cell.y1,
        field_names=fields,
        confidence=round(confidence, 2),
    )


def _one_for_each_key(box: FaceBox, key: _Key) -> list[FaceBox]:
    """Make one box for each key that a cell prints: four for "12a–12d"."""
    return [replace(box, box_key=f"box_{member}") for member in key.members]


def _read_label(page: Page, cell: _Cell, cells: Sequence[_Cell]) -> str:
    """Join the cell's captions after the key, without amount signs and other keys' text."""
    legend_size_pt = load_faces().geometry.legend_size_pt
    noise_rules = load_faces().noise
    key = cell.key.span
    other_keys = [
        other.key.span for other in cells if other is not cell and other.x0 == cell.x0 and other.y0 == cell.y0
    ]
    spans: list[Span] = []
    for span in _find_inside(cell, page.spans):
        if span is key or span in other_keys or span.y1 < key.y0 + 2 or not span.text.strip():
            continue
        is_legend = span.size_pt <= legend_size_pt and len(span.text.strip()) == 1
        if is_legend or any(rule.pattern.match(span.text) for rule in noise_rules):
            continue
        if any(_belongs_to(other, span, key) for other in other_keys):
            continue
        spans.append(span)
    text = cell.key.rest
    last_span = key
    for span in _order_captions(spans):
        is_split_word = abs(span.y0 - last_span.y0) < 2 and -2 < span.x0 - last_span.x1 < 0.5 and last_span is not key
        text += span.text if is_split_word or text.endswith("/") else f" {span.text}"
        last_span = span
    text = load_faces().tails.leader_after_label.pattern.sub("", f"{text} ")
    return " ".join(text.split())


def _order_captions(spans: Sequence[Span]) -> list[Span]:
    """Order the words of a label caption by caption; those of one sentence with gaps stay as they are stored."""
    captions: list[list[Span]] = []
    for span in spans:
        caption = next((caption for caption in reversed(captions) if _continues(caption, span)), None)
        if caption is None:
            captions.append([span])
        else:
            caption.append(span)
    ordered_captions = _in_rows(captions)
    if any(caption[0].text[:1].islower() for caption in ordered_captions[1:]) or any(
        _captions_overlap(a, b) for a, b in pairwise(ordered_captions)
    ):
        return list(spans)
    return [span for caption in ordered_captions for span in caption]


def _continues(caption: Sequence[Span], span: Span) -> bool:
    """Decide whether a span is the next word of a caption, or in the line below its words."""
    last_span = caption[-1]
    size = min(last_span.size_pt, span.size_pt)
    if abs(span.y1 - last_span.y1) < size / 2:
        return span.x0 >= last_span.x0 and span.x0 - last_span.x1 < size
    is_below = -size / 2 < span.y0 - last_span.y1 < size
    x0 = min(caption_span.x0 for caption_span in caption)
    x1 = max(caption_span.x1 for caption_span in caption)
    return is_below and span.x0 < x1 and span.x1 > x0


def _captions_overlap(caption: Sequence[Span], other_caption: Sequence[Span]) -> bool:
    """Decide whether the rectangles around two captions overlap: no gap separates the captions."""
    for low, high in ((attrgetter("x0"), attrgetter("x1")), (attrgetter("y0"), attrgetter("y1"))):
        first_end = min(max(map(high, caption)), max(map(high, other_caption)))
        last_start = max(min(map(low, caption)), min(map(low, other_caption)))
        if first_end <= last_start:
            return False
    return True


def _in_rows(captions: Sequence[list[Span]]) -> list[list[Span]]:
    """Order captions by rows, those that begin at one height from left to right."""
    rows: list[list[list[Span]]] = []
    for caption in sorted(captions, key=lambda caption: caption[0].y0):
        if rows and caption[0].y0 < (rows[-1][0][0].y0 + rows[-1][0][0].y1) / 2:
            rows[-1].append(caption)
        else:
            rows.append([caption])
    return [caption for row in rows for caption in sorted(row, key=lambda caption: caption[0].x0)]


def _belongs_to(other_key: Span, span: Span, key: Span) -> bool:
    """Decide whether a span belongs to another key in the same cell (the nearest key up and to the left)."""
    below_other = span.y1 > other_key.y0 + 2
    return below_other and (other_key.y0 > key.y0 + 2 or (other_key.x0 > key.x0 and span.x0 >= other_key.x0 - 2))


def _find_inside(cell: _Cell, spans: Sequence[Span]) -> list[Span]:
    left, right, top, bottom = cell.x0 - 1.5, cell.x1 - 1.5, cell.y0 - 1, cell.y1 + 1
    return [span for span in spans if left <= span.x0 < right and top <= (span.y0 + span.y1) / 2 <= bottom]


def _holds(cell: _Cell, widget: Widget) -> bool:
    x, y = (widget.x0 + widget.x1) / 2, (widget.y0 + widget.y1) / 2
    return cell.x0 <= x <= cell.x1 and cell.y0 <= y <= cell.y1


def _has_copy_legend(page: Page) -> bool:
    rules = load_faces().copies
    return any(rule.pattern.match(span.text) for span in page.spans for rule in rules)


def _may_be_face(keys: Sequence[str], *, has_copies: bool) -> bool:
    """Decide whether keyed cells count up from 1 and are enough for a face rather than lines of a schedule."""
    decision = load_faces().decision
    counts = Counter(keys)
    numbers = {int(digits) for key in counts if (digits := re.sub(r"\D", "", key))}
    present_count = len(numbers & set(range(1, max(numbers, default=0) + 1)))
    needed_frac = decision.key_gap_copies_frac if has_copies else decision.key_gap_frac
    if not numbers or present_count < needed_frac * max(numbers):
        return False
    if has_copies:
        return len(counts) >= int(decision.boxes_with_copies)
    repeated_count = sum(count > 1 for count in counts.values())
    return bool(len(counts) >= decision.boxes_alone and repeated_count <= decision.repeated_frac * len(counts))


def _is_labeled(boxes: Sequence[FaceBox]) -> bool:
    """Decide whether most cells print a label, as those of a face without copies do."""
    labeled_count = sum(not box.is_unlabelled for box in boxes)
    return bool(labeled_count >= load_faces().decision.labeled_frac * len(boxes))
