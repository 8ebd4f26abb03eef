"""A GPU encodes batches and nothing else; without memory, a driver or a build for CUDA, the processor does it."""

from __future__ import annotations

import logging
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from taxkg_assets.retrieval.encoding import gpu
from taxkg_assets.retrieval.encoding.gpu import GpuModel, has_gpu, is_built_for_gpu, open_on_gpu
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets_tests.training.tiny import open_tiny_model, save_tiny_model

pytestmark = pytest.mark.slow

TEXTS = ["harbour rent is taxed", "a berth", "report the duty of a vessel " * 9]


class Counted(torch.nn.Module):
    """A model that counts its batches, and has memory for some of them only."""

    def __init__(self, most: int = 1_000) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.most, self.rows = most, []

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        if len(self.rows) == self.most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.rows.append(len(features["input_ids"]))
        return {"sentence_embedding": features["input_ids"][:, :2].double() * self.weight}


@pytest.mark.parametrize(
    ("version", "driver", "is_usable", "found"),
    [
        ("cuda: Optional[str] = '13.0'", True, True, True),
        ("cuda = '12.8'", True, True, True),
        ("cuda: Optional[str] = '13.0'", True, False, False),
        ("cuda: Optional[str] = None", True, True, False),
        ("cuda: Optional[str] = '13.0'", False, True, False),
    ],
)
def test_a_gpu_counts_where_a_driver_is_loaded_and_can_be_used(
    version: str, driver: bool, is_usable: bool, found: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: is_usable)
    (tmp_path / "version.py").write_text(f"__version__ = '2.0'\n{version}\n", encoding="utf8")
    spec = ModuleSpec("torch", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(gpu, "find_spec", lambda name: spec)
    monkeypatch.setattr(gpu, "_DRIVERS", (str(tmp_path if driver else tmp_path / "none"),))
    has_gpu.cache_clear()
    assert has_gpu() is found
    assert is_built_for_gpu() is ("None" not in version)
    has_gpu.cache_clear()


def test_the_processor_takes_over_when_the_memory_of_the_gpu_is_full(caplog: pytest.LogCaptureFixture) -> None:
    on_gpu, own = Counted(most=1), Counted()
    model = GpuModel(on_gpu, own, "cpu", rows=2)
    features = {"input_ids": torch.arange(15).reshape(5, 3), "attention_mask": torch.ones(5, 3)}
    with caplog.at_level(logging.WARNING, logger="taxkg"):
        first, second, third = (model.run(features, "sentence_embedding") for _ in range(3))
    assert torch.equal(first, second)
    assert torch.equal(first, third)
    assert first.dtype == torch.float32
    assert (on_gpu.rows, own.rows) == ([5], [2, 2, 1] * 2)
    assert len(caplog.records) == 1
    assert "TAXKG_DEVICE=cpu" in caplog.text


def test_a_model_that_cannot_be_copied_stays_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert open_on_gpu(Counted(), rows=2) == "PyTorch finds no GPU that it can use"
    reason = open_on_gpu(Counted(), rows=2, device="no such device")
    assert isinstance(reason, str)
    assert "no such device" in reason
    copied = open_on_gpu(own := Counted(), rows=2, device="cpu")
    assert isinstance(copied, GpuModel)
    assert copied.model is not own


def test_products_are_not_rounded_and_the_setting_is_restored() -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    with gpu.single_precision():
        assert torch.get_float32_matmul_precision() == "highest"
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision(before)


def test_batches_run_on_the_gpu_and_a_question_does_not(tmp_path: Path) -> None:
    model = open_tiny_model(save_tiny_model(tmp_path))
    own = SentenceEncoder(model=model, model_name="tiny", model_hash="x")
    copied = open_on_gpu(model, rows=own.rows, device="cpu")
    assert isinstance(copied, GpuModel)
    seen: list[tuple[int, ...]] = []
    copied.model.register_forward_pre_hook(lambda _, given: seen.append(tuple(given[0]["input_ids"].shape)))
    encoder = replace(own, gpu=copied)
    together = encoder.encode_passages(TEXTS)
    assert seen == [(gpu.GPU_ROWS, 32), (gpu.GPU_ROWS, 64)], "always as many rows, of a length of the text's own"
    np.testing.assert_allclose(together, own.encode_passages(TEXTS), atol=2e-5)
    alone = [encoder.encode_passages([text])[0] for text in TEXTS]
    assert np.array_equal(np.stack(alone), together)
    by_gpu, by_processor = encoder.encode_tokens(TEXTS), own.encode_tokens(TEXTS)
    for one, other in zip(by_gpu, by_processor, strict=True):
        np.testing.assert_array_equal(one.tokens, other.tokens)
        np.testing.assert_allclose(one.vectors, other.vectors, atol=1e-5)
    seen.clear()
    np.testing.assert_array_equal(encoder.encode_query(TEXTS[0]), own.encode_query(TEXTS[0]))
    np.testing.assert_array_equal(encoder.encode_sentences(TEXTS), own.encode_sentences(TEXTS))
    assert seen == [], "one question is encoded on the processor"
    assert isinstance(own.encode_passages([]), np.ndarray)
    assert _shape(encoder.encode_passages([])) == (0, 32)


def _shape(found: Any) -> tuple[int, ...]:
    return tuple(found.shape)
