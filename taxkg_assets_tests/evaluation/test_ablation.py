"""What a component adds is the mean of the paired differences."""

from __future__ import annotations

import pytest

from taxkg_assets.evaluation.ablation import Step, score_ablation
from taxkg_assets_tests.evaluation.corpus import BOOK, FEE, FORM, LAW, RENT, documents, queries, question, runs

QUERIED = queries(question("a", (FORM, RENT)), question("b", (BOOK, RENT)), question("c", (LAW, FEE)))
RUNS = runs(
    ("plain", "a", 1, FORM, RENT),
    ("plain", "b", 1, LAW, FEE),
    ("plain", "b", 2, BOOK, RENT),
    ("plain", "c", 1, LAW, FEE),
    ("rich", "a", 1, FORM, RENT),
    ("rich", "b", 1, BOOK, RENT),
    ("rich", "c", 1, BOOK, RENT),
)


def test_gains_are_paired() -> None:
    frame = score_ablation(
        QUERIED, RUNS, documents=documents(), steps=[Step("prefix", "plain", "rich")], metrics=["mrr"]
    )
    row = frame.row(0, named=True)
    assert frame.height == 1
    assert row["without"] == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert row["with"] == pytest.approx((1 + 1 + 0) / 3)
    assert row["gain"] == pytest.approx((0 + 1 / 2 - 1) / 3)
    # Of the four ways to swap the differences 1/2 and -1, every one is as large as |-1/2|.
    assert row["p_value"] == 1.0
    assert row["n"] == 3


def test_a_system_that_was_not_run_is_an_error() -> None:
    with pytest.raises(ValueError, match="that were not run: dense"):
        score_ablation(QUERIED, RUNS, documents=documents(), steps=[Step("prefix", "dense", "rich")])
