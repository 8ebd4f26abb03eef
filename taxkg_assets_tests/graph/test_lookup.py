"""The words that people use for a box find it, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.graph.lookup import find_boxes
from taxkg_assets.schemas import Documents, Registry
from taxkg_assets_tests.graph.corpora import document, face, frame_of, registered

FACES = [
    (face("f9--2031", "1099-RNT", "box_1b", "Late rents"), ["LR"]),
    (face("f9--2031", "1099-RNT", "box_4", "Federal income tax withheld"), []),
    (face("f9--2028", "1099-RNT", "box_1b", "Late rents"), ["LR"]),
    (face("f8--2031", "W-7", "box_1", "Total pay"), ["TP"]),
    (face("f8--2031", "W-7", "box_a", "Number of the payer"), []),
    (face("f8--2031", "W-7", "box_2", "Federal income tax withheld"), []),
]


def _find(queried: str) -> list[tuple[str, str]]:
    rows: list[dict[str, Any]] = [
        {**registered(row, row["document_id"].split("--")[1]), "aliases": aliases} for row, aliases in FACES
    ]
    documents = [
        {**document("f9--2031", "1099-RNT", "form", "2031"), "title": "Form 1099-RNT — Rents and Leases"},
        {**document("f8--2031", "W-7", "form", "2031"), "title": "Form W-7 — Pay and Tax Statement"},
    ]
    found = find_boxes(queried, frame_of(Registry, rows), documents=frame_of(Documents, documents))
    return list(found.select("document_id", "box_key").iter_rows())


LATE = [("f9--2031", "box_1b"), ("f9--2028", "box_1b")]


@pytest.mark.parametrize(
    ("queried", "wanted"),
    [
        ("LR", LATE),
        ("late rents", LATE),
        ("1b", LATE),
        ("box 1b on the rent form", LATE),
        ("Form 1099-RNT box 1b", LATE),
        ("f1099rnt 1b", LATE),
        ("late rents rnt", LATE),
        ("what is box 1 of the W-7?", [("f8--2031", "box_1")]),
        ("box a of the w7", [("f8--2031", "box_a")]),
        ("federal income tax withheld", [("f9--2031", "box_4"), ("f8--2031", "box_2")]),
        ("federal income tax withheld on the W-7", [("f8--2031", "box_2")]),
        ("payer number", [("f8--2031", "box_a")]),
        ("1099-RNT 1c", []),
        ("early rents", []),
        ("1099-RNT", []),
        ("", []),
    ],
)
def test_words_find_the_box_in_every_revision(queried: str, wanted: list[tuple[str, str]]) -> None:
    assert _find(queried) == wanted
