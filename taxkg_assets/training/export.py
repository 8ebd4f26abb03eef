"""A sentence-transformers model as ONNX, whole or with weights of eight bits, for faster serving on a CPU."""

from __future__ import annotations

import copy
import logging
import os
import warnings
from pathlib import Path
from typing import Any

import torch

OPSET = 17
WHOLE, SMALL = "model.onnx", "model_int8.onnx"


def export_onnx(model: Any, folder: Path) -> None:
    """Write a loaded model's transformer as `model.onnx` and `model_int8.onnx`; what pools stays as it is.

    Each file appears whole or not at all, whoever else exports at the same time.

    Source: onnxruntime's dynamic quantization: weights of matrix products in eight bits, activations as they come.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    folder.mkdir(parents=True, exist_ok=True)
    inner = copy.deepcopy(model[0].auto_model).float().eval()
    inner.set_attn_implementation("eager")  # the other ways to attend cannot be traced
    sample = model.tokenizer(["a box", "a longer line of a form"], return_tensors="pt", padding=True)
    names = [name for name in ("input_ids", "attention_mask") if name in sample]
    whole, small = (folder / f".{os.getpid()}-{name}" for name in (WHOLE, SMALL))
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Transformer(inner).eval(),
            tuple(sample[name] for name in names),
            str(whole),
            input_names=names,
            output_names=["token_embeddings"],
            dynamic_axes={name: {0: "text", 1: "token"} for name in (*names, "token_embeddings")},
            opset_version=OPSET,
            dynamo=False,
        )
    logging.disable(logging.WARNING)  # it advises to optimise first, which changes nothing here
    try:
        quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"])
    finally:
        logging.disable(logging.NOTSET)
    small.replace(folder / SMALL)
    whole.replace(folder / WHOLE)


class _Transformer(torch.nn.Module):
    """The transformer with plain tensors in and out, as the exporter wants it."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.inner(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return found
