"""The line below which a share of the answerable questions falls."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.answerable import fit_quantile


def test_a_share_of_the_values_is_below_the_line() -> None:
    lengths = np.repeat([0.0, 0.5, 1.0], 11)
    values = np.tile(np.arange(11.0), 3) - 4 * lengths
    assert fit_quantile(values, lengths, share=0.25) == pytest.approx((2.0, -4.0))
