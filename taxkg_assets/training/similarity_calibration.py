"""Calibration of a tuned encoder's cosines to those of its base.

The weights and thresholds of the search are fitted to the base's cosines. Training lowers the cosines of wrong
passages, and with them those of all passages, and spreads the best ones. Without calibration, the guardrail would
reject good answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
SCALE_FILE = "cosines.json"
"""File in a trained encoder's folder that contains its scale."""
RANKS = 50
"""Passages per question, nearest first, whose cosines are compared."""


@dataclass(frozen=True, slots=True)
class SimilarityScale:
    """The base's cosine is estimated as `slope` times the tuned cosine, plus `offset`."""

    slope: float
    offset: float


def score_mean_by_rank(cosines: npt.NDArray[np.float32]) -> Floats:
    """Return the mean cosine at each rank over all questions.

    Args:
        cosines: One row per question, one column per passage.
    """
    nearest = -np.sort(-cosines, axis=1)[:, :RANKS]
    means: Floats = nearest.astype(np.float64).mean(axis=0) if len(cosines) else np.zeros(0)
    return means


def fit_scale(base: Floats, tuned: Floats) -> SimilarityScale:
    """Fit a linear map between the cosines of two encoders at equal ranks by least squares.

    Args:
        base: Means of the base, from `score_mean_by_rank`.
        tuned: Means of the tuned encoder, for the same questions and passages.

    Returns:
        The scale; the identity where there are no means.
    """
    if not len(tuned):
        return SimilarityScale(1.0, 0.0)
    deviations = tuned - tuned.mean()
    variance = float(deviations @ deviations)
    slope = float(deviations @ (base - base.mean())) / variance if variance > 0 else 1.0
    slope = slope if slope > 0 else 1.0
    return SimilarityScale(round(slope, 4), round(float(base.mean() - slope * tuned.mean()), 4))
