from __future__ import annotations

import polars as pl

from taxkg_assets.llm.rule_questions import propose_negative_judging
from taxkg_assets.prompts.contract import Block
from taxkg_assets.prompts.tasks import NegativeItem
from taxkg_assets.training.judge import estimate_false_share, estimate_valid_share, pick_sample


def test_each_kind_counts_as_much_as_it_has_pairs() -> None:
    judged = [("a", True)] * 3 + [("a", False)] + [("a", None)] * 4 + [("b", False)] * 2
    frame = pl.DataFrame(judged, schema=["kind", "is_valid_pair"], orient="row")
    assert estimate_valid_share(frame) == (8 * 3 / 4 + 2 * 0) / 10


def test_a_source_that_no_one_judged_says_nothing() -> None:
    frame = pl.DataFrame({"source": ["bm25", "bm25", "dense"], "is_false_negative": [True, False, None]})
    assert estimate_false_share(frame) == 1 / 2
    assert estimate_false_share(frame.clear()) == 0.0


def test_a_sample_is_the_same_whatever_the_order_of_the_rows() -> None:
    rows = pl.DataFrame({"pair_id": [f"p{n}" for n in range(50)], "kind": ["a", "b"] * 25})
    sample = pick_sample(rows, stratum="kind", key_columns=["pair_id"], size=7)
    assert sample.group_by("kind").len()["len"].to_list() == [7, 7]
    assert set(sample["pair_id"]) == set(
        pick_sample(rows.reverse(), stratum="kind", key_columns=["pair_id"], size=7)["pair_id"]
    )


ABOVE = (
    "Instructions for Forms 77-A and 77-B (2030) — (Including Forms 77-AS and 77-VI), instructions for lessors > Lots"
)


def _is_false(question: str, positive: str, negative: str) -> bool:
    item = NegativeItem(
        item_id="1", question=question, positive=positive, blocks=(Block(element_id="e", text=negative),)
    )
    return propose_negative_judging(item).is_false_negative


def test_neighbors_under_the_same_long_heading_are_not_alike_for_that() -> None:
    rent = f"{ABOVE} > Sheds.\nSheds. Report the rent of sheds of lessors as other income."
    assert not _is_false("Is Form 77-A needed for sheds?", rent, f"{ABOVE} > Fences.\nFences. Paint belongs to nobody.")
    assert _is_false(
        "Is Form 77-A needed for sheds?", rent, f"{ABOVE} > Huts.\nReport the rent of huts and sheds as income."
    )


def test_the_next_line_of_a_face_is_another_line() -> None:
    one, other = "1 Add lots.\n1 Add lots. Enter the sum here", "2 Add fences.\n2 Add fences. Enter the sum here"
    assert not _is_false("where is the sum of lots", f"Form 77 > {one}", f"Form 77 > {other}")
    assert _is_false("where is the sum of lots", f"Form 77 > {one}", f"Form 78 > {one}")
