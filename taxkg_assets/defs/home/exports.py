"""Exports the models that a release serves to ONNX, into the home's models, so that questions need no torch."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets.defs.home.access import AnyHome
from taxkg_assets.defs.home.models import open_encoder_by_hash
from taxkg_assets.defs.home.question_models import CARD, SMALL_ARITHMETIC, export_name, has_export
from taxkg_assets.defs.home.rerankers import read_reranker, reranker_export, scorer_model
from taxkg_assets.defs.home.store import Store
from taxkg_assets.records import RerankerRecord
from taxkg_assets.retrieval.encoding.exported import ExportCard
from taxkg_assets.retrieval.encoding.onnx_model import ExportError

_log = logging.getLogger("taxkg")


def find_missing_exports(home: AnyHome) -> list[str]:
    """Find models of the current release that must be exported to ONNX again, because their export is missing.

    Args:
        home: Tables, files and settings of the home.

    Returns:
        Hash of the release's encoder; empty if its export exists or nothing is released.
    """
    current_release = home.store.read_or_empty("release").filter(~pl.col("is_rolled_back")).tail(1)
    return [encoder_hash for encoder_hash in current_release["model_hash"] if not has_export(home.store, encoder_hash)]


def export_served(home: AnyHome) -> None:
    """Export the index's encoder and the chosen reranker to ONNX if needed; log models that cannot be exported.

    Args:
        home: Tables, files and settings of the home.
    """
    for encoder_hash in home.store.read_or_empty("index")["model_hash"]:
        if not has_export(home.store, encoder_hash):
            _export(home.store, encoder_hash, partial(_export_encoder, home, encoder_hash))
    row = read_reranker(home)
    if row is not None and not has_export(home.store, reranker_export(row)):
        _export(home.store, reranker_export(row), partial(_export_reranker, home, row))


def _export_encoder(home: AnyHome, encoder_hash: str, folder: Path) -> ExportCard:
    from taxkg_assets.retrieval.encoding.export import export_encoder  # loads torch, which most runs do not need

    encoder = open_encoder_by_hash(home, encoder_hash)
    if encoder is None:
        raise ExportError(f"this machine does not have the encoder of the index ({encoder_hash})")
    is_small = encoder_hash.endswith(SMALL_ARITHMETIC)
    base = ExportCard("encoder", encoder.model_name, encoder_hash, encoder.max_tokens, 0, encoder.dimension)
    return export_encoder(encoder.model, folder, base=replace(base, scale=encoder.scale), is_small=is_small)


def _export_reranker(home: AnyHome, row: RerankerRecord, folder: Path) -> ExportCard:
    from taxkg_assets.retrieval.encoding.export import export_cross, export_encoder

    model = scorer_model(home, row)
    base = ExportCard("encoder" if row["kind"] == "late" else "cross", row["name"], reranker_export(row), 512, 0, 0)
    return export_encoder(model, folder, base=base) if row["kind"] == "late" else export_cross(model, folder, base=base)


def _export(store: Store, model_hash: str, export: Callable[[Path], ExportCard]) -> None:
    """Export into a folder aside, which then takes its place whole; of a model that cannot be exported stays why."""
    name = export_name(model_hash)
    building = store.folder("cache", "exporting")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    try:
        card: dict[str, Any] = asdict(export(building))
    except ExportError as failed:
        card = {"reason": str(failed)}
        _log.warning(
            "The model %s cannot be exported to ONNX (%s). Servers load it with PyTorch instead, so the first question "
            "takes a few seconds longer.",
            *(model_hash, failed),
        )
    (building / CARD).write_text(json.dumps(card, indent=1, sort_keys=True) + "\n", encoding="utf8")
    store.storage.publish_folder(building, name)
