"""The product's training, called as the folds call it, on a handful of pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.training.corpus import Corpus
from benchmarks.training.tuning import open_tuner
from taxkg_assets.training.examples import Example


def test_a_tuned_encoder_is_another_one_and_its_tokens_rerank(corpus: Corpus, tmp_path: Path) -> None:
    texts = corpus.passages
    train = [Example(f"what of matter {n}?", texts[n], (texts[-1],), "scenario", "A", 1.0, str(n)) for n in range(4)]
    duty = next(text for text in texts if "berth duty" in text)
    dev = [Example("duty for a berth in Manhattan", duty, (), "scenario", "B", 1.0, "d")]
    tune = open_tuner(corpus, epochs=1.0, frozen=5, alphas=[1.0])
    tune = replace(tune, settings=replace(tune.settings, steps=replace(tune.settings.steps, batch=4)))
    tuned = tune(train, dev, seed=0, out=tmp_path / "model")
    assert tuned.encoder.model_hash != corpus.searcher.encoder.model_hash
    assert tuned.encoder.encode_passages(texts[:2]).shape == (2, 384)
    assert tuned.facts["peak_mb"] > 0
    assert tuned.add_reranker is not None
    again = tuned.add_reranker(corpus.searcher).rank("duty for a berth in Manhattan")
    assert {found.row for found in again.candidates} == {
        found.row for found in corpus.searcher.rank("duty for a berth in Manhattan").candidates
    }
    assert tune.identity != open_tuner(corpus, epochs=2.0, frozen=5, alphas=[1.0]).identity
    assert pytest.approx(1.0) == tuned.facts["alpha"]
