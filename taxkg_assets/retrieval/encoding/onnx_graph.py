"""Export of a sentence-transformers model as an ONNX graph, in single precision or with 8-bit weights.

Here: writing graph files, which encoders of passages read, too. Not here: the further files of an export for questions
(`export.py`).
"""

from __future__ import annotations

import copy
import logging
import os
import warnings
from pathlib import Path
from typing import Any

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from taxkg_assets.retrieval.encoding.onnx_model import ExportError

OPSET = 17
WHOLE, SMALL = "model.onnx", "model_int8.onnx"


def export_onnx(model: Any, folder: Path) -> None:
    """Write the transformer of a model as `model.onnx` and `model_int8.onnx`, without pooling.

    Each file appears complete or not at all, even if several processes export at the same time.

    Args:
        model: Loaded SentenceTransformer.
        folder: Folder of the files, created if needed.

    Raises:
        ExportError: The exporter does not support the model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    whole, small = (folder / f".{os.getpid()}-{name}" for name in (WHOLE, SMALL))
    trace_graph(PlainTransformer(copy_plain(model[0].auto_model)), model.tokenizer, whole, output="token_embeddings")
    quantize_graph(whole, small)
    small.replace(folder / SMALL)
    whole.replace(folder / WHOLE)


def copy_plain(inner: Any) -> Any:
    """Copy a transformer in single precision, with an attention implementation that can be traced.

    Args:
        inner: Transformer of the transformers library.

    Returns:
        The copy, in evaluation mode.
    """
    copied = copy.deepcopy(inner).float().eval()
    copied.set_attn_implementation("eager")
    return copied


def trace_graph(module: torch.nn.Module, tokenizer: Any, path: Path, *, output: str, pairs: bool = False) -> None:
    """Write a module as an ONNX graph.

    Args:
        module: Module whose inputs and outputs are tensors.
        tokenizer: Tokenizer of the module.
        path: File to write.
        output: Name of the output.
        pairs: Whether inputs are pairs of texts.

    Raises:
        ExportError: The exporter does not support the module.
    """
    texts = ["a box", "a longer line of a form"]
    sample = tokenizer(texts, texts if pairs else None, return_tensors="pt", padding=True)
    input_names = ("input_ids", "attention_mask", "token_type_ids") if pairs else ("input_ids", "attention_mask")
    names = [name for name in input_names if name in sample]
    axes = {name: {0: "text", 1: "token"} for name in names} | {
        output: {0: "text"} if pairs else {0: "text", 1: "token"}
    }
    try:
        with warnings.catch_warnings(), torch.inference_mode():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                module.eval(),
                tuple(sample[name] for name in names),
                str(path),
                input_names=names,
                output_names=[output],
                dynamic_axes=axes,
                opset_version=OPSET,
                dynamo=False,
            )
    except (RuntimeError, TypeError, ValueError, torch.onnx.errors.OnnxExporterError) as failed:
        raise ExportError(f"PyTorch cannot write the model as ONNX ({str(failed).splitlines()[0]})") from failed


def quantize_graph(whole: Path, small: Path) -> None:
    """Quantize a graph: weights of matrix products to 8 bits; activations are quantized at run time.

    Args:
        whole: Graph in single precision.
        small: File to write.

    Source:
        Dynamic quantization of onnxruntime.
    """
    logging.disable(logging.WARNING)  # onnxruntime advises to optimize the graph first, which changes nothing here
    try:
        quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"])
    finally:
        logging.disable(logging.NOTSET)


class PlainTransformer(torch.nn.Module):
    """The transformer with tensors as inputs and output, as the exporter requires."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return token vectors of shape (texts, tokens, dimension).

        Args:
            input_ids: Token ids, shape (texts, tokens).
            attention_mask: 1 for a token, 0 for padding, same shape.
        """
        output: torch.Tensor = self.inner(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return output


class PlainClassifier(torch.nn.Module):
    """A cross-encoder with tensors as inputs and output; models without token types get no `token_type_ids`."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return logits of shape (pairs, 1).

        Args:
            input_ids: Token ids, shape (pairs, tokens).
            attention_mask: 1 for a token, 0 for padding, same shape.
            token_type_ids: 0 for the question, 1 for the passage, same shape; None for models without them.
        """
        token_types = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        output: torch.Tensor = self.inner(input_ids=input_ids, attention_mask=attention_mask, **token_types).logits
        return output
