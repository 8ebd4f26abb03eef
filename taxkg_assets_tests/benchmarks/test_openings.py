"""What opens an answer is counted by kind, and scored by the share of right ones in other families."""

from __future__ import annotations

import pytest

from benchmarks.openings import Outcome, Report, score_left_out
from taxkg_assets.retrieval.answering import guardrail


def test_a_family_is_scored_by_the_others() -> None:
    outcomes = [Outcome(guardrail.DEFINITION, family, 0.8, family != "p3") for family in ("p1", "p2", "p3")]
    assert score_left_out(outcomes)[2] == pytest.approx((2 + 1) / (2 + 2))
    assert score_left_out(outcomes)[0] == pytest.approx((1 + 1) / (2 + 2))


def test_kinds_that_open_nothing_are_named() -> None:
    assert Report({guardrail.PURPOSE: 3}, []).queried == {guardrail.PURPOSE: 3}
