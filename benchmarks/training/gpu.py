"""The encoder on a GPU against the processors of the same machine: speed, and whether it finds the same.

It needs PyTorch, sentence-transformers and NumPy only, so that it also runs where taxkg is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.encoding import sentence_encoder as encoding
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.encoding.gpu import GPU, GpuModel, open_on_gpu
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder

BATCHES = (64, 128, 256, 512)
BLOCK, TOP = 1_000, 10
ONE_CORE, BFLOAT16, ALONE, ROUNDS = 300, 3_000, 200, 3
Figures = dict[str, Any]


def read_texts(path: Path) -> dict[str, list[str]]:
    """Passages and questions of a file of JSON Lines with `kind` and `text`."""
    found: dict[str, list[str]] = {"passage": [], "question": []}
    for line in path.read_text(encoding="utf8").splitlines():
        row = json.loads(line)
        found[row["kind"]].append(row["text"])
    return found


def open_model(folder: str) -> SentenceEncoder:
    """The encoder of a folder, in single precision on the processor."""
    from sentence_transformers import SentenceTransformer

    return SentenceEncoder(SentenceTransformer(folder, device="cpu"), folder, "")


def time_passages(encoder: SentenceEncoder, texts: Sequence[str], *, rounds: int = 1) -> tuple[Vectors, float]:
    """Vectors, and passages a second of the best round: nothing else runs, and the first round loads kernels."""
    vectors, best = np.zeros((0, 0), dtype=np.float32), float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        vectors = encoder.encode_passages(texts)
        best = min(best, time.perf_counter() - began)
    return vectors, len(texts) / best


def find_top(vectors: Vectors, queries: Vectors, count: int, *, skips_own: bool = False) -> npt.NDArray[np.int64]:
    """Rows of the nearest vectors of each query, best first; `skips_own` leaves out the query's own row."""
    found = []
    for first in range(0, len(queries), BLOCK):
        cosines = queries[first : first + BLOCK] @ vectors.T
        if skips_own:
            rows = np.arange(len(cosines))
            cosines[rows, first + rows] = -1.0
        near = np.argpartition(-cosines, count, axis=1)[:, : count + 1]
        order = np.argsort(-np.take_along_axis(cosines, near, axis=1), axis=1, kind="stable")
        found.append(np.take_along_axis(near, order, axis=1)[:, :count])
    return np.concatenate(found)


def compare(own: Vectors, right: Vectors, queries: Vectors) -> Figures:
    """How far vectors are from those of the processor, and whether both find the same."""
    cosines = (own.astype(np.float64) * right).sum(axis=1) / np.linalg.norm(own, axis=1) / np.linalg.norm(right, axis=1)
    tops = find_top(own, queries, TOP), find_top(right, queries, TOP)
    pairs = list(zip(*tops, strict=True))
    return {
        "least_cosine": float(cosines.min()),
        "mean_cosine": float(cosines.mean()),
        "largest_difference": float(np.abs(own - right).max()),
        "equal_numbers": float((own == right).mean()),
        "same_nearest": float(
            (find_top(own, own, 1, skips_own=True) == find_top(right, right, 1, skips_own=True)).mean()
        ),
        "questions": len(queries),
        "same_top_10": float(np.mean([bool((one == other).all()) for one, other in pairs])),
        "same_top_10_in_any_order": float(np.mean([set(one) == set(other) for one, other in pairs])),
    }


def measure(texts: dict[str, list[str]], folder: str, *, device: str, is_short: bool) -> Figures:
    """All figures; `is_short` takes few passages, to try the benchmark itself."""
    import torch

    passages, questions = texts["passage"], texts["question"]
    scale = 50 if is_short else 1
    single = open_model(folder)
    queries = np.stack([single.encode_query(text) for text in questions])
    found: Figures = {"torch": torch.__version__, "cores": os.cpu_count(), "passages": len(passages), "ways": {}}
    on_gpu = open_on_gpu(single.model, rows=single.rows, device=device)
    if not isinstance(on_gpu, GpuModel):
        raise SystemExit(f"no GPU: {on_gpu}")
    ways, gpu = found["ways"], replace(single, gpu=on_gpu)
    if device == GPU:
        found["device"] = torch.cuda.get_device_name()
    right, ways["processor, single precision"] = time_passages(single, passages)
    torch.set_num_threads(1)
    _, ways["processor, single precision, one core"] = time_passages(single, passages[: ONE_CORE // scale])
    torch.set_num_threads(os.cpu_count() or 1)
    narrow = replace(single, is_bfloat16=True, narrowed=encoding.narrow_products(single.model))
    some = passages[: BFLOAT16 // scale]
    in_bfloat16, ways["processor, bfloat16"] = time_passages(narrow, some)
    for rows in BATCHES[:1] if is_short else BATCHES:
        with patch.object(encoding, "GPU_ROWS", rows):
            own, speed = time_passages(gpu, passages, rounds=1 if is_short else ROUNDS)
        ways[f"GPU, batches of {rows}"] = speed
        found[f"batches of {rows}"] = compare(own, right, queries)
    own = gpu.encode_passages(passages)
    step = max(1, len(passages) // (ALONE // scale))
    alone = np.concatenate([gpu.encode_passages([text]) for text in passages[::step]])
    found["alone_is_equal"] = bool((alone == own[::step]).all())
    found["bfloat16"] = compare(in_bfloat16, right[: len(some)], queries)
    if device == GPU:
        found["peak_mib"] = torch.cuda.max_memory_allocated() / 2**20
    return found


def main() -> None:
    """Measure, and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path, help="JSON Lines with `kind` (passage, question) and `text`")
    parser.add_argument("model", help="folder of the encoder")
    parser.add_argument("--device", default=GPU, help="device of torch; cpu tries the benchmark itself")
    parser.add_argument("--short", action="store_true", help="few passages")
    options = parser.parse_args()
    figures = measure(read_texts(options.texts), options.model, device=options.device, is_short=options.short)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
