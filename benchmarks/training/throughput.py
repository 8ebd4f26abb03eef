"""How fast texts become vectors, with each way to run the encoder that there is, in one run."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.in_memory import replace_vectors
from benchmarks.labeled import LabeledQuestion, read_labeled
from benchmarks.training.corpus import Corpus
from taxkg_assets.evaluation.metrics import Result, score_query
from taxkg_assets.retrieval.encoding.gpu import GpuModel, has_gpu, open_on_gpu
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.ranking.baselines import build_baselines

SAMPLE, ROUNDS, POOL = 256, 3, 10
FIGURES = ("ndcg@10", "recall@5", "mrr")
Vectors = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Speed:
    """One way to run the encoder: texts a second by the median of the rounds, and how far its vectors are off."""

    name: str
    texts_a_second: float
    texts_a_processor_second: float
    """What other work on the machine changes little."""
    ratio: float
    least_cosine: float
    mean_cosine: float
    same_first: float
    """Share of texts whose nearest other text is the same as in single precision."""


def measure(corpus: Corpus, *, ways: dict[str, Encode], sample: int = SAMPLE, seed: int = 0) -> list[Speed]:
    """Encode the same passages in each way by turns, so that other work on the machine falls on all alike."""
    texts = random.Random(seed).sample(corpus.passages, min(sample, len(corpus.passages)))
    vectors: dict[str, Vectors] = {}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    processor: dict[str, list[float]] = {name: [] for name in ways}
    for encode in ways.values():
        encode(texts[:16])
    for _ in range(ROUNDS):
        for name, encode in ways.items():
            began, spent = time.perf_counter(), time.process_time()
            vectors[name] = encode(texts)
            seconds[name].append(time.perf_counter() - began)
            processor[name].append(time.process_time() - spent)
    first = next(iter(ways))
    speeds = {name: len(texts) / float(np.median(own)) for name, own in seconds.items()}
    return [
        Speed(
            name=name,
            texts_a_second=speed,
            texts_a_processor_second=len(texts) / max(float(np.median(processor[name])), 1e-9),
            ratio=speed / speeds[first],
            least_cosine=float((vectors[name] * vectors[first]).sum(axis=1).min()),
            mean_cosine=float((vectors[name] * vectors[first]).sum(axis=1).mean()),
            same_first=float(np.mean(_nearest(vectors[name]) == _nearest(vectors[first]))),
        )
        for name, speed in speeds.items()
    ]


def _nearest(vectors: Vectors) -> npt.NDArray[np.int64]:
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    nearest: npt.NDArray[np.int64] = cosines.argmax(axis=1)
    return nearest


def open_ways(encoder: SentenceEncoder, folder: Path) -> dict[str, SentenceEncoder]:
    """Single precision, bfloat16, the GPU if there is one, ONNX and ONNX in 8 bits if `onnx` is installed."""
    ways = {
        "torch, single precision": replace(encoder, is_bfloat16=False, gpu=None),
        "torch, bfloat16": replace(encoder, is_bfloat16=True, gpu=None),
    }
    on_gpu = open_on_gpu(encoder.model, rows=encoder.rows) if has_gpu() else None
    if isinstance(on_gpu, GpuModel):
        ways["torch, single precision, GPU"] = replace(encoder, is_bfloat16=False, gpu=on_gpu)
    if find_spec("onnx") is None:
        print("onnx is not installed (pip install -e .[bench]): its ways are left out", file=sys.stderr)
        return ways
    import torch

    from taxkg_assets.retrieval.encoding.onnx_graph import SMALL, WHOLE, export_onnx
    from taxkg_assets.retrieval.encoding.onnx_model import OnnxModel, open_session

    export_onnx(encoder.model, folder)
    whole, small = (
        OnnxModel(encoder.model, open_session(str(folder / name), threads=torch.get_num_threads()))
        for name in (WHOLE, SMALL)
    )
    return {
        **ways,
        "ONNX, single precision": replace(encoder, model=whole, is_bfloat16=False, has_own_threads=True),
        "ONNX, 8 bits": replace(encoder, model=small, is_bfloat16=False, rows=1, has_own_threads=True),
    }


def score_ways(corpus: Corpus, ways: Mapping[str, SentenceEncoder], *, gold: Path) -> dict[str, dict[str, float]]:
    """How well vectors alone answer the questions with gold, each way encoding questions and passages.

    All ways rank the passages that the index's own vectors have among their first for any question, and all passages
    of the pages with gold.
    """
    known = set(corpus.rows["document_id"])
    questions = [row for row in read_labeled(gold) if row["gold"] and {p["document"] for p in row["gold"]} <= known]
    places = {(passage["document"], passage["page"]) for question in questions for passage in question["gold"]}
    on_page = corpus.rows.select("document_id", "page").iter_rows()
    rows = {row for row, place in enumerate(on_page) if place in places}
    for question in questions:
        cosines = corpus.index.vectors @ corpus.searcher.encoder.encode_query(question["query"])
        rows |= set(np.argsort(-cosines, kind="stable")[:POOL].tolist())
    held_out = sorted(rows)
    return {name: _score_way(corpus, encoder, questions=questions, rows=held_out) for name, encoder in ways.items()}


def _score_way(
    corpus: Corpus, encoder: SentenceEncoder, *, questions: Sequence[LabeledQuestion], rows: Sequence[int]
) -> dict[str, float]:
    vectors = np.zeros_like(corpus.index.vectors)
    vectors[list(rows)] = encoder.encode_passages([corpus.passages[row] for row in rows])
    index = replace_vectors(corpus.index, vectors, model_hash=encoder.model_hash)
    dense = build_baselines(replace(corpus.searcher, index=index, encoder=encoder))["dense"]
    found = [
        score_query(
            question, [Result(r["document_id"], r["text"]) for r in dense(question["query"])], is_abstained=False
        )
        for question in questions
    ]
    return {name: float(np.mean([one[name] for one in found])) for name in FIGURES} | {"passages": float(len(rows))}


def run(corpus: Corpus, *, sample: int, gold: Path | None) -> tuple[list[Speed], dict[str, dict[str, float]]]:
    """Measure the released encoder: its speed in each way, and what it finds where there are questions with gold."""
    with tempfile.TemporaryDirectory() as folder:
        ways = open_ways(corpus.encoder, Path(folder))
        speeds = measure(corpus, ways={name: way.encode_passages for name, way in ways.items()}, sample=sample)
        return speeds, score_ways(corpus, ways, gold=gold) if gold is not None else {}


def render(speeds: Sequence[Speed], scores: Mapping[str, Mapping[str, float]]) -> str:
    """One line a way."""
    lines = [
        "| encoder | passages a second | a second of processor time | against single precision | least cosine "
        f"| mean cosine | same nearest | {' | '.join(FIGURES)} |",
        "|---" * (7 + len(FIGURES)) + "|",
    ]
    for own in speeds:
        found = [f"{scores[own.name][name]:.3f}" if own.name in scores else "" for name in FIGURES]
        lines.append(
            f"| {own.name} | {own.texts_a_second:.0f} | {own.texts_a_processor_second:.0f} | {own.ratio:.1f} times "
            f"| {own.least_cosine:.3f} | {own.mean_cosine:.4f} | {100 * own.same_first:.0f} % | {' | '.join(found)} |"
        )
    return "\n".join(lines) + "\n"
