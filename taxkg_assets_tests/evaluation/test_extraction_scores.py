"""Roles, owners, boxes and cells against a few labels whose shares are counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.evaluation.extraction_scores import (
    find_floor_faults,
    score_boxes,
    score_ownership,
    score_roles,
    score_tables,
)
from taxkg_assets.evaluation.labels import Labels, read_labels
from taxkg_assets.rules.floors import Floor
from taxkg_assets.schemas import Elements, Registry, Tables
from taxkg_assets_tests.evaluation.corpus import (
    BOOK,
    DEPOSIT,
    FEE,
    FORM,
    RENT,
    anchor,
    anchors,
    documents,
    section,
    sections,
)
from taxkg_assets_tests.evaluation.extraction_frames import build_frame

ROLES = [
    {"document": BOOK, "page": 1, "text": "Rent of the shop", "role": "SectionHeader"},
    {"document": BOOK, "page": 1, "text": FEE, "role": "BodyText"},
    {"document": BOOK, "page": 2, "text": RENT, "role": "BodyText"},
]


def labeled(**files: list[dict[str, Any]]) -> Labels:
    return read_labels({"gold": files})


def test_roles_count_wrong_and_lost_lines() -> None:
    elements = build_frame(
        Elements,
        [
            {"element_id": "1", "text": "Rent of the shop", "role": "SectionHeader"},
            {"element_id": "2", "text": f"Rent of the shop. {FEE}", "role": "ListBlock"},
        ],
        document_id=BOOK,
    )
    score = score_roles(elements, labeled(roles=ROLES), documents=documents())
    assert score.score == pytest.approx(1 / 3)
    assert score.figures["role_lost"] == pytest.approx(1 / 3)
    assert score.misses["problem"].to_list() == ["role", "lost"]
    assert score.describe() == "role_accuracy 0.3333 on 3 labeled rows"


def test_owners_pass_over_runins() -> None:
    rows = [{"document": BOOK, "page": 1, "quote": quote, "owner": "Box 1a. Rent"} for quote in (RENT, DEPOSIT, FEE)]
    read = sections(
        section(BOOK, 0, RENT, f"{BOOK}#box"), section(BOOK, 1, DEPOSIT, f"{BOOK}#runin"), section(BOOK, 2, FEE, None)
    )
    tree = anchors(
        anchor(f"{BOOK}#box", "Box 1a. Rent", kind="box"),
        anchor(f"{BOOK}#runin", "Deposits.", kind="runin", parent_anchor_id=f"{BOOK}#box"),
    )
    score = score_ownership(read, labeled(ownership=rows), anchors=tree, documents=documents())
    assert score.score == pytest.approx(2 / 3)
    assert score.misses.select("problem", "wanted", "found").rows() == [("owner", "Box 1a. Rent", None)]


def test_boxes_count_missing_invented_and_misread_ones() -> None:
    printed = [("box_1a", "Rent"), ("box_1b", ""), ("box_2", "Deposits kept"), ("box_3", "Yearly fee")]
    rows = [{"document": FORM, "key": key, "label": label} for key, label in printed]
    registry = build_frame(
        Registry,
        [
            {"box_key": "box_1a", "label": "Rent"},
            {"box_key": "box_1b", "label": "anything"},
            {"box_key": "box_2", "label": "Town"},
            {"box_key": "box_9", "label": "Ships"},
        ],
        document_id=FORM,
    )
    score = score_boxes(registry, labeled(boxes=rows), documents=documents())
    assert score.figures == {
        "box_coverage": pytest.approx(3 / 4),
        "box_label_match": pytest.approx(2 / 3),
        "boxes_invented": 1.0,
    }
    assert sorted(score.misses["problem"]) == ["invented", "label", "missing"]


def test_cells_need_value_and_both_paths() -> None:
    cells = [
        ("Shops > under 50 feet", "Fee > first year", "$120"),
        ("Shops > under 50 feet", "Fee > second year", "$90"),
        ("Shops > over 50 feet", "Fee > first year", "$200"),
    ]
    rows = [{"document": BOOK, "page": 1, "row": row, "column": column, "value": value} for row, column, value in cells]
    read_as = [cells[0], (cells[1][0], cells[0][1], "$90"), ("over 50 feet", "first year", "$200")]
    bbox = {"x0_pt": 0.0, "y0_pt": 0.0, "x1_pt": 1.0, "y1_pt": 1.0}
    read = [
        {"row_ix": ix, "col_ix": 0, "row_path": row, "col_path": column, "text": value, "bbox": bbox}
        for ix, (row, column, value) in enumerate(read_as)
    ]
    tables = build_frame(Tables, [{"table_id": "t", "cells": read, "title": "Shops: fee"}], document_id=BOOK)
    score = score_tables(tables, labeled(tables=rows), documents=documents())
    assert score.figures == {"cell_accuracy": pytest.approx(2 / 3), "cell_value_found": pytest.approx(3 / 3)}
    assert score.misses["text"].to_list() == ["$90"]


def test_labels_of_other_documents_measure_nothing() -> None:
    rows = [{**row, "document": "gone--2020"} for row in ROLES]
    score = score_roles(build_frame(Elements, []), labeled(roles=rows), documents=documents())
    assert score.score is None
    assert "not measured" in score.describe()
    assert find_floor_faults(score, [FLOOR]).is_empty()


FLOOR = Floor(
    id="f", gate="elements", metric="role_accuracy", floor=0.5, bound="min", measured=None, n=None, source="", date=""
)


def test_a_broken_floor_is_a_row() -> None:
    score = score_roles(build_frame(Elements, []), labeled(roles=ROLES), documents=documents())
    assert find_floor_faults(score, [FLOOR]).select("floor_id", "value", "floor", "n").rows() == [("f", 0.0, 0.5, 3)]
