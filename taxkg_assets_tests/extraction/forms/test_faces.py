"""Boxes of a face: keyed ruled cells are boxes; lines of a schedule, cells of a table and mere mentions are not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from taxkg_assets.extraction.forms.face_cells import assign_to_cells
from taxkg_assets.extraction.forms.faces import build_faces, find_face_boxes, find_faces
from taxkg_assets.extraction.layout.columns import Item
from taxkg_assets.extraction.layout.lines import Line, find_lines
from taxkg_assets.extraction.pdf.model import Widget
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets_tests.extraction.drawn import Canvas, source_of


@dataclass(frozen=True)
class _Identity:
    form: str = "1099-X"
    doc_type: str = "form"
    revision: str = "2025-01"


def _face(number: int = 1, *, copy: str = "Copy A", boxes: tuple[tuple[str, str], ...] = ()) -> Canvas:
    """Draw a column of keyed cells, 24 points high."""
    canvas = Canvas(number)
    canvas.text(400, 40, copy, bold=True)
    for i, (key, label) in enumerate(boxes):
        top = 60 + 24 * i
        canvas.cell(100, top, 220, top + 24)
        canvas.text(104, top + 2, key, bold=True, size=7)
        if label:
            canvas.text(116, top + 2, label, size=7)
        canvas.text(104, top + 12, "$")
    return canvas


_BOXES = (("1a", "Total rent"), ("1b", "Late rent"), ("2", "Tax withheld"), ("3", ""))


def test_keyed_cells_are_boxes_with_their_labels_and_cells() -> None:
    boxes = {box.box_key: box for box in find_face_boxes(_face(boxes=_BOXES).page())}
    assert {key: box.label for key, box in boxes.items()} == {
        "box_1a": "Total rent",
        "box_1b": "Late rent",
        "box_2": "Tax withheld",
        "box_3": "",
    }
    assert [box.is_unlabelled for box in boxes.values()] == [False, False, False, True]
    assert (boxes["box_1b"].x0, boxes["box_1b"].y0, boxes["box_1b"].x1, boxes["box_1b"].y1) == (100, 84, 220, 108)


def test_form_fields_belong_to_the_cell_they_stand_in() -> None:
    canvas = _face(boxes=_BOXES)
    canvas.widgets.append(Widget("f1_2", "", "Text", "", 112, 96, 218, 107))
    assert [box.field_names for box in find_face_boxes(canvas.page())] == [(), ("f1_2",), (), ()]


def test_a_wrapped_label_is_read_whole_and_a_check_box_is_no_border() -> None:
    canvas = Canvas()
    canvas.text(400, 40, "Copy 1", bold=True)
    for top, key in ((60, "1"), (100, "2")):
        canvas.cell(100, top, 220, top + 40)
        canvas.text(104, top + 2, key, bold=True, size=7)
        canvas.text(116, top + 2, "The goods were sold", size=7)
        canvas.text(116, top + 11, "for resale", size=7)
        canvas.cell(180, top + 22, 190, top + 32)
    assert [box.label for box in find_face_boxes(canvas.page())] == ["The goods were sold for resale"] * 2


def test_captions_side_by_side_are_read_from_left_to_right_however_they_are_stored() -> None:
    canvas = _face(boxes=_BOXES)
    canvas.cell(220, 60, 460, 84)
    canvas.text(224, 62, "4", bold=True, size=7)
    for x, lines in ((320, ("Late", "payer")), (400, ("Boat owner",)), (240, ("Harbor", "pay"))):
        for row, text in enumerate(lines):
            canvas.text(x, 62 + 8 * row, text, size=7)
    labels = {box.box_key: box.label for box in find_face_boxes(canvas.page())}
    assert labels["box_4"] == "Harbor pay Late payer Boat owner"


@pytest.mark.parametrize(
    "rows",
    [
        ((240, "Dues repaid in"), (360, "to the owner"), (240, "or the keeper"), (360, "of the raft")),
        ((240, "Dues repaid in"), (360, "Old boats"), (240, "or the keeper of all boats that are here")),
    ],
)
def test_a_sentence_with_gaps_in_its_rows_is_read_row_by_row(rows: tuple[tuple[int, str], ...]) -> None:
    canvas = _face(boxes=_BOXES)
    canvas.cell(220, 60, 460, 84)
    canvas.text(224, 62, "4", bold=True, size=7)
    for ix, (x, text) in enumerate(rows):
        canvas.text(x, 62 + 8 * (ix // 2), text, size=7)
    labels = {box.box_key: box.label for box in find_face_boxes(canvas.page())}
    assert labels["box_4"] == " ".join(text for _, text in rows)


def test_copies_count_once_and_the_labeled_one_wins() -> None:
    pages = (_face(2, boxes=(("1", ""), ("2", "Tax withheld"))), _face(3, boxes=(("1", "Rent"), ("2", "Tax withheld"))))
    faces = build_faces(source_of(*pages), identity=_Identity())
    assert faces.select("box_key", "label", "page").rows() == [("box_1", "Rent", 3), ("box_2", "Tax withheld", 2)]


@pytest.mark.parametrize("doc_type", ["publication", "filer_instructions", "other"])
def test_a_facsimile_in_another_kind_of_document_is_no_face(doc_type: str) -> None:
    faces = build_faces(source_of(_face(boxes=_BOXES)), identity=_Identity(doc_type=doc_type))
    assert faces.height == 0


def test_lines_of_a_schedule_are_no_boxes() -> None:
    canvas = Canvas()
    for i in range(8):
        top = 60 + 14 * i
        canvas.text(60, top + 2, str(i + 1), bold=True)
        canvas.text(80, top + 2, "Add the amounts of the lines above")
        canvas.text(478, top + 2, str(i + 1), bold=True)
        canvas.cell(470, top, 495, top + 14)
        canvas.cell(495, top, 570, top + 14)
    assert find_face_boxes(canvas.page()) == []


def test_keys_that_do_not_count_up_are_no_boxes() -> None:
    assert find_face_boxes(_face(boxes=(("12", "Dozen"), ("40", "Forty"), ("90", "Ninety"))).page()) == []


@pytest.mark.corpus
def test_a_face_with_copies_may_skip_numbers() -> None:
    boxes = (("1", "Rent"), ("2", "Late rent"), ("3", "Kind"), ("4", "Year"), ("5", "Code"), ("12a", "Day"))
    assert [box.box_key for box in find_face_boxes(_face(boxes=boxes).page())][-1] == "box_12a"


def test_real_forms_have_a_face_and_schedules_have_none(corpus: Path) -> None:
    counts = {}
    for name in ("f1099int--2019", "f1099c--2022-01", "f1040sb--2024", "fw4--2025"):
        data = (corpus / "corpus" / f"{name}.pdf").read_bytes()
        counts[name] = build_faces(read_source(data, document_id=name), identity=_Identity()).height
    assert counts == {"f1099int--2019": 17, "f1099c--2022-01": 7, "f1040sb--2024": 0, "fw4--2025": 0}


def test_one_cell_may_print_several_keys_and_each_is_a_box() -> None:
    boxes = find_face_boxes(_face(boxes=(("1", "Rent"), ("2a-2c", "Codes"), ("3/4", "States"))).page())
    assert [box.box_key for box in boxes] == ["box_1", "box_2a", "box_2b", "box_2c", "box_3", "box_4"]
    assert {box.label for box in boxes[1:4]} == {"Codes"}


@pytest.mark.parametrize("style", ["{}.", "Box {}"])
def test_a_key_may_carry_a_stop_or_the_word_box(style: str) -> None:
    boxes = find_face_boxes(_face(boxes=tuple((style.format(key), label) for key, label in _BOXES)).page())
    assert [(box.box_key, box.label) for box in boxes][:2] == [("box_1a", "Total rent"), ("box_1b", "Late rent")]


def test_keys_part_a_row_that_no_vertical_parts() -> None:
    canvas = Canvas()
    canvas.text(400, 40, "Copy B", bold=True)
    for row in range(4):
        canvas.line(40, 60 + 30 * row, 340, 60 + 30 * row)
    for ix, (key, label) in enumerate((("1", "Rent"), ("2", "Tax"), ("3", "Tips"), ("4", "Fees"))):
        x, y = 43 + 150 * (ix % 2), 62 + 30 * (ix // 2)
        canvas.text(x, y, key, bold=True, size=7)
        canvas.text(x + 12, y, label, size=7)
    assert [(box.box_key, box.label) for box in find_face_boxes(canvas.page())] == [
        ("box_1", "Rent"),
        ("box_2", "Tax"),
        ("box_3", "Tips"),
        ("box_4", "Fees"),
    ]


def test_numbered_rows_of_a_publications_table_are_no_face() -> None:
    source = source_of(_face(boxes=_BOXES))
    assert find_faces(source, identity=_Identity(doc_type="publication")) == {1: []}
    assert len(find_faces(source, identity=_Identity())[1]) == len(_BOXES)


def test_a_label_may_stand_in_the_cell_next_to_the_keys_own() -> None:
    canvas = Canvas()
    for row in range(7):
        canvas.cell(300, 60 + 24 * row, 320, 84 + 24 * row)
        canvas.cell(320, 60 + 24 * row, 440, 84 + 24 * row)
        canvas.text(304, 62 + 24 * row, str(row + 1), bold=True, size=7)
        canvas.text(324, 62 + 24 * row, f"Share of kind {'ABCDEFG'[row]}", size=7)
    boxes = find_face_boxes(canvas.page())
    assert [(box.box_key, box.label) for box in boxes][:2] == [
        ("box_1", "Share of kind A"),
        ("box_2", "Share of kind B"),
    ]
    assert (boxes[0].x0, boxes[0].x1) == (300, 440)


@pytest.mark.parametrize(
    ("left", "right", "is_stacked"),
    [
        (("Name of the", "keeper"), ("Number of", "the berth"), True),
        (("Boats", "Rafts"), ("see page 3", "see page 4"), False),
        (("The larger of line 4 or", "from line 5, but not"), ("the amount", "less than zero"), False),
    ],
)
def test_only_captions_side_by_side_in_a_cell_are_read_one_after_the_other(
    left: tuple[str, str], right: tuple[str, str], is_stacked: bool
) -> None:
    canvas = Canvas()
    canvas.cell(100, 60, 400, 100)
    for row in range(2):
        canvas.text(104, 64 + 12 * row, left[row], size=7)
        canvas.text(300, 64 + 12 * row, right[row], size=7)
    page = canvas.page()
    items = [Item(line.x0, line.y0, line.x1, line.y1, line) for line in find_lines(page)]
    cells: dict[int, list[Line]] = {}
    assign_to_cells(page, items, cells=cells)
    (lines,) = cells.values()
    rows = [*left, *right] if is_stacked else [left[0], right[0], left[1], right[1]]
    assert [line.text.strip() for line in lines] == rows
