"""Vectors of chunks, cached by (model, text): only a new text is encoded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.retrieval.encoding.encoder import Encoder, Progress, Vectors
from taxkg_assets.retrieval.encoding.vector import list_vectors
from taxkg_assets.retrieval.encoding.vector import stack_vectors as stack_vectors


def embedded_text() -> pl.Expr:
    """Return the expression for the text that is encoded for a chunk: its context, then its own words.

    Returns:
        Expression over `context` and `text`.
    """
    return pl.concat_str("context", pl.lit("\n"), "text")


def hash_texts(texts: pl.Series) -> list[str]:
    """Return the SHA-256 of each text, shortened to 128 bits.

    Args:
        texts: Column of texts.
    """
    return [hashlib.sha256(text.encode()).hexdigest()[:32] for text in texts]


def build_embeddings(
    chunks: dy.DataFrame[schemas.Chunks],
    old_embeddings: dy.DataFrame[schemas.Embeddings] | None,
    *,
    encoder: Encoder,
    base: Encoder | None = None,
    progress: Progress | None = None,
) -> dy.DataFrame[schemas.Embeddings]:
    """Update the embeddings table: keep the vectors of unchanged texts, encode new texts, drop the rest.

    Args:
        chunks: Chunks; only accepted ones are encoded.
        old_embeddings: The embeddings table of the last build; None for a first build.
        encoder: Encoder of the index.
        base: Encoder that `encoder` was tuned from, if any: training and its evaluation use its vectors.
        progress: Receives the number of texts that are encoded, and the number of all texts.

    Returns:
        One row per distinct text of `chunks` and encoder; the same with and without `old_embeddings`.
    """
    texts = _list_texts(chunks)
    old_vectors: pl.DataFrame = schemas.Embeddings.create_empty() if old_embeddings is None else old_embeddings
    vectors_by_encoder = [
        _encode_missing(texts, old_vectors, encoder=each_encoder, progress=progress)
        for each_encoder in (encoder, base)
        if each_encoder
    ]
    return schemas.Embeddings.validate(pl.concat(vectors_by_encoder).sort("model_hash", "text_hash"))


def count_missing(
    chunks: dy.DataFrame[schemas.Chunks], embeddings: dy.DataFrame[schemas.Embeddings], *, model_hashes: Sequence[str]
) -> int:
    """Count the vectors that a build of `embeddings` would compute.

    Args:
        chunks: Chunks; only accepted ones are encoded.
        embeddings: The current table.
        model_hashes: Digests of the encoders' weights.

    Returns:
        Number of vectors, over all encoders.
    """
    texts = _list_texts(chunks)
    vectors_by_encoder = [embeddings.filter(pl.col("model_hash") == model_hash) for model_hash in model_hashes]
    return sum(texts.join(vectors, on="text_hash", how="anti").height for vectors in vectors_by_encoder)


def _list_texts(chunks: pl.DataFrame) -> pl.DataFrame:
    """Return each distinct text of the accepted chunks with its hash."""
    accepted = chunks.filter(pl.col("status") == "accepted").select(embedded_text().alias("text"))
    hashed = accepted.with_columns(text_hash=pl.Series(hash_texts(accepted["text"]), dtype=pl.String))
    return hashed.unique("text_hash", keep="first").sort("text_hash")


def _encode_missing(
    texts: pl.DataFrame, old_vectors: pl.DataFrame, *, encoder: Encoder, progress: Progress | None
) -> pl.DataFrame:
    """Return the vectors of one encoder: those that exist already, and new ones for the other texts."""
    reusable_vectors = old_vectors.filter(pl.col("model_hash") == encoder.model_hash).join(
        texts, on="text_hash", how="semi"
    )
    missing = texts.join(reusable_vectors, on="text_hash", how="anti")
    if missing.is_empty():
        return reusable_vectors
    vectors = encoder.encode_passages(missing["text"].to_list(), progress=progress)
    return pl.concat([reusable_vectors, _list_rows(missing["text_hash"], vectors, model_hash=encoder.model_hash)])


def list_embeddings(vectors: Mapping[str, Vectors], *, model_hash: str) -> pl.DataFrame:
    """Convert vectors of texts to rows of `embeddings`.

    Args:
        vectors: Vectors by text, each of shape (dimension,).
        model_hash: Hash of the encoder.

    Returns:
        One row per text.
    """
    if not vectors:
        return schemas.Embeddings.create_empty()
    hashes = pl.Series(hash_texts(pl.Series(list(vectors))), dtype=pl.String)
    return _list_rows(hashes, np.stack(list(vectors.values())), model_hash=model_hash)


def _list_rows(hashes: pl.Series, vectors: Vectors, *, model_hash: str) -> pl.DataFrame:
    columns = {"model_hash": [model_hash] * len(hashes), "text_hash": hashes, "vector": list_vectors(vectors)}
    return pl.DataFrame(columns, schema=schemas.Embeddings.create_empty().schema)


def align_vectors(chunks: pl.DataFrame, embeddings: dy.DataFrame[schemas.Embeddings], *, model_hash: str) -> Vectors:
    """Look up the vector of each chunk.

    Args:
        chunks: Rows with `context` and `text`.
        embeddings: Vectors by text and model.
        model_hash: Model of the vectors.

    Returns:
        Unit vectors of shape (chunks, dimension), row by row.

    Raises:
        ValueError: A chunk has no vector: the embeddings are older than the chunks.
    """
    texts = chunks.select(embedded_text().alias("text"))["text"]
    hashes = pl.DataFrame({"text_hash": hash_texts(texts)}, schema={"text_hash": pl.String})
    vectors_by_hash = embeddings.filter(pl.col("model_hash") == model_hash).select("text_hash", "vector")
    aligned = hashes.join(vectors_by_hash, on="text_hash", how="left", maintain_order="left")
    missing_count = aligned["vector"].null_count()
    if missing_count:
        raise ValueError(
            f"{missing_count} of {aligned.height} chunks have no vector of model {model_hash}; build embeddings first"
        )
    return stack_vectors(aligned["vector"])
