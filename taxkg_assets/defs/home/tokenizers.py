"""Opens the tokenizer of an encoder without its weights: torch takes seconds to load."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from taxkg_assets.retrieval.encoding.encoder import MAX_TOKENS, TOKENIZED_AT_ONCE


@cache
def open_tokenizer(folder: Path) -> Callable[[Sequence[str]], list[list[int]]] | None:
    """Open a model's tokenizer without its weights, as loading PyTorch takes seconds.

    Args:
        folder: Folder of a sentence-transformers model.

    Returns:
        A function like `Encoder.find_tokens`; None if the folder lacks `tokenizer.json` or the maximum text length.
    """
    rules, lengths = folder / "tokenizer.json", folder / "sentence_bert_config.json"
    if not (rules.is_file() and lengths.is_file()):
        return None
    longest = json.loads(lengths.read_text(encoding="utf8")).get("max_seq_length")
    if longest is None:
        return None
    from tokenizers import Tokenizer  # loaded here: a build that encodes nothing needs no tokenizer

    tokenizer = Tokenizer.from_file(str(rules))
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(longest, MAX_TOKENS))

    def find_tokens(texts: Sequence[str]) -> list[list[int]]:
        parts = (texts[first : first + TOKENIZED_AT_ONCE] for first in range(0, len(texts), TOKENIZED_AT_ONCE))
        return [encoding.ids[1:-1] for part in parts for encoding in tokenizer.encode_batch(list(part))]

    return find_tokens
