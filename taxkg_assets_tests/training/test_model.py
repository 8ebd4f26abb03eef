"""Training makes answers nearer, continues after a kill as if nothing had been, and mixes with its base."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from taxkg_assets.training.contrast import EncoderTrainer
from taxkg_assets.training.dense_scores import mean_of
from taxkg_assets.training.model import STATE, EncoderSettings, TrainedModel, mix_weights, train_encoder
from taxkg_assets.training.similarity_calibration import SCALE_FILE
from taxkg_assets.training.steps import StepSettings
from taxkg_assets_tests.training.tiny import open_tiny_model, save_tiny_model, write_examples

pytestmark = pytest.mark.slow

SETTINGS = EncoderSettings(
    steps=StepSettings(epochs=6, batch=5, learning_rate=1e-2, evaluations=2, state_seconds=0.0),
    negatives=1,
    frozen_layers=0,
    alphas=(1.0, 0.5),
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def train(
    tiny: Path, out: Path, *, settings: EncoderSettings = SETTINGS, progress: Callable[[int, int], None] | None = None
) -> TrainedModel:
    examples = write_examples()
    return train_encoder(examples, examples, base=open_tiny_model(tiny), settings=settings, out=out, progress=progress)


def test_a_trained_model_finds_more_than_its_base_and_loads_again(tiny: Path, tmp_path: Path) -> None:
    trained = train(tiny, tmp_path)
    assert mean_of(trained.tuned) > mean_of(trained.base) + 0.1
    assert trained.alpha in SETTINGS.alphas
    assert not (tmp_path / STATE).exists()
    assert open_tiny_model(tmp_path).encode(["where does rent go"]).shape == (1, 32)
    assert trained.scale is not None
    assert json.loads((tmp_path / SCALE_FILE).read_text(encoding="utf8")) == asdict(trained.scale)


def test_a_killed_training_continues_to_the_same_weights(tiny: Path, tmp_path: Path) -> None:
    whole = train(tiny, tmp_path / "whole")

    def kill(done: int, total: int) -> None:
        if done == total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tiny, tmp_path / "parts", progress=kill)
    assert (tmp_path / "parts" / STATE).exists()
    steps: list[int] = []
    resumed = train(tiny, tmp_path / "parts", progress=lambda done, total: steps.append(done))
    assert steps[0] > 1
    assert resumed.sha256 == whole.sha256


def test_the_state_of_another_training_is_not_used(tiny: Path, tmp_path: Path) -> None:
    def kill(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tiny, tmp_path, progress=kill)
    steps: list[int] = []
    train(tiny, tmp_path, settings=replace(SETTINGS, query_tokens=20), progress=lambda done, total: steps.append(done))
    assert steps[0] == 1


def test_cached_gradients_are_the_gradients(tiny: Path, tmp_path: Path) -> None:
    one = train(
        tiny,
        tmp_path / "one",
        settings=replace(SETTINGS, steps=replace(SETTINGS.steps, epochs=1), is_cached=True, late=0.0, group_tokens=64),
    )
    other = train(
        tiny,
        tmp_path / "other",
        settings=replace(SETTINGS, steps=replace(SETTINGS.steps, epochs=1), is_cached=False, late=0.0, group_tokens=64),
    )
    left, right = open_tiny_model(one.folder).state_dict(), open_tiny_model(other.folder).state_dict()
    assert all(torch.allclose(left[name], right[name], atol=1e-4) for name in left)


def test_a_mixture_is_between_base_and_tuned() -> None:
    mixed = mix_weights({"w": torch.tensor([0.0, 4.0])}, {"w": torch.tensor([2.0, 0.0])}, alpha=0.25)
    assert mixed["w"].tolist() == [0.25 * 2.0, 0.75 * 4.0]


def test_frozen_layers_keep_their_weights(tiny: Path, tmp_path: Path) -> None:
    train(
        tiny,
        tmp_path,
        settings=replace(SETTINGS, frozen_layers=1, alphas=(1.0,), steps=replace(SETTINGS.steps, epochs=2)),
    )
    before, after = open_tiny_model(tiny).state_dict(), open_tiny_model(tmp_path).state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert not {name for name in changed if "layer.0." in name or "embeddings." in name}


def test_of_a_model_with_few_layers_the_highest_learns(tiny: Path, tmp_path: Path) -> None:
    steps = replace(SETTINGS.steps, epochs=2)
    train(tiny, tmp_path, settings=replace(SETTINGS, frozen_layers=3, alphas=(1.0,), steps=steps))
    before, after = open_tiny_model(tiny).state_dict(), open_tiny_model(tmp_path).state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert any("layer.1." in name for name in changed)
    assert not {name for name in changed if "layer.0." in name or "embeddings." in name}


def test_nothing_left_to_train_is_said(tiny: Path) -> None:
    model = open_tiny_model(tiny)
    model[0].auto_model.encoder.layer = torch.nn.ModuleList()
    model[0].auto_model.pooler = None
    with pytest.raises(ValueError, match="no layers to train"):
        EncoderTrainer(model, EncoderSettings()).freeze()


class _Plain(torch.nn.Module):
    """A model whose forward pass reads no value, as a device without values demands."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__()
        self.tokenizer, self.prompts = tokenizer, {}
        self.words = torch.nn.Embedding(len(tokenizer), 8)

    def get_embedding_dimension(self) -> int:
        return 8

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        found = self.words(features["input_ids"])
        return {
            "token_embeddings": found,
            "sentence_embedding": (found * features["attention_mask"][:, :, None]).sum(1),
        }


def test_a_step_keeps_every_tensor_where_the_model_is(tiny: Path) -> None:
    examples = write_examples()
    for late in (0.0, 0.5):
        trainer = EncoderTrainer(_Plain(open_tiny_model(tiny).tokenizer), replace(SETTINGS, late=late, is_cached=False))
        guide = trainer.encode_guide(examples)
        moved = EncoderTrainer(trainer.model.to("meta"), trainer.settings)
        with pytest.raises(RuntimeError, match="meta"):  # its loss has no value to return, after the gradients
            moved.step(examples, guide)
        assert moved.model.words.weight.grad is not None


def test_full_memory_names_the_remedy(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> float:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(EncoderTrainer, "step", fail)
    with pytest.raises(ValueError, match="TAXKG_DEVICE=cpu"):
        train(tiny, tmp_path)
