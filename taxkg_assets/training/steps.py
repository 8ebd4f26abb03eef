"""The loop that every training shares: seeded order, warm-up and decay, early stopping, a state to go on from.

Here: steps and when to stop. Not here: what a step computes, or how good a model is (both are handed in).
"""

from __future__ import annotations

import hashlib
import logging
import os
import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from taxkg_assets.training.lazy_torch import torch

_LOG = logging.getLogger(__name__)
_ARCHIVE = b"PK\x03\x04"
"""What a file that torch has written begins with."""
Progress = Callable[[int, int], None]
Weights: TypeAlias = "dict[str, torch.Tensor]"


@dataclass(frozen=True, slots=True)
class StepSettings:
    """How long and how fast to train."""

    epochs: float = 1.0
    batch: int = 32
    learning_rate: float = 6e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    evaluations: int = 4
    """How often the development split is scored over the whole training."""
    patience: int = 2
    """Scorings without a better figure after which training stops."""
    seed: int = 0
    state_seconds: float = 30.0
    """A state to resume from is written about this often."""
    threads: int = 0
    """Threads of torch; 0 leaves them as they are."""


@dataclass(slots=True)
class Course:
    """How a training went."""

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
        """Speed of the steps, scoring aside."""
        return self.examples / max(self.seconds, 1e-9)


def peak_memory_mb() -> float:
    """Most memory this process has held so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def seeded(settings: StepSettings) -> Iterator[None]:
    """Seed whatever draws numbers, with the threads of the settings, and leave all as it was."""
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    torch.manual_seed(settings.seed)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_rng_state(state)


def draw_batches(count: int, *, settings: StepSettings) -> list[list[int]]:
    """Numbers of the examples of each step; every epoch in a new order, the last may be a part; at least one step."""
    wanted = max(min(count, settings.batch), round(count * settings.epochs))
    order: list[int] = []
    choose = random.Random(settings.seed)
    while len(order) < wanted:
        order += choose.sample(range(count), count)
    order = order[:wanted]
    batches = [order[first : first + settings.batch] for first in range(0, len(order), settings.batch)]
    return batches if len(batches) < 2 or len(batches[-1]) > 1 else batches[:-1]


def run_steps(
    module: torch.nn.Module,
    batches: Sequence[Sequence[int]],
    *,
    step: Callable[[Sequence[int]], float],
    score: Callable[[], float],
    settings: StepSettings,
    state: Path,
    identity: str,
    progress: Progress | None = None,
) -> Course:
    """Train a module and give its best weights on the development split.

    Args:   step: computes gradients for the examples of one batch, gives the loss. score: higher is better.
            state: file to resume from, for the caller to remove when the result is safe. identity: digest of data and
            settings; together with the weights to begin from it names the training whose state may be used.
    Raises: ValueError where no scoring gave a number.
    """
    identity = f"{identity}:{hash_module(module)}"
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: _share_of_rate(done, len(batches), warmup=settings.warmup)
    )
    parts = {"module": module, "optimizer": optimizer, "scheduler": scheduler}
    course = _resume(parts, state, identity=identity)
    every = max(1, -(-len(batches) // settings.evaluations))
    written = time.monotonic()
    while course.steps < len(batches) and not course.is_stopped_early:
        began = time.monotonic()
        module.train()
        batch = batches[course.steps]
        course.losses.append(step(batch))
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
        course.steps += 1
        course.examples += len(batch)
        course.seconds += time.monotonic() - began
        if course.steps % every == 0 or course.steps == len(batches):
            _look(module, course, score=score, patience=settings.patience)
        if progress is not None:
            progress(course.steps, len(batches))
        if time.monotonic() - written > settings.state_seconds:
            _save(parts, course, state, identity=identity)
            written = time.monotonic()
    if not course.best:
        state.unlink(missing_ok=True)
        raise ValueError(f"Training went astray: scores {course.scores}. Train with a lower rate or another seed.")
    _save(parts, course, state, identity=identity)
    return course


def hash_module(module: torch.nn.Module) -> str:
    """Digest of a module's weights."""
    hashed = hashlib.sha256()
    for name, weight in sorted(module.state_dict().items()):
        hashed.update(name.encode() + weight.detach().cpu().numpy().tobytes())
    return hashed.hexdigest()


def copy_weights(module: torch.nn.Module) -> Weights:
    """The module's weights as they are now."""
    return {name: weight.detach().clone() for name, weight in module.state_dict().items()}


def _share_of_rate(done: int, total: int, *, warmup: float) -> float:
    rising = max(1, round(total * warmup))
    return (done + 1) / rising if done < rising else max(0.02, (total - done) / max(1, total - rising))


def _look(module: torch.nn.Module, course: Course, *, score: Callable[[], float], patience: int) -> None:
    """Score the development split and remember the best weights."""
    module.eval()
    found = score()
    course.scores.append((course.steps, found))
    if found > course.best_score:
        course.best_score, course.best = found, copy_weights(module)
    since = len(course.scores) - 1 - max(range(len(course.scores)), key=lambda place: course.scores[place][1])
    course.is_stopped_early = since >= patience


def _save(parts: dict[str, Any], course: Course, state: Path, *, identity: str) -> None:
    state.parent.mkdir(parents=True, exist_ok=True)
    temporary = state.with_suffix(".part")
    held = {name: part.state_dict() for name, part in parts.items()}
    with temporary.open("wb") as file:
        torch.save({**held, "course": asdict(course), "identity": identity, "random": torch.get_rng_state()}, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(state)


def _resume(parts: dict[str, Any], state: Path, *, identity: str) -> Course:
    """Go on where a killed training of the same data and settings stood, or begin."""
    held = _read_state(state)
    if held is None or held.get("identity") != identity:
        return Course()
    for name, part in parts.items():
        part.load_state_dict(held[name])
    torch.set_rng_state(held["random"])
    return Course(**held["course"])


def _read_state(state: Path) -> dict[str, Any] | None:
    """What was written down; None where there is nothing, or nothing that can be read, which is overwritten then."""
    if not state.exists():
        return None
    held: Any = None
    with state.open("rb") as file:
        is_archive = file.read(len(_ARCHIVE)) == _ARCHIVE
    if is_archive:
        with suppress(EOFError, OSError, RuntimeError):  # cut off, or damaged within
            held = torch.load(state, weights_only=True)
    if not isinstance(held, dict):
        _LOG.warning("The state %s can't be read: training begins anew.", state.name)
        return None
    return held
