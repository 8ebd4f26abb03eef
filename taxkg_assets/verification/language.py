"""What the checker borrows from other stages, as functions: search terms, their weights, mentions, embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Mentioned(Protocol):
    """A mention of a form, a box, a line or a rule in a text."""

    @property
    def kind(self) -> str:
        """Return the kind of the target: form, publication, box, line, irc_section, …"""

    @property
    def target(self) -> str:
        """Return the normalized target, such as `box_1a` or `Form 1099-R`."""

    @property
    def start(self) -> int:
        """Return the 0-based offset of the mention in the text."""

    @property
    def end(self) -> int:
        """Return the exclusive end offset of the mention."""


@dataclass(frozen=True, slots=True)
class WordVectors:
    """The words of a text with their contextual vectors.

    Attributes:
        words: Words and marks as written.
        vectors: Unit vectors, shape (words, dimension).
    """

    words: tuple[str, ...]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Language:
    """Text functions provided by the caller, since stages do not import each other.

    Attributes:
        find_terms: Search terms of a text, in order, with repeats.
        read_weight: Inverse document frequency of a term in the library; 0 for an unknown one.
        unknown_weight: Weight of a word that no document has.
        find_mentions: Places where a text names forms, boxes, lines or rules.
        encode: Embeddings of texts, shape (texts, dimension), of length one; None compares words alone.
        read_vectors: Words of a text with their vectors; None aligns no words.
    """

    find_terms: Callable[[str], Sequence[str]]
    read_weight: Callable[[str], float]
    find_mentions: Callable[[str], Sequence[Mentioned]]
    unknown_weight: float = 10.0
    encode: Callable[[Sequence[str]], Any] | None = None
    read_vectors: Callable[[str], WordVectors] | None = None
