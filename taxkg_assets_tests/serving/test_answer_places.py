"""Where an answer is printed: rectangles of quoted cells, and other revisions that say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.serving.cell_places import find_quoted_cells
from taxkg_assets.serving.service import Service
from taxkg_assets.serving.text_places import place_texts

CELLS = [
    {"row_ix": row, "col_ix": column, "row_path": name, "col_path": head, "text": text}
    for row, (name, *texts) in enumerate([("Single > under 65", "$10", "5%"), ("Single > 65 or older", "$12", "5%")])
    for column, (head, text) in enumerate(zip(("Amount", "Rate"), texts, strict=True))
]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("Table 1 | Single > under 65 | Amount: $10", {(0, 0)}),
        ("Single 65 or older; Amount: $12; Rate: 5%", {(1, 0), (1, 1)}),
        ("Amount: $10", set()),
        ("Single > under 65 | Amount: $99", set()),
    ],
)
def test_the_cells_that_a_text_quotes_are_those_with_its_headers(text: str, places: set[tuple[int, int]]) -> None:
    found = find_quoted_cells(text, CELLS)
    assert {(cell["row_ix"], cell["col_ix"]) for cell in found} == places


def test_an_answer_from_a_table_marks_the_cell(built_samples: Path) -> None:
    service = Service(str(built_samples))
    found = service.ask("When is copy A due that is filed electronically?", k=5)
    pieces = [piece for unit in found.units for piece in unit.pieces if piece.role in ("cell", "row")]
    assert pieces
    for piece in pieces:
        table = service.current.table("tables").filter(table_id=piece.node_id).row(0, named=True)
        assert piece.bboxes
        whole = table["bbox"]
        for box in piece.bboxes:
            assert box.page == table["page"]
            assert box.y1 - box.y0 < (whole["y1_pt"] - whole["y0_pt"]) / 2, "a cell, not the table"


def test_a_passage_names_the_other_revisions_that_say_the_same(built_samples: Path) -> None:
    service = Service(str(built_samples))
    nodes = service.current.table("nodes")
    texts = dict(nodes.select("node_id", "text").iter_rows())
    found = service.ask("What is reported in box 3 of Form 1099-DIV?", k=10)
    noted = [row for row in found.results if row.via.same_in]
    assert noted
    for row in noted:
        for other in row.via.same_in:
            assert other.document != row.document
            assert other.document.partition("--")[0] == row.document.partition("--")[0]
            same = nodes.filter(document_id=other.document, page=other.page)["text"]
            assert texts[row.node_id] in same.to_list()
            assert all(box.page >= other.page for box in other.bboxes)


def test_a_quoted_heading_and_a_sentence_without_element_are_found_in_their_document(built_samples: Path) -> None:
    service = Service(str(built_samples))
    released = service.current
    found = service.ask("What is reported in box 1a?", k=5)
    result = found.results[0]
    anchors = released.table("anchors").filter(document_id=result.document)
    heading = anchors.filter(kind="box").row(0, named=True)
    section = released.table("sections").filter(document_id=result.document).row(-1, named=True)
    pieces = [
        Piece(role="item", text=heading["heading"]),
        Piece(role="sentence", text=section["text"][:60]),
        Piece(role="sentence", text="Nobody printed this sentence."),
        Piece(role="label", text=heading["heading"]),
    ]
    answer = found.model_copy(update={"units": [Unit(rank=result.rank, label="", pieces=pieces)]})
    placed = place_texts(answer, released).units[0].pieces
    assert any(box.page == heading["page"] for box in placed[0].bboxes)
    assert placed[1].bboxes
    assert {box.page for box in placed[1].bboxes} <= set(released.table("sections")["page"])
    assert placed[2].bboxes == []
    assert placed[3].bboxes == []
