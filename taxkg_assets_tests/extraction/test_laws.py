"""The law across documents: boxes of a face and the anchors that explain them."""

from __future__ import annotations

import dataframely as dy
import pytest

from taxkg_assets.extraction.laws import find_invented_boxes, find_unanchored_boxes
from taxkg_assets.schemas import Anchors, Documents, Elements, Faces

_FACE = {"document_id": "f9", "form": "9999-X", "revision": "2031-01"}


def _faces(*keys: str) -> dy.DataFrame[Faces]:
    return Faces.sample(overrides=[{**_FACE, "box_key": f"box_{key}"} for key in keys])


def _anchors(*keys: str) -> dy.DataFrame[Anchors]:
    rows = [
        {
            "anchor_id": f"i9#{key}",
            "document_id": "i9",
            "form": "9999-X",
            "key": key,
            "kind": "box_group" if key.startswith("boxes") else "box",
        }
        for key in keys
    ]
    return Anchors.sample(overrides=rows)


def _documents(revision: str = "2031-01") -> dy.DataFrame[Documents]:
    row = {"document_id": "i9", "form": "9999-X", "doc_type": "filer_instructions", "revision": revision}
    return Documents.sample(overrides=[row])


def _elements(*texts: str) -> dy.DataFrame[Elements]:
    rows = [{"element_id": f"e{ix}", "document_id": "i9", "role": "BodyText", "text": t} for ix, t in enumerate(texts)]
    return Elements.sample(overrides=rows)


@pytest.mark.parametrize(
    ("printed", "anchored", "missing"),
    [
        (("1a", "1b"), ("box_1a", "box_1b"), []),
        (("14", "15", "16"), ("boxes_14-16",), []),
        (("2e", "2f", "3"), ("boxes_2e-2f",), ["box_3"]),
        (("8", "9", "10", "11"), ("boxes_8_10_11",), ["box_9"]),
        (("12a", "12b"), ("box_12",), []),
        (("a", "e", "f"), ("boxes_e-f",), ["box_a"]),
    ],
)
def test_every_printed_box_has_an_anchor(
    printed: tuple[str, ...], anchored: tuple[str, ...], missing: list[str]
) -> None:
    found = find_unanchored_boxes(
        _faces(*printed), _anchors(*anchored), documents=_documents(), elements=_elements("No key begins this line.")
    )
    assert found["box_key"].to_list() == missing
    assert found["is_excused"].to_list() == [True] * len(missing)


def test_box_whose_text_was_overlooked_is_not_excused() -> None:
    found = find_unanchored_boxes(
        _faces("1", "2"), _anchors("box_1"), documents=_documents(), elements=_elements("Box 2 shows tips.")
    )
    assert found.select("box_key", "is_excused").rows() == [("box_2", False)]


def test_instructions_of_another_revision_do_not_count() -> None:
    found = find_unanchored_boxes(
        _faces("1"), _anchors("box_2"), documents=_documents("2030-01"), elements=_elements("Box 1 is gone.")
    )
    assert found.is_empty()


def test_anchor_of_a_box_that_the_face_does_not_print() -> None:
    found = find_invented_boxes(
        _faces("1", "2a"), _anchors("box_1", "box_2", "box_7", "box_void"), documents=_documents()
    )
    assert found["key"].to_list() == ["box_7"]
