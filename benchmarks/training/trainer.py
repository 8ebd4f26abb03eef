"""Own training loop against the trainer of sentence-transformers, on the same examples of a home.

Both start from the same base, with the same batch size, learning rate, warm-up, frozen layers and GIST loss with the
base as guide. The last weights are scored, without interpolation. Each training runs in a process of its own, so that
its peak of memory is its own. The trainer needs `accelerate` and `datasets`, which the package does not install.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.documents import CorpusError
from taxkg_assets.defs.home.models import open_untrained
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.training.contrast import EncoderSettings, EncoderTrainer
from taxkg_assets.training.dense_scores import mean_of, score_dense
from taxkg_assets.training.examples import Example
from taxkg_assets.training.sampling import sample_examples
from taxkg_assets.training.steps import Checkpoint, draw_batches, peak_memory_mb, run_steps, seeded

NEEDED = ("accelerate", "datasets")
TRAININGS = ("own", "sentence-transformers", "own with late interaction")


@dataclass(frozen=True, slots=True)
class Trained:
    """One training and what it cost.

    Attributes:
        name: `base`, `own`, `own with late interaction` or `sentence-transformers`.
        seed: Seed of the batches.
        examples: Training examples.
        ndcg: Mean nDCG@10 of the development questions.
        cpu_s: Processor time of the training in seconds.
        peak_mb: Peak memory of its process, MiB.
    """

    name: str
    seed: int
    examples: int
    ndcg: float
    cpu_s: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Sample:
    """What is trained and measured on.

    Attributes:
        home: Built home with pairs and hard negatives.
        examples: Most training examples.
        dev: Most development questions.
    """

    home: str
    examples: int
    dev: int


def compare(sample: Sample, *, seeds: int) -> list[Trained]:
    """Train with each, once per seed.

    Args:
        sample: What is trained and measured on.
        seeds: Number of seeds.

    Returns:
        The base, then one row per training.

    Raises:
        CorpusError: The home has too few pairs, or a package that the trainer needs is not installed.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise CorpusError(f"install {' and '.join(missing)} first: the trainer of sentence-transformers needs them.")
    found: list[Trained] = []
    runs = [("base", 0), *((name, seed) for seed in range(seeds) for name in TRAININGS)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for row in pool.map(train, (sample for _ in runs), *zip(*runs, strict=True)):
            print(row, file=sys.stderr, flush=True)
            found.append(row)
    return found


def train(sample: Sample, name: str, seed: int) -> Trained:
    """Train once, and score the weights.

    Args:
        sample: What is trained and measured on.
        name: One of `TRAININGS`, or `base` to train nothing.
        seed: Seed of the batches.

    Returns:
        The scores, and what it cost.

    Raises:
        CorpusError: The home has too few pairs.
    """
    opened, settings = Home(home=sample.home), EncoderSettings()
    pairs, negatives = (opened.store.read(table) for table in ("pairs", "hard_negatives"))
    examples, dev = sample_examples(pairs, negatives, max_examples=sample.examples, max_dev=sample.dev)
    if len(examples) < settings.steps.batch or not dev:
        raise CorpusError(f"{sample.home} has {len(examples)} training and {len(dev)} development examples: too few.")
    is_late = name == "own with late interaction"
    own = replace(settings, late=settings.late * is_late, steps=replace(settings.steps, seed=seed))
    model, start = open_untrained(opened), time.process_time()
    if name != "base":
        by = _train_by_trainer if name == "sentence-transformers" else _train_own
        by(model, open_untrained(opened), examples, own)
    seconds = time.process_time() - start if name != "base" else 0.0
    count = len(examples) if name != "base" else 0
    return Trained(name, seed, count, _score(model, dev, settings), seconds, peak_memory_mb())


def render(rows: Sequence[Trained]) -> str:
    """Render the trainings as Markdown.

    Args:
        rows: The trainings.
    """
    lines = ["# Own training loop and sentence-transformers", ""]
    lines += ["| training | seed | examples | nDCG@10 | processor time (s) | peak (MiB) |", "|" + "---|" * 6]
    for row in rows:
        figures = f"{row.ndcg:.4f} | {row.cpu_s:.1f} | {row.peak_mb:.0f}"
        lines.append(f"| {row.name} | {row.seed} | {row.examples} | {figures} |")
    return "\n".join([*lines, ""])


def _score(model: Any, dev: Sequence[Example], settings: EncoderSettings) -> float:
    model.eval()
    return float(mean_of(score_dense(EncoderTrainer(model, settings).encode, dev).questions))


def _train_own(model: Any, guide: Any, examples: Sequence[Example], settings: EncoderSettings) -> None:
    """Train with the product's steps, without evaluation on the way: the trainer has none either."""
    with seeded(settings.steps), TemporaryDirectory() as folder:
        trainer = EncoderTrainer(model, settings)
        guided = EncoderTrainer(guide, settings).encode_guide(examples)
        trainer.freeze()
        run_steps(
            model,
            draw_batches(len(examples), settings=settings.steps),
            step=lambda batch: trainer.step([examples[place] for place in batch], guided),
            score=lambda: 0.0,
            settings=replace(settings.steps, evaluations=1),
            checkpoint=Checkpoint(Path(folder) / "state.pt", "benchmark"),
        )


def _train_by_trainer(model: Any, guide: Any, examples: Sequence[Example], settings: EncoderSettings) -> None:
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.losses import CachedGISTEmbedLoss

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    EncoderTrainer(model, settings).freeze()
    model.max_seq_length = settings.passage_tokens
    # Rows need equally many negatives: an example with fewer repeats its own, and one without is left out.
    columns = {
        "anchor": [e.query for e in examples if e.negatives],
        "positive": [e.positive for e in examples if e.negatives],
    }
    for n in range(settings.negatives):
        columns[f"negative_{n}"] = [e.negatives[n % len(e.negatives)] for e in examples if e.negatives]
    with TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=str(Path(folder)),
            num_train_epochs=settings.steps.epochs,
            per_device_train_batch_size=settings.steps.batch,
            learning_rate=settings.steps.learning_rate,
            warmup_ratio=settings.steps.warmup,
            weight_decay=settings.steps.weight_decay,
            seed=settings.steps.seed,
            use_cpu=True,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        loss = CachedGISTEmbedLoss(model, guide, margin=settings.loss.margin, temperature=1 / settings.loss.scale)
        SentenceTransformerTrainer(
            model=model, args=arguments, train_dataset=Dataset.from_dict(columns), loss=loss
        ).train()
