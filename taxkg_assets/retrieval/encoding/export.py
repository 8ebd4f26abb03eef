"""Export sentence-transformers models to ONNX, in full precision or 8 bits, so that questions need no torch.

Here: writing an export, and checking that its vectors equal those of the model. `exported.py` reads exports.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from taxkg_assets.retrieval.encoding.exported import (
    POOLINGS,
    ExportCard,
    ExportedCrossScorer,
    ExportedEncoder,
    ExportedModel,
)
from taxkg_assets.retrieval.encoding.onnx_graph import (
    SMALL,
    WHOLE,
    PlainClassifier,
    PlainTransformer,
    copy_plain,
    quantize_graph,
    trace_graph,
)
from taxkg_assets.retrieval.encoding.onnx_model import WEIGHTS, ExportError, OnnxModel, open_session

TOKENIZER = "tokenizer.json"
MAX_DIFFERENCE = 1e-4
"""Largest difference of a cosine between an export and its model in single precision."""
PROBES = ("What goes into box 1a?", "Report the amount in box 2b, and do not include it in box 1a.", "See page 3.")


def export_encoder(model: Any, folder: Path, *, base: ExportCard, is_small: bool = False) -> ExportCard:
    """Write the transformer and the tokenizer of an encoder as ONNX, with the card that a reader needs.

    Args:
        model: Loaded SentenceTransformer.
        folder: Folder of the export.
        base: Card with the values that the caller knows; pooling, prompts, length and digests are added.
        is_small: Whether to write 8-bit weights.

    Returns:
        The complete card.

    Raises:
        ExportError: The model has parts that a reader of the export does not support, or the vectors differ.
    """
    original = model.model if isinstance(model, OnnxModel) else model
    pooling = _find_pooling(original)
    limit = min(base.max_tokens, original.max_seq_length or base.max_tokens)
    pad_id = original.tokenizer.pad_token_id or 0
    card = replace(base, pooling=pooling, prompts=dict(original.prompts or {}), max_tokens=limit, pad_id=pad_id)
    card = replace(card, dimension=int(original.get_embedding_dimension()))
    path = folder / WHOLE
    trace_graph(
        PlainTransformer(copy_plain(original[0].auto_model)), original.tokenizer, path, output="token_embeddings"
    )
    _save_tokenizer(original.tokenizer, folder)
    encoder = ExportedEncoder(_reopen(folder, card), model_hash=card.weights)
    vectors = original.encode(list(PROBES), normalize_embeddings=True)
    if (difference := float((1 - (vectors * encoder.encode_sentences(PROBES)).sum(axis=1)).max())) > MAX_DIFFERENCE:
        raise ExportError(
            f"the exported {card.model_name} computes other vectors than the original: their cosines are up to "
            f"{difference:.1e} below 1"
        )
    if is_small:
        quantize_graph(path, folder / SMALL)
        (folder / SMALL).replace(path)
    return _finish(folder, card)


def export_cross(model: Any, folder: Path, *, base: ExportCard) -> ExportCard:
    """Write a cross-encoder and its tokenizer as ONNX.

    Args:
        model: Loaded CrossEncoder.
        folder: Folder of the export.
        base: Card with the values that the caller knows; length and digests are added.

    Returns:
        The complete card.

    Raises:
        ExportError: The scores of the export differ from those of the model.
    """
    pad_id = model.tokenizer.pad_token_id or 0
    card = replace(base, max_tokens=min(base.max_tokens, model.max_length or base.max_tokens), pad_id=pad_id)
    trace_graph(PlainClassifier(copy_plain(model.model)), model.tokenizer, folder / WHOLE, output="logits", pairs=True)
    _save_tokenizer(model.tokenizer, folder)
    pairs = [(PROBES[0], probe) for probe in PROBES]
    original = np.asarray(model.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)).reshape(-1)
    scores = ExportedCrossScorer(_reopen(folder, card)).score(PROBES[0], PROBES)
    if (difference := float(np.abs(original - scores).max())) > MAX_DIFFERENCE * max(
        1.0, float(np.abs(original).max())
    ):
        raise ExportError(
            f"the exported {card.model_name} computes other scores than the original, up to {difference:.1e} apart"
        )
    return _finish(folder, card)


def _finish(folder: Path, card: ExportCard) -> ExportCard:
    """Save the optimized graph, with its weights in a separate file, which opens in a third of the time.

    Returns:
        The completed card.
    """
    optimized = folder / f".optimized-{WHOLE}"
    open_session(str(folder / WHOLE), save_as=str(optimized))
    optimized.replace(folder / WHOLE)
    return replace(card, is_optimized=True, digests=_digests(folder))


def _find_pooling(model: Any) -> str:
    """Return the pooling mode of a model.

    Raises:
        ExportError: A model has further parts: a dense layer, weights by layer.
    """
    names = [type(module).__name__ for module in model]
    if names not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise ExportError(
            f"the model has the parts {', '.join(names)}; only Transformer, Pooling and Normalize can be exported"
        )
    mode = model[1].get_config_dict().get("pooling_mode", "")
    if mode not in POOLINGS:
        raise ExportError(f"the model uses {mode!r} pooling; only {' or '.join(POOLINGS)} pooling can be exported")
    return str(mode)


def _save_tokenizer(tokenizer: Any, folder: Path) -> None:
    fast = getattr(tokenizer, "backend_tokenizer", None)
    if fast is None:
        raise ExportError("the tokenizer of the model cannot be written as one file")
    fast.save(str(folder / TOKENIZER))


def _reopen(folder: Path, card: ExportCard) -> ExportedModel:
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    return ExportedModel(open_session(str(folder / WHOLE)), tokenizer, card)


def _digests(folder: Path) -> dict[str, str]:
    # A small graph contains its weights itself, without a separate file.
    names = (name for name in (WHOLE, WEIGHTS, TOKENIZER) if (folder / name).is_file())
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
