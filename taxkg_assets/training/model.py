"""The encoder, tuned: contrastive training of a sentence-transformers model on pairs with hard negatives.

Here: training, mixing with the base, choosing by the development split. Not here: pairs, negatives, the gate.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.training.card import Origin, render_card
from taxkg_assets.training.choice import choose_examples
from taxkg_assets.training.contrast import EncoderSettings, EncoderTrainer
from taxkg_assets.training.cosines import SCALE, Scale, find_scale
from taxkg_assets.training.dense_scores import DenseScores, QueryScore, mean_of, score_dense
from taxkg_assets.training.examples import Example
from taxkg_assets.training.gain import Interval, judge_gain
from taxkg_assets.training.lazy_torch import torch
from taxkg_assets.training.steps import (
    Course,
    Progress,
    Weights,
    copy_weights,
    draw_batches,
    peak_memory_mb,
    run_steps,
    seeded,
)

STATE = "training_state.pt"


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A trained model in its folder, and what training and development split say of it."""

    folder: Path
    sha256: str
    settings: dict[str, Any]
    alpha: float
    base: list[QueryScore]
    tuned: list[QueryScore]
    alphas: dict[float, float]
    steps: int
    examples: int
    seconds: float
    peak_mb: float
    course: list[tuple[int, float]]
    scale: Scale | None = None
    """Of an encoder's cosines."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """What training is given by whoever runs it: the base, a folder to work in, measures, who shows progress.

    `keep` moves a finished folder to where the home keeps models of a name, and tells the path there.
    """

    open_base: Callable[[], Any]
    base_name: str
    base_hash: str
    folder: Path
    keep: Callable[[Path, str], str]
    interval: Interval
    encoder: EncoderSettings
    pairs: int
    dev: int
    progress: Progress | None = None
    origin: Origin = field(default_factory=Origin)


def build_model(
    pairs: dy.DataFrame[schemas.Pairs], hard_negatives: dy.DataFrame[schemas.HardNegatives], *, workshop: Workshop
) -> dy.DataFrame[schemas.Model]:
    """Train an encoder on the pairs of the training families; it is chosen if it beats its base on the others.

    Returns: one row; none where there is nothing to learn from, or nothing to measure by.
    """
    examples, dev = choose_examples(pairs, hard_negatives, most=workshop.pairs, dev=workshop.dev)
    if len(examples) < workshop.encoder.steps.batch or not dev:
        return schemas.Model.create_empty()
    making = workshop.folder / "encoder"
    trained = train_encoder(
        examples, dev, base=workshop.open_base(), settings=workshop.encoder, out=making, progress=workshop.progress
    )
    gain = judge_gain(trained.base, trained.tuned, interval=workshop.interval)
    card = render_card(trained, gain, base=workshop.base_name, kinds=examples, dev=dev, origin=workshop.origin)
    (making / "README.md").write_text(card, encoding="utf8")
    name = f"encoder-{trained.sha256[:12]}"
    path = workshop.keep(making, name)
    row = {
        "name": name,
        "path": path,
        "base": workshop.base_name,
        "base_hash": workshop.base_hash,
        "sha256": trained.sha256,
        "settings": json.dumps(trained.settings, sort_keys=True),
        "pairs": len(examples),
        "steps": trained.steps,
        "alpha": trained.alpha,
        **gain.row(),
    }
    return schemas.Model.validate(pl.DataFrame([row], schema=schemas.Model.create_empty().schema))


def train_encoder(
    examples: Sequence[Example],
    dev: Sequence[Example],
    *,
    base: Any,
    settings: EncoderSettings,
    out: Path,
    pool: Sequence[str] = (),
    progress: Progress | None = None,
) -> TrainedModel:
    """Tune a loaded SentenceTransformer and save the mixture with its base that the development split likes best.

    Args:   base: changed by training; load another one to go on with the base. out: folder for the model; a state
            lies there while training runs, from which a killed training of the same data and settings goes on.
            pool: further passages that development questions are ranked against.
    """
    with seeded(settings.steps):
        trainer = EncoderTrainer(base, settings)
        origin = copy_weights(base)
        base.eval()
        of_base = score_dense(trainer.encode, dev, pool=pool)
        guide = trainer.find_guide(examples) if settings.loss.name.startswith("gist") else {}
        trainer.freeze()
        course = run_steps(
            base,
            draw_batches(len(examples), settings=settings.steps),
            step=lambda batch: trainer.step([examples[place] for place in batch], guide),
            score=lambda: mean_of(score_dense(trainer.encode, dev, pool=pool).questions),
            settings=settings.steps,
            state=out / STATE,
            identity=identify_training(examples, dev, settings=settings),
            progress=progress,
        )
        alpha, found, tried = _mix(trainer, origin, course, dev=dev, pool=pool)
    base.eval()
    base.save(str(out), create_model_card=False)
    scale = find_scale(of_base.places, found.places)
    (out / SCALE).write_text(json.dumps(asdict(scale)) + "\n", encoding="utf8")
    (out / STATE).unlink()
    return TrainedModel(
        folder=out,
        sha256=hash_weights(out),
        settings=asdict(settings),
        alpha=alpha,
        base=of_base.questions,
        tuned=found.questions,
        alphas=tried,
        steps=course.steps,
        examples=course.examples,
        seconds=course.seconds,
        peak_mb=peak_memory_mb(),
        course=course.scores,
        scale=scale,
    )


def identify_training(examples: Sequence[Example], dev: Sequence[Example], *, settings: Any) -> str:
    """Digest of everything that decides how a training goes."""
    hashed = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    for example in (*examples, *dev):
        hashed.update("\x1f".join([example.query, example.positive, *example.negatives, str(example.weight)]).encode())
    return hashed.hexdigest()


def hash_weights(folder: Path) -> str:
    """SHA-256 of a saved model's weights."""
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def mix_weights(origin: Weights, tuned: Weights, *, alpha: float) -> Weights:
    """So much of the tuned weights, the rest of the base's.

    Source: Wortsman et al. 2022 (arXiv 2109.01903), robust fine-tuning by weight interpolation.
    """
    return {
        name: torch.lerp(weight, tuned[name], alpha) if weight.is_floating_point() else weight
        for name, weight in origin.items()
    }


def _mix(
    trainer: EncoderTrainer, origin: Weights, course: Course, *, dev: Sequence[Example], pool: Sequence[str]
) -> tuple[float, DenseScores, dict[float, float]]:
    """Try mixtures with the base, leave the best one in the model."""
    trainer.model.eval()
    tried: dict[float, DenseScores] = {}
    for alpha in trainer.settings.alphas:
        trainer.model.load_state_dict(mix_weights(origin, course.best, alpha=alpha))
        tried[alpha] = score_dense(trainer.encode, dev, pool=pool)
    means = {alpha: mean_of(scores.questions) for alpha, scores in tried.items()}
    best = max(means, key=lambda alpha: (means[alpha], -alpha))
    trainer.model.load_state_dict(mix_weights(origin, course.best, alpha=best))
    return best, tried[best], means
