"""How fast texts become vectors, with each way to run the encoder that there is, in one run."""

from __future__ import annotations

import copy
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.training.corpus import Corpus
from taxkg_assets.retrieval.encoder import ROWS, SentenceEncoder

SAMPLE, ROUNDS = 256, 3
Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Speed:
    """One way to run the encoder: texts a second by the median of the rounds, and how far its vectors are off."""

    name: str
    texts_a_second: float
    ratio: float
    least_cosine: float
    same_first: float
    """Share of texts whose nearest other text is the same as in single precision."""


def measure(corpus: Corpus, *, ways: dict[str, Encode], sample: int = SAMPLE, seed: int = 0) -> list[Speed]:
    """Encode the same passages in each way by turns, so that other work on the machine falls on all alike."""
    texts = random.Random(seed).sample(corpus.passages, min(sample, len(corpus.passages)))
    vectors: dict[str, Vectors] = {}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for encode in ways.values():
        encode(texts[:16])
    for _ in range(ROUNDS):
        for name, encode in ways.items():
            began = time.perf_counter()
            vectors[name] = encode(texts)
            seconds[name].append(time.perf_counter() - began)
    first = next(iter(ways))
    speeds = {name: len(texts) / float(np.median(own)) for name, own in seconds.items()}
    return [
        Speed(
            name=name,
            texts_a_second=speed,
            ratio=speed / speeds[first],
            least_cosine=float((vectors[name] * vectors[first]).sum(axis=1).min()),
            same_first=float(np.mean(_nearest(vectors[name]) == _nearest(vectors[first]))),
        )
        for name, speed in speeds.items()
    ]


def _nearest(vectors: Vectors) -> npt.NDArray[np.int64]:
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    return cosines.argmax(axis=1)


def open_ways(encoder: SentenceEncoder, folder: Path) -> dict[str, Encode]:
    """Single precision, bfloat16, ONNX and ONNX in 8 bits; without the package `onnx` the last two are left out."""
    ways: dict[str, Encode] = {
        "torch, single precision": replace(encoder, is_bfloat16=False).encode_passages,
        "torch, bfloat16": replace(encoder, is_bfloat16=True).encode_passages,
    }
    if find_spec("onnx") is None:
        print("onnx is not installed (pip install -e .[bench]): its ways are left out", file=sys.stderr)
        return ways
    from onnxruntime.quantization import QuantType, quantize_dynamic

    exact, small = folder / "encoder.onnx", folder / "encoder-int8.onnx"
    export_encoder(encoder.model, exact)
    quantize_dynamic(exact, small, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"])
    return {
        **ways,
        "ONNX, single precision": open_exported(encoder, exact),
        "ONNX, 8 bits": open_exported(encoder, small),
    }


def export_encoder(model: Any, path: Path) -> None:
    """Write a sentence-transformers model that means over tokens as ONNX: ids and mask in, a unit vector out."""
    import torch

    inner = copy.deepcopy(model[0].auto_model)
    inner.set_attn_implementation("eager")  # the other ways to attend cannot be traced

    class MeanOfTokens(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            states = self.inner(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            kept = attention_mask.unsqueeze(-1).to(states.dtype)
            return torch.nn.functional.normalize((states * kept).sum(1) / kept.sum(1), dim=1)

    example = model.tokenizer(["one text", "another text, a longer one"], padding=True, return_tensors="pt")
    both = {0: "row", 1: "token"}
    with torch.inference_mode():
        torch.onnx.export(
            MeanOfTokens().eval(),
            (example["input_ids"], example["attention_mask"]),
            str(path),
            input_names=["input_ids", "attention_mask"],
            output_names=["vector"],
            dynamic_axes={"input_ids": both, "attention_mask": both, "vector": {0: "row"}},
            opset_version=17,
            dynamo=False,
        )


def open_exported(encoder: SentenceEncoder, path: Path) -> Encode:
    """An exported encoder that cuts, sorts and batches texts as the torch one does."""
    import onnxruntime
    import torch

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    tokenizer, limit = encoder.model.tokenizer, encoder.max_tokens

    def encode(texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), encoder.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda ix: len(texts[ix]))
        for first in range(0, len(order), ROWS):
            batch = order[first : first + ROWS]
            features = tokenizer(
                [texts[ix] for ix in batch], truncation=True, max_length=limit, padding=True, return_tensors="np"
            )
            vectors[batch] = session.run(None, {name: features[name] for name in ("input_ids", "attention_mask")})[0]
        return vectors

    return encode


def run(corpus: Corpus, *, sample: int) -> list[Speed]:
    """Measure the released encoder."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(corpus, ways=open_ways(corpus.searcher.encoder, Path(folder)), sample=sample)


def render(speeds: Sequence[Speed]) -> str:
    """One line a way."""
    lines = [
        "| encoder | passages a second | against single precision | least cosine | same nearest |",
        "|---" * 5 + "|",
    ]
    lines += [
        f"| {own.name} | {own.texts_a_second:.0f} | {own.ratio:.1f} times | {own.least_cosine:.3f} "
        f"| {100 * own.same_first:.0f} % |"
        for own in speeds
    ]
    return "\n".join(lines) + "\n"
