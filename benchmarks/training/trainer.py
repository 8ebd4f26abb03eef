"""Own training loop against the trainer of sentence-transformers, on the same examples of a home.

Both start from the same base, with the same batch size, learning rate, warm-up, frozen layers and GIST loss with the
base as guide. The last weights are scored, without interpolation. The trainer needs `accelerate` and `datasets`, which
the package does not install.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
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
SEEDS = (0, 1, 2)
MOST, DEV = 4000, 200


@dataclass(frozen=True, slots=True)
class Trained:
    """One training and what it cost.

    Attributes:
        name: `base`, `own`, `own with late interaction` or `sentence-transformers`.
        seed: Seed of the batches.
        examples: Training examples.
        ndcg: Mean nDCG@10 of the development questions.
        cpu_s: Processor time of the training in seconds.
        peak_mb: Peak memory of the process so far, MiB.
    """

    name: str
    seed: int
    examples: int
    ndcg: float
    cpu_s: float
    peak_mb: float


def compare(home: str) -> list[Trained]:
    """Train with both, once per seed.

    Args:
        home: Built home with pairs and hard negatives.

    Returns:
        The base, then one row per training.

    Raises:
        CorpusError: The home has too few pairs, or a package that the trainer needs is not installed.
    """
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise CorpusError(f"install {' and '.join(missing)} first: the trainer of sentence-transformers needs them.")
    opened = Home(home=home)
    pairs, negatives = (opened.store.read(name) for name in ("pairs", "hard_negatives"))
    examples, dev = sample_examples(pairs, negatives, most=MOST, dev=DEV)
    settings = EncoderSettings()
    if len(examples) < settings.steps.batch or not dev:
        raise CorpusError(f"{home} has {len(examples)} training and {len(dev)} development examples: too few.")
    found = [Trained("base", 0, 0, _score(open_untrained(opened), dev, settings), 0.0, peak_memory_mb())]
    for seed in SEEDS:
        own = replace(settings, steps=replace(settings.steps, seed=seed))
        for name, train, late in (
            ("own", _train_own, 0.0),
            ("own with late interaction", _train_own, settings.late),
            ("sentence-transformers", _train_by_trainer, 0.0),
        ):
            model, start = open_untrained(opened), time.process_time()
            train(model, open_untrained(opened), examples, replace(own, late=late))
            seconds = time.process_time() - start
            found.append(Trained(name, seed, len(examples), _score(model, dev, settings), seconds, peak_memory_mb()))
    return found


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
        guided = EncoderTrainer(guide, settings).find_guide(examples)
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
