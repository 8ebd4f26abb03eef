"""The law across documents: boxes of a face and the anchors that explain them."""

from __future__ import annotations

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets.extraction.box_checks import find_boxes_without_face, find_invented_boxes, find_unanchored_boxes
from taxkg_assets.schemas import Anchors, Documents, Elements, Faces, Fields

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


def _document(
    document_id: str, doc_type: str, revision: str = "2031-01", *, form: str = "9999-X"
) -> dy.DataFrame[Documents]:
    """One document."""
    row = {"document_id": document_id, "form": form, "doc_type": doc_type, "revision": revision}
    return Documents.sample(overrides=[row])


def _documents(revision: str = "2031-01") -> dy.DataFrame[Documents]:
    return _document("i9", "filer_instructions", revision)


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


_PRINTED = ("1", "2a", "2b", "3", "14", "15")
_LINES = ("Box 1. Pay of the year.", "Boxes 2a and 2b. Tips.", "Box 3 shows dues.", "Boxes 14–15. State.")


@pytest.mark.parametrize(
    ("kept", "missing"),
    [
        ((), ["box_1", "box_14", "box_15", "box_2a", "box_2b", "box_3"]),
        (("box_1", "boxes_2a-2b", "boxes_14-15"), ["box_3"]),
        (("box_1", "boxes_2a-2b", "box_3"), ["box_14", "box_15"]),
        (("box_1", "boxes_2a-2b", "box_3", "boxes_14-15"), []),
    ],
)
def test_every_lost_anchor_is_noticed_even_if_all_are_lost(kept: tuple[str, ...], missing: list[str]) -> None:
    found = find_unanchored_boxes(
        _faces(*_PRINTED), _anchors(*kept), documents=_documents(), elements=_elements(*_LINES)
    )
    assert found.select("box_key", "is_excused").rows() == [(key, False) for key in missing]


def test_recipient_pages_of_the_form_itself_must_explain_its_boxes() -> None:
    face, form = _faces("1", "2"), _document("f9", "form")
    none = _anchors("box_1").clear()
    back = _elements("Box 1. Pay.").with_columns(document_id=pl.lit("f9")).pipe(Elements.validate)
    found = find_unanchored_boxes(face, none, documents=form, elements=back)
    assert found.select("document_id", "box_key", "is_excused").rows() == [
        ("f9", "box_1", False),
        ("f9", "box_2", True),
    ]
    on_the_face = back.with_columns(role=pl.lit("FormField")).pipe(Elements.validate)
    assert find_unanchored_boxes(face, none, documents=form, elements=on_the_face).is_empty()


@pytest.mark.parametrize(
    ("revisions", "queried"),
    [
        (("2031-01",), ["i0"]),
        (("2032-01",), []),
        (("2027-01", "2029-01", "2032-01"), ["i1"]),
        (("2029-01", "2031-01"), ["i1"]),
        (("2030",), []),
    ],
)
def test_the_latest_instructions_that_are_not_newer_must_explain_a_face(
    revisions: tuple[str, ...], queried: list[str]
) -> None:
    guides = pl.concat([_document(f"i{ix}", "filer_instructions", r) for ix, r in enumerate(revisions)])
    found = find_unanchored_boxes(
        _faces("1"), _anchors("box_1").clear(), documents=Documents.validate(guides), elements=_elements("No key.")
    )
    assert found["document_id"].to_list() == queried


def test_an_annual_form_waits_for_the_instructions_of_its_year() -> None:
    face = _faces("1").with_columns(revision=pl.lit("2031")).pipe(Faces.validate)
    lines, none = _elements("Box 1. Pay."), _anchors("box_1").clear()
    for revision, missing in (("2030", []), ("2031", ["box_1"])):
        found = find_unanchored_boxes(face, none, documents=_documents(revision), elements=lines)
        assert found["box_key"].to_list() == missing


def test_a_line_that_heads_a_box_of_another_form_is_no_line_of_this_one() -> None:
    booklet = _document("i9", "filer_instructions", form="9999-X and 9999-Y")
    lines = _elements("Box 1. Pay.", "Box 2. Dues of the other form.")
    heads = [
        {"anchor_id": f"i9#{form}", "document_id": "i9", "form": form, "key": key, "kind": "box", "element_id": place}
        for form, key, place in (("9999-X", "box_1", "e0"), ("9999-Y", "box_2", "e1"))
    ]
    found = find_unanchored_boxes(_faces("1", "2"), Anchors.sample(overrides=heads), documents=booklet, elements=lines)
    assert found.select("box_key", "is_excused").rows() == [("box_2", True)]


def test_anchor_of_a_box_that_the_face_does_not_print() -> None:
    found = find_invented_boxes(
        _faces("1", "2a"), _anchors("box_1", "box_2", "box_7", "box_void"), documents=_documents()
    )
    assert found["key"].to_list() == ["box_7"]


def test_an_anchor_without_a_form_is_judged_by_the_only_form_of_its_document() -> None:
    nameless = _anchors("box_1", "box_7").with_columns(form=pl.lit("")).pipe(Anchors.validate)
    assert find_invented_boxes(_faces("1"), nameless, documents=_documents())["key"].to_list() == ["box_7"]


def test_older_instructions_may_mention_boxes_that_are_gone() -> None:
    assert find_invented_boxes(_faces("1"), _anchors("box_7"), documents=_documents("2029-01")).is_empty()


def test_a_form_that_mentions_boxes_and_shows_none_is_listed() -> None:
    form = {"document_id": "i9", "doc_type": "form", "form": "9999-X", "revision": "2031-01"}
    documents = Documents.sample(overrides=[form])
    none = Fields.create_empty()
    assert find_boxes_without_face(_faces("1"), _anchors("box_1"), none, documents=documents).rows() == [("i9", 1)]
    shown = Faces.sample(overrides=[{**_FACE, "document_id": "i9", "box_key": "box_1"}])
    assert find_boxes_without_face(shown, _anchors("box_1"), none, documents=documents).is_empty()


def test_a_check_box_among_the_fields_of_a_form_is_shown() -> None:
    form = {"document_id": "i9", "doc_type": "form", "form": "9999-X", "revision": "2031-01"}
    documents = Documents.sample(overrides=[form])
    fields = Fields.sample(overrides=[{"document_id": "i9", "anchor_id": "i9#box_A", "key": "box_A"}])
    anchors = _anchors("box_A", "box_B")
    assert find_boxes_without_face(_faces("1"), anchors, fields, documents=documents).rows() == [("i9", 1)]
    assert find_boxes_without_face(_faces("1"), _anchors("box_A"), fields, documents=documents).is_empty()
