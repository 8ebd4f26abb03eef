"""An exported encoder gives the vectors that it gave before, nearly so in 8 bits, each independent of the others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from taxkg_assets.defs.home.exports import export_served, find_missing_exports
from taxkg_assets.defs.home.models import (
    base_hash,
    is_tuned,
    model_hash,
    open_encoder,
    open_encoder_by_hash,
    open_untrained,
    weights_hash,
)
from taxkg_assets.defs.home.question_models import open_question_encoder, why_not_exported
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.retrieval.encoding.encoder import CosineScale
from taxkg_assets.retrieval.encoding.exported import ExportedEncoder
from taxkg_assets.schemas import Index, Model
from taxkg_assets.sources.scan import sha256_of
from taxkg_assets.training.similarity_calibration import SCALE_FILE
from taxkg_assets_tests.training import small
from taxkg_assets_tests.training.tiny import open_tiny_model, save_tiny_model, write_examples

pytestmark = pytest.mark.slow

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


def _name_encoder(home: Home, hashed: str) -> None:
    """An index whose encoder is to be exported."""
    home.store.write(
        "index", pl.DataFrame(small.fill(Index, [{"index_version": "1", "model_hash": hashed}])), inputs=""
    )


def _tune(home: Home, base: Path) -> None:
    """Choose an encoder of other weights, with a scale of its cosines, over the base."""
    import torch

    model = open_tiny_model(base)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.05 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)))
    building = home.store.folder("models", "building")
    model.save(str(building))
    (building / SCALE_FILE).write_text(json.dumps({"slope": 0.5, "offset": 0.25}), encoding="utf8")
    sha256 = sha256_of(building / "model.safetensors")
    path = f"models/encoder-{sha256[:12]}"
    building.rename(home.store.home / path)
    row = {"name": path[7:], "path": path, "base_hash": weights_hash(home), "sha256": sha256, "is_chosen": True}
    chosen = small.fill(Model, [row | {"gain_by_kind": "{}", "settings": "{}"}])
    home.store.write("model", pl.DataFrame(chosen), inputs="")


def test_a_tuned_encoder_is_exported_with_its_scale(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXKG_MODEL", str(tiny))
    home = Home(home=str(tmp_path))
    base = open_encoder(home)
    _tune(home, tiny)
    hashed = model_hash(home)
    assert is_tuned(home)
    assert open_question_encoder(home, hashed) is None
    _name_encoder(home, hashed)
    export_served(home)
    exported, tuned = open_question_encoder(home, hashed), open_encoder(home)
    assert isinstance(exported, ExportedEncoder)
    assert exported.scale == tuned.scale == CosineScale(slope=0.5, offset=0.25)
    for text in TEXTS:
        assert exported.encode_query(text) @ tuned.encode_query(text) > 0.99
    one_by_one = [exported.encode_query(text) for text in TEXTS[:2]]
    exported.recent.clear()
    exported.encode_together(TEXTS[:2])
    in_one_batch = [exported.encode_query(text) for text in TEXTS[:2]]
    assert len(exported.recent) == 2, "no question is encoded again"
    assert np.abs(np.array(one_by_one) - np.array(in_one_batch)).max() <= 1e-5
    together = exported.encode_sentences([*TEXTS, *TEXTS])
    for text, vector in zip(TEXTS, together, strict=False):
        assert exported.encode_sentences([text])[0].tolist() == vector.tolist(), "remembered, in any company"
    assert together[len(TEXTS) :].tolist() == together[: len(TEXTS)].tolist()
    assert exported.encode_sentences([]).shape == (0, exported.dimension)
    apart = [abs(exported.encode_query(text) @ base.encode_query(text) - 1) for text in TEXTS]
    assert max(apart) > 0.02, "the tuned weights are exported, not those of the base"
    assert open_question_encoder(home, base_hash(home)) is None


def test_an_encoder_of_further_parts_is_not_exported_and_the_reason_is_kept(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense

    own = open_tiny_model(tiny)
    wide = SentenceTransformer(modules=[*own, Dense(32, 16)], device="cpu")
    wide.save(str(tmp_path / "wide"))
    monkeypatch.setenv("TAXKG_MODEL", str(tmp_path / "wide"))
    home = Home(home=str(tmp_path / "home"))
    hashed = model_hash(home)
    _name_encoder(home, hashed)
    assert why_not_exported(home.store, hashed) == "it was not exported: run `taxkg build`"
    export_served(home)
    assert open_question_encoder(home, hashed) is None
    assert "Dense" in str(why_not_exported(home.store, hashed))
    assert find_missing_exports(home) == [], "what cannot be exported is not tried by every build"
    encoder = open_encoder_by_hash(home, hashed)
    assert encoder is not None
    assert encoder.encode_query(TEXTS[0]).shape == (16,)
