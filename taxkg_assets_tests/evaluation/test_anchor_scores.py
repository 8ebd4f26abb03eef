"""Headings found, cut, invented, misplaced and disputed, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.evaluation.anchor_scores import score_anchors
from taxkg_assets.evaluation.labels import read_labels
from taxkg_assets_tests.evaluation.corpus import BOOK, anchor, anchors, documents

LABELS: list[dict[str, Any]] = [
    {"kind": "section", "heading": "Specific Instructions", "key": None, "parent": None},
    {"kind": "box", "heading": "Box 1a. Rent", "key": "box_1a", "parent": "Specific Instructions"},
    {"kind": "box_group", "heading": "Boxes 2 and 3. Deposits", "key": "boxes_2-3", "parent": "Specific Instructions"},
    {"kind": "subsection", "heading": "Kept deposits", "key": None, "parent": "Box 1a. Rent"},
    {"kind": "section", "heading": "Contents", "key": None, "parent": None, "optional": True},
    {"kind": "runin", "heading": "Small shops.", "key": None, "parent": "Box 1a. Rent"},
]
READ = anchors(
    anchor(f"{BOOK}#1", "Specific Instructions"),
    anchor(f"{BOOK}#2", "Box 1a. Rent", kind="box", key="box_1a", parent_anchor_id=f"{BOOK}#1"),
    anchor(f"{BOOK}#3", "Boxes 2 and 3. Deposits", kind="box_group", key="boxes_2-4", parent_anchor_id=f"{BOOK}#2"),
    anchor(f"{BOOK}#4", "Contents"),
    anchor(f"{BOOK}#5", "Ships and harbours"),
    anchor(f"{BOOK}#6", "Elsewhere", page=9),
)


def test_every_share_by_hand() -> None:
    labels = read_labels({"gold": {"anchors": [{"document": BOOK, "page": 1, **row} for row in LABELS]}})
    score = score_anchors(READ, labels, documents=documents())
    recall, precision = 3 / 4, 4 / 5
    assert score.figures == {
        "box_recall": pytest.approx(2 / 2),
        "heading_recall": pytest.approx(1 / 2),
        "runin_recall": pytest.approx(0 / 1),
        "structural_recall": pytest.approx(recall),
        "structural_precision": pytest.approx(precision),
        "runin_precision": None,
        "structural_f1": pytest.approx(2 * recall * precision / (recall + precision)),
        "key_accuracy": pytest.approx(1 / 2),
        "parent_accuracy": pytest.approx(1 / 2),
    }
    assert sorted(score.misses["problem"]) == ["invented", "key", "missed", "missed", "parent"]
