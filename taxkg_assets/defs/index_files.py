"""Files beside an index's LanceDB tables, from which readers open it: mapped into memory, or a few numbers of each row.

`facts` holds what is known of each row and goes wherever the index goes. `flat` holds the passages themselves and is
written only where readers share a disk with the build. `files.json` names every file with its size and SHA-256: sizes
are compared at opening, digests by the gate, for to hash a library takes longer than to answer from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from taxkg_assets.defs.indexes import open_index
from taxkg_assets.defs.place import LocalPlace
from taxkg_assets.defs.store import Store
from taxkg_assets.retrieval.encoder import Vectors
from taxkg_assets.retrieval.known import KnownTables, build_known, read_known, read_vocabulary
from taxkg_assets.retrieval.levels import UNIT_LEVELS
from taxkg_assets.retrieval.lexical import LexicalLeg
from taxkg_assets.retrieval.passage_index import LanceIndex, PassageIndex, SearchIndex, open_lance_index
from taxkg_assets.retrieval.row_store import FrameRows, LanceRows, RowStore, VectorFile

FACTS, FLAT, CARD, FILES = "facts", "flat", "card.json", "files.json"


class IndexFilesError(Exception):
    """Files of an index that are not those that were written; the message names the remedy."""


def write_index_files(
    folder: Path, rows: pl.DataFrame, *, vectors: Vectors, units: pl.DataFrame, unit_vectors: Vectors, is_flat: bool
) -> KnownTables:
    """Write the files of an index into its folder.

    Args: rows, units: in the order of a reader, without vectors. is_flat: with the passages themselves.
    """
    known = build_known(rows, vectors, units=units)
    facts = folder / FACTS
    facts.mkdir(parents=True)
    for name in ("rows", "documents", "forms", "terms"):
        getattr(known, name).write_ipc(facts / f"{name}.arrow")
    np.save(facts / "document_vectors.npy", known.document_vectors)
    (facts / CARD).write_text(json.dumps(known.card, indent=1) + "\n", encoding="utf8")
    if is_flat:
        flat = folder / FLAT
        flat.mkdir()
        rows.rechunk().write_ipc(flat / "passages.arrow")
        units.write_ipc(flat / "units.arrow")
        matrices: dict[str, Any] = {
            "vectors": vectors,
            "unit_vectors": unit_vectors,
            "section_vectors": known.section_vectors,
            "posting_starts": known.lexical.starts,
            "posting_rows": known.lexical.rows,
            "posting_scores": known.lexical.scores,
        }
        for name, matrix in matrices.items():
            np.save(flat / f"{name}.npy", matrix)
    for part in (facts, folder / FLAT) if is_flat else (facts,):
        told = {path.name: [path.stat().st_size, _digest(path)] for path in sorted(part.iterdir())}
        (part / FILES).write_text(json.dumps(told, indent=1) + "\n", encoding="utf8")
    return known


def has_index_files(store: Store, path: str) -> bool:
    """Whether an index has files to be opened from; one of an older version has none."""
    return store.place.look(f"{path}/{FACTS}/{FILES}") is not None


def open_search_index(store: Store, path: str, *, model_hash: str, most_rows: int) -> PassageIndex:
    """An index for readers: in memory up to `most_rows` passages on a disk; beyond it and in a bucket, by LanceDB."""
    facts = store.place.copy_of(f"{path}/{FACTS}")
    _check_sizes(facts)
    card = json.loads((facts / CARD).read_text(encoding="utf8"))
    is_local = isinstance(store.place, LocalPlace)
    if is_local and card["height"] <= most_rows:
        return _open_in_memory(store.place.copy_of(path), card, model_hash=model_hash)
    return _open_lance(store, path, card, model_hash=model_hash, is_local=is_local)


def find_damaged_files(store: Store, path: str) -> list[str]:
    """The files of an index whose digests are not those that were written."""
    damaged = []
    for part in (FACTS, FLAT):
        if store.place.look(f"{path}/{part}/{FILES}") is None:
            continue
        folder = store.place.copy_of(f"{path}/{part}")
        told: Mapping[str, Any] = json.loads((folder / FILES).read_text(encoding="utf8"))
        damaged += [f"{part}/{name}" for name, (_, digest) in told.items() if _digest(folder / name) != digest]
    return damaged


def _open_in_memory(folder: Path, card: Mapping[str, Any], *, model_hash: str) -> SearchIndex:
    flat, facts = folder / FLAT, folder / FACTS
    _check_sizes(flat)
    vocabulary = read_vocabulary(_read_frame(facts / "terms.arrow"))
    starts, rows, scores = (_map_matrix(flat / f"posting_{name}.npy") for name in ("starts", "rows", "scores"))
    known = read_known(
        _read_frame(facts / "rows.arrow"),
        _read_frame(facts / "documents.arrow"),
        forms=_read_frame(facts / "forms.arrow"),
        sides=card["sides"],
        document_vectors=_map_matrix(facts / "document_vectors.npy"),
        section_vectors=_map_matrix(flat / "section_vectors.npy"),
        lexical=LexicalLeg(vocabulary, starts, rows, scores, card["height"]),
    )
    return SearchIndex(
        rows=_read_frame(flat / "passages.arrow"),
        vectors=_map_matrix(flat / "vectors.npy"),
        model_hash=model_hash,
        units=_read_frame(flat / "units.arrow"),
        unit_vectors=_map_matrix(flat / "unit_vectors.npy"),
        known=known,
    )


def _open_lance(store: Store, path: str, card: Mapping[str, Any], *, model_hash: str, is_local: bool) -> LanceIndex:
    facts = store.place.copy_of(f"{path}/{FACTS}")
    connection = open_index(store, path)
    table = connection.open_table("passages")
    rows: RowStore = LanceRows(table, connection.open_table("directions")) if not is_local else _flat_rows(store, path)
    known = read_known(
        _read_frame(facts / "rows.arrow"),
        _read_frame(facts / "documents.arrow"),
        forms=_read_frame(facts / "forms.arrow"),
        sides=card["sides"],
        document_vectors=_map_matrix(facts / "document_vectors.npy"),
    )

    def read_units(level: str) -> pl.DataFrame | None:
        if level not in UNIT_LEVELS or level not in connection.list_tables().tables:
            return None
        shown = [name for name in connection.open_table(level).schema.names if name not in ("vector", "terms")]
        units = pl.DataFrame(connection.open_table(level).search().select(shown).limit(card["height"] * 3).to_arrow())
        return units.sort("level", "document_id", "chunk_ix", "chunk_id")

    return open_lance_index(
        table,
        store=rows,
        known=known,
        vocabulary=read_vocabulary(_read_frame(facts / "terms.arrow")),
        mean_length=card["mean_length"],
        model_hash=model_hash,
        read_units=read_units,
    )


def _flat_rows(store: Store, path: str) -> FrameRows:
    flat = store.place.copy_of(f"{path}/{FLAT}")
    _check_sizes(flat)
    matrices = (VectorFile(flat / f"{name}.npy") for name in ("vectors", "section_vectors"))
    return FrameRows(_map_pages(flat / "passages.arrow"), *matrices)


def _read_frame(path: Path) -> pl.DataFrame:
    return pl.read_ipc(path)


def _map_pages(path: Path) -> pl.DataFrame:
    """A frame whose pages are read from the disk when a cell of theirs is, and given back when memory is short."""
    import pyarrow.ipc  # loaded here: LanceDB has loaded it, and who asks no LanceDB does not need it

    with pyarrow.memory_map(str(path)) as source:
        mapped = pyarrow.ipc.open_file(source).read_all()
    return cast(pl.DataFrame, pl.from_arrow(mapped, rechunk=False))


def _map_matrix(path: Path) -> Any:
    return np.load(path, mmap_mode="r")


def _check_sizes(folder: Path) -> None:
    told = json.loads((folder / FILES).read_text(encoding="utf8"))
    if wrong := [name for name, (size, _) in told.items() if (folder / name).stat().st_size != size]:
        raise IndexFilesError(f"{folder} is damaged ({', '.join(wrong)}): delete it and run `taxkg build`.")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
