"""Vectors that are encoded ahead: the table takes them, and is the same without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.defs import retrieval
from taxkg_assets.defs.home.new_vectors import NewVectors
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.retrieval import encode_new_passages, read_known_vectors
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.retrieval.index.embeddings import build_embeddings
from taxkg_assets_tests.retrieval.conftest import TermEncoder

pytestmark = pytest.mark.slow


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> TermEncoder:
    """The encoder of the home; `encoded` counts the texts that it has encoded."""
    encoder = TermEncoder()
    monkeypatch.setattr(retrieval, "defer_encoder", lambda home: encoder)
    monkeypatch.setattr(retrieval, "is_tuned", lambda home: False)
    monkeypatch.setattr(retrieval, "keep_tokens", lambda home: schemas.Embeddings.create_empty())
    return encoder


def _build(home: Home, encoder: TermEncoder, old: Any) -> Any:
    chunks = schemas.Chunks.cast(home.store.read("chunks"))
    return build_embeddings(chunks, schemas.Embeddings.cast(old), encoder=encoder)


def test_the_table_takes_what_was_encoded_ahead(sample_home: Path, encoder: TermEncoder) -> None:
    home = Home(home=str(sample_home))
    encode_new_passages(home)
    count = encoder.encoded
    assert count > 0
    taken = _build(home, encoder, read_known_vectors(home))
    assert encoder.encoded == count, "nothing is encoded twice"
    assert taken.equals(_build(home, encoder, schemas.Embeddings.create_empty()))


def test_many_new_passages_are_left_to_the_step(
    sample_home: Path, encoder: TermEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "ENCODED_AHEAD", 1)
    home = Home(home=str(sample_home))
    NewVectors(home.store).keep(schemas.Embeddings.create_empty())
    encode_new_passages(home)
    assert encoder.encoded == 0
    assert NewVectors(home.store).read().is_empty()


def test_a_damaged_file_is_as_none(tmp_path: Path) -> None:
    kept = NewVectors(Store(tmp_path))
    rows = {"model_hash": ["a"], "text_hash": ["b"], "vector": [[0.6, 0.8]]}
    kept.keep(schemas.Embeddings.create_empty().vstack(_rows(rows)))
    assert kept.read().height == 1
    (path,) = (tmp_path / "cache" / "vectors").glob("*.arrow")
    path.write_bytes(path.read_bytes()[:-40])
    assert kept.read().is_empty()


def _rows(columns: dict[str, list[Any]]) -> Any:
    return pl.DataFrame(columns, schema=schemas.Embeddings.create_empty().schema)
