"""Opens rerankers: the one that training has chosen for a home, or a hub's cross-encoder by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from taxkg_assets.defs.models import ModelError, base_hash, has_bfloat16, open_base, open_folder, read_chosen
from taxkg_assets.defs.resources import Home
from taxkg_assets.defs.store import digest
from taxkg_assets.retrieval.passage_scorer import CrossScorer, LateScorer, PassageScorer, Reranker


def open_reranker(home: Home, *, version: int | None = None) -> Reranker | None:
    """The chosen reranker as it stood in a version of its table; None where training has chosen to do without."""
    row = _read_row(home, version=version)
    if row is None:
        return None
    scorer = open_scorer(home, kind=row["kind"], path=row["path"], name=row["base"])
    return Reranker(name=row["name"], scorer=scorer, weight=row["weight"], depth=row["depth"])


def reranker_hash(home: Home) -> str:
    """Digest of the chosen reranker, without loading it."""
    row = _read_row(home)
    return "" if row is None else digest(*(str(row[name]) for name in ("name", "sha256", "weight", "depth")))


def _read_row(home: Home, *, version: int | None = None) -> dict[str, Any] | None:
    """The row of the chosen reranker; none that reads with the tokens of another base than the home has now."""
    row = None if home.settings.reranker == "none" else read_chosen(home, "reranker", version=version)
    is_of_base = row is not None and row["kind"] == "late" and not row["path"]
    return None if row is not None and is_of_base and row["sha256"] != base_hash(home) else row


def open_scorer(home: Home, *, kind: str, path: str, name: str) -> PassageScorer:
    """The model of a reranker: its folder in the home, or the base, or a hub's by name."""
    if kind == "late":
        model = open_folder(home.store.place.copy_of(path)) if path else open_base(home).model
        return LateScorer(model=model, is_bfloat16=has_bfloat16())
    return CrossScorer(
        model=_open_cross(str(home.store.place.copy_of(path)) if path else name), is_bfloat16=has_bfloat16()
    )


@cache
def _open_cross(name: str) -> Any:
    from sentence_transformers import CrossEncoder

    try:
        return CrossEncoder(name, device="cpu", local_files_only=Path(name).is_dir())
    except (OSError, ValueError) as missing:
        said = str(missing).partition("\n")[0]
        remedy = "Set TAXKG_RERANKER to late, cross, none, or a cross-encoder's folder or hub name."
        raise ModelError(f"The reranker {name!r} could not be loaded: {said} {remedy}") from missing
