"""Vectors are cached by model and text; a build on top of old ones equals a build from nothing."""

from __future__ import annotations

import dataframely as dy
import polars as pl
import pytest

from taxkg_assets import schemas
from taxkg_assets.retrieval.index.embeddings import align_vectors, build_embeddings
from taxkg_assets_tests.retrieval.conftest import TermEncoder


def test_only_new_texts_are_encoded_and_old_ones_dropped(chunks: dy.DataFrame[schemas.Chunks]) -> None:
    before = schemas.Chunks.validate(chunks.head(6))
    after = schemas.Chunks.validate(chunks.tail(chunks.height - 2))
    old = build_embeddings(before, None, encoder=TermEncoder())
    encoder = TermEncoder()
    grown = build_embeddings(after, old, encoder=encoder)
    assert encoder.encoded == chunks.height - 6
    assert grown.equals(build_embeddings(after, None, encoder=TermEncoder()))


def test_another_model_reuses_nothing(chunks: dy.DataFrame[schemas.Chunks]) -> None:
    old = build_embeddings(chunks, None, encoder=TermEncoder())
    foreign = schemas.Embeddings.validate(old.with_columns(model_hash=pl.lit("other")))
    encoder = TermEncoder()
    assert build_embeddings(chunks, foreign, encoder=encoder).equals(old)
    assert encoder.encoded == old.height


def test_progress_reaches_the_end(chunks: dy.DataFrame[schemas.Chunks]) -> None:
    seen: list[tuple[int, int]] = []
    build_embeddings(chunks, None, encoder=TermEncoder(), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (chunks.height, chunks.height)


def test_a_chunk_without_vector_is_an_error(chunks: dy.DataFrame[schemas.Chunks]) -> None:
    old = build_embeddings(schemas.Chunks.validate(chunks.head(3)), None, encoder=TermEncoder())
    with pytest.raises(ValueError, match="have no vector"):
        align_vectors(chunks, old, model_hash=TermEncoder.model_hash)
