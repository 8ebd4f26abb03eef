"""Assets of the stage `retrieval`: vectors, the index and its manifest row, the release; and their gates."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.arithmetic import TORCH, record_arithmetic
from taxkg_assets.defs.home.exports import export_served, find_missing_exports
from taxkg_assets.defs.home.index_files import (
    FlatRows,
    find_damaged_files,
    has_catalogue,
    open_codes,
    open_lexical,
    write_index_files,
)
from taxkg_assets.defs.home.index_parts import CurrentIndex, read_current_index, update_parts
from taxkg_assets.defs.home.indexes import has_index, open_index
from taxkg_assets.defs.home.models import base_hash, defer_base, defer_encoder, find_encoder_name, is_tuned, model_hash
from taxkg_assets.defs.home.new_vectors import NewVectors
from taxkg_assets.defs.home.storage import LocalStorage
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.defs.home.token_cache import TokenCache
from taxkg_assets.defs.ingest.engine import open_engine
from taxkg_assets.defs.wiring.gates import gate
from taxkg_assets.defs.wiring.progress import stage_meter
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import table
from taxkg_assets.defs.wiring.verdicts import Verdict
from taxkg_assets.retrieval.encoding.encoder import Encoder
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.encoding.wrapped_encoders import DeferredEncoder, VectorKeepingEncoder
from taxkg_assets.retrieval.index.embeddings import (
    build_embeddings,
    count_missing,
    embedded_text,
    list_embeddings,
    stack_vectors,
)
from taxkg_assets.retrieval.index.index import (
    build_index,
    build_index_rows,
    find_unretrievable_chunks,
    read_rows,
    score_self_check,
)
from taxkg_assets.retrieval.index.precomputed import build_precomputed
from taxkg_assets.retrieval.index.release import build_release
from taxkg_assets.retrieval.index.token_match import TokenIndex, build_token_index, remember_tokens
from taxkg_assets.rules.floors import load_floors
from taxkg_assets.settings import Settings

SERVED = (
    "documents",
    "elements",
    "anchors",
    "faces",
    "fields",
    "sections",
    "tables",
    "registry",
    "lines",
    "formulas",
    "flows",
    "nodes",
    "edges",
    "links",
    "chunks",
    "document_quality",
    "revisions",
)
"""Tables from which readers are answered, in the versions of the release."""
SERVED_WHERE_TRAINED = ("reranker",)
"""Those of training."""
INDEXED = ("chunks", "embeddings")
"""Tables whose rows an index holds again."""
ENCODED_AHEAD = 5_000
"""Most vectors that are computed ahead: about a minute of one core."""
KEPT_RELEASES = 3


class NothingToSearchError(Exception):
    """No document of the library could be read, or none contains text."""


def keep_tokens(home: Home) -> pl.DataFrame:
    """Cache the tokens of all passages with vectors, for the index build.

    Args:
        home: Home with the chunks.

    Returns:
        Vectors of the passages that were encoded for their tokens: one pass of the encoder gives tokens and vectors.
    """
    accepted = home.store.scan("chunks").filter(pl.col("status") == "accepted")
    texts = accepted.select(text=embedded_text()).collect()["text"].to_list()
    token_cache = TokenCache(home.store)
    new_vectors: list[pl.DataFrame] = [schemas.Embeddings.create_empty()]
    for deferred in _list_encoders(home) if texts else ():
        encoder = VectorKeepingEncoder(deferred)
        memory = token_cache.read(deferred.model_hash)
        cached_keys = memory.list_keys()
        remember_tokens(texts, encoder=encoder, memory=memory)
        token_cache.keep(deferred.model_hash, memory, cached_keys=cached_keys)
        new_vectors.append(list_embeddings(encoder.vectors, model_hash=deferred.model_hash))
    return pl.concat(new_vectors)


def read_known_vectors(home: Home) -> pl.DataFrame:
    """Return all vectors computed so far: those of the table `embeddings`, and those that a build encoded ahead of it.

    If both have a text, the vector of the table is returned.

    Args:
        home: Home with the table and the vectors encoded ahead.
    """
    return _add_vectors(home.store.read_or_empty("embeddings"), NewVectors(home.store).read())


def _add_vectors(old_embeddings: pl.DataFrame, new_embeddings: pl.DataFrame) -> pl.DataFrame:
    """Return old embeddings, and the new ones of texts that have none."""
    missing = new_embeddings.join(old_embeddings, on=schemas.Embeddings.primary_key(), how="anti")
    return pl.concat([old_embeddings, missing])


def begin_vectors(home: Home) -> pl.DataFrame:
    """Return the known vectors; if some are missing, cache the tokens of all passages, which also gives new vectors.

    Args:
        home: Home with the chunks.

    Returns:
        The known vectors, and the new ones.
    """
    known_embeddings = schemas.Embeddings.cast(read_known_vectors(home))
    chunks = schemas.Chunks.cast(home.store.read("chunks"))
    if not count_missing(chunks, known_embeddings, model_hashes=[e.model_hash for e in _list_encoders(home)]):
        return known_embeddings
    return _add_vectors(known_embeddings, keep_tokens(home))


def _list_encoders(home: Home) -> list[DeferredEncoder]:
    """Return the encoder in use, and the base that it was tuned from, if any."""
    return [defer_encoder(home), *([defer_base(home)] if is_tuned(home) else [])]


def encode_new_passages(home: Home) -> None:
    """Encode new passages and their tokens ahead of the embeddings step.

    A large number of new passages is left to that step, because encoding then takes most of the build and memory is
    limited per step.

    Args:
        home: Home with the chunks.
    """
    chunks = schemas.Chunks.cast(home.store.read("chunks"))
    old_embeddings = schemas.Embeddings.cast(home.store.read_or_empty("embeddings"))
    encoders = _list_encoders(home)
    missing_count = count_missing(chunks, old_embeddings, model_hashes=[encoder.model_hash for encoder in encoders])
    if not 0 < missing_count <= ENCODED_AHEAD:
        return
    known_embeddings = schemas.Embeddings.cast(_add_vectors(old_embeddings, keep_tokens(home)))
    vectors = build_embeddings(
        chunks, known_embeddings, encoder=encoders[0], base=encoders[1] if len(encoders) > 1 else None
    )
    NewVectors(home.store).keep(vectors.join(old_embeddings, on=schemas.Embeddings.primary_key(), how="anti"))


def defer_passage_encoder(home: Home) -> DeferredEncoder:
    """Return the encoder in use; with a cluster engine, it encodes passages on the cluster.

    Args:
        home: Home whose settings name the encoder and the engine.
    """
    encoder = defer_encoder(home)
    if home.settings.model_runtime != TORCH:
        return encoder
    return open_engine(home.settings).distribute_encoding(encoder, name=find_encoder_name(home))


embeddings = table(
    schemas.Embeddings,
    build_embeddings,
    group="retrieval",
    resources={
        "old_embeddings": begin_vectors,
        "encoder": defer_passage_encoder,
        "base": lambda home: defer_base(home) if is_tuned(home) else None,
        "progress": lambda home: stage_meter("embeddings"),
    },
    fingerprint=lambda home: digest(model_hash(home), base_hash(home)),
    optional=("model",),
    code=(SentenceEncoder,),
    keep=record_arithmetic,
    prepare=encode_new_passages,
)


# arguments: one per upstream table, as the wiring reads their names
def build_index_version(
    chunks: dy.DataFrame[schemas.Chunks],
    documents: dy.DataFrame[schemas.Documents],
    embeddings: dy.DataFrame[schemas.Embeddings],
    summaries: dy.DataFrame[schemas.Summaries],
    tables: dy.DataFrame[schemas.Tables],
    sections: dy.DataFrame[schemas.Sections],
    *,
    settings: Settings,
    encoder: Encoder,
    store: Store,
    contents: dict[str, str],
    current: CurrentIndex,
    token_cache: TokenCache,
) -> pl.DataFrame:
    """Build a new version of the search index: a folder of the home, named by its content.

    The folder gets its name only when it is complete.

    Args:
        chunks: Chunks, of which the accepted ones are indexed.
        documents: Documents.
        embeddings: Vectors of the chunks.
        summaries: Summaries of documents and pages.
        tables: Tables with their cells.
        sections: Paragraphs, for the catalog of tables.
        settings: Settings of retrieval.
        encoder: Encoder in use, for the tokens of the passages.
        store: Files of the home.
        contents: Digests of the input tables, for the record.
        current: Parts of the current index, which need not be computed again.
        token_cache: Cached tokens of the passages.

    Returns:
        The row of `index`.

    Raises:
        NothingToSearchError: No chunk is accepted.
    """
    rows = build_index_rows(
        chunks=chunks,
        documents=documents,
        embeddings=embeddings,
        model_hash=encoder.model_hash,
        old_terms=current.parts.terms if current.parts else None,
    )
    _require_passages(rows)
    building, connection = _open_building(store)
    sources = {"chunks": chunks, "documents": documents, "tables": tables, "sections": sections}
    parts = update_parts(rows, summaries=summaries, stored=current.parts, **sources)
    vectors, texts, unit_texts = stack_vectors(rows["vector"]), rows.drop("vector"), parts.units.drop("vector")
    precomputed = build_precomputed(
        texts,
        vectors,
        units=unit_texts,
        catalogue=parts.catalogue,
        tokens=_index_tokens(rows, encoder, token_cache),
    )
    manifest = build_index(
        connection,
        rows,
        units=parts.units,
        precomputed=precomputed,
        path="",
        model_name=encoder.model_name,
        model_hash=encoder.model_hash,
        input_versions=contents,
        settings=settings,
    )
    unit_vectors = stack_vectors(parts.units["vector"])
    flat = FlatRows(texts, unit_texts, unit_vectors, tables.sort("table_id"), parts.digests)
    is_local = isinstance(store.storage, LocalStorage)
    write_index_files(
        building,
        precomputed=precomputed,
        vectors=vectors,
        flat=flat if is_local else None,
        terms_by=current.code_digest,
    )
    # Something of this name is there only if it was damaged: an existing index is never built again.
    path = f"index/{manifest['index_version'].item()}"
    store.storage.publish_folder(building, path)
    return manifest.with_columns(path=pl.lit(path))


def _open_building(store: Store) -> tuple[Path, Any]:
    """Empty the folder where an index is built, and return it with an open connection to LanceDB."""
    from taxkg_assets.defs.home.lance_client import load_lancedb  # takes a second, and most runs do not need it

    building = store.folder("index") / ".building"
    shutil.rmtree(building, ignore_errors=True)
    return building, load_lancedb().connect(building)


def _require_passages(rows: pl.DataFrame) -> None:
    if rows.is_empty():
        raise NothingToSearchError(
            "No document has a passage to search, so no index was built, and the current release stays. `taxkg status` "
            "lists each refused document with its reason and remedy. Correct one of them, and build again."
        )


def _index_tokens(rows: pl.DataFrame, encoder: Encoder, token_cache: TokenCache) -> TokenIndex:
    """Build the token vectors of the passages, and cache the tokens that were not cached."""
    memory = token_cache.read(encoder.model_hash)
    cached_keys = memory.list_keys()
    tokens = build_token_index(rows.select(text=embedded_text())["text"].to_list(), encoder=encoder, memory=memory)
    token_cache.keep(encoder.model_hash, memory, cached_keys=cached_keys)
    return tokens


def _contents(*names: str) -> Callable[[Home], dict[str, str]]:
    """Return digests of the present content of tables, for the record."""

    def read(home: Home) -> dict[str, str]:
        states = {name: home.store.state(name) for name in names}
        return {name: state.content for name, state in states.items() if state is not None}

    return read


def _index_fingerprint(home: Home) -> str:
    """Digest the encoder, and what is missing of the index in the manifest: a lost folder is built again."""
    paths = home.store.read_or_empty("index")["path"].to_list()
    missing_paths = [path for path in paths if not has_index(home.store, path) or not has_catalogue(home.store, path)]
    return digest(model_hash(home), *missing_paths)


index = table(
    schemas.Index,
    build_index_version,
    group="retrieval",
    resources={
        "encoder": defer_encoder,
        "store": lambda home: home.store,
        "current": lambda home: read_current_index(home.store),
        "token_cache": lambda home: TokenCache(home.store),
        "contents": _contents("chunks", "documents", "embeddings", "summaries", "tables"),
    },
    fingerprint=_index_fingerprint,
    optional=("model",),
)


@gate(on="index", reads=("chunks",), opens=INDEXED)
def index_holds_every_accepted_chunk(
    index: dy.DataFrame[schemas.Index], chunks: dy.DataFrame[schemas.Chunks], home: Home
) -> Verdict:
    """The rows of the index are the accepted chunks, no more and no fewer."""
    columns = ["chunk_id", "document_id", "page"]
    rows = read_rows(open_index(home.store, index["path"].item()), columns)
    accepted = chunks.filter(pl.col("status") == "accepted").select(columns)
    missing_chunks = accepted.join(rows, on="chunk_id", how="anti")
    extra_rows = rows.join(accepted, on="chunk_id", how="anti")
    return Verdict(pl.concat([missing_chunks, extra_rows]), rows.height)


@gate(on="index", opens=INDEXED)
def index_agrees_with_brute_force(index: dy.DataFrame[schemas.Index], home: Home) -> Verdict:
    """Quantized search returns the same results as exact search (recall@10; equal distances count as correct)."""
    path = index["path"].item()
    vectors = stack_vectors(read_rows(open_index(home.store, path), ["vector"])["vector"])
    recall = score_self_check(open_codes(home.store, path), vectors)
    floor = next(candidate for candidate in load_floors("index") if candidate.metric == "self_check_recall")
    return Verdict(
        index.filter(pl.lit(not floor.holds(recall))).select("index_version", "row_count"),
        index["row_count"].item(),
        note=floor.describe(),
        figures={"recall@10": recall},
    )


@gate(on="index", opens=INDEXED)
def lexical_index_is_healthy(index: dy.DataFrame[schemas.Index], home: Home) -> Verdict:
    """BM25 finds each sampled chunk by the chunk's own rarest term."""
    path = index["path"].item()
    rows = read_rows(open_index(home.store, path), ["chunk_id", "document_id", "page", "text", "terms"])
    return Verdict(find_unretrievable_chunks(open_lexical(home.store, path), rows), rows.height)


def build_release_of_exports(
    index: dy.DataFrame[schemas.Index],
    eval_report: dy.DataFrame[schemas.EvalReport],
    *,
    old: dy.DataFrame[schemas.Release],
    table_versions: dict[str, int],
    now: datetime,
    export: Callable[[], None],
) -> dy.DataFrame[schemas.Release]:
    """Export the models to ONNX, then build the release, so that queries need not import PyTorch.

    Args:
        index: Row of the newest index.
        eval_report: Evaluation of this index.
        old: Releases so far.
        table_versions: Version by table, from which readers are answered.
        now: Time of the release.
        export: Function that exports the models of the home to ONNX.

    Returns:
        All releases, with a new one if the evaluation permits it.
    """
    export()
    return build_release(index, eval_report, old=old, table_versions=table_versions, now=now)


@gate(on="index", opens=INDEXED)
def index_files_are_as_written(index: dy.DataFrame[schemas.Index], home: Home) -> Verdict:
    """The files of the index have the digests recorded when they were written."""
    damaged = find_damaged_files(home.store, index["path"].item())
    rows = pl.DataFrame({"file": damaged}, schema={"file": pl.String})
    return Verdict(rows, index["row_count"].item())


release = table(
    schemas.Release,
    build_release_of_exports,
    group="release",
    fingerprint=lambda home: digest(*find_missing_exports(home)),
    resources={
        "export": lambda home: lambda: export_served(home),
        "old": lambda home: home.store.read_or_empty("release"),
        "table_versions": lambda home: {
            name: home.store.version(name) for name in (*SERVED, *SERVED_WHERE_TRAINED) if home.store.exists(name)
        },
        "now": lambda home: datetime.now(UTC),
    },
    after=SERVED,
    optional=SERVED_WHERE_TRAINED,
)


def find_kept_releases(store: Store) -> pl.DataFrame:
    """Return the kept releases: the newest that were not rolled back and whose index exists.

    Args:
        store: Tables of the home.
    """
    newest_releases = (
        store.read_or_empty("release").filter(~pl.col("is_rolled_back")).sort("release_ix").tail(KEPT_RELEASES)
    )
    return newest_releases.filter([has_index(store, path) for path in newest_releases["index_path"]])


def prune_indexes(store: Store) -> None:
    """Delete index versions that neither the manifest nor a kept release uses.

    Args:
        store: Tables of the home.
    """
    if not store.exists("index"):
        return
    kept_paths = {*store.read("index")["path"], *find_kept_releases(store)["index_path"]}
    for name in store.storage.children("index"):
        if f"index/{name}" not in kept_paths:
            store.storage.remove(f"index/{name}")
