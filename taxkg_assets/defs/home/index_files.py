"""Files next to the LanceDB tables of an index, from which readers open it: mapped into memory, or numbers of each row.

`facts` holds what finds and ranks candidates and goes wherever the index goes. `flat` holds the rest of the passages
and is written only where readers share a disk with the build. `files.json` names every file with its size and SHA-256:
sizes are compared at opening, digests by the gate, for to hash a library takes longer than to answer from it.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from taxkg_assets.defs.home.indexes import open_index
from taxkg_assets.defs.home.renamed_columns import RENAMED_FRAMES
from taxkg_assets.defs.home.storage import LocalStorage
from taxkg_assets.defs.home.store import Store
from taxkg_assets.retrieval.encoding.codes import VectorCodes
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever
from taxkg_assets.retrieval.index.levels import UNIT_LEVELS, StoredUnits
from taxkg_assets.retrieval.index.passage_index import (
    LanceIndex,
    PassageIndex,
    PrecomputedFacts,
    SearchIndex,
    open_lance_index,
)
from taxkg_assets.retrieval.index.precomputed import (
    MAPPED_COLUMNS,
    TERM_SOURCE_COLUMNS,
    PrecomputedTables,
    read_precomputed,
    read_vocabulary,
)
from taxkg_assets.retrieval.index.row_store import LanceRows, Pages, StoredVectors
from taxkg_assets.retrieval.index.token_match import TokenIndex
from taxkg_assets.retrieval.tables.table_context import StoredCatalogue

FACTS, FLAT, CARD, FILES = "facts", "flat", "card.json", "files.json"
TERMS_BY = "terms_by"
TABLES, DIGESTS, CATALOGUE = "tables.arrow", "digests.arrow", "catalogue.arrow"
UNIT_FILES = ("units.arrow", "unit_vectors.npy")
FRAMES = ("rows", "mapped", "labeled", "tables", "documents", "forms", "terms", "catalogue")
READ_ALONE = ("mapped", "terms", "catalogue")
POSTINGS = ("starts", "rows", "scores")
CODES = ("center", "signs", "octets")
TOKENS = ("tokens", "vectors", "rarity", "starts", "places")
UNITS = ["chunk_id", "level", "document_id", "chunk_ix", "text"]
"""Columns that readers want of larger units."""


class IndexFilesError(Exception):
    """Index files that differ from those written; the message names the remedy."""


@dataclass(frozen=True, slots=True)
class FlatRows:
    """The passages and larger units of an index in reading order, with the units' vectors.

    Attributes:
        rows: Passages.
        units: Larger units: documents, pages, sections.
        unit_vectors: Vectors of the units, one row per unit.
        tables: Rows of `tables`, sorted by id. Memory-mapped: a cell is read when a question needs it.
        digests: Of each document, the digests of what its units and its tables' contexts were built from; None where no
            later build takes these over.
    """

    rows: pl.DataFrame
    units: pl.DataFrame
    unit_vectors: Vectors
    tables: pl.DataFrame
    digests: pl.DataFrame | None = None


@dataclass(frozen=True, slots=True)
class StoredParts:
    """What the next build takes over from an index for what has not changed.

    Attributes:
        terms: Passages with their search terms.
        units: Documents, pages and sections; None in an index of an older version.
        catalogue: Catalog of the tables; None in an index of an older version.
    """

    terms: pl.DataFrame
    units: StoredUnits | None
    catalogue: StoredCatalogue | None


def write_index_files(
    folder: Path, *, precomputed: PrecomputedTables, vectors: Vectors, flat: FlatRows | None, terms_by: str = ""
) -> None:
    """Write the files from which an index opens without recomputing anything.

    Args:
        folder: Folder of the index.
        precomputed: Tables and matrices that the build computed.
        vectors: Vectors of the passages, one row per passage.
        flat: The passages themselves; None if only LanceDB stores them.
        terms_by: Digest of the code that computed the search terms of the passages.
    """
    facts = folder / FACTS
    facts.mkdir(parents=True)
    for name in FRAMES:
        getattr(precomputed, name).rechunk().write_ipc(facts / f"{name}.arrow")
    _save_matrices(
        facts,
        vectors=vectors,
        document_vectors=precomputed.document_vectors,
        section_means=precomputed.section_means,
        **{f"posting_{name}": getattr(precomputed.lexical, name) for name in POSTINGS},
        **{f"code_{name}": getattr(precomputed.codes, name) for name in CODES},
        **(
            {}
            if precomputed.tokens is None
            else {f"token_{name}": getattr(precomputed.tokens, name) for name in TOKENS}
        ),
    )
    (facts / CARD).write_text(json.dumps({**precomputed.card, TERMS_BY: terms_by}, indent=1) + "\n", encoding="utf8")
    if flat is not None:
        (folder / FLAT).mkdir()
        flat.rows.drop(MAPPED_COLUMNS).rechunk().write_ipc(folder / FLAT / "passages.arrow")
        flat.units.write_ipc(folder / FLAT / "units.arrow")
        flat.tables.rechunk().write_ipc(folder / FLAT / TABLES)
        if flat.digests is not None:
            flat.digests.write_ipc(folder / FLAT / DIGESTS)
        _save_matrices(folder / FLAT, unit_vectors=flat.unit_vectors)
    for part_folder in (facts,) if flat is None else (facts, folder / FLAT):
        digests_by_file = {path.name: [path.stat().st_size, _digest(path)] for path in sorted(part_folder.iterdir())}
        (part_folder / FILES).write_text(json.dumps(digests_by_file, indent=1) + "\n", encoding="utf8")


def has_index_files(store: Store, path: str) -> bool:
    """Return whether an index has files to open it from; indexes of older versions have none.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
    """
    return "mapped.arrow" in _list_facts(store, path)


def has_catalogue(store: Store, path: str) -> bool:
    """Return whether an index contains the catalog of its tables; indexes of older versions do not.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
    """
    return CATALOGUE in _list_facts(store, path)


def open_catalogue(store: Store, path: str) -> pl.DataFrame:
    """Return the stored catalog of an index's tables.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
    """
    return _read_frame(_open_folder(store, f"{path}/{FACTS}") / CATALOGUE)


def open_tables(store: Store, path: str) -> pl.DataFrame | None:
    """Return the rows of the table `tables` that an index was built from, memory-mapped and sorted by id.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.

    Returns:
        The rows; None for an index in a bucket or of an older version, which does not keep them.
    """
    if not isinstance(store.storage, LocalStorage) or TABLES not in _list_files(store, f"{path}/{FLAT}"):
        return None
    return _read_frame(_open_folder(store, f"{path}/{FLAT}") / TABLES)


def _list_facts(store: Store, path: str) -> Mapping[str, Any]:
    return _list_files(store, f"{path}/{FACTS}")


def _list_files(store: Store, folder: str) -> Mapping[str, Any]:
    listing = store.storage.read(f"{folder}/{FILES}")
    return {} if listing is None else json.loads(listing)


def open_search_index(store: Store, path: str, *, model_hash: str, most_rows: int) -> PassageIndex:
    """Open an index for readers: in memory if it is small and local, else through LanceDB.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
        model_hash: Hash of the encoder that computed its vectors.
        most_rows: Maximum number of passages of an index in memory.

    Returns:
        The opened index.
    """
    facts = _open_folder(store, f"{path}/{FACTS}")
    card = json.loads((facts / CARD).read_text(encoding="utf8"))
    if isinstance(store.storage, LocalStorage) and card["height"] <= most_rows:
        return _open_in_memory(facts, _open_folder(store, f"{path}/{FLAT}"), card, model_hash=model_hash)
    return _open_lance(store, path, facts, card, model_hash=model_hash)


def open_whole_index(store: Store, path: str, *, model_hash: str) -> SearchIndex:
    """Open an index in memory whatever its size, from its files on a local disk or from LanceDB in a bucket.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
        model_hash: Hash of the encoder that computed its vectors.

    Returns:
        The index.
    """
    if isinstance(store.storage, LocalStorage):
        index_in_memory = open_search_index(store, path, model_hash=model_hash, most_rows=sys.maxsize)
        assert isinstance(index_in_memory, SearchIndex)
        return index_in_memory
    from taxkg_assets.retrieval.index.index import read_index  # loaded here: a question never reads a whole index

    index = read_index(open_index(store, path), model_hash=model_hash)
    tokens = _read_tokens(_open_folder(store, f"{path}/{FACTS}"))
    return replace(index, precomputed=replace(index.precomputed, tokens=tokens))


def read_parts(store: Store, path: str, *, terms_by: str) -> StoredParts | None:
    """Return what the next build may take over; None if other code computed it or a file is damaged.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
        terms_by: Digest of the code that computes search terms, units and the catalog now.
    """
    if not isinstance(store.storage, LocalStorage) or not has_index_files(store, path):
        return None
    try:
        facts, flat = (_open_folder(store, f"{path}/{part}") for part in (FACTS, FLAT))
    except IndexFilesError:
        return None
    card = json.loads((facts / CARD).read_text(encoding="utf8"))
    term_files = [facts / "mapped.arrow", flat / "passages.arrow"]
    if card.get(TERMS_BY) != terms_by or not _are_as_written(term_files):
        return None
    columns = [_read_frame(path) for path in term_files]
    terms = pl.concat(columns, how="horizontal").select(*TERM_SOURCE_COLUMNS, "terms")
    unit_files = [flat / name for name in UNIT_FILES]
    if not (flat / DIGESTS).is_file() or not _are_as_written([flat / DIGESTS, facts / CATALOGUE, *unit_files]):
        return StoredParts(terms, None, None)
    unit_digests, table_digests = (
        dict(_read_frame(flat / DIGESTS).select("document_id", name).drop_nulls().iter_rows())
        for name in ("units", "tables")
    )
    units = StoredUnits(unit_digests, _read_frame(unit_files[0]), _map_matrix(unit_files[1]))
    return StoredParts(terms, units, StoredCatalogue(table_digests, _read_frame(facts / CATALOGUE)))


def _are_as_written(files: Sequence[Path]) -> bool:
    """Return whether files have the digests that their folders record."""
    return all(
        _digest(file) == json.loads((file.parent / FILES).read_text(encoding="utf8")).get(file.name, ["", ""])[1]
        for file in files
    )


def read_frame(facts: Path, name: str) -> pl.DataFrame:
    """Read a frame of an index by its current name, or by the name that earlier versions used.

    Args:
        facts: Folder of the frames.
        name: Current name of the frame.
    """
    path = facts / f"{name}.arrow"
    is_present = name not in RENAMED_FRAMES or path.is_file()
    return _read_frame(path if is_present else facts / f"{RENAMED_FRAMES[name]}.arrow")


def open_codes(store: Store, path: str) -> VectorCodes:
    """Open the quantized codes of an index's vectors.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.

    Returns:
        The codes.
    """
    return _read_codes(_open_folder(store, f"{path}/{FACTS}"))


def open_lexical(store: Store, path: str) -> LexicalRetriever:
    """Open the BM25 postings of an index.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.

    Returns:
        The postings.
    """
    facts = _open_folder(store, f"{path}/{FACTS}")
    return _read_lexical(facts, json.loads((facts / CARD).read_text(encoding="utf8")))


def find_damaged_files(store: Store, path: str) -> list[str]:
    """Return the files of an index whose digests differ from the recorded ones.

    Args:
        store: Home of the index.
        path: Folder of the index version, relative to the home.
    """
    damaged = []
    for part in (FACTS, FLAT):
        if store.storage.stat(f"{path}/{part}/{FILES}") is None:
            continue
        folder = store.storage.local_copy(f"{path}/{part}")
        recorded_files: Mapping[str, Any] = json.loads((folder / FILES).read_text(encoding="utf8"))
        damaged += [
            f"{part}/{name}"
            for name, (size, digest) in recorded_files.items()
            if _size(folder / name) != size or _digest(folder / name) != digest
        ]
    return damaged


def _open_in_memory(facts: Path, flat: Path, card: Mapping[str, Any], *, model_hash: str) -> SearchIndex:
    parts = [_read_frame(facts / "mapped.arrow"), _read_frame(flat / "passages.arrow")]
    return SearchIndex(
        rows=pl.concat(parts, how="horizontal"),
        vectors=_map_matrix(facts / "vectors.npy"),
        model_hash=model_hash,
        units=partial(_read_frame, flat / "units.arrow"),
        unit_vectors=_map_matrix(flat / "unit_vectors.npy"),
        precomputed=_read_facts(facts, card, section_means=_map_matrix(facts / "section_means.npy")),
    )


def _open_lance(store: Store, path: str, facts: Path, card: Mapping[str, Any], *, model_hash: str) -> LanceIndex:
    connection = open_index(store, path)

    def read_units(level: str) -> pl.DataFrame | None:
        if level not in UNIT_LEVELS or level not in connection.list_tables().tables:
            return None
        table = connection.open_table(level)
        units = pl.DataFrame(table.search().select(UNITS).limit(table.count_rows()).to_arrow())
        return units.sort("level", "document_id", "chunk_ix", "chunk_id")

    return open_lance_index(
        LanceRows(connection.open_table("passages"), *_map_pages(facts / "mapped.arrow")),
        vectors=StoredVectors(facts / "vectors.npy"),
        section_means=StoredVectors(facts / "section_means.npy"),
        precomputed=_read_facts(facts, card),
        codes=_read_codes(facts),
        model_hash=model_hash,
        read_units=read_units,
    )


def _read_codes(facts: Path) -> VectorCodes:
    return VectorCodes(*(_map_matrix(facts / f"code_{name}.npy") for name in CODES))


def _read_lexical(facts: Path, card: Mapping[str, Any]) -> LexicalRetriever:
    vocabulary = read_vocabulary(_read_frame(facts / "terms.arrow"))
    starts, rows, scores = (_map_matrix(facts / f"posting_{name}.npy") for name in POSTINGS)
    return LexicalRetriever(vocabulary, starts, rows, scores, card["height"])


def _read_facts(facts: Path, card: Mapping[str, Any], *, section_means: Vectors | None = None) -> PrecomputedFacts:
    frames = {name: read_frame(facts, name) for name in FRAMES if name not in READ_ALONE}
    return read_precomputed(
        **frames,
        perspectives=card["sides"],
        document_vectors=_map_matrix(facts / "document_vectors.npy"),
        section_means=section_means,
        lexical=_read_lexical(facts, card),
        tokens=_read_tokens(facts),
    )


def _read_tokens(facts: Path) -> TokenIndex | None:
    """Return the tokens of the passages; an index of an older version has none."""
    paths = [facts / f"token_{name}.npy" for name in TOKENS]
    return TokenIndex(*(_map_matrix(path) for path in paths)) if all(path.is_file() for path in paths) else None


def _read_frame(path: Path) -> pl.DataFrame:
    return pl.read_ipc(path)


def _map_pages(path: Path) -> tuple[pl.DataFrame, Pages]:
    """Return a frame whose pages are read from the disk when one of their cells is, and its pages."""
    import pyarrow.ipc  # loaded here: LanceDB has loaded it, and who asks no LanceDB does not need it

    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    table = pyarrow.ipc.open_file(pyarrow.BufferReader(pyarrow.py_buffer(mapped))).read_all()
    return cast(pl.DataFrame, pl.from_arrow(table, rechunk=False)), Pages(mapped)


def _map_matrix(path: Path) -> Any:
    """Map a matrix from a file, as a plain array: slices of memmap objects are slow to make."""
    return np.asarray(np.load(path, mmap_mode="r"))


def _save_matrices(folder: Path, **matrices: Any) -> None:
    for name, matrix in matrices.items():
        np.save(folder / f"{name}.npy", matrix)


def _open_folder(store: Store, name: str) -> Path:
    """Return a folder of files, copied here once where the home is a bucket.

    Raises:
        IndexFilesError: A file is missing or of another size than the one that was written.
    """
    folder = store.storage.local_copy(name)
    card = folder / FILES
    recorded_files = json.loads(card.read_text(encoding="utf8")) if card.is_file() else {FILES: [0, ""]}
    damaged = [file for file, (size, _) in recorded_files.items() if _size(folder / file) != size]
    if damaged:
        is_copy = not isinstance(store.storage, LocalStorage)
        remedy = "to have it copied again" if is_copy else "and run `taxkg build`"
        raise IndexFilesError(
            f"The index folder {folder} is damaged ({', '.join(damaged)}). Delete this folder {remedy}."
        )
    return folder


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
