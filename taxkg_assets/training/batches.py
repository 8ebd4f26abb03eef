"""Padded batches: each text is tokenized once, and rows of similar length are run together."""

from __future__ import annotations

import math
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
        max_tokens: Maximum number of tokens of a row, special tokens included; the rest is cut off.
        ids_by_text: Token ids of each text tokenized so far.
        features_by_pair: Token ids and token types of each pair tokenized so far.
    """

    tokenizer: Any
    max_tokens: int
    ids_by_text: dict[str, list[int]] = field(default_factory=dict)
    features_by_pair: dict[tuple[str, str], tuple[list[int], list[int]]] = field(default_factory=dict)

    def find_token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, special tokens included.

        Args:
            texts: Texts, each prefixed with its prompt.
        """
        missing = list(dict.fromkeys(text for text in texts if text not in self.ids_by_text))
        if missing:
            encoded = self.tokenizer(missing, truncation=True, max_length=self.max_tokens)
            self.ids_by_text.update(zip(missing, encoded["input_ids"], strict=True))
        return [self.ids_by_text[text] for text in texts]

    def find_pair_features(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
        """Return the token ids and token types of each pair of texts; a pair is encoded as one row.

        Args:
            pairs: Query and passage.
        """
        missing = list(dict.fromkeys(pair for pair in pairs if pair not in self.features_by_pair))
        if missing:
            queries, passages = [query for query, _ in missing], [passage for _, passage in missing]
            encoded = self.tokenizer(queries, passages, truncation=True, max_length=self.max_tokens)
            token_ids = encoded["input_ids"]
            token_types = encoded.get("token_type_ids") or [[0] * len(row) for row in token_ids]
            features = zip(token_ids, token_types, strict=True)
            self.features_by_pair.update(zip(missing, features, strict=True))
        return [self.features_by_pair[pair] for pair in pairs]

    @property
    def pad_id(self) -> int:
        """Token id that pads a row."""
        return int(self.tokenizer.pad_token_id or 0)


def split_by_length(rows: Sequence[Sequence[int]], *, max_tokens: int) -> Iterator[list[int]]:
    """Group rows of similar length, shortest first, so that little padding is needed.

    Args:
        rows: Token ids of each row.
        max_tokens: Maximum number of tokens in a group, padding included; a longer row is a group of its own.

    Yields:
        Indices of the rows of one group.
    """
    group: list[int] = []
    for row_ix in sorted(range(len(rows)), key=lambda row_ix: (len(rows[row_ix]), row_ix)):
        if group and (len(group) + 1) * _pad_length(len(rows[row_ix])) > max_tokens:
            yield group
            group = []
        group.append(row_ix)
    if group:
        yield group


def pad_rows(rows: Sequence[Sequence[int]], *, pad_id: int) -> dict[str, torch.Tensor]:
    """Pad rows to a common length.

    Args:
        rows: Token ids of each row; not empty.
        pad_id: Token id that pads a row.

    Returns:
        `input_ids` and `attention_mask`, both of shape (rows, padded length); the mask is 1 on tokens, 0 on padding.
    """
    padded_length = _pad_length(max(map(len, rows)))
    return {
        "input_ids": torch.tensor([[*row, *[pad_id] * (padded_length - len(row))] for row in rows]),
        "attention_mask": torch.tensor([[1] * len(row) + [0] * (padded_length - len(row)) for row in rows]),
    }


def _pad_length(length: int) -> int:
    """Round a number of tokens up to the next multiple of `PAD_STEP`."""
    return math.ceil(length / PAD_STEP) * PAD_STEP
