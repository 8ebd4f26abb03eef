"""Label files become rows, folders become one set, and a bad row is named."""

from __future__ import annotations

import pytest

from taxkg_assets.evaluation.labels import read_label_file, read_labels

ROLE = {"document": "a", "page": 1, "text": "Rent", "role": "SectionHeader"}


def test_boxes_are_flattened() -> None:
    text = '{"f9000": [{"key": "box_1", "label": "Rent", "parts": ["Rent"]}, {"key": "box_2", "label": ""}]}'
    rows = read_label_file("boxes", text)
    assert [(row["document"], row["key"]) for row in rows] == [("f9000", "box_1"), ("f9000", "box_2")]
    assert read_labels({"gold": {"boxes": rows}}).boxes[0].parts == ("Rent",)


def test_rows_of_two_folders_count_once_and_duplicates_of_a_page_twice() -> None:
    labels = read_labels({"b": {"roles": [ROLE, {**ROLE, "page": 2}]}, "a": {"roles": [ROLE, ROLE]}})
    assert [row.page for row in labels.roles] == [1, 1, 2]


def test_labels_can_be_narrowed_to_documents() -> None:
    labels = read_labels({"a": {"roles": [ROLE, {**ROLE, "document": "b"}]}})
    assert [row.document_id for row in labels.within({"b"}).roles] == ["b"]


def test_bad_rows_are_named() -> None:
    with pytest.raises(ValueError, match="gold/roles: row 1 lacks the field role"):
        read_labels({"gold": {"roles": [{"document": "a", "page": 1, "text": "x"}]}})
    with pytest.raises(ValueError, match="label file roles, line 2"):
        read_label_file("roles", '{"a": 1}\nno json')
