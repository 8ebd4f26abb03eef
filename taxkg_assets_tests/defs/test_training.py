"""The gates of pairs and negatives inspect each kind and source, which the others would hide."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import taxkg_assets.defs.training  # noqa: F401 - registers the gates
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.verdicts import Verdict
from taxkg_assets.schemas import Pairs
from taxkg_assets_tests.training import small


def _judge(folder: Path, *, valid: int) -> Verdict:
    """A home with many valid questions, and 25 definitions of which N are."""
    verdicts = [("scenario", True)] * 300 + [("definition", n < valid) for n in range(25)]
    rows = [
        {"pair_id": f"{n:03}", "kind": kind, "split": "train", "polarity": "positive", "is_valid_pair": is_valid_pair}
        for n, (kind, is_valid_pair) in enumerate(verdicts)
    ]
    home = Home(home=str(folder))
    home.store.write("pairs", pl.DataFrame(small.fill(Pairs, rows)), inputs="")
    return PIPELINE["pairs"].gates["pairs_are_valid"](home)[0]


@pytest.mark.parametrize(("valid", "faults"), [(24, []), (15, ["valid_share of definition"])])
def test_a_bad_kind_is_seen_among_good_ones(tmp_path: Path, valid: int, faults: list[str]) -> None:
    verdict = _judge(tmp_path, valid=valid)
    assert verdict.offending["metric"].to_list() == faults
    assert verdict.passed is not bool(faults)
    assert verdict.figures["valid_share"] > 0.95
    assert verdict.figures["definition"] == pytest.approx(valid / 25)
