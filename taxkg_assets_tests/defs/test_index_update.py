"""An index that takes over what has not changed equals one that is built from nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.defs.home.index_files import DIGESTS, FACTS, FILES, FLAT, StoredParts, read_parts
from taxkg_assets.defs.home.index_parts import CurrentIndex
from taxkg_assets.defs.home.indexes import open_index
from taxkg_assets.defs.home.models import defer_encoder
from taxkg_assets.defs.home.token_cache import TokenCache
from taxkg_assets.defs.retrieval import build_index_version
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.retrieval.index import levels
from taxkg_assets.retrieval.index.index import read_rows
from taxkg_assets.retrieval.index.levels import UNIT_LEVELS
from taxkg_assets.retrieval.tables import table_context

Frames = Mapping[str, Any]
TABLES = {
    "chunks": schemas.Chunks,
    "documents": schemas.Documents,
    "embeddings": schemas.Embeddings,
    "summaries": schemas.Summaries,
    "tables": schemas.Tables,
    "sections": schemas.Sections,
}
CODE = "digest of the code"


def _remove(frames: Frames, document: str) -> Frames:
    return {
        name: frame.filter(pl.col("document_id") != document) if "document_id" in frame.columns else frame
        for name, frame in frames.items()
    }


def _change(frames: Frames, document: str, **columns: str) -> Frames:
    """Append a word to a column of a document's rows, by table."""
    return {
        name: frame.with_columns(
            pl.when(document_id=document)
            .then(pl.col(columns[name]) + " afterwards")
            .otherwise(columns[name])
            .alias(columns[name])
        )
        if name in columns
        else frame
        for name, frame in frames.items()
    }


def _build(home: Home, frames: Frames, parts: StoredParts | None) -> str:
    casted: dict[str, Any] = {name: schema.cast(frames[name]) for name, schema in TABLES.items()}
    manifest = build_index_version(
        **casted,
        settings=home.settings,
        encoder=defer_encoder(home),
        store=home.store,
        contents={},
        current=CurrentIndex(parts, CODE),
        token_cache=TokenCache(home.store),
    )
    return str(manifest["path"].item())


def _read(home: Home, path: str) -> dict[str, Any]:
    """Read all that an index holds: frames, matrices, and the tables of LanceDB."""
    folder = Path(home.home) / path
    content: dict[str, Any] = {}
    for part in (FACTS, FLAT):
        for file in sorted((folder / part).iterdir()):
            if file.suffix == ".arrow":
                content[file.name] = pl.read_ipc(file)
            elif file.suffix == ".npy":
                content[file.name] = np.load(file)
    connection = open_index(home.store, path)
    content["passages"] = read_rows(connection)
    for level in UNIT_LEVELS:
        content[level] = pl.DataFrame(connection.open_table(level).to_arrow())
    return content


def _document(frames: Frames) -> str:
    """Return a document with a table."""
    return str(frames["tables"].sort("document_id")["document_id"][0])


@pytest.mark.parametrize(
    "make_earlier",
    [
        pytest.param(lambda frames, name: _remove(frames, name), id="added"),
        pytest.param(lambda frames, name: _change(frames, name, chunks="heading_path"), id="other headings"),
        pytest.param(lambda frames, name: _change(frames, name, summaries="text"), id="other summaries"),
        pytest.param(lambda frames, name: _change(frames, name, documents="title"), id="another title"),
        pytest.param(lambda frames, name: _change(frames, name, sections="text"), id="other paragraphs"),
        pytest.param(lambda frames, name: _change(frames, name, tables="title"), id="other tables"),
        pytest.param(lambda frames, _: frames, id="equal"),
    ],
)
def test_an_updated_index_equals_one_built_from_nothing(
    small_home: Path, make_earlier: Callable[[Frames, str], Frames]
) -> None:
    home = Home(home=str(small_home))
    frames = {name: home.store.read(name) for name in TABLES}
    earlier_path = _build(home, make_earlier(frames, _document(frames)), None)
    parts = read_parts(home.store, earlier_path, terms_by=CODE)
    assert parts is not None
    assert parts.units is not None
    updated_path = _build(home, frames, parts)
    updated = _read(home, updated_path)
    shutil.rmtree(small_home / updated_path)
    assert _build(home, frames, None) == updated_path
    rebuilt = _read(home, updated_path)
    assert updated.keys() == rebuilt.keys()
    for name, content in rebuilt.items():
        if isinstance(content, pl.DataFrame):
            assert updated[name].equals(content), name
        else:
            assert np.array_equal(updated[name], content), name


def test_a_removed_document_leaves_nothing(small_home: Path) -> None:
    home = Home(home=str(small_home))
    frames = {name: home.store.read(name) for name in TABLES}
    earlier_path = _build(home, frames, None)
    removed = _document(frames)
    fewer = _remove(frames, removed)
    updated_path = _build(home, fewer, read_parts(home.store, earlier_path, terms_by=CODE))
    updated = _read(home, updated_path)
    shutil.rmtree(small_home / updated_path)
    assert _build(home, fewer, None) == updated_path
    assert removed not in updated[DIGESTS]["document_id"]
    assert removed not in updated["passages"]["document_id"]
    for level in UNIT_LEVELS:
        assert removed not in updated[level]["document_id"]


def test_only_changed_documents_are_built(small_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(home=str(small_home))
    frames = {name: home.store.read(name) for name in TABLES}
    name = _document(frames)
    parts = read_parts(home.store, _build(home, _remove(frames, name), None), terms_by=CODE)
    seen: dict[str, set[str]] = {}
    build_units, build_catalogue = levels.build_units, table_context.build_catalogue

    def note_units(rows: pl.DataFrame, *, summaries: pl.DataFrame) -> pl.DataFrame:
        seen["units"] = set(rows["document_id"])
        return build_units(rows, summaries=summaries)

    def note_catalogue(*, tables: pl.DataFrame, **others: Any) -> Any:
        seen["tables"] = set(tables["document_id"])
        return build_catalogue(tables=tables, **others)

    monkeypatch.setattr(levels, "build_units", note_units)
    monkeypatch.setattr(table_context, "build_catalogue", note_catalogue)
    _build(home, frames, parts)
    assert seen == {"units": {name}, "tables": {name}}


def test_an_index_of_an_older_version_gives_its_terms_only(small_home: Path) -> None:
    home = Home(home=str(small_home))
    frames = {name: home.store.read(name) for name in TABLES}
    path = _build(home, frames, None)
    (small_home / path / FLAT / DIGESTS).unlink()
    listing = small_home / path / FLAT / FILES
    sizes_and_digests = json.loads(listing.read_text())
    del sizes_and_digests[DIGESTS]
    listing.write_text(json.dumps(sizes_and_digests))
    parts = read_parts(home.store, path, terms_by=CODE)
    assert parts is not None
    assert parts.terms.height
    assert parts.units is None
    assert parts.catalogue is None
