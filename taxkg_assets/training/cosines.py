"""What a tuned encoder's cosines would be with its base, for whose cosines the weights and limits of the search are.

Training pushes passages apart that do not answer: the same passage gets a lower cosine than before, and the best ones
lie further from one another. Read as they are, good answers would look doubtful to the guardrail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
SCALE = "cosines.json"
"""File of a trained encoder's folder that holds its scale."""
PLACES = 50
"""Passages of a question, nearest first, whose cosines are compared."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The base's cosine is `slope` times the tuned one, and `offset`."""

    slope: float
    offset: float


def find_places(cosines: npt.NDArray[np.float32]) -> Floats:
    """Mean cosine of the nearest passage of each question (row), of the second nearest, and so on."""
    nearest = -np.sort(-cosines, axis=1)[:, :PLACES]
    found: Floats = nearest.astype(np.float64).mean(axis=0) if len(cosines) else np.zeros(0)
    return found


def find_scale(base: Floats, tuned: Floats) -> Scale:
    """The line through the cosines that both put at the same places, by least squares.

    Args: base, tuned: from `find_places`, for the same questions and passages.
    """
    if not len(tuned):
        return Scale(1.0, 0.0)
    spread = tuned - tuned.mean()
    moved = float(spread @ spread)
    slope = float(spread @ (base - base.mean())) / moved if moved > 0 else 1.0
    slope = slope if slope > 0 else 1.0
    return Scale(round(slope, 4), round(float(base.mean() - slope * tuned.mean()), 4))
