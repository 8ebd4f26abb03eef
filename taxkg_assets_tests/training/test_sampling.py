"""Which pairs are learned from when there are more than there is time for."""

from __future__ import annotations

from collections import Counter

import polars as pl

from taxkg_assets.training.sampling import sample_examples


def write_pairs(**counts: int) -> pl.DataFrame:
    rows = [
        {
            "pair_id": f"{kind}:{number:03}",
            "kind": kind,
            "query": f"{kind} {number}",
            "passage": "p",
            "family": "f" if number % 4 else "g",
            "split": "train" if number % 4 else "dev",
            "weight": 1.0,
            "source": "written:a" if number > 299 else "rule:b",
        }
        for kind, count in counts.items()
        for number in range(count)
    ]
    return pl.DataFrame(rows)


NEGATIVES = pl.DataFrame(
    {
        "pair_id": ["scenario:001"] * 6,
        "rank": [1, 0, 2, 3, 4, 5],
        "passage": ["second", "hardest", "third", "fourth", "fifth", "sixth"],
        "family": ["f"] * 6,
    }
)


def test_questions_take_their_share_and_other_kinds_equal_parts() -> None:
    pairs = write_pairs(scenario=400, table=400, semantic=40)
    train, dev = sample_examples(pairs, NEGATIVES, max_examples=100, max_dev=20)
    assert Counter(example.kind for example in train) == {"scenario": 75, "semantic": 12, "table": 13}
    assert Counter(example.kind for example in dev) == {"scenario": 15, "semantic": 2, "table": 3}


def test_where_other_kinds_are_few_questions_fill_the_room() -> None:
    train, _ = sample_examples(write_pairs(scenario=400, table=20), NEGATIVES, max_examples=100, max_dev=20)
    assert Counter(example.kind for example in train) == {"scenario": 85, "table": 15}


def test_questions_that_people_wrote_go_first() -> None:
    train, dev = sample_examples(write_pairs(scenario=400, table=400), NEGATIVES, max_examples=120, max_dev=20)
    queried = [int(example.pair_id.removeprefix("scenario:")) for example in train if example.kind == "scenario"]
    assert sum(number > 299 for number in queried) == 75, "all that there are to train on"
    assert len(queried) == 90
    assert all(example.pair_id > "scenario:299" for example in dev if example.kind == "scenario")


def test_an_example_has_the_hardest_of_its_negatives() -> None:
    train, _ = sample_examples(write_pairs(scenario=4), NEGATIVES, max_examples=10, max_dev=1)
    assert {example.pair_id: example.negatives for example in train}["scenario:001"] == (
        "hardest",
        "second",
        "third",
        "fourth",
    )


def test_no_passage_of_a_family_to_measure_by_is_a_negative_to_train_on() -> None:
    negatives = NEGATIVES.with_columns(family=pl.Series(["f", "g", "f", "f", "f", "f"]))
    train, _ = sample_examples(write_pairs(scenario=4), negatives, max_examples=10, max_dev=1)
    assert "hardest" not in {example.pair_id: example.negatives for example in train}["scenario:001"]
