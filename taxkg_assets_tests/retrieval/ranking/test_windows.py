"""A passage is the hit with what else was found around its place; headings part what is under other ones."""

from __future__ import annotations

import polars as pl
import pytest

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.ranking.windows import Windows


def _make_facts(opening: str = "") -> PassageFacts:
    """Eight paragraphs of forty words each under four sibling headings, two apiece.

    Args: opening: what each text begins with; `{}` is the number of its heading.
    """
    return PassageFacts(
        pl.DataFrame(
            [
                {
                    "text": opening.format(number // 2) + f"{number} " + "quay " * 39,
                    "terms": "quay",
                    "anchor_key": None,
                    "anchor_id": f"anchor-{number // 2}",
                    "heading_path": f"Harbour book > Dues > Berth {number // 2}",
                    "level": "paragraph",
                    "node_ids": [f"node-{number}"],
                    "chunk_id": f"chunk-{number}",
                    "page": 1 + number // 4,
                    "document_id": "harbour",
                    "bboxes": [{"page": 1, "x0_pt": float(number)}],
                }
                for number in range(8)
            ]
        )
    )


@pytest.fixture
def facts() -> PassageFacts:
    return _make_facts()


def _numbers(windows: Windows, row: int) -> list[str]:
    window = windows.expand_hit(row)
    assert window is not None
    return [line.split()[0] for line in window.text.splitlines()]


def test_what_was_found_elsewhere_under_the_heading_above_comes_along_with_its_heading(facts: PassageFacts) -> None:
    assert _numbers(Windows(facts, ranked_rows=[0, 7]), 0)[-2:] == ["Berth", "7"]


@pytest.mark.parametrize("opening", ["Berth {}\n", "4 Berth {} and its dues\n"])
def test_a_heading_that_the_text_begins_with_is_printed_once(opening: str) -> None:
    window = Windows(_make_facts(opening), ranked_rows=[0, 7]).expand_hit(0)
    assert window is not None
    assert window.text.count("Berth 3") == 1


def test_neighbors_fill_up_to_their_own_limit(facts: PassageFacts) -> None:
    # 100 words hold the hit and one neighbor of forty; four found paragraphs reach further.
    assert _numbers(Windows(facts, ranked_rows=[2]), 2) == ["2", "3"]
    assert [text for text in _numbers(Windows(facts, ranked_rows=[2, 3, 5, 6]), 2) if text != "Berth"] == list("2356")


def test_no_paragraph_is_handed_over_twice(facts: PassageFacts) -> None:
    windows = Windows(facts, ranked_rows=[0, 7])
    windows.expand_hit(0)
    assert windows.expand_hit(7) is None


def test_a_paragraph_is_alone_where_that_is_requested(facts: PassageFacts) -> None:
    assert _numbers(Windows(facts, level="paragraph", ranked_rows=[0, 7]), 0) == ["0"]


def test_passages_after_the_first_ones_are_narrow(facts: PassageFacts) -> None:
    ranked = [6, 0, 1, 2, 3]
    assert [text for text in _numbers(Windows(facts, ranked_rows=ranked), 6) if text != "Berth"] == list("01236")
    assert [
        text for text in _numbers(Windows(facts, ranked_rows=ranked, window_count=5), 6) if text != "Berth"
    ] == list("016")
    assert _numbers(Windows(facts, ranked_rows=[6], window_count=5), 6) == ["6"]


@pytest.mark.parametrize("hit", [0, 3, 7])
def test_a_passage_states_where_its_hit_begins(facts: PassageFacts, hit: int) -> None:
    window = Windows(facts, ranked_rows=[0, 3, 7]).expand_hit(hit)
    assert window is not None
    assert window.text[window.hit_start :].lstrip().startswith(f"{hit} quay")
