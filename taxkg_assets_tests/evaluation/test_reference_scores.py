"""References found, invented and mistyped inside a labeled span."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.evaluation.labels import read_labels
from taxkg_assets.evaluation.reference_scores import score_references
from taxkg_assets.schemas import References
from taxkg_assets_tests.evaluation.corpus import BOOK, RENT, anchor, anchors, documents
from taxkg_assets_tests.evaluation.extraction_frames import build_frame

SEE = "See Publication 990 before you enter rent in box 2b of the form."


def label(target: str, evidence: str, **more: Any) -> dict[str, Any]:
    base = {"document": BOOK, "page": 1, "kind": "box", "relation": "references", "polarity": "positive"}
    return {**base, "target": target, "evidence": evidence, **more}


def read(ix: int, target: str, evidence: str, **more: Any) -> dict[str, Any]:
    base = {"element_id": f"e{ix}", "anchor_id": f"{BOOK}#in", "kind": "box", "created_by": "regex"}
    place = {"start": 0, "end": len(evidence), "mention_start": 0, "mention_end": 5}
    return {
        **base,
        **place,
        "relation": "references",
        "polarity": "positive",
        "target": target,
        "evidence": evidence,
        **more,
    }


LABELS = read_labels(
    {
        "gold": {
            "anchors": [
                {"document": BOOK, "page": 1, "kind": "section", "heading": name, "parent": None}
                for name in ("Inside the span", "Outside the span")
            ],
            "references_scope": [
                {"document": BOOK, "covered_from_heading": "Inside the span", "covered_to_heading": "Inside the span"}
            ],
            "references": [
                label("Pub. 990", SEE, kind="publication"),
                label("box_2b", SEE, relation="requires"),
                label("box_1a", RENT, relation="excludes", polarity="negative"),
                label("box_3", RENT),
                label("box_9", RENT, optional=True),
                label("Form 9000", RENT, self=True),
                label("box_4", RENT, relation="requires", hard=True),
            ],
        }
    }
)
TREE = anchors(anchor(f"{BOOK}#in", "Inside the span"), anchor(f"{BOOK}#out", "Outside the span"))


def test_every_share_by_hand() -> None:
    references = build_frame(
        References,
        [
            read(1, "Publication 990", SEE, kind="publication"),
            read(2, "box_2b", SEE, relation="requires"),
            read(3, "box_1a", RENT, relation="excludes", polarity="positive"),
            read(4, "box_7", RENT),
            read(5, "box_8", RENT, anchor_id=f"{BOOK}#out"),
            read(6, "Form 9000", RENT, kind="form", is_self=True),
            read(7, "box_6", RENT, is_self=True),
            read(8, "box_4", RENT, relation="includes"),
        ],
        document_id=BOOK,
    )
    score = score_references(references, LABELS, anchors=TREE, documents=documents())
    assert score.figures == {
        "reference_recall": pytest.approx(4 / 5),
        "reference_precision": pytest.approx(4 / 5),
        "typed_recall": pytest.approx(1 / 2),
        "typed_precision": pytest.approx(2 / 2),
    }
    assert sorted(score.misses["problem"]) == ["invented", "missed", "relation"]
    assert score.n_rows == 5
