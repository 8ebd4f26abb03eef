"""A table whose work is dealt out to several processes has the rows that one process makes."""

from pathlib import Path

import polars as pl
import pytest

from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_processes import make_in_shares

pytestmark = pytest.mark.slow


def test_questions_are_dealt_out_where_their_vectors_are_kept(sample_home: Path, tmp_path: Path) -> None:
    step = PIPELINE["eval_runs"].step
    assert step is not None
    assert step.can_be_divided(Home(home=str(sample_home)))
    assert not step.can_be_divided(Home(home=str(tmp_path)))


def test_runs_made_in_shares_are_the_runs(sample_home: Path) -> None:
    home = Home(home=str(sample_home))
    step, whole = PIPELINE["eval_runs"].step, home.store.read("eval_runs")
    assert step is not None
    assert whole.height
    states = {n: found for n in PIPELINE["eval_runs"].upstream if (found := home.store.state(n)) is not None}
    made = make_in_shares(home, "eval_runs", states, made_from="anything")
    assert made.inputs == "anything"
    assert made.frame.sort(step.schema.primary_key()).equals(whole)
    one, other = (step.make(home, states, made_from="", share=(number, 2)).frame for number in range(2))
    key = ["query_set", "query_id"]
    assert one.height
    assert other.height
    assert one.join(other, on=key, how="semi").is_empty(), "a question is asked once"
    assert pl.concat([one, other]).sort(step.schema.primary_key()).equals(whole)
