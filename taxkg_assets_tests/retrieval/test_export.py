"""An exported encoder gives the vectors that it gave before, nearly so in 8 bits, each independent of the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taxkg_assets.defs.models import model_hash, open_encoder, open_untrained
from taxkg_assets.defs.resources import Home
from taxkg_assets_tests.training.tiny import save_tiny_model, write_examples

TEXTS = [text for example in write_examples() for text in (example.query, example.positive)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name in ("onnx", "onnxruntime"):
        pytest.importorskip(name, reason="the extra `onnx` is not installed")
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def test_exported_encoders_agree_with_their_model(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXKG_MODEL", str(tiny))
    vectors, hashes = {}, set()
    for runtime in ("torch", "onnx", "onnx_int8"):
        monkeypatch.setenv("TAXKG_MODEL_RUNTIME", runtime)
        home = Home(home=str(tmp_path))
        encoder = open_encoder(home)
        vectors[runtime] = encoder.encode_passages(TEXTS)
        hashes.add(encoder.model_hash)
        assert encoder.model_hash == model_hash(home)
        assert (encoder.encode_passages(TEXTS[3:4])[0] == vectors[runtime][3]).all(), "whatever its batch mates"
        assert (encoder.encode_query(TEXTS[0]) @ vectors[runtime][0]) > 0.99
    assert len(hashes) == 3, "vectors of different arithmetic do not mix"
    assert (vectors["torch"] * vectors["onnx"]).sum(axis=1).min() > 0.999
    assert (vectors["torch"] * vectors["onnx_int8"]).sum(axis=1).min() > 0.97
    assert not np.array_equal(vectors["onnx"], vectors["onnx_int8"])
    assert sorted(path.name for path in tmp_path.glob("cache/onnx/*/*")) == ["model.onnx", "model_int8.onnx"]
    assert any(weight.requires_grad for weight in open_untrained(home).parameters()), "training needs torch"
