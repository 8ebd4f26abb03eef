"""The loop of training: when it stops, and what it continues from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from taxkg_assets.training.steps import Checkpoint, StepSettings, TrainingHistory, draw_batches, run_steps

pytestmark = pytest.mark.slow


def _run(scores: Iterator[float], state: Path) -> TrainingHistory:
    module = torch.nn.Linear(1, 1)

    def step(_: object) -> float:
        loss = module(torch.ones(1)).sum()
        loss.backward()
        return float(loss.detach())

    return run_steps(
        module,
        [[0]] * 8,
        step=step,
        score=lambda: next(scores),
        settings=StepSettings(),
        checkpoint=Checkpoint(state, "one"),
    )


def test_training_stops_where_it_gets_no_better(tmp_path: Path) -> None:
    history = _run(iter([0.5, 0.4, 0.3, 0.9]), tmp_path / "state")
    assert history.is_stopped_early
    assert (history.steps, history.best_score) == (6, 0.5)


@pytest.mark.parametrize("written", [b"", b"no state", b"PK\x03\x04 cut off"])
def test_a_state_that_cannot_be_read_starts_from_scratch_and_says_so(
    written: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state = tmp_path / "state"
    state.write_bytes(written)
    assert _run(iter([0.1, 0.2, 0.3, 0.4]), state).steps == 8
    assert "starts again from the beginning" in caplog.text


def test_a_state_of_another_layout_is_not_used(tmp_path: Path) -> None:
    torch.save({"steps": 7}, tmp_path / "state")
    assert _run(iter([0.1, 0.2, 0.3, 0.4]), tmp_path / "state").steps == 8


def test_training_without_a_number_to_go_by_fails_and_leaves_no_state(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="diverged"):
        _run(iter([math.nan] * 4), tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_a_sliver_of_an_epoch_is_one_step() -> None:
    settings = StepSettings(epochs=0.001, batch=4)
    assert [len(batch) for batch in draw_batches(100, settings=settings)] == [4]
