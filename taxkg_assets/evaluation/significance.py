"""Significance: bootstrap intervals that respect documents, and a paired test between two systems.

Questions about one document are correlated, so the bootstrap draws whole document families. Few families have few
distinct draws, which may be close together by chance: no interval is narrower than for independent questions.
Everything is seeded: the same rows give the same interval.
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
"""Standard errors on either side of a mean that contain `LEVEL` of all means."""


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
        clusters: Document family of each value.
        seed: Seed of the draws.
        stream: Names that, with the seed, give each estimate its own random numbers, in whatever order the
            estimates are made; systems under the same names get the same resamples.

    Returns:
        Mean with the ends of its 95 % interval.

    Source:
        Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13.
    """
    data = np.asarray(values, dtype=np.float64)
    names, member_of = np.unique(np.asarray(clusters, dtype=object).astype(str), return_inverse=True)
    mean = float(data.mean())
    if len(names) < 2:
        return Interval(value=mean, low=None, high=None)
    sums = np.bincount(member_of, weights=data, minlength=len(names))
    counts = np.bincount(member_of, minlength=len(names))
    drawn = _seeded(seed, stream).multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    means = (drawn @ sums) / (drawn @ counts)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    reach = DEVIATIONS * float(data.std(ddof=1)) / float(np.sqrt(data.size))
    return Interval(
        value=mean,
        low=min(float(low), max(mean - reach, float(data.min()))),
        high=max(float(high), min(mean + reach, float(data.max()))),
    )


def compute_p_value(left: Sequence[float], right: Sequence[float], *, seed: int, stream: Sequence[str]) -> float:
    """Compute the p-value of a two-sided paired randomization test between two systems.

    Args:
        left: Value of each question by one system.
        right: Value of each question by the other system.
        seed: Seed of the swaps.
        stream: Names that, with the seed, give each test its own random numbers.

    Returns:
        p-value from 0 to 1; 1 where no question differs.

    Source:
        Smucker, Allan and Carterette, CIKM 2007.
    """
    differences = np.asarray(left, dtype=np.float64) - np.asarray(right, dtype=np.float64)
    differences = differences[differences != 0]
    if differences.size == 0:
        return 1.0
    observed = abs(differences.sum())
    is_exact = 2**differences.size <= PERMUTATIONS
    signs = _all_signs(differences.size) if is_exact else _random_signs(differences.size, _seeded(seed, stream))
    # A sum of equal parts may differ in its last bits by the order of addition.
    extreme = int(np.count_nonzero(np.abs(signs @ differences) >= observed * (1 - 1e-12)))
    return extreme / len(signs) if is_exact else (extreme + 1) / (len(signs) + 1)


def _all_signs(size: int) -> NDArray[np.floating[Any]]:
    bits = (np.arange(2**size)[:, None] >> np.arange(size)) & 1
    return bits * 2.0 - 1.0


def _random_signs(size: int, generator: np.random.Generator) -> NDArray[np.floating[Any]]:
    return generator.integers(0, 2, size=(PERMUTATIONS, size)) * 2.0 - 1.0


def _seeded(seed: int, stream: Sequence[str]) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32("\x1f".join(stream).encode())])
