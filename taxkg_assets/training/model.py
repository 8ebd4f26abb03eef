"""The tuned encoder: contrastive training of a SentenceTransformer on pairs with hard negatives.

Here: training, weight interpolation with the base, selection on the development split. Not here: pairs, negatives, the
gate.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.training.contrast import EncoderSettings, EncoderTrainer
from taxkg_assets.training.dense_scores import DenseScores, mean_of, score_dense
from taxkg_assets.training.examples import Example
from taxkg_assets.training.lazy_torch import torch
from taxkg_assets.training.model_card import Provenance, render_card
from taxkg_assets.training.promotion import Interval, decide_promotion
from taxkg_assets.training.sampling import sample_examples
from taxkg_assets.training.similarity_calibration import SCALE_FILE, SimilarityScale, fit_scale
from taxkg_assets.training.steps import (
    Checkpoint,
    Progress,
    TrainingHistory,
    Weights,
    copy_weights,
    draw_batches,
    peak_memory_mb,
    run_steps,
    seeded,
)
from taxkg_assets.training.trained_model import TrainedModel

STATE = "training_state.pt"


@dataclass(frozen=True, slots=True)
class EncoderTrainingContext:
    """What the caller provides for training an encoder.

    Attributes:
        open_base: Loads a copy of the base model, which training changes.
        base_hash: Digest of the base's weights.
        folder: Working folder.
        keep: Moves a finished folder to the home's models under a name, and returns its path there.
        interval: Confidence interval of a mean over clusters.
        encoder: Hyperparameters.
        pairs: Maximum number of training examples.
        dev: Maximum number of development examples.
        progress: Receives steps done and steps in all.
        origin: Tables and documents that the examples come from, for the model card.
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
    origin: Provenance = field(default_factory=Provenance)


def build_model(
    pairs: dy.DataFrame[schemas.Pairs],
    hard_negatives: dy.DataFrame[schemas.HardNegatives],
    *,
    context: EncoderTrainingContext,
) -> dy.DataFrame[schemas.Model]:
    """Train an encoder on the training families, and promote it if it beats its base on the development families.

    Args:
        pairs: Pairs of both splits.
        hard_negatives: Their negatives.
        context: Base model, folders and settings.

    Returns:
        One row; none without a full batch of examples or without development examples.
    """
    examples, dev = sample_examples(pairs, hard_negatives, max_examples=context.pairs, max_dev=context.dev)
    if len(examples) < context.encoder.steps.batch or not dev:
        return schemas.Model.create_empty()
    folder = context.folder / "encoder"
    trained = train_encoder(
        examples, dev, base=context.open_base(), settings=context.encoder, out=folder, progress=context.progress
    )
    promotion = decide_promotion(trained.base, trained.tuned, interval=context.interval)
    card = render_card(trained, promotion, base=context.base_name, examples=examples, dev=dev, origin=context.origin)
    (folder / "README.md").write_text(card, encoding="utf8")
    name = f"encoder-{trained.sha256[:12]}"
    path = context.keep(folder, name)
    row = {
        "name": name,
        "path": path,
        "base": context.base_name,
        "base_hash": context.base_hash,
        "sha256": trained.sha256,
        "settings": json.dumps(trained.settings, sort_keys=True),
        "pairs": len(examples),
        "steps": trained.steps,
        "alpha": trained.alpha,
        **promotion.columns(),
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
    """Train an encoder, and save the interpolation with its base that scores best on the development split.

    An interrupted training with the same data, settings and base resumes from the state in `out`.

    Args:
        examples: Training examples.
        dev: Development examples.
        base: Loaded SentenceTransformer; changed by training.
        settings: Hyperparameters.
        out: Folder for the model, and for the state while training runs.
        pool: Further passages that development questions are ranked against.
        progress: Receives steps done and steps in all.

    Returns:
        The saved model with its figures.

    Raises:
        ValueError: No evaluation gave a number, no layer is left to train, or the GPU's memory ran out.
    """
    with seeded(settings.steps), _explain_out_of_memory():
        trainer = EncoderTrainer(base, settings)
        base_weights = copy_weights(base)
        base.eval()
        base_scores = score_dense(trainer.encode, dev, pool=pool)
        history = _tune(trainer, examples, dev, out=out, pool=pool, progress=progress)
        alpha, tuned_scores, mean_by_alpha = _load_best_mix(trainer, base_weights, history, dev=dev, pool=pool)
    scale = _save_encoder(base, base_scores, tuned_scores, out=out)
    return TrainedModel(
        folder=out,
        sha256=hash_weights(out),
        settings=asdict(settings),
        alpha=alpha,
        base=base_scores.questions,
        tuned=tuned_scores.questions,
        alphas=mean_by_alpha,
        steps=history.steps,
        examples=history.examples,
        seconds=history.seconds,
        peak_mb=peak_memory_mb(),
        dev_scores=history.scores,
        scale=scale,
    )


@contextmanager
def _explain_out_of_memory() -> Iterator[None]:
    """Name the remedy where the GPU's memory runs out; a later training resumes from the last state."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise ValueError(
            "Training ran out of GPU memory. Free GPU memory or set TAXKG_DEVICE=cpu, then run `taxkg train` again."
        ) from error


def _tune(
    trainer: EncoderTrainer,
    examples: Sequence[Example],
    dev: Sequence[Example],
    *,
    out: Path,
    pool: Sequence[str],
    progress: Progress | None,
) -> TrainingHistory:
    """Train the model, and return the history with the best weights."""
    settings = trainer.settings
    guide = trainer.encode_guide(examples)
    trainer.freeze()
    return run_steps(
        trainer.model,
        draw_batches(len(examples), settings=settings.steps),
        step=lambda batch: trainer.step([examples[ix] for ix in batch], guide),
        score=lambda: mean_of(score_dense(trainer.encode, dev, pool=pool).questions),
        settings=settings.steps,
        checkpoint=Checkpoint(out / STATE, identify_training(examples, dev, settings=settings)),
        progress=progress,
    )


def _save_encoder(model: Any, base: DenseScores, tuned: DenseScores, *, out: Path) -> SimilarityScale:
    """Save the model with the scale of its cosines, and remove the state of its training."""
    scale = fit_scale(base.cosine_by_rank, tuned.cosine_by_rank)
    model.eval()
    model.save(str(out), create_model_card=False)
    (out / SCALE_FILE).write_text(json.dumps(asdict(scale)) + "\n", encoding="utf8")
    (out / STATE).unlink()
    return scale


def identify_training(examples: Sequence[Example], dev: Sequence[Example], *, settings: Any) -> str:
    """Return a digest of everything except the initial weights that determines a training's result.

    Args:
        examples: Training examples, in order.
        dev: Development examples.
        settings: Dataclass of hyperparameters.
    """
    digest = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    for example in (*examples, *dev):
        digest.update("\x1f".join([example.query, example.positive, *example.negatives, str(example.weight)]).encode())
    return digest.hexdigest()


def hash_weights(folder: Path) -> str:
    """Return the SHA-256 of a saved model's weights, hexadecimal.

    Args:
        folder: Folder with `model.safetensors`.

    Raises:
        FileNotFoundError: The folder has no weights.
    """
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def mix_weights(base: Weights, tuned: Weights, *, alpha: float) -> Weights:
    """Interpolate linearly between the weights of base and tuned model.

    Integer buffers are those of the base.

    Args:
        base: Weights of the base.
        tuned: Weights of the tuned model.
        alpha: Weight of the tuned model, 0 to 1.

    Source: Wortsman et al. 2022 (arXiv 2109.01903), robust fine-tuning by weight interpolation.
    """
    return {
        name: torch.lerp(weight, tuned[name], alpha) if weight.is_floating_point() else weight
        for name, weight in base.items()
    }


def _load_best_mix(
    trainer: EncoderTrainer, base: Weights, history: TrainingHistory, *, dev: Sequence[Example], pool: Sequence[str]
) -> tuple[float, DenseScores, dict[float, float]]:
    """Try each interpolation weight on the development split, and load the best mix into the model.

    Returns:
        The best interpolation weight, the scores with it, and nDCG@10 by interpolation weight.
    """
    trainer.model.eval()
    scores_by_alpha: dict[float, DenseScores] = {}
    for alpha in trainer.settings.alphas:
        trainer.model.load_state_dict(mix_weights(base, history.best, alpha=alpha))
        scores_by_alpha[alpha] = score_dense(trainer.encode, dev, pool=pool)
    mean_by_alpha = {alpha: mean_of(scores.questions) for alpha, scores in scores_by_alpha.items()}
    best_alpha = max(mean_by_alpha, key=lambda alpha: (mean_by_alpha[alpha], -alpha))
    trainer.model.load_state_dict(mix_weights(base, history.best, alpha=best_alpha))
    return best_alpha, scores_by_alpha[best_alpha], mean_by_alpha
