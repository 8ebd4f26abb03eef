"""Reading the Delta tables of a home: their rows, their versions, and what their newest commits recorded.

Not here: writing tables, and the locks and other files of a home (`taxkg_assets/defs/home/store.py`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from cachetools import LRUCache
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from taxkg_assets.defs.home.contracts import empty_frame, schema_of
from taxkg_assets.defs.home.renamed_columns import RENAMED_COLUMNS
from taxkg_assets.defs.home.storage import LocalStorage, Storage, identify_commit, newest_commit

_counted: LRUCache[tuple[str, str, str], int] = LRUCache(4096)  # by address, its identity, its version
_snapshots: LRUCache[tuple[str, int, int, int], _Snapshot] = LRUCache(128)  # by address, version and its commit's file
_lock = threading.Lock()

CASTS = pl.ScanCastOptions(
    integer_cast="upcast",
    float_cast=["upcast", "downcast"],
    datetime_cast=["nanosecond-downcast", "millisecond-upcast", "convert-timezone"],
    categorical_to_string="allow",
    missing_struct_fields="insert",
    extra_struct_fields="ignore",
)
"""What older files of a table may differ in from its present columns."""
PLAIN_READER = 1
"""Version of Delta's protocol whose tables are read as plain Parquet files; later ones may delete rows of a file."""


@dataclass(frozen=True, slots=True)
class TableState:
    """State of a table as recorded by its newest commit."""

    version: int
    content: str
    inputs: str
    documents: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """One version of a table whose log has been read."""

    table: DeltaTable
    columns: pl.Schema

    def scan(self, options: dict[str, str] | None) -> pl.LazyFrame:
        """Scan the files of this version.

        To list them here takes a tenth of the time of `pl.scan_delta`, which most reads of a small home consist of.
        """
        if self.table.protocol().min_reader_version > PLAIN_READER or self.table.metadata().partition_columns:
            return pl.scan_delta(self.table)
        if not (files := self.table.file_uris()):
            return pl.LazyFrame(schema=self.columns)
        return pl.scan_parquet(
            files,
            schema=self.columns,
            missing_columns="insert",
            extra_columns="ignore",
            cast_options=CASTS,
            storage_options=options,
        )


class StoredTables:
    """Read access to the tables of one home; `uri` names the home in messages."""

    def __init__(self, storage: Storage, *, uri: str) -> None:
        self.storage = storage
        self.uri = uri

    def table_uri(self, name: str) -> str:
        """Return the folder or address of a table.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        return self.storage.uri_of(f"tables/{name}")

    def exists(self, name: str) -> bool:
        """Return whether the table has a commit.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        if isinstance(self.storage, LocalStorage):
            return self.version(name) >= 0
        return DeltaTable.is_deltatable(self.table_uri(name), self._options())

    def open_table(self, name: str, *, version: int | None = None) -> DeltaTable | None:
        """Return a Delta table; None before its first commit.

        Args:
            name: Name of the table, e.g. `sections`.
            version: Version to read; the newest by default.
        """
        try:
            return DeltaTable(self.table_uri(name), version=version, storage_options=self._options())
        except TableNotFoundError:
            return None

    def _read_log(self, name: str, *, version: int | None = None) -> _Snapshot | None:
        """Return a version of a table, the newest by default; None before its first commit.

        In a folder, the log of a version is read once per process.
        """
        address = self.table_uri(name)
        is_local = isinstance(self.storage, LocalStorage)
        if is_local and version is None and (version := newest_commit(Path(address))) < 0:
            return None
        identity = identify_commit(Path(address), version) if is_local and version is not None else None
        key = None if identity is None or version is None else (address, version, *identity)
        with _lock:
            known = None if key is None else _snapshots.get(key)
        if known is not None:
            return known
        table = self.open_table(name, version=version)
        if table is None:
            return None
        snapshot = _Snapshot(table, pl.Schema(table.schema()))
        if key is not None:
            with _lock:
                _snapshots[key] = snapshot
        return snapshot

    def _not_built(self, name: str) -> TableNotFoundError:
        return TableNotFoundError(f"{name} has not been built in {self.uri}: run `taxkg build` first.")

    def _options(self) -> dict[str, str] | None:
        return self.storage.options() or None

    def state(self, name: str) -> TableState | None:
        """Return the state that the newest commit recorded; None without a commit.

        The state has no digests if another program wrote the commit.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        snapshot = self._read_log(name)
        if snapshot is None:
            return None
        commit = snapshot.table.history(1)[0]
        version = snapshot.table.version()
        return TableState(
            version=version,
            content=commit.get("taxkg.content") or f"foreign commit {version}",
            inputs=commit.get("taxkg.inputs") or "",
            documents=json.loads(commit.get("taxkg.documents") or "{}"),
        )

    def read(self, name: str, *, version: int | None = None) -> pl.DataFrame:
        """Return all rows of a table, sorted by primary key; `TableNotFoundError` before its first commit.

        Args:
            name: Name of the table, e.g. `sections`.
            version: Version to read; the newest by default.

        Raises:
            TableNotFoundError: The table has no commit.
        """
        schema = schema_of(name)
        frame = self.scan(name, version=version).collect()
        return frame.select([column for column in schema.columns() if column in frame.columns]).sort(
            schema.primary_key()
        )

    def read_as_written(
        self, name: str, *, version: int | None = None, columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """Return all rows of a table unsorted and unvalidated, the fastest way to read it.

        Args:
            name: Name of the table, e.g. `sections`.
            version: Version to read; the newest by default.
            columns: Columns to read; all by default.

        Raises:
            TableNotFoundError: The table has no commit.
        """
        frame = self.scan(name, version=version)
        return (frame if columns is None else frame.select(columns)).collect()

    def read_documents(self, name: str, document_ids: Collection[str], *, version: int | None = None) -> pl.DataFrame:
        """Return the rows of some documents, sorted by primary key; the rest of the table is not read.

        Args:
            name: Name of the table, e.g. `sections`.
            document_ids: Documents whose rows are read.
            version: Version to read; the newest by default.

        Raises:
            TableNotFoundError: The table has no commit.
        """
        rows = self.scan(name, version=version).filter(pl.col("document_id").is_in(list(document_ids)))
        return rows.collect().sort(schema_of(name).primary_key())

    def read_elements(self, name: str, element_ids: Collection[str], *, version: int | None = None) -> pl.DataFrame:
        """Return the rows of some elements; the rest of the table is not read.

        Args:
            name: Name of the table, e.g. `sections`.
            element_ids: Elements whose rows are read.
            version: Version to read; the newest by default.
        """
        return self.scan(name, version=version).filter(pl.col("element_id").is_in(list(element_ids))).collect()

    def version(self, name: str) -> int:
        """Return the number of the newest Delta commit; -1 before the first one.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        if isinstance(self.storage, LocalStorage):
            return newest_commit(Path(self.table_uri(name)))
        table = self.open_table(name)
        return -1 if table is None else table.version()

    def count(self, name: str) -> int:
        """Return the number of rows of a table, cached per version.

        Args:
            name: Name of the table, e.g. `sections`.

        Raises:
            TableNotFoundError: The table has no commit.
        """
        snapshot = self._read_log(name)
        if snapshot is None:
            raise self._not_built(name)
        # A copied home has the identities and versions of its original.
        key = (self.table_uri(name), str(snapshot.table.metadata().id), str(snapshot.table.version()))
        if key not in _counted:
            _counted[key] = int(snapshot.scan(self._options()).select(pl.len()).collect().item())
        return _counted[key]

    def head(self, name: str, rows: int) -> pl.DataFrame:
        """Return a few rows of a table in arbitrary order.

        Args:
            name: Name of the table, e.g. `sections`.
            rows: Number of rows.
        """
        return self.scan(name).head(rows).collect()

    def scan(self, name: str, *, version: int | None = None) -> pl.LazyFrame:
        """Scan a table lazily, with columns renamed to those of the current schema.

        Args:
            name: Name of the table, e.g. `sections`.
            version: Version to read; the newest by default.

        Returns:
            The table as a lazy frame.

        Raises:
            TableNotFoundError: The table has no commit.
        """
        snapshot = self._read_log(name, version=version)
        if snapshot is None:
            raise self._not_built(name)
        renamed = RENAMED_COLUMNS.get(name)
        rows = snapshot.scan(self._options())
        return rows.rename(renamed, strict=False) if renamed else rows

    def read_or_empty(self, name: str) -> pl.DataFrame:
        """Return all rows of a table; empty before its first commit.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        return self.read(name) if self.exists(name) else empty_frame(schema_of(name))
