"""Which arithmetic a home uses: vectors of two never mix, and a home moves between machines with and without a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taxkg_assets.defs.home import arithmetic, models
from taxkg_assets.defs.home.arithmetic import (
    BFLOAT16,
    SINGLE,
    ModelError,
    find_arithmetic,
    move_to_gpu,
    record_arithmetic,
    uses_gpu,
)
from taxkg_assets.defs.home.models import (
    find_encoder_name,
    model_hash,
    open_encoder,
    open_encoder_by_hash,
    open_encoder_by_name,
)
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.retrieval.encoding.gpu import open_on_gpu
from taxkg_assets.retrieval.index.embeddings import build_embeddings
from taxkg_assets.schemas import Chunks
from taxkg_assets.serving.build import build
from taxkg_assets_tests.training import small
from taxkg_assets_tests.training.tiny import save_tiny_model


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(home=str(tmp_path / "home"))


def _use(monkeypatch: pytest.MonkeyPatch, *, has_gpu: bool, has_bfloat16: bool = True, device: str = "") -> None:
    """A machine with a GPU or without; the processor takes its place."""
    monkeypatch.setattr(arithmetic, "has_gpu", lambda: has_gpu)
    for module in (arithmetic, models):
        monkeypatch.setattr(module, "has_bfloat16", lambda: has_bfloat16)
    monkeypatch.setattr(arithmetic, "open_on_gpu", lambda model, rows: open_on_gpu(model, rows=rows, device="cpu"))
    monkeypatch.setenv("TAXKG_DEVICE", device)


def _build_on(home: Home, monkeypatch: pytest.MonkeyPatch, *, has_gpu: bool, has_bfloat16: bool = True) -> None:
    """Record what a build on a machine records."""
    _use(monkeypatch, has_gpu=has_gpu, has_bfloat16=has_bfloat16)
    record_arithmetic(home)


@pytest.mark.parametrize(
    ("has_gpu", "has_bfloat16", "device", "built_on", "expected"),
    [
        (True, True, "", None, SINGLE),
        (True, True, "cpu", None, BFLOAT16),
        (False, True, "", None, BFLOAT16),
        (False, False, "", None, SINGLE),
        (False, True, "", {"has_gpu": True}, SINGLE),
        (False, True, "", {"has_gpu": False, "has_bfloat16": False}, SINGLE),
        (False, True, "cpu", {"has_gpu": True}, BFLOAT16),
        (False, True, "", {"has_gpu": False}, BFLOAT16),
        (True, True, "", {"has_gpu": False}, SINGLE),
    ],
)
def test_a_home_in_single_precision_keeps_it(
    has_gpu: bool,
    has_bfloat16: bool,
    device: str,
    built_on: dict[str, bool] | None,
    expected: str,
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if built_on is not None:
        _build_on(home, monkeypatch, **built_on)
    _use(monkeypatch, has_gpu=has_gpu, has_bfloat16=has_bfloat16, device=device)
    assert find_arithmetic(home) == expected
    monkeypatch.setenv("TAXKG_MODEL_RUNTIME", "onnx_int8")
    assert find_arithmetic(home) == "onnx-int8"
    record_arithmetic(home)
    monkeypatch.delenv("TAXKG_MODEL_RUNTIME")
    _use(monkeypatch, has_gpu=False)
    assert find_arithmetic(home) == BFLOAT16, "vectors of another runtime keep nothing"


def test_a_gpu_that_is_demanded_and_missing_is_one_clear_error(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, has_gpu=False, device="cuda")
    with pytest.raises(ModelError, match=r"TAXKG_DEVICE=cuda: no GPU is available .*PyTorch is installed without CUDA"):
        uses_gpu(home)
    monkeypatch.setattr(arithmetic, "is_built_for_gpu", lambda: True)
    with pytest.raises(ModelError, match="no driver that PyTorch can use is loaded"):
        uses_gpu(home)
    assert find_arithmetic(home) == SINGLE, "what is stored can be looked at without the GPU"


def test_a_gpu_that_cannot_be_used_is_an_error_or_a_warning(
    home: Home, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _use(monkeypatch, has_gpu=True)
    monkeypatch.setattr(arithmetic, "open_on_gpu", lambda model, rows: "the driver is too old")
    assert move_to_gpu(home, "model") == "model"
    assert "the driver is too old" in caplog.text
    monkeypatch.setenv("TAXKG_DEVICE", "cuda")
    with pytest.raises(ModelError, match="the driver is too old"):
        move_to_gpu(home, "model")


@pytest.mark.slow
def test_a_home_moves_between_machines_with_and_without_a_gpu(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXKG_MODEL", str(save_tiny_model(tmp_path / "tiny")))
    rows = [{"chunk_id": name, "text": f"report {name}", "status": "accepted"} for name in ("rent", "duty", "wages")]
    chunks, more = small.fill(Chunks, rows[:2]), small.fill(Chunks, rows)
    _use(monkeypatch, has_gpu=True)
    on_gpu = open_encoder(home)
    assert on_gpu.gpu is not None
    built = build_embeddings(chunks, None, encoder=on_gpu)
    record_arithmetic(home)

    _use(monkeypatch, has_gpu=False)
    added = open_encoder(home)
    assert added.gpu is None
    assert not added.is_bfloat16
    assert added.model_hash == on_gpu.model_hash == model_hash(home)
    grown = build_embeddings(more, built, encoder=added)
    assert grown.height == 3
    assert built.join(grown, on=["model_hash", "text_hash"], how="anti").is_empty(), "no vector is computed again"

    monkeypatch.setenv("TAXKG_DEVICE", "cpu")
    narrow = open_encoder(home)
    assert narrow.model_hash == f"{on_gpu.model_hash}-bf16", "the faster arithmetic has vectors of its own"
    assert narrow.model is added.model, "weights are loaded once"
    served = open_encoder_by_hash(home, on_gpu.model_hash)
    assert served is not None
    assert served.model_hash == on_gpu.model_hash
    name = find_encoder_name(home)
    assert {open_encoder_by_name(name, model_hash=own.model_hash).model_hash for own in (on_gpu, narrow)} == {
        on_gpu.model_hash,
        narrow.model_hash,
    }, "an executor multiplies as the driver does"
    record_arithmetic(home)
    _use(monkeypatch, has_gpu=True)
    again = build_embeddings(more, build_embeddings(more, None, encoder=narrow), encoder=open_encoder(home))
    assert again["model_hash"].unique().to_list() == [on_gpu.model_hash], "all in the arithmetic of the GPU"
    assert np.isfinite(again["vector"].explode().to_numpy()).all()


def test_a_gpu_that_is_named_and_missing_is_reported_before_any_document_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXKG_DEVICE", "cuda")
    with pytest.raises(ModelError, match="no GPU is available"):
        build(str(tmp_path / "home"))
    assert not (tmp_path / "home" / "tables").exists()
