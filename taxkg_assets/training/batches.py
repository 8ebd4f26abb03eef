"""Padded batches: each text is tokenized once, and rows of similar length run together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from taxkg_assets.training.lazy_torch import torch

PAD_STEP = 8
"""Rows are padded to a multiple of this many tokens, which processors multiply faster."""


@dataclass(frozen=True)
class Tokens:
    """A tokenizer with a cache of token ids per text or pair of texts.

    Attributes:
        tokenizer: Tokenizer of the transformers library.
        max_tokens: Tokens per row, special tokens included.
    """

    tokenizer: Any
    max_tokens: int
    remembered: dict[str, list[int]] = field(default_factory=dict)
    remembered_pairs: dict[tuple[str, str], tuple[list[int], list[int]]] = field(default_factory=dict)

    def find_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, special tokens included.

        Args:
            texts: Texts, each prefixed with its prompt.
        """
        missing = list(dict.fromkeys(text for text in texts if text not in self.remembered))
        if missing:
            found = self.tokenizer(missing, truncation=True, max_length=self.max_tokens)["input_ids"]
            self.remembered.update(zip(missing, found, strict=True))
        return [self.remembered[text] for text in texts]

    def find_pair_features(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
        """Return the token ids and token types of each pair of texts, encoded as one row.

        Args:
            pairs: Query and passage.
        """
        missing = list(dict.fromkeys(pair for pair in pairs if pair not in self.remembered_pairs))
        if missing:
            first, second = [pair[0] for pair in missing], [pair[1] for pair in missing]
            found = self.tokenizer(first, second, truncation=True, max_length=self.max_tokens)
            kinds = found.get("token_type_ids") or [[0] * len(row) for row in found["input_ids"]]
            self.remembered_pairs.update(
                {pair: (row, kind) for pair, row, kind in zip(missing, found["input_ids"], kinds, strict=True)}
            )
        return [self.remembered_pairs[pair] for pair in pairs]

    @property
    def pad_id(self) -> int:
        """Token id that pads a row."""
        return int(self.tokenizer.pad_token_id or 0)


def split_by_length(ids: Sequence[Sequence[int]], *, tokens: int) -> Iterator[list[int]]:
    """Group rows of similar length, shortest first.

    Args:
        ids: Token ids of each row.
        tokens: Most tokens in a group, padding included; a longer row is a group of its own.

    Yields:
        Indices of the rows of one group.
    """
    group: list[int] = []
    for ix in sorted(range(len(ids)), key=lambda ix: (len(ids[ix]), ix)):
        if group and (len(group) + 1) * _padded(len(ids[ix])) > tokens:
            yield group
            group = []
        group.append(ix)
    if group:
        yield group


def pad_rows(ids: Sequence[Sequence[int]], *, pad_id: int) -> dict[str, torch.Tensor]:
    """Pad rows to a common length.

    Args:
        ids: Token ids of each row; not empty.
        pad_id: Token id that pads a row.

    Returns:
        `input_ids` and `attention_mask`, both of shape (rows, padded length); the mask is 1 on tokens, 0 on padding.
    """
    length = _padded(max(map(len, ids)))
    return {
        "input_ids": torch.tensor([[*row, *[pad_id] * (length - len(row))] for row in ids]),
        "attention_mask": torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in ids]),
    }


def _padded(length: int) -> int:
    return -(-length // PAD_STEP) * PAD_STEP
