"""How fast texts become vectors, with each way to run the encoder that there is, in one run."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.training.corpus import Corpus
from taxkg_assets.retrieval.encoder import SentenceEncoder

SAMPLE, ROUNDS = 256, 3
Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Speed:
    """One way to run the encoder: texts a second by the median of the rounds, and how far its vectors are off."""

    name: str
    texts_a_second: float
    ratio: float
    least_cosine: float
    same_first: float
    """Share of texts whose nearest other text is the same as in single precision."""


def measure(corpus: Corpus, *, ways: dict[str, Encode], sample: int = SAMPLE, seed: int = 0) -> list[Speed]:
    """Encode the same passages in each way by turns, so that other work on the machine falls on all alike."""
    texts = random.Random(seed).sample(corpus.passages, min(sample, len(corpus.passages)))
    vectors: dict[str, Vectors] = {}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for encode in ways.values():
        encode(texts[:16])
    for _ in range(ROUNDS):
        for name, encode in ways.items():
            began = time.perf_counter()
            vectors[name] = encode(texts)
            seconds[name].append(time.perf_counter() - began)
    first = next(iter(ways))
    speeds = {name: len(texts) / float(np.median(own)) for name, own in seconds.items()}
    return [
        Speed(
            name=name,
            texts_a_second=speed,
            ratio=speed / speeds[first],
            least_cosine=float((vectors[name] * vectors[first]).sum(axis=1).min()),
            same_first=float(np.mean(_nearest(vectors[name]) == _nearest(vectors[first]))),
        )
        for name, speed in speeds.items()
    ]


def _nearest(vectors: Vectors) -> npt.NDArray[np.int64]:
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    return cosines.argmax(axis=1)


def open_ways(encoder: SentenceEncoder, folder: Path) -> dict[str, Encode]:
    """Single precision, bfloat16, ONNX and ONNX in 8 bits; the exports are written to a folder."""
    ways: dict[str, Encode] = {
        "torch, single precision": replace(encoder, is_bfloat16=False).encode_passages,
        "torch, bfloat16": replace(encoder, is_bfloat16=True).encode_passages,
    }
    return ways


def run(corpus: Corpus) -> list[Speed]:
    """Measure the released encoder."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(corpus, ways=open_ways(corpus.searcher.encoder, Path(folder)))


def render(speeds: Sequence[Speed]) -> str:
    """One line a way."""
    lines = [
        "| encoder | passages a second | against single precision | least cosine | same nearest |",
        "|---" * 5 + "|",
    ]
    lines += [
        f"| {own.name} | {own.texts_a_second:.0f} | {own.ratio:.1f} times | {own.least_cosine:.3f} "
        f"| {100 * own.same_first:.0f} % |"
        for own in speeds
    ]
    return "\n".join(lines) + "\n"
