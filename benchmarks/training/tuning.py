"""How a fold trains: the product's own training of the encoder and evaluation of its late reranker, from the base."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.documents import CorpusError
from benchmarks.training.corpus import Corpus
from benchmarks.training.cross_validation import Tuned
from taxkg_assets.defs.home.arithmetic import has_bfloat16
from taxkg_assets.defs.home.models import open_model_folder, open_untrained
from taxkg_assets.defs.training_models import encoder_settings
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.retrieval.encoding.encoder import UNSCALED, CosineScale
from taxkg_assets.retrieval.encoding.passage_scorer import LateScorer, Reranker
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.training.contrast import EncoderSettings, EncoderTrainer
from taxkg_assets.training.dense_scores import mean_of, score_dense
from taxkg_assets.training.examples import Example
from taxkg_assets.training.losses import Loss
from taxkg_assets.training.model import hash_weights, train_encoder
from taxkg_assets.training.reranker import RankedList, find_weights
from taxkg_assets.training.similarity_calibration import fit_scale

ALPHAS = (1.0, 0.6)
DEV_NEGATIVES, EVALUATED = 6, 60
"""Negatives of a development question that it is ranked against, and questions that evaluate the reranker."""


@dataclass(frozen=True)
class ProductTuner:
    """Tunes as `taxkg train` does, but scores the development split once, at the end."""

    corpus: Corpus
    settings: EncoderSettings
    depth: int

    @property
    def identity(self) -> str:
        """What decides how a model turns out, the examples aside."""
        return json.dumps([asdict(self.settings), self.depth], sort_keys=True)

    def __call__(self, train: Sequence[Example], dev: Sequence[Example], *, seed: int, out: Path) -> Tuned:
        """Train the encoder, open it as the index would, and evaluate its tokens as a reranker."""
        settings = replace(self.settings, steps=replace(self.settings.steps, seed=seed))
        small = find_small(dev)
        base = open_untrained(Home(home=str(self.corpus.home)))
        trained = train_encoder(train, small, base=base, settings=settings, out=out)
        encoder = SentenceEncoder(
            model=base,
            model_name=out.name,
            model_hash=trained.sha256[:16],
            is_bfloat16=has_bfloat16(),
            scale=CosineScale(**asdict(trained.scale)) if trained.scale else UNSCALED,
        )
        scorer = LateScorer(model=base, is_bfloat16=has_bfloat16())
        weight = self._weight(scorer, dev)
        reranker = Reranker(name="late", scorer=scorer, weight=weight, depth=self.depth)
        facts = {
            "encoder_s": trained.seconds,
            "examples_a_second": trained.examples / max(trained.seconds, 1e-9),
            "peak_mb": trained.peak_mb,
            "alpha": trained.alpha,
            "alphas": {str(alpha): score for alpha, score in trained.alphas.items()},
            "dev_base": mean_of(trained.base),
            "dev_tuned": mean_of(trained.tuned),
            "weight": weight,
            "scale": asdict(trained.scale) if trained.scale else None,
        }
        return Tuned(encoder=encoder, reranker=reranker, facts=facts)

    def _weight(self, scorer: LateScorer, dev: Sequence[Example]) -> float:
        """What the reranker's word counts, by questions of families that training may see."""
        lists = self._rank(list({example.query: example for example in dev}.values())[:EVALUATED])
        found = [scorer.score(one.query, one.passages) for one in lists]
        return find_weights(lists, found)[""] if lists else 0.0

    def _rank(self, dev: Sequence[Example]) -> list[RankedList]:
        """The best passages of the released search for questions whose answer is among them."""
        lists = []
        for example in dev:
            best = self.corpus.searcher.rank(example.query).candidates[: self.depth]
            passages = tuple(self.corpus.passages[found.row] for found in best)
            is_right = np.array([text == example.positive for text in passages], dtype=np.bool_)
            if is_right.any():
                scores = np.array([found.score for found in best])
                lists.append(RankedList(example.query, example.kind, example.family, passages, scores, is_right))
        return lists


@dataclass(frozen=True)
class KeptTuner:
    """Opens what an earlier run of the folds trained: where the search has changed and training has not."""

    corpus: Corpus
    folder: Path

    @property
    def identity(self) -> str:
        """The folder, for its models are taken as they are."""
        return f"kept in {self.folder.name}"

    def __call__(self, train: Sequence[Example], dev: Sequence[Example], *, seed: int, out: Path) -> Tuned:
        """The encoder of the same fold and seed, its cosines measured again.

        Raises: CorpusError where none is there, or where it has seen a family that this fold holds out.
        """
        held_out = self.folder / f"{out.name.replace('model', 'fold', 1).rpartition('-')[0]}-seed-{seed}.json"
        if not held_out.is_file() or not (self.folder / out.name).is_dir():
            raise CorpusError(
                f"{self.folder} holds no {held_out.name} with its {out.name}: run the folds without --models."
            )
        found = json.loads(held_out.read_text(encoding="utf8"))
        if others := {e.family for e in train} & set(found["families"]):
            raise CorpusError(
                f"{held_out} held out {', '.join(sorted(others))}, this fold does not: its model is another's."
            )
        base = open_untrained(Home(home=str(self.corpus.home)))
        model = open_model_folder(self.folder / out.name)
        before, after = (
            score_dense(EncoderTrainer(one, EncoderSettings()).encode, find_small(dev)) for one in (base, model)
        )
        scale = fit_scale(before.cosine_by_rank, after.cosine_by_rank)
        encoder = SentenceEncoder(
            model=model,
            model_name=out.name,
            model_hash=hash_weights(self.folder / out.name)[:16],
            is_bfloat16=has_bfloat16(),
            scale=CosineScale(**asdict(scale)),
        )
        facts = {"dev_base": mean_of(before.questions), "dev_tuned": mean_of(after.questions), "scale": asdict(scale)}
        return Tuned(encoder=encoder, reranker=self._open_reranker(model, found["training"].get("weight")), facts=facts)

    def _open_reranker(self, model: Any, weight: float | None) -> Reranker | None:
        """The late reranker with the weight that it was given when the fold was trained."""
        if weight is None:
            return None
        depth = Home(home=str(self.corpus.home)).settings.reranker_depth
        return Reranker("late", LateScorer(model=model, is_bfloat16=has_bfloat16()), weight=weight, depth=depth)


def find_small(dev: Sequence[Example]) -> list[Example]:
    """Development questions with N negatives as they are ranked against."""
    return [replace(example, negatives=example.negatives[:DEV_NEGATIVES]) for example in dev]


def open_tuner(
    corpus: Corpus,
    *,
    epochs: float | None,
    frozen: int | None,
    alphas: Sequence[float] | None,
    rate: float | None = None,
    late: float | None = None,
    loss: Loss | None = None,
) -> ProductTuner:
    """The settings of the home, but for those that are given."""
    home = Home(home=str(corpus.home))
    settings = encoder_settings(home)
    steps = replace(settings.steps, evaluations=1, epochs=settings.steps.epochs if epochs is None else epochs)
    settings = replace(settings, steps=steps, alphas=tuple(alphas or ALPHAS))
    if frozen is not None:
        settings = replace(settings, frozen_layers=frozen)
    if rate is not None:
        settings = replace(settings, steps=replace(steps, learning_rate=rate))
    if late is not None:
        settings = replace(settings, late=late)
    if loss is not None:
        settings = replace(settings, loss=replace(settings.loss, name=loss))
    return ProductTuner(corpus=corpus, settings=settings, depth=home.settings.reranker_depth)
