"""The training loop: shuffled batches, warm-up and decay, early stopping, a state to resume from.

Here: the steps and when to stop. Not here: what a step computes and how a model is scored; the caller provides both.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from taxkg_assets.training.lazy_torch import torch

_LOG = logging.getLogger(__name__)
_ARCHIVE = b"PK\x03\x04"
"""First bytes of a file written by torch."""
Progress = Callable[[int, int], None]
"""Receives steps done and steps in all."""
Weights: TypeAlias = "dict[str, torch.Tensor]"
"""Weights of a module by name."""


@dataclass(frozen=True, slots=True)
class StepSettings:
    """Length and speed of a training."""

    epochs: float = 1.0
    """Passes over the examples, also fractions."""
    batch: int = 32
    """Examples per step."""
    learning_rate: float = 6e-5
    """Highest learning rate, at the end of the warm-up."""
    warmup: float = 0.1
    """Share of the steps in which the learning rate rises, 0 to 1."""
    weight_decay: float = 0.01
    evaluations: int = 4
    """Evaluations on the development split over the whole training."""
    patience: int = 2
    """Evaluations without improvement after which training stops."""
    seed: int = 0
    state_seconds: float = 30.0
    """Seconds between two states to resume from."""
    threads: int = 0
    """Threads of torch; 0 leaves them as they are."""


@dataclass(slots=True)
class TrainingHistory:
    """State of a training: losses, development scores, best weights.

    Attributes:
        steps: Steps done.
        seconds: Time of the steps, without evaluation.
        examples: Examples seen, repetitions included.
        losses: Loss of each step.
        scores: Step and score of each evaluation on the development split.
        best: Weights of the best evaluation.
    """

    steps: int = 0
    seconds: float = 0.0
    examples: int = 0
    losses: list[float] = field(default_factory=list)
    scores: list[tuple[int, float]] = field(default_factory=list)
    best: Weights = field(default_factory=dict)
    best_score: float = float("-inf")
    is_stopped_early: bool = False

    @property
    def examples_per_second(self) -> float:
        """Return the throughput of the training steps, without evaluation."""
        return self.examples / max(self.seconds, 1e-9)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """File that a training resumes from, if its identity and the initial weights are the same.

    Attributes:
        path: The file.
        identity: Digest of data and settings.
    """

    path: Path
    identity: str


def peak_memory_mb() -> float:
    """Return the peak memory of this process, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def seeded(settings: StepSettings) -> Iterator[None]:
    """Seed PyTorch and set its threads while the context is open.

    Args:
        settings: Seed and threads.

    Yields:
        Nothing.
    """
    threads = torch.get_num_threads()
    state = torch.get_rng_state()
    torch.manual_seed(settings.seed)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_rng_state(state)


def draw_batches(count: int, *, settings: StepSettings) -> list[list[int]]:
    """Draw the example indices of each step, shuffled in each epoch.

    Args:
        count: Number of examples.
        settings: Batch size, epochs (also fractions) and seed.

    Returns:
        Example indices of each batch.
    """
    total = max(min(count, settings.batch), round(count * settings.epochs))
    order: list[int] = []
    generator = random.Random(settings.seed)
    while len(order) < total:
        order += generator.sample(range(count), count)
    order = order[:total]
    batches = [order[start : start + settings.batch] for start in range(0, len(order), settings.batch)]
    return batches if len(batches) < 2 or len(batches[-1]) > 1 else batches[:-1]


def run_steps(
    module: torch.nn.Module,
    batches: Sequence[Sequence[int]],
    *,
    step: Callable[[Sequence[int]], float],
    score: Callable[[], float],
    settings: StepSettings,
    checkpoint: Checkpoint,
    progress: Progress | None = None,
) -> TrainingHistory:
    """Train a module and return its best weights on the development split.

    Args:
        module: Module to train.
        batches: Example indices of each step, from `draw_batches`.
        step: Computes the gradients of one batch and returns the loss.
        score: Scores the module on the development split, higher is better.
        settings: Learning rate, warm-up, evaluation and patience.
        checkpoint: State to resume from; the caller removes its file when the result is saved.
        progress: Receives steps done and steps in all.

    Returns:
        Losses, development scores and the best weights.

    Raises:
        ValueError: No evaluation gave a number.
    """
    checkpoint = replace(checkpoint, identity=f"{checkpoint.identity}:{hash_module(module)}")
    trained_weights = [weight for weight in module.parameters() if weight.requires_grad]
    optimizer, scheduler = _open_optimizer(trained_weights, len(batches), settings)
    stateful = {"module": module, "optimizer": optimizer, "scheduler": scheduler}
    history = _resume(stateful, checkpoint)
    evaluation_interval = max(1, math.ceil(len(batches) / settings.evaluations))
    saved_at = time.monotonic()
    while history.steps < len(batches) and not history.is_stopped_early:
        began_at = time.monotonic()
        module.train()
        batch = batches[history.steps]
        history.losses.append(step(batch))
        torch.nn.utils.clip_grad_norm_(trained_weights, 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
        history.steps += 1
        history.examples += len(batch)
        history.seconds += time.monotonic() - began_at
        if history.steps % evaluation_interval == 0 or history.steps == len(batches):
            _evaluate(module, history, score=score, patience=settings.patience)
        if progress is not None:
            progress(history.steps, len(batches))
        if time.monotonic() - saved_at > settings.state_seconds:
            _save(stateful, history, checkpoint)
            saved_at = time.monotonic()
    if not history.best:
        checkpoint.path.unlink(missing_ok=True)
        raise ValueError(f"Training diverged; its scores were {history.scores}. Try another TAXKG_TRAIN_SEED.")
    _save(stateful, history, checkpoint)
    return history


def _open_optimizer(
    weights: Sequence[torch.nn.Parameter], steps: int, settings: StepSettings
) -> tuple[torch.optim.AdamW, torch.optim.lr_scheduler.LambdaLR]:
    optimizer = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: _share_of_rate(done, steps, warmup=settings.warmup)
    )
    return optimizer, scheduler


def hash_module(module: torch.nn.Module) -> str:
    """Return a digest of a module's weights.

    Args:
        module: The module.
    """
    digest = hashlib.sha256()
    for name, weight in sorted(module.state_dict().items()):
        digest.update(name.encode() + weight.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def copy_weights(module: torch.nn.Module) -> Weights:
    """Return a copy of a module's weights.

    Args:
        module: The module.
    """
    return {name: weight.detach().clone() for name, weight in module.state_dict().items()}


def _share_of_rate(done: int, total: int, *, warmup: float) -> float:
    """Return the share of the highest learning rate after some steps: rising in the warm-up, then falling to 0.02."""
    warmup_steps = max(1, round(total * warmup))
    if done < warmup_steps:
        return (done + 1) / warmup_steps
    return max(0.02, (total - done) / max(1, total - warmup_steps))


def _evaluate(module: torch.nn.Module, history: TrainingHistory, *, score: Callable[[], float], patience: int) -> None:
    """Score the development split, keep the best weights, and note whether to stop."""
    module.eval()
    dev_score = score()
    history.scores.append((history.steps, dev_score))
    if dev_score > history.best_score:
        history.best_score, history.best = dev_score, copy_weights(module)
    best_evaluation = max(range(len(history.scores)), key=lambda ix: history.scores[ix][1])
    evaluations_since = len(history.scores) - 1 - best_evaluation
    history.is_stopped_early = evaluations_since >= patience


def _save(stateful: dict[str, Any], history: TrainingHistory, checkpoint: Checkpoint) -> None:
    """Write the state to the checkpoint; a crash while writing leaves the former state."""
    state = checkpoint.path
    state.parent.mkdir(parents=True, exist_ok=True)
    temporary = state.with_suffix(".part")
    saved = {name: part.state_dict() for name, part in stateful.items()}
    with temporary.open("wb") as file:
        torch.save(
            {**saved, "history": asdict(history), "identity": checkpoint.identity, "random": torch.get_rng_state()},
            file,
        )
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(state)


def _resume(stateful: dict[str, Any], checkpoint: Checkpoint) -> TrainingHistory:
    """Restore the state of an interrupted training with the same identity, or begin."""
    saved = _read_state(checkpoint.path)
    if saved is None or saved.get("identity") != checkpoint.identity:
        return TrainingHistory()
    for name, part in stateful.items():
        part.load_state_dict(saved[name])
    torch.set_rng_state(saved["random"])
    return TrainingHistory(**saved["history"])


def _read_state(state: Path) -> dict[str, Any] | None:
    """Read the saved state; None where there is none, or where it cannot be read and is overwritten."""
    if not state.exists():
        return None
    saved: Any = None
    with state.open("rb") as file:
        is_archive = file.read(len(_ARCHIVE)) == _ARCHIVE
    if is_archive:
        with suppress(EOFError, OSError, RuntimeError):  # cut off, or damaged within
            saved = torch.load(state, weights_only=True, map_location="cpu")
    if not isinstance(saved, dict) or "history" not in saved:
        _LOG.warning("The checkpoint %s cannot be read. Training starts again from the beginning.", state)
        return None
    return saved
