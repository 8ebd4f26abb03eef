"""Reports of ways to run an encoder: speed relative to the first, and error of the vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.training.corpus import Corpus
from benchmarks.training.throughput import FIGURES, Vectors, measure, render
from taxkg_assets_tests.retrieval.conftest import TermEncoder

pytestmark = pytest.mark.slow


def test_ways_are_compared_with_the_first(corpus: Corpus) -> None:
    exact = TermEncoder().encode_passages

    def blurred(texts: Sequence[str]) -> Vectors:
        vectors = exact(texts).copy()
        vectors[:, 0] += 0.5
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    found = {speed.name: speed for speed in measure(corpus, ways={"exact": exact, "blurred": blurred}, sample=8)}
    assert (found["exact"].ratio, found["exact"].same_first) == (1.0, 1.0)
    assert found["exact"].least_cosine > 0.9999
    assert 0 < found["blurred"].least_cosine < 0.99
    table = render(list(found.values()), {"blurred": dict.fromkeys(FIGURES, 0.25)}).splitlines()
    assert sum("0.250" in line for line in table) == 1
    assert [line.split(" | ")[0] for line in table[2:]] == ["| exact", "| blurred"]
