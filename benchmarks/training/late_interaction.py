"""Late interaction: every word of a question looks for its nearest word of a passage, with an encoder's token vectors.

Source: Khattab and Zaharia, ColBERT, SIGIR 2020; here with an encoder that was not trained for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
BATCH = 16


def encode_tokens(model: Any, texts: Sequence[str], *, max_tokens: int = 256) -> list[Vectors]:
    """Unit vectors of the tokens of each text, the frame tokens left out."""
    import torch

    found: list[Vectors] = [np.zeros((0, 0), dtype=np.float32)] * len(texts)
    order = sorted(range(len(texts)), key=lambda ix: len(texts[ix]))
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        features = model.tokenizer(
            [texts[ix] for ix in batch], truncation=True, max_length=max_tokens, padding=True, return_tensors="pt"
        )
        with torch.inference_mode():
            states = model(dict(features))["token_embeddings"]
        states = torch.nn.functional.normalize(states.float(), dim=-1).numpy()
        for ix, own, mask in zip(batch, states, features["attention_mask"].numpy(), strict=True):
            found[ix] = own[mask.astype(bool)][1:-1]
    return found


def score_late_interaction(query: Vectors, passage: Vectors) -> float:
    """Mean over the question's tokens of the best cosine with any of the passage's."""
    return float((query @ passage.T).max(axis=1).mean()) if len(query) and len(passage) else 0.0
