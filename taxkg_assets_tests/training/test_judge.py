from __future__ import annotations

import polars as pl

from taxkg_assets.training.judge import pick_sample, score_false, score_valid


def test_each_kind_weighs_as_much_as_it_has_pairs() -> None:
    judged = [("a", True)] * 3 + [("a", False)] + [("a", None)] * 4 + [("b", False)] * 2
    frame = pl.DataFrame(judged, schema=["kind", "is_sound"], orient="row")
    assert score_valid(frame) == (8 * 3 / 4 + 2 * 0) / 10


def test_a_source_that_nobody_judged_says_nothing() -> None:
    frame = pl.DataFrame({"source": ["bm25", "bm25", "dense"], "is_false": [True, False, None]})
    assert score_false(frame) == 1 / 2
    assert score_false(frame.clear()) == 0.0


def test_a_sample_is_the_same_whatever_the_order_of_the_rows() -> None:
    rows = pl.DataFrame({"pair_id": [f"p{n}" for n in range(50)], "kind": ["a", "b"] * 25})
    sample = pick_sample(rows, by="kind", key=["pair_id"], size=7)
    assert sample.group_by("kind").len()["len"].to_list() == [7, 7]
    assert set(sample["pair_id"]) == set(pick_sample(rows.reverse(), by="kind", key=["pair_id"], size=7)["pair_id"])
