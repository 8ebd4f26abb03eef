"""The product's training, called as the folds call it, on a handful of pairs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.documents import CorpusError
from benchmarks.training.corpus import Corpus
from benchmarks.training.tuning import KeptTuner, open_tuner
from taxkg_assets.training.examples import Example

pytestmark = pytest.mark.slow


def test_a_tuned_encoder_is_another_one_and_its_tokens_rerank(corpus: Corpus, tmp_path: Path) -> None:
    texts = corpus.passages
    train = [Example(f"what of matter {n}?", texts[n], (texts[-1],), "scenario", "A", 1.0, str(n)) for n in range(4)]
    duty = next(text for text in texts if "berth duty" in text)
    dev = [Example("duty for a berth in Manhattan", duty, (), "scenario", "B", 1.0, "d")]
    tune = open_tuner(corpus, epochs=1.0, frozen=5, alphas=[1.0])
    tune = replace(tune, settings=replace(tune.settings, steps=replace(tune.settings.steps, batch=4)))
    tuned = tune(train, dev, seed=0, out=tmp_path / "model-0-0")
    assert tuned.encoder.model_hash != corpus.searcher.encoder.model_hash
    assert tuned.encoder.encode_passages(texts[:2]).shape == (2, 384)
    assert tuned.facts["peak_mb"] > 0
    assert tuned.reranker is not None
    reranked = replace(corpus.searcher, reranker=tuned.reranker).rank("duty for a berth in Manhattan")
    assert {found.row for found in reranked.candidates} == {
        found.row for found in corpus.searcher.rank("duty for a berth in Manhattan").candidates
    }
    assert tune.identity != open_tuner(corpus, epochs=2.0, frozen=5, alphas=[1.0]).identity
    assert pytest.approx(1.0) == tuned.facts["alpha"]

    held_out = {"families": ["B"], "training": {"weight": 2.0}}
    (tmp_path / "fold-0-seed-0.json").write_text(json.dumps(held_out), encoding="utf8")
    kept = KeptTuner(corpus, tmp_path)
    again = kept(train, dev, seed=0, out=tmp_path / "elsewhere" / "model-0-0")
    assert again.encoder.model_hash == tuned.encoder.model_hash
    assert again.reranker is not None
    assert (again.reranker.weight, again.reranker.depth) == (2.0, tuned.reranker.depth)
    assert again.encoder.encode_query("berth duty") == pytest.approx(tuned.encoder.encode_query("berth duty"))
    (tmp_path / "fold-0-seed-0.json").write_text(json.dumps(held_out | {"families": ["A"]}), encoding="utf8")
    with pytest.raises(CorpusError, match="its model is another's"):
        kept(train, dev, seed=0, out=tmp_path / "model-0-0")
    with pytest.raises(CorpusError, match="without --models"):
        kept(train, dev, seed=0, out=tmp_path / "model-1-0")
