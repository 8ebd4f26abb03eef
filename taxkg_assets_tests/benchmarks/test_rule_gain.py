"""Which gain of a rule is recorded: the measurement, or a reading of more rows."""

from __future__ import annotations

import pytest

from benchmarks.rule_gain import READ, choose_gain
from tools.rule_decisions import Gain
from tools.rule_labels import Review

KEY = ("roles", "titles", "boats")


@pytest.mark.parametrize(
    ("review", "gain", "left_out_gain"),
    [
        (Review(2, 2, 2), 2.0, 1.0),
        (Review(2, 3, 3), 1.0, 0.0),
        (Review(5, 2, 6), 4.0, -1.0),
        (Review(1, 1, 1), 1.0, 0.0),
        (Review(5, 7, 6), 4.0, 3.0),
    ],
    ids=["all right", "one wrong", "nearly all of one product", "one product", "more products than read"],
)
def test_of_a_reading_the_least_that_may_remain_without_a_product_counts(
    review: Review, gain: float, left_out_gain: float
) -> None:
    found = choose_gain(KEY, None, review)
    assert (found.measured_on, found.gain, found.left_out_gain) == (READ, gain, left_out_gain)


def test_a_measurement_on_as_many_rows_counts_more_than_a_reading() -> None:
    measured = Gain(*KEY, "labels, tags", n=3, families=2, gain=2.0, left_out_gain=1.0)
    assert choose_gain(KEY, measured, Review(3, 3, 3)) is measured
    assert choose_gain(KEY, measured, Review(6, 0, 6)) is measured, "matches decide nothing"


def test_without_either_there_is_no_gain() -> None:
    assert choose_gain(KEY, None, None).left_out_gain == 0.0
