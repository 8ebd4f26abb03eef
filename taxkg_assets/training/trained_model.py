"""The result of training: a model in its folder, with its settings and its scores on the development split."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taxkg_assets.training.dense_scores import QueryScore
from taxkg_assets.training.similarity_calibration import SimilarityScale


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A trained model in its folder, and its figures on the development split.

    Attributes:
        sha256: Digest of its weights.
        settings: Hyperparameters.
        alpha: Weight of the tuned parameters in the interpolation with the base, 0 to 1.
        base: Development scores of the base.
        tuned: Development scores of the saved model.
        alphas: nDCG@10 by interpolation weight tried.
        steps: Training steps done.
        examples: Examples seen, repetitions included.
        seconds: Time of the steps, without evaluation.
        dev_scores: Step and nDCG@10 of each evaluation during training.
        peak_mb: Peak memory of the process, MiB.
        scale: Maps its cosines to those of the base; None for a cross-encoder.
    """

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
    dev_scores: list[tuple[int, float]]
    scale: SimilarityScale | None = None
