"""Opens what a question's path asks: exported models of the home, each file verified against the digest of its card.

No torch here. Where a model has no export, `defs/home/models.py` and `defs/home/rerankers.py` open it with torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from taxkg_assets.defs.home.access import AnyHome
from taxkg_assets.defs.home.storage import atomic_write
from taxkg_assets.defs.home.store import Store
from taxkg_assets.retrieval.encoding.encoder import CosineScale
from taxkg_assets.retrieval.encoding.exported import (
    ExportCard,
    ExportedCrossScorer,
    ExportedEncoder,
    ExportedLateScorer,
    ExportedModel,
)
from taxkg_assets.retrieval.encoding.onnx_model import open_session
from taxkg_assets.retrieval.encoding.passage_scorer import PassageScorer

EXPORTS = "models"
GRAPH, TOKENIZER, CARD = "model.onnx", "tokenizer.json", "card.json"
VERIFIED = "verified.json"
"""File that names the files of an export that had the digests of its card, with size and time of change."""
SMALL_ARITHMETIC = "-onnx-int8"


class ExportDamagedError(Exception):
    """An exported model whose files do not match its card."""


def export_name(encoder_hash: str) -> str:
    """Return the export folder of an encoder: 8-bit weights for an 8-bit index, else single precision.

    Args:
        encoder_hash: Hash of the encoder, with the arithmetic of the index.

    Returns:
        Folder within the home.
    """
    is_8_bit = encoder_hash.endswith(SMALL_ARITHMETIC)
    weights = re.sub(r"-(?:bf16|onnx|onnx-int8)$", "", encoder_hash)
    folder_name = re.sub(r"[^A-Za-z0-9._]+", "-", weights)
    return f"{EXPORTS}/onnx-{folder_name}{'-int8' if is_8_bit else ''}"


def why_not_exported(store: Store, encoder_hash: str) -> str | None:
    """Return why an encoder has no export.

    Args:
        store: Files of the home.
        encoder_hash: Hash of the encoder.

    Returns:
        The reason with a remedy; None if there is an export.
    """
    card = _read_card(store, export_name(encoder_hash))
    if card is None:
        return "it was not exported: run `taxkg build`"
    reason = card.get("reason")
    return None if reason is None else str(reason)


def has_export(store: Store, encoder_hash: str) -> bool:
    """Return whether an export of an encoder was made or attempted.

    Args:
        store: Files of the home.
        encoder_hash: Hash of the encoder.

    Returns:
        True also if the encoder cannot be exported.
    """
    return _read_card(store, export_name(encoder_hash)) is not None


def open_question_encoder(home: AnyHome, encoder_hash: str) -> ExportedEncoder | None:
    """Open the ONNX export of an encoder, single-threaded, to encode questions.

    Args:
        home: Tables, files and settings of the home.
        encoder_hash: Hash of the encoder of the index.

    Returns:
        The encoder; None if it was not exported.

    Raises:
        ExportDamagedError: The SHA-256 of a file differs from the recorded one.
    """
    model = open_export(home.store, encoder_hash, threads=1)
    return None if model is None else ExportedEncoder(model, model_hash=encoder_hash)


def open_exported_scorer(home: AnyHome, encoder_hash: str) -> PassageScorer | None:
    """Open the exported model of a reranker to score passages.

    Args:
        home: Tables, files and settings of the home.
        encoder_hash: Hash of the reranker, from `reranker_export`.

    Returns:
        The model; None if it has no export.

    Raises:
        ExportDamagedError: A file has another digest than recorded.
    """
    model = open_export(home.store, encoder_hash, threads=0)
    if model is None:
        return None
    return ExportedCrossScorer(model) if model.card.kind == "cross" else ExportedLateScorer(model)


def open_export(store: Store, encoder_hash: str, *, threads: int) -> ExportedModel | None:
    """Open an exported model.

    Args:
        store: Files of the home.
        encoder_hash: Hash of the model, with its arithmetic.
        threads: Number of threads; 0 leaves it to the runtime.

    Returns:
        The model; None if it was not exported or cannot be.
    """
    name = export_name(encoder_hash)
    card = _read_card(store, name)
    if card is None or "reason" in card:
        return None
    return _open(store.storage.local_copy(name), json.dumps(card, sort_keys=True), threads)


def _read_card(store: Store, name: str) -> dict[str, Any] | None:
    data = store.storage.read(f"{name}/{CARD}")
    return None if data is None else json.loads(data)


@cache
def _open(folder: Path, card: str, threads: int) -> ExportedModel:
    """Open the model of a folder, once per process."""
    from tokenizers import Tokenizer  # loaded here: a build needs no tokenizer of its own

    fields = json.loads(card)
    export_card = ExportCard(**{**fields, "scale": CosineScale(**fields["scale"])})
    _verify(folder, export_card.digests)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    session = open_session(str(folder / GRAPH), threads=threads, is_optimized=export_card.is_optimized)
    return ExportedModel(session, tokenizer, export_card)


def _verify(folder: Path, digests: Mapping[str, str]) -> None:
    """Compare the files of an export with their digests: files that did not change since the last time are not read."""
    file_states = {name: [digest, *_stat_file(folder / name)] for name, digest in digests.items()}
    try:
        if json.loads((folder / VERIFIED).read_bytes()) == file_states:
            return
    except (OSError, ValueError):  # first use, or a damaged record: the files themselves decide
        pass
    for name, digest in digests.items():
        path = folder / name
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        if actual != digest:
            raise ExportDamagedError(
                f"The exported model {path} is damaged: its SHA-256 is {actual}, but its card says {digest}. "
                f"Delete the folder {folder} and run `taxkg build`."
            )
    with contextlib.suppress(OSError):  # a home that this user may only read is verified each time
        atomic_write(folder / VERIFIED, json.dumps(file_states).encode())


def _stat_file(path: Path) -> tuple[int, int]:
    """Return size and time of the last change, in nanoseconds."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns
