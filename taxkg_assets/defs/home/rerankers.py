"""Opens rerankers: the one that training has chosen for a home, or a hub's cross-encoder by name."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets.defs.home.access import AnyHome
from taxkg_assets.defs.home.arithmetic import ModelError, drop_arithmetic, has_bfloat16
from taxkg_assets.defs.home.models import base_hash, open_base, open_model_folder
from taxkg_assets.defs.home.question_models import open_exported_scorer, why_not_exported
from taxkg_assets.defs.home.store import digest
from taxkg_assets.records import RerankerRecord, iter_records
from taxkg_assets.retrieval.encoding.passage_scorer import CrossScorer, LateScorer, PassageScorer, Reranker

_log = logging.getLogger("taxkg.serving")


def open_reranker(home: AnyHome, *, version: int | None = None) -> Reranker | None:
    """Return the reranker that training has chosen; None if it has chosen none.

    Args:
        home: Tables, files and settings of the home.
        version: Version of the table `reranker`; the newest by default.
    """
    row = read_reranker(home, version=version)
    return (
        None
        if row is None
        else _with_weight(row, open_scorer(home, kind=row["kind"], path=row["path"], name=row["base"]))
    )


def open_served_reranker(home: AnyHome, *, version: int, index_encoder: str) -> Reranker | None:
    """Open the chosen reranker for readers: its ONNX export, or the PyTorch model with a warning.

    Args:
        home: Tables, files and settings of the home.
        version: Version of `reranker` in the release.
        index_encoder: Hash of the encoder of the released index.

    Returns:
        The reranker; None if none is chosen for this encoder.
    """
    row = read_reranker(home, version=version, index_encoder=index_encoder)
    if row is None:
        return None
    scorer = open_exported_scorer(home, reranker_export(row))
    if scorer is not None:
        return _with_weight(row, scorer)
    _log.warning(
        "The reranker runs with PyTorch, which is slower, because it has no ONNX export: %s",
        why_not_exported(home.store, reranker_export(row)),
    )
    return _with_weight(row, open_scorer(home, kind=row["kind"], path=row["path"], name=row["base"]))


def _with_weight(row: RerankerRecord, scorer: PassageScorer) -> Reranker:
    return Reranker(name=row["name"], scorer=scorer, weight=row["weight"], depth=row["depth"])


def reranker_export(row: RerankerRecord) -> str:
    """Return the hash under which a reranker is exported.

    Args:
        row: Row of `reranker`.

    Returns:
        SHA-256 of its weights, or `hub:` and the name of an untrained hub model.
    """
    return row["sha256"] or f"hub:{row['base']}"


def reranker_hash(home: AnyHome) -> str:
    """Return the digest of the chosen reranker without loading it.

    Args:
        home: Tables, files and settings of the home.
    """
    row = read_reranker(home)
    return "" if row is None else digest(*(str(row[name]) for name in ("name", "sha256", "weight", "depth")))


def read_reranker(home: AnyHome, *, version: int | None = None, index_encoder: str = "") -> RerankerRecord | None:
    """Read the manifest row of the chosen reranker.

    Args:
        home: Tables, files and settings of the home.
        version: Version of `reranker`; the newest by default.
        index_encoder: Hash of the encoder of the released index; empty for the encoder in use.

    Returns:
        Row of `reranker`; None if none is chosen, or if it was trained on another encoder.
    """
    row = None if home.settings.reranker == "none" else _read_chosen(home, version=version)
    if row is None:
        return None
    scores_with_encoder = row["kind"] == "late" and not row["path"]
    if not scores_with_encoder or row["sha256"] == index_encoder:
        return row
    return row if drop_arithmetic(row["sha256"]) == drop_arithmetic(base_hash(home)) else None


def _read_chosen(home: AnyHome, *, version: int | None) -> RerankerRecord | None:
    if version == -1 or not home.store.exists("reranker"):
        return None
    chosen_rows = home.store.read("reranker", version=version).filter(pl.col("is_chosen"))
    return next(iter_records(chosen_rows, RerankerRecord), None)


def open_scorer(home: AnyHome, *, kind: str, path: str, name: str) -> PassageScorer:
    """Open the model of a reranker to score passages.

    Args:
        home: Tables, files and settings of the home.
        kind: `cross` or `late`.
        path: Folder of the trained model in the home; empty for an untrained one.
        name: Hub name of the untrained model; empty for the base encoder.

    Returns:
        The model that scores passages.
    """
    model = _open_model(home, kind=kind, path=path, name=name)
    scorer = LateScorer if kind == "late" else CrossScorer
    return scorer(model=model, is_bfloat16=has_bfloat16())


def scorer_model(home: AnyHome, row: RerankerRecord) -> Any:
    """Load the model of a reranker to evaluate or export it.

    Args:
        home: Tables, files and settings of the home.
        row: Row of `reranker`.

    Returns:
        `SentenceTransformer` of a late-interaction reranker, `CrossEncoder` of a cross-encoder.
    """
    return _open_model(home, kind=row["kind"], path=row["path"], name=row["base"])


def _open_model(home: AnyHome, *, kind: str, path: str, name: str) -> Any:
    if kind == "late":
        return open_model_folder(home.store.storage.local_copy(path)) if path else open_base(home).model
    return _open_cross(str(home.store.storage.local_copy(path)) if path else name)


@cache
def _open_cross(name: str) -> Any:
    from sentence_transformers import CrossEncoder

    try:
        return CrossEncoder(name, device="cpu", local_files_only=Path(name).is_dir())
    except (OSError, ValueError) as missing:
        message = str(missing).partition("\n")[0]
        remedy = "Set TAXKG_RERANKER to late, cross, none, or a cross-encoder's folder or hub name."
        raise ModelError(f"The reranker {name!r} could not be loaded: {message} {remedy}") from missing
