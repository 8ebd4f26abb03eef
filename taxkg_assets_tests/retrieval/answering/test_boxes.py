"""A question that describes a box is answered with the box's name; one that several boxes fit is not."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from taxkg_assets.retrieval.answering.answer import ask
from taxkg_assets.retrieval.answering.boxes import find_described_box
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.settings import Settings

OPEN = Settings(guardrail=False)


@pytest.fixture
def knowing(searcher: Searcher) -> Searcher:
    """The search with the labels of the invented form, in two editions."""
    rows = [
        ("2077-ZED", "2029", "box_1b", "Old tides"),
        ("2077-ZED", "2031", "box_1a", "Harbour rent"),
        ("2077-ZED", "2031", "box_1b", "Foreign vessels"),
        ("2077-ZED", "2031", "box_2", "Duty"),
        ("2078", "2031", "box_9", "Duty"),
    ]
    boxes = pl.DataFrame(rows, schema=["form", "revision", "box_key", "label"], orient="row")
    boxes = boxes.with_columns(document_id=pl.concat_str("form", "revision", separator="--"))
    return replace(searcher, open_boxes=lambda: boxes)


def test_the_answer_names_form_box_and_label(knowing: Searcher) -> None:
    found = ask(knowing, "Which box shows foreign vessels?", settings=OPEN)
    assert found.answer is not None
    assert found.answer.startswith("Form 2077-ZED, box 1b, “Foreign vessels”: ")


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("which box is harbour rent in", "box_1a"),
        ("which box shows old tides", None),
        ("which box is the duty in", None),
        ("which box of the 2077-ZED is the duty in", "box_2"),
        ("which box shows the rent of a barn in winter", None),
        ("what is harbour rent", None),
        ("which box is 1b", None),
    ],
)
def test_only_one_fitting_label_of_the_newest_face_names_a_box(
    knowing: Searcher, question: str, key: str | None
) -> None:
    box = find_described_box(knowing, question, knowing.rank(question))
    assert (box.key if box else None) == key
