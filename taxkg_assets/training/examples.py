"""One training example: the interface between pairs with their negatives and the training of models."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Example:
    """A query, its positive passage and its hard negatives.

    `positive` and `negatives` are texts as the index embeds them: context, then text. `family` is the form family of
    the positive's document; the split is by family.
    """

    query: str
    positive: str
    negatives: tuple[str, ...]
    kind: str
    family: str
    weight: float
    pair_id: str
