"""Which pairs are learned from when there are more than there is time for."""

from __future__ import annotations

from collections import Counter

import polars as pl

from taxkg_assets.training.choice import choose_examples


def write_pairs(**counts: int) -> pl.DataFrame:
    rows = [
        {"pair_id": f"{kind}:{number:03}", "kind": kind, "query": f"{kind} {number}", "passage": "p", "family": "f",
         "split": "train" if number % 4 else "dev", "weight": 1.0}
        for kind, count in counts.items()
        for number in range(count)
    ]  # fmt: skip
    return pl.DataFrame(rows)


NEGATIVES = pl.DataFrame(
    {"pair_id": ["scenario:001", "scenario:001"], "rank": [1, 0], "passage": ["second", "hardest"]}
)


def test_questions_take_their_share_and_other_kinds_equal_parts() -> None:
    pairs = write_pairs(scenario=400, table=400, semantic=40)
    train, dev = choose_examples(pairs, NEGATIVES, most=100, dev=20)
    assert Counter(example.kind for example in train) == {"scenario": 60, "semantic": 20, "table": 20}
    assert Counter(example.kind for example in dev) == {"scenario": 12, "semantic": 4, "table": 4}


def test_where_other_kinds_are_few_questions_fill_the_room() -> None:
    train, _ = choose_examples(write_pairs(scenario=400, table=20), NEGATIVES, most=100, dev=20)
    assert Counter(example.kind for example in train) == {"scenario": 85, "table": 15}


def test_an_example_has_its_negatives_hardest_first() -> None:
    train, _ = choose_examples(write_pairs(scenario=4), NEGATIVES, most=10, dev=1)
    assert {example.pair_id: example.negatives for example in train}["scenario:001"] == ("hardest", "second")
