"""Passages: sentences with lead-in, label and keys; cells with their headers."""

from __future__ import annotations

from typing import Any

import pytest

from taxkg_assets.verification.evidence import build_passages, expand_key


def _node(ordinal: int, level: str, text: str, **given: Any) -> dict[str, Any]:
    values = {
        "document_id": "d",
        "node_id": f"n{ordinal}",
        "ordinal": ordinal,
        "level": level,
        "text": text,
        "parent_id": "n0",
        "anchor_key": None,
        "heading_path": "Title > Heading",
        "page": 1,
        "bboxes": [],
    }
    return {**values, **given}


NODES = [
    _node(0, "anchor", "Box 3 Fees", anchor_key="box_3", parent_id=None, heading_path="Title > Box 3 Fees"),
    _node(1, "paragraph", "Four fees are free. These are:", anchor_key="box_3"),
    _node(2, "paragraph", "• City fees, and", anchor_key="box_3"),
    _node(3, "paragraph", "• State fees.", anchor_key="box_3"),
    _node(4, "paragraph", "Pay the rest. It is due in May.", anchor_key="box_3"),
]


def test_list_items_carry_the_sentence_that_opens_them() -> None:
    found = {own.text: own for own in build_passages(NODES, [])}
    assert found["City fees, and"].lead_in == "Four fees are free. These are:"
    assert found["State fees."].lead_in == "Four fees are free. These are:"
    assert found["Pay the rest."].lead_in == ""


def test_a_reference_within_a_list_does_not_end_it() -> None:
    rows = [
        _node(1, "paragraph", "Don't enter these fees:"),
        _node(2, "paragraph", "• City fees."),
        _node(3, "paragraph", "See Pub. 9999 for the rates."),
        _node(4, "paragraph", "• State fees."),
    ]
    found = {own.text: own for own in build_passages(rows, [])}
    assert found["State fees."].lead_in == "Don't enter these fees:"
    assert found["See Pub. 9999 for the rates."].lead_in == ""


def test_passages_stand_under_the_keys_and_labels_above_them() -> None:
    found = {own.text: own for own in build_passages(NODES, [])}
    assert found["It is due in May."].keys == {"box_3"}
    assert found["It is due in May."].label == "Box 3 Fees"
    assert found["Box 3 Fees"].kind == "label"
    assert found["It is due in May."].before == "Pay the rest."
    assert found["Pay the rest. It is due in May."].kind == "pair"


def test_a_number_that_each_part_of_a_form_uses_has_the_label_of_its_part() -> None:
    rows = []
    for ordinal, (part, label) in enumerate((("Part I", "Totals to line 1"), ("Part II", "Totals to line 8, too"))):
        path = f"Title > {part} > {label}"
        rows.append(_node(2 * ordinal, "anchor", label, anchor_key="line_2", heading_path=path))
        rows.append(_node(2 * ordinal + 1, "paragraph", f"Sum of {part}.", anchor_key="line_2", heading_path=path))
    found = {own.text: own.label for own in build_passages(rows, [])}
    assert found["Sum of Part I."] == "Totals to line 1"
    assert found["Sum of Part II."] == "Totals to line 8, too"


def test_a_cell_speaks_with_its_headers() -> None:
    box = {"x0_pt": 1.0, "y0_pt": 2.0, "x1_pt": 3.0, "y1_pt": 4.0}
    cell = {"row_ix": 0, "col_ix": 0, "row_path": "Single", "col_path": "Fee > 2031", "text": "$5", "bbox": box}
    table = {"document_id": "d", "table_id": "t", "page": 2, "title": "Fees", "cells": [cell]}
    (found,) = build_passages([], [table])
    assert found.text == "Single: Fee, 2031: $5"
    assert found.bboxes == ({**box, "page": 2},)


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("box_1a", {"box_1a"}),
        ("boxes_14-16", {"box_14", "box_15", "box_16"}),
        ("lines_9a-9c", {"line_9a", "line_9b", "line_9c"}),
        ("code_DD", {"code_dd"}),
    ],
)
def test_ranges_of_keys_are_expanded(key: str, keys: set[str]) -> None:
    assert expand_key(key) == keys


def test_passages_have_the_abbreviations_of_their_document() -> None:
    nodes = [
        _node(0, "anchor", "Fees", parent_id=None),
        _node(1, "paragraph", "The small boat fee (SBF) is due in May."),
        _node(2, "paragraph", "No barge owes the SBF."),
    ]
    found = {own.text: own for own in build_passages(nodes, [])}
    assert found["No barge owes the SBF."].written_out == "No barge owes the small boat fee."
    assert found["No barge owes the SBF."].labeled == "No barge owes the small boat fee SBF."
    assert found["No barge owes the SBF."].spoken == "No barge owes the SBF."
