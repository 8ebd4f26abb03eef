"""A question for the codes of a box gets all codes that head a text of its booklet, and a note on others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taxkg_assets.retrieval.answering.code_list import list_codes
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.retrieval.results import Result
from taxkg_assets_tests.retrieval.answering.conftest import make_facts
from taxkg_assets_tests.retrieval.explanations import explanation

BOX = "Box 12. Codes"
FACTS = make_facts(
    ("Box 11. Rent", ["Rent of barns."]),
    (BOX, ["Box 12. Codes", "Use these codes."]),
    (f"{BOX} > Code A—Tides.", ["Code A—Tides. Show the tides. Code B—Ebbs. Show the ebbs."]),
    (f"{BOX} > Code C—Boats.", ["Code C—Boats. Show the boats."]),
    (f"{BOX} > Code D—Barns.", ["Code D—Barns. Show the barns.", "Code E—20% duty. Show the duty."]),
    ("Box 13. Duty", ["Code Z—Duty. Show the duty."]),
    keys=["box_11", "box_12", "code_A", "code_C", "code_D", "box_13"],
)


def result_of(row: int, facts: PassageFacts) -> Result:
    columns = facts.columns
    return Result(
        rank=1,
        score=1.0,
        document="z--2031",
        form="2077-ZED",
        revision="2031",
        doc_type="filer_instructions",
        page=1,
        bboxes=[],
        heading_path=columns["heading_path"][row],
        anchor_key=columns["anchor_key"][row],
        text=columns["text"][row],
        node_id=columns["node_ids"][row][0],
        chunk_id=columns["chunk_id"][row],
        via=explanation(columns["chunk_id"][row]),
    )


@pytest.mark.parametrize("row", [1, 3])
def test_all_codes_of_the_box_are_reported(row: int) -> None:
    (unit,) = list_codes("what goes in box 12", [result_of(row, FACTS)], route=Route(keys=("box_12",)), facts=FACTS)
    assert [piece.text for piece in unit.pieces if piece.role == "item"] == [
        "Code A—Tides.",
        "Code B—Ebbs.",
        "Code C—Boats.",
        "Code D—Barns.",
        "Code E—20% duty.",
    ]
    assert unit.pieces[-1].role == "note"
    assert unit.label == BOX


@pytest.mark.parametrize(
    ("question", "keys"), [("what is box 12", ("box_12",)), ("what goes in box 11", ("box_11",)), ("what codes", ())]
)
def test_other_questions_and_boxes_have_no_codes(question: str, keys: tuple[str, ...]) -> None:
    results = [result_of(row, FACTS) for row in (0, 1)]
    assert list_codes(question, results, route=replace(Route(), keys=keys), facts=FACTS) == []
