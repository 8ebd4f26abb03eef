"""The forms of the real corpus with their instructions, read once, and the graph of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.extraction.extract import Extraction
from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.nodes import build_nodes
from taxkg_assets.graph.registry import build_registry

TABLES = ("Documents", "Elements", "Tables", "Anchors", "Faces", "Sections", "References", "Links")
OF_FORMS = ("f1099*", "fw2*", "i1099*", "iw2w3*", "f1040s*", "i1040s*")


def read_frames(folder: Path, read: Callable[[str], Extraction]) -> dict[str, Any]:
    """Every per-document table of the forms and instructions of a folder, as a build would write it."""
    parts: dict[str, list[pl.DataFrame]] = {name.lower(): [] for name in TABLES}
    for path in sorted(path for pattern in OF_FORMS for path in folder.glob(f"{pattern}.pdf")):
        found = read(f"corpus/{path.stem}")
        fetched = datetime(2031, 1, 1, tzinfo=UTC)
        row = {
            **asdict(found.identity),
            "document_id": path.stem,
            "page_count": found.page_count,
            "fetched_at": fetched,
        }
        row |= {"sha256": "0" * 64, "source_uri": "", "source_root": "", "code_version": ""}
        row |= {"warnings": [], "image_only_pages": [], "hidden_texts": [], "tier": 1}
        row |= {"page_sources": [asdict(one) for one in found.page_sources]}
        parts["documents"].append(pl.DataFrame([row], schema=schemas.Documents.create_empty().schema))
        for name, frames in parts.items():
            if name != "documents":
                frames.append(found.frames[name])
    return {name: _validate(getattr(schemas, name.capitalize()), pl.concat(frames)) for name, frames in parts.items()}


def _validate(schema: type[dy.Schema], frame: pl.DataFrame) -> Any:
    return schema.validate(frame.sort(schema.primary_key()))


@pytest.fixture(scope="session")
def real_graph(corpus: Path, read_real: Callable[[str], Extraction]) -> dict[str, Any]:
    """The tables of the real forms and their instructions, `registry`, `nodes` and `edges` among them."""
    frames = read_frames(corpus / "corpus", read_real)
    frames["registry"] = build_registry(
        frames["faces"], frames["anchors"], documents=frames["documents"], sections=frames["sections"]
    )
    frames["nodes"] = build_nodes(**{name: frames[name] for name in (*_LOWER, "registry")})
    kept = ("anchors", "sections", "references", "registry", "documents", "links")
    none = {"lines": schemas.Lines.create_empty(), "flows": schemas.Flows.create_empty()}
    frames["edges"] = build_edges(frames["nodes"], **{name: frames[name] for name in kept}, **none)
    return frames


_LOWER = tuple(name.lower() for name in TABLES)
