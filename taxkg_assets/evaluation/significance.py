"""Significance: bootstrap intervals that respect documents, and a paired test between two systems.

Questions about one document are correlated, so the bootstrap draws whole document families. As draws of few families
may be similar by chance, no interval is narrower than that of independent questions. All random numbers are seeded, so
that the same rows give the same interval.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
PERMUTATIONS = 9999
LEVEL = 0.95
DEVIATIONS = 1.96
"""Standard errors on either side of a mean between which `LEVEL` of all means are."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval; the ends are None if there is only one document family."""

    value: float
    low: float | None
    high: float | None


def score_interval(values: Sequence[float], clusters: Sequence[str], *, seed: int, stream: Sequence[str]) -> Interval:
    """Compute a cluster bootstrap interval of a mean, at least as wide as without clusters.

    Args:
        values: Value of each question; at least one.
        clusters: Document family of each value, drawn as a whole.
        seed: Seed of the draws.
        stream: Names that, with the seed, determine the random numbers of the estimate. Systems under the same names
            get the same resamples.

    Returns:
        Mean, and the ends of its 95 % interval.

    Source:
        Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13.
    """
    data = np.asarray(values, dtype=np.float64)
    families, family_ixs = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    mean = float(data.mean())
    if len(families) < 2:
        return Interval(value=mean, low=None, high=None)
    sums = np.bincount(family_ixs, weights=data, minlength=len(families))
    counts = np.bincount(family_ixs, minlength=len(families))
    draws = _seeded(seed, stream).multinomial(len(families), np.full(len(families), 1 / len(families)), size=RESAMPLES)
    means = (draws @ sums) / (draws @ counts)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    half_width = DEVIATIONS * float(data.std(ddof=1)) / float(np.sqrt(data.size))
    return Interval(
        value=mean,
        low=min(float(low), max(mean - half_width, float(data.min()))),
        high=max(float(high), min(mean + half_width, float(data.max()))),
    )


def compute_p_value(
    values: Sequence[float], other_values: Sequence[float], *, seed: int, stream: Sequence[str]
) -> float:
    """Compute the p-value of a two-sided paired randomization test between two systems.

    Args:
        values: Value of each question by one system.
        other_values: Value of each question by the other system.
        seed: Seed of the random signs.
        stream: Names that, with the seed, determine the random numbers of the test.

    Returns:
        p-value from 0 to 1; 1 if the systems do not differ on any question.

    Source:
        Smucker, Allan and Carterette, CIKM 2007.
    """
    differences = np.asarray(values, dtype=np.float64) - np.asarray(other_values, dtype=np.float64)
    differences = differences[differences != 0]
    if differences.size == 0:
        return 1.0
    observed = abs(differences.sum())
    is_exact = 2**differences.size <= PERMUTATIONS
    signs = _all_signs(differences.size) if is_exact else _random_signs(differences.size, _seeded(seed, stream))
    # Equal sums may differ in their last bits by the order of addition.
    extreme_count = int(np.count_nonzero(np.abs(signs @ differences) >= observed * (1 - 1e-12)))
    return extreme_count / len(signs) if is_exact else (extreme_count + 1) / (len(signs) + 1)


def _all_signs(size: int) -> NDArray[np.floating[Any]]:
    bits = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    return bits * 2.0 - 1.0


def _random_signs(size: int, generator: np.random.Generator) -> NDArray[np.floating[Any]]:
    return generator.integers(0, 2, size=(PERMUTATIONS, size)) * 2.0 - 1.0


def _seeded(seed: int, stream: Sequence[str]) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32("\x1f".join(stream).encode())])
