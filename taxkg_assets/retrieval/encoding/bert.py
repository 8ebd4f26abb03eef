"""BERT sentence encoders with torch and tokenizers only, as importing sentence-transformers takes three times as long.

Here: read a folder of sentence-transformers with a BERT transformer, pooling and normalization; its vectors equal those
of that library bit by bit. Not here: training, other architectures, models of a hub.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional

WEIGHTS = "model.safetensors"
_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
"""Supported pooling modes by their key in configurations of earlier versions of sentence-transformers."""
_CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}
"""Supported values of the configuration; an absent key has this value."""
_UNUSED = ("pooler.", "embeddings.position_ids", "embeddings.token_type_ids")
"""Prefixes of the names of weights that do not affect vectors."""


Features = dict[str, torch.Tensor]
"""Padded token ids and their mask, shape (texts, tokens), and the vectors that the parts of a model add."""


@dataclass(frozen=True, slots=True)
class BertSizes:
    """Sizes of a transformer, named as in its configuration."""

    vocab_size: int
    type_vocab_size: int
    max_position_embeddings: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    layer_norm_eps: float


class Output(NamedTuple):
    """Output of a transformer: token vectors of shape (texts, tokens, dimension)."""

    last_hidden_state: torch.Tensor


class PlainTokenizer:
    """Tokenizer of a model's folder, called like that of the transformers library."""

    def __init__(self, folder: Path, pad_token: str) -> None:
        self._written = (folder / "tokenizer.json").read_text(encoding="utf8")
        self._by_limit: dict[int | None, Tokenizer] = {}
        self.pad_token_id = self.backend_tokenizer.token_to_id(pad_token)

    @property
    def backend_tokenizer(self) -> Tokenizer:
        """Return the tokenizer itself, which neither truncates nor pads."""
        return self._open(None)

    def _open(self, limit: int | None) -> Tokenizer:
        """Return the tokenizer that truncates texts to a number of tokens; each has its own, as threads share it."""
        if limit not in self._by_limit:
            tokenizer = _parse_tokenizer(self._written)
            tokenizer.no_padding()
            if limit is None:
                tokenizer.no_truncation()
            else:
                tokenizer.enable_truncation(limit)
            self._by_limit[limit] = tokenizer
        return self._by_limit[limit]

    def __call__(
        self,
        texts: Sequence[str],
        pairs: Sequence[str] | None = None,
        *,
        truncation: bool = False,
        max_length: int | None = None,
        padding: bool = False,
        return_tensors: str | None = None,
    ) -> dict[str, list[list[int]]] | Features:
        """Tokenize texts, with special tokens at both ends.

        Args:
            texts: Texts.
            pairs: Second texts; not supported.
            truncation: Whether to truncate texts.
            max_length: Number of tokens to which texts are truncated.
            padding: Whether to pad to the longest text.
            return_tensors: `pt` for tensors instead of lists.

        Returns:
            `input_ids` and `attention_mask`.
        """
        assert pairs is None, "a sentence encoder reads single texts"
        encodings = self._open(max_length if truncation else None).encode_batch(list(texts))
        ids = [encoding.ids for encoding in encodings]
        mask = [[1] * len(row) for row in ids]
        if padding:
            longest = max(map(len, ids), default=0)
            ids = [row + [self.pad_token_id or 0] * (longest - len(row)) for row in ids]
            mask = [row + [0] * (longest - len(row)) for row in mask]
        if return_tensors == "pt":
            return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}
        return {"input_ids": ids, "attention_mask": mask}


class _Linear(nn.Linear):
    """A linear layer that is not initialized: its weights are read from a file."""

    def reset_parameters(self) -> None:
        """Leave the weights as they are."""


class _Embedding(nn.Embedding):
    """Vectors by number that are not initialized: they are read from a file."""

    def reset_parameters(self) -> None:
        """Leave the vectors as they are."""


class _Attention(nn.Module):
    """Multi-head self-attention; names of weights are those of the transformers library."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (_Linear(size, size) for _ in range(3))
        self.heads = heads

    def forward(self, states: torch.Tensor, mask: torch.Tensor | None, is_plain: bool) -> torch.Tensor:
        # Converted once for all three products: under autocast each of them would convert it.
        converted = states.to(self.query.weight.dtype)
        query, key, value = (self._split(layer(converted)) for layer in (self.query, self.key, self.value))
        scale = query.size(-1) ** -0.5
        if is_plain:
            scores = torch.matmul(query, key.transpose(2, 3)) * scale
            scores = scores if mask is None else scores + mask
            weighted_values = torch.matmul(functional.softmax(scores, dim=-1), value)
        else:
            weighted_values = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)
        return weighted_values.transpose(1, 2).flatten(2)

    def _split(self, states: torch.Tensor) -> torch.Tensor:
        """Divide the last dimension by head: (texts, heads, tokens, dimension of a head)."""
        return states.view(states.size(0), states.size(1), self.heads, -1).transpose(1, 2)


class _ResidualLayer(nn.Module):
    """A linear layer whose output is added to a residual and normalized."""

    def __init__(self, given: int, size: int, eps: float) -> None:
        super().__init__()
        self.dense, self.LayerNorm = _Linear(given, size), nn.LayerNorm(size, eps=eps)

    def forward(self, states: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        normalized: torch.Tensor = self.LayerNorm(self.dense(states) + residual)
        return normalized


class _Layer(nn.Module):
    """One layer of the transformer."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        size, inner, eps = sizes.hidden_size, sizes.intermediate_size, sizes.layer_norm_eps
        attention = _Attention(size, sizes.num_attention_heads)
        self.attention = nn.ModuleDict({"self": attention, "output": _ResidualLayer(size, size, eps)})
        self.intermediate = nn.ModuleDict({"dense": _Linear(size, inner)})
        self.output = _ResidualLayer(inner, size, eps)

    def forward(self, states: torch.Tensor, mask: torch.Tensor | None, is_plain: bool) -> torch.Tensor:
        attended = self.attention["output"](self.attention["self"](states, mask, is_plain), states)
        output: torch.Tensor = self.output(functional.gelu(self.intermediate["dense"](attended)), attended)
        return output


class _Layers(nn.Module):
    """All layers of the transformer."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.layer = nn.ModuleList(_Layer(sizes) for _ in range(sizes.num_hidden_layers))


class _Embeddings(nn.Module):
    """Sum of the vectors of tokens, of their positions and of the one type, normalized."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        size = sizes.hidden_size
        self.word_embeddings = _Embedding(sizes.vocab_size, size)
        self.position_embeddings = _Embedding(sizes.max_position_embeddings, size)
        self.token_type_embeddings = _Embedding(sizes.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, eps=sizes.layer_norm_eps)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(ids.size(1), device=ids.device).unsqueeze(0)
        typed = self.word_embeddings(ids) + self.token_type_embeddings(torch.zeros_like(ids))
        normalized: torch.Tensor = self.LayerNorm(typed + self.position_embeddings(positions))
        return normalized


def _hide_padding(attention_mask: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Return the mask to add to attention scores: 0 for a token, minus infinity for padding.

    It is made once in the type of the scores; from a boolean mask torch would make it again in each layer.
    """
    device_type = states.device.type
    dtype = torch.get_autocast_dtype(device_type) if torch.is_autocast_enabled(device_type) else states.dtype
    zeros = torch.zeros(attention_mask.shape, dtype=dtype, device=states.device)
    mask = zeros.masked_fill(attention_mask == 0, float("-inf"))
    return mask[:, None, None, :].expand(-1, 1, attention_mask.size(1), -1)


class Bert(nn.Module):
    """The transformer."""

    def __init__(self, sizes: BertSizes, name_or_path: str) -> None:
        super().__init__()
        self.embeddings = _Embeddings(sizes)
        self.encoder = _Layers(sizes)
        self.name_or_path, self.is_plain = name_or_path, False

    def set_attn_implementation(self, name: str) -> None:
        """Choose how attention is computed.

        Args:
            name: `eager` for separate products, which can be traced; `sdpa` for torch's own function.
        """
        self.is_plain = name == "eager"

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> Output:
        """Return token vectors.

        Args:
            input_ids: Token ids, shape (texts, tokens).
            attention_mask: 1 for a token, 0 for padding, same shape.
        """
        # A traced graph must not depend on the mask of the sample.
        needs_mask = self.is_plain or not bool(attention_mask.all())
        states = self.embeddings(input_ids)
        mask = _hide_padding(attention_mask, states) if needs_mask else None
        for layer in self.encoder.layer:
            states = layer(states, mask, self.is_plain)
        return Output(states)


class Transformer(nn.Module):
    """First part of a sentence encoder: token vectors."""

    def __init__(self, auto_model: Bert) -> None:
        super().__init__()
        self.auto_model = auto_model

    def forward(self, features: Features) -> Features:
        """Add `token_embeddings` to the features.

        Args:
            features: `input_ids` and `attention_mask`, shape (texts, tokens).

        Returns:
            The features with vectors of shape (texts, tokens, dimension).
        """
        output = self.auto_model(features["input_ids"], features["attention_mask"])
        return {**features, "token_embeddings": output.last_hidden_state}


class Pooling(nn.Module):
    """Second part: one vector for each text."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode = mode

    def get_config_dict(self) -> dict[str, str]:
        """Return the configuration as sentence-transformers names it."""
        return {"pooling_mode": self.mode}

    def forward(self, features: Features) -> Features:
        """Add `sentence_embedding` to the features.

        Args:
            features: `token_embeddings`, shape (texts, tokens, dimension), and `attention_mask`.

        Returns:
            The features with vectors of shape (texts, dimension).
        """
        tokens = features["token_embeddings"]
        if self.mode == "cls":
            return {**features, "sentence_embedding": tokens[:, 0]}
        mask = features["attention_mask"].unsqueeze(-1).to(tokens.dtype)
        summed = (tokens * mask).sum(dim=1, dtype=torch.float32)
        count = torch.clamp(mask.sum(dim=1, dtype=torch.float32), min=1e-9)
        return {**features, "sentence_embedding": (summed / count).to(tokens.dtype)}


class Normalize(nn.Module):
    """Third part: vectors of length one."""

    def forward(self, features: Features) -> Features:
        """Normalize `sentence_embedding`.

        Args:
            features: Output of `Pooling`.

        Returns:
            The features with vectors of length one.
        """
        unit = functional.normalize(features["sentence_embedding"], p=2, dim=-1)
        return {**features, "sentence_embedding": unit}


class BertSentenceModel(nn.Sequential):
    """A sentence encoder with the interface of a sentence-transformers model, as far as encoding and export use it.

    Attributes:
        tokenizer: Its tokenizer.
        prompts: Texts that are put before a question or a passage, by name.
        max_seq_length: Number of tokens after which texts are cut.
    """

    def __init__(self, parts: Sequence[nn.Module], tokenizer: PlainTokenizer, *, limit: int, size: int) -> None:
        super().__init__(*parts)
        self.tokenizer, self.max_seq_length, self.size = tokenizer, limit, size
        self.prompts: dict[str, str] = {}

    def get_embedding_dimension(self) -> int:
        """Return the length of a vector."""
        return self.size

    def encode(self, texts: Sequence[str], *, normalize_embeddings: bool = False) -> npt.NDArray[np.float32]:
        """Encode a few texts in one batch.

        Args:
            texts: Texts.
            normalize_embeddings: Whether to normalize vectors even if the model does not.

        Returns:
            Vectors of shape (texts, dimension).
        """
        limit = self.max_seq_length
        features = self.tokenizer(texts, truncation=True, max_length=limit, padding=True, return_tensors="pt")
        with torch.inference_mode():
            raw = self(features)["sentence_embedding"].float()
        vectors: npt.NDArray[np.float32] = (functional.normalize(raw, dim=-1) if normalize_embeddings else raw).numpy()
        return vectors


def read_bert(folder: Path) -> BertSentenceModel | None:
    """Read a sentence encoder whose transformer is BERT.

    Args:
        folder: Folder of a sentence-transformers model.

    Returns:
        The model in single precision and evaluation mode; None if it has a part that is not supported here.
    """
    try:
        sizes = _read_sizes(folder)
        part_count, pooling = _read_parts(folder)
        limit, pad_token = _read_limits(folder)
        bert = _read_weights(folder, sizes)
        tokenizer = PlainTokenizer(folder, pad_token)
    except (_OtherModelError, SafetensorError, OSError, AttributeError, KeyError, TypeError, ValueError):
        return None
    limit = min(limit, sizes.max_position_embeddings)
    modules = [Transformer(bert), Pooling(pooling), Normalize()][:part_count]
    model = BertSentenceModel(modules, tokenizer, limit=limit, size=sizes.hidden_size)
    config_path = folder / "config_sentence_transformers.json"
    model.prompts = dict(_read(config_path).get("prompts") or {}) if config_path.is_file() else {}
    model.eval()
    return model


class _OtherModelError(Exception):
    """A model has something that is not supported here."""


def _parse_tokenizer(written: str) -> Tokenizer:
    try:
        return Tokenizer.from_str(written)
    except Exception as error:  # the library raises no narrower one
        raise _OtherModelError from error


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf8"))


def _read_sizes(folder: Path) -> BertSizes:
    config = _read(folder / "config.json")
    if config["model_type"] != "bert" or any(config.get(name, value) != value for name, value in _CONFIG.items()):
        raise _OtherModelError
    return BertSizes(**{size_field.name: config[size_field.name] for size_field in fields(BertSizes)})


def _read_parts(folder: Path) -> tuple[int, str]:
    """Return the number of parts, and the pooling mode."""
    modules = _read(folder / "modules.json")
    names = [module["type"].rpartition(".")[2] for module in modules]
    if names not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]) or modules[0]["path"]:
        raise _OtherModelError
    pooling_config = _read(folder / modules[1]["path"] / "config.json")
    modes = [
        _POOLINGS.get(name) for name, value in pooling_config.items() if name.startswith("pooling_mode_") and value
    ]
    mode = pooling_config.get("pooling_mode") or (modes[0] if len(modes) == 1 else None)
    if mode not in _POOLINGS.values():
        raise _OtherModelError
    return len(names), str(mode)


def _read_limits(folder: Path) -> tuple[int, str]:
    """Return the maximum number of tokens of a text, and the padding token."""
    encoder_config, tokenizer_config = (
        _read(folder / name) for name in ("sentence_bert_config.json", "tokenizer_config.json")
    )
    output_name = (
        encoder_config.get("modality_config", {}).get("text", {}).get("method_output_name", "last_hidden_state")
    )
    limit = encoder_config.get("max_seq_length") or tokenizer_config.get("model_max_length")
    if encoder_config.get("do_lower_case") or output_name != "last_hidden_state" or not isinstance(limit, int):
        raise _OtherModelError
    pad_token = tokenizer_config["pad_token"]
    return limit, pad_token if isinstance(pad_token, str) else pad_token["content"]


def _read_weights(folder: Path, sizes: BertSizes) -> Bert:
    bert = Bert(sizes, str(folder))
    with safe_open(folder / WEIGHTS, "pt") as file:
        names = [name for name in file.keys() if not name.startswith(_UNUSED)]  # noqa: SIM118 - no mapping
        weights = {name: file.get_tensor(name) for name in names}
    if any(weight.dtype != torch.float32 for weight in weights.values()):  # sentence-transformers keeps their precision
        raise _OtherModelError
    expected_shapes = {name: weight.shape for name, weight in bert.named_parameters()}
    if expected_shapes != {name: weight.shape for name, weight in weights.items()}:
        raise _OtherModelError
    bert.load_state_dict(weights, assign=True)
    return bert
