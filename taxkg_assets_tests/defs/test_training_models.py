"""The law of the chosen encoder: what is in the home is queried again, and a base of another kind is no base of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from taxkg_assets.defs import training_models
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.schemas import HardNegatives, Model, Pairs
from taxkg_assets.sources.scan import sha256_of
from taxkg_assets.training.dense_scores import Vectors
from taxkg_assets_tests.training import small

pytestmark = pytest.mark.slow

TOPICS = ("berth", "rent", "vessel", "duty", "harbour", "wages")


def _open_trainer(model: str, settings: Any) -> Any:
    """One direction a topic; a model called wrong takes each passage for the next topic's."""

    def encode(texts: Sequence[str], is_query: bool) -> Vectors:
        shift = 1 if model == "wrong" and not is_query else 0
        places = [(TOPICS.index(text.split()[-1]) + shift) % len(TOPICS) for text in texts]
        vectors: Vectors = np.eye(len(TOPICS), dtype=np.float32)[places]
        return vectors

    return SimpleNamespace(encode=encode)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with a chosen model and one development question a topic."""
    home = Home(home=str(tmp_path))
    weights = tmp_path / "models" / "m" / "model.safetensors"
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"weights")
    own = {"name": "m", "path": "models/m", "base_hash": "b", "sha256": sha256_of(weights), "is_chosen": True}
    queried = [
        {"pair_id": t, "kind": "scenario", "query": f"what of {t}", "passage": f"text of {t}", "split": "dev"}
        for t in TOPICS
    ]
    for name, frame in (
        ("model", small.fill(Model, [own | {"gain": 0.1, "gain_low": 0.05, "gain_by_kind": "{}"}])),
        ("pairs", small.fill(Pairs, [row | {"polarity": "positive"} for row in queried])),
        ("hard_negatives", HardNegatives.create_empty()),
    ):
        home.store.write(name, pl.DataFrame(frame), inputs="")
    monkeypatch.setattr(training_models, "EncoderTrainer", _open_trainer)
    monkeypatch.setattr(training_models, "open_untrained", lambda home: "right")
    monkeypatch.setattr(training_models, "open_model_folder", lambda folder: "right")
    monkeypatch.setattr(training_models, "weights_hash", lambda home: "b")
    return home


def _judge(home: Home) -> tuple[bool, str]:
    verdict, _ = PIPELINE["model"].gates["encoder_beats_its_base"](home)
    return verdict.passed, verdict.note


def test_a_chosen_encoder_that_answers_as_it_did_is_kept(home: Home) -> None:
    assert _judge(home)[0]


def test_one_that_answers_worse_than_its_base_is_not(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_models, "open_model_folder", lambda folder: "wrong")
    assert not _judge(home)[0]


def test_one_of_another_base_is_not(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_models, "weights_hash", lambda home: "another")
    passed, note = _judge(home)
    assert not passed
    assert "run `taxkg train`" in note


def test_one_whose_weights_are_not_those_measured_is_not(home: Home) -> None:
    (Store(str(home.home)).folder("models") / "m" / "model.safetensors").write_bytes(b"others")
    assert not _judge(home)[0]
