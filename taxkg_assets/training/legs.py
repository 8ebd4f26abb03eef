"""How training looks for passages that resemble a text; who searches is handed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
_BATCH = 256


class Legs(Protocol):
    """BM25 and an encoder over the same passages, row by row."""

    @property
    def chunk_ids(self) -> Sequence[str]: ...

    @property
    def vectors(self) -> Floats: ...

    def encode(self, texts: Sequence[str]) -> Floats: ...

    def score_lexical(self, text: str) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Scored:
    """What both legs give every passage for one text."""

    lexical: Floats
    dense: Floats


def score_passages(legs: Legs, texts: Sequence[str]) -> Iterator[Scored]:
    """Both legs' scores of all passages, one text after the other."""
    for first in range(0, len(texts), _BATCH):
        batch = texts[first : first + _BATCH]
        dense = legs.encode(batch) @ legs.vectors.T
        for row, text in enumerate(batch):
            yield Scored(lexical=legs.score_lexical(text), dense=dense[row])


def find_rank(scores: Floats, row: int) -> int:
    """1-based rank of a row; rows with an equal score share the better rank."""
    return int((scores > scores[row]).sum()) + 1


def find_best(scores: Floats, count: int) -> list[int]:
    """The rows with the highest scores, best first; equal ones in their order; rows without any score never."""
    count = min(count, len(scores))
    chosen = np.argpartition(-scores, count - 1)[:count] if count else np.zeros(0, dtype=np.int64)
    ordered = sorted(chosen.tolist(), key=lambda row: (-float(scores[row]), row))
    return [row for row in ordered if scores[row] > 0]
