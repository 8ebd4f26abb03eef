"""What a model learns from, one example at a time: where pairs and negatives end and training begins."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the passage that answers it, and passages that look as if they did and do not.

    `positive` and `negatives` read as the index embeds them: context, then text. `family` is the form family of the
    positive's document; a split never cuts through one.
    """

    query: str
    positive: str
    negatives: tuple[str, ...]
    kind: str
    family: str
    weight: float
    pair_id: str
