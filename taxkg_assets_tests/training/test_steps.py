"""The loop of training: when it stops."""

from __future__ import annotations

from pathlib import Path

import torch

from taxkg_assets.training.steps import StepSettings, run_steps


def test_training_stops_where_it_gets_no_better(tmp_path: Path) -> None:
    module = torch.nn.Linear(1, 1)
    scores = iter([0.5, 0.4, 0.3, 0.9])

    def step(_: object) -> float:
        loss = module(torch.ones(1)).sum()
        loss.backward()
        return float(loss)

    course = run_steps(
        module,
        [[0]] * 8,
        step=step,
        score=lambda: next(scores),
        settings=StepSettings(),
        state=tmp_path / "state",
        identity="one",
    )
    assert course.is_stopped_early
    assert (course.steps, course.best_score) == (6, 0.5)
