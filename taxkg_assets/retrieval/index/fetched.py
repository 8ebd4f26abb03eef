"""Columns of passages whose cells are fetched by row number when they are read, and cached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.row_store import LanceRows

MOST_CELLS = 20_000
"""Cells of a column that are cached: those of the last questions."""
_NOT_CACHED = object()
"""Placeholder for a cell that the cache lacks; None may be the value of a cell."""


class FetchedColumn(Sequence[Any]):
    """One column of an index; cells that are not cached are fetched."""

    def __init__(self, name: str, store: LanceRows) -> None:
        self.name, self._store = name, store
        self._cells: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._store.height

    @overload
    def __getitem__(self, row: int) -> Any: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Any]: ...

    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            raise TypeError("columns that are fetched cell by cell cannot be sliced")
        cell = self._cells.get(row, _NOT_CACHED)
        return self._store.read([row], [self.name])[self.name][0] if cell is _NOT_CACHED else cell

    def read(self, rows: Sequence[int]) -> list[Any]:
        """Return the cells of some rows.

        Args:
            rows: 0-based rows of the index, whose cells were just fetched.
        """
        cells = self.read_cached(rows)
        return [self[row] for row in rows] if cells is None else cells  # another question may have emptied the cache

    def read_cached(self, rows: Sequence[int]) -> list[Any] | None:
        """Return the cells of some rows; None where the cache lacks one of them.

        Args:
            rows: 0-based rows of the index.
        """
        try:
            return list(map(self._cells.__getitem__, rows))
        except KeyError:
            return None

    def copy_cache(self) -> dict[int, Any]:
        """Return the cached cells by row number."""
        return dict(self._cells)

    def find_uncached(self, rows: set[int]) -> AbstractSet[int]:
        """Return the rows whose cells are not cached; empty the cache first if these rows do not fit in it.

        A cache that was emptied is a new dict, so that readers of the old one need no lock.

        Args:
            rows: 0-based rows of the index.
        """
        if len(self._cells) + len(rows) > MOST_CELLS:
            self._cells = {}
        return rows.difference(self._cells)

    def cache_cells(self, rows: Sequence[int], cells: Sequence[Any]) -> None:
        """Add fetched cells to the cache.

        Args:
            rows: 0-based rows of the index.
            cells: One cell per row.
        """
        self._cells.update(zip(rows, cells, strict=True))


class FetchedColumns(dict[str, FetchedColumn]):
    """Columns by name, each made on first access."""

    def __init__(self, store: LanceRows) -> None:
        super().__init__()
        self._store = store

    def __missing__(self, name: str) -> FetchedColumn:
        self[name] = FetchedColumn(name, self._store)
        return self[name]

    def fetch(self, rows: Sequence[int], names: Sequence[str]) -> None:
        """Fetch all cells of some rows that are not cached, in one read.

        Args:
            rows: 0-based rows of the index.
            names: Names of columns.
        """
        distinct_rows = set(rows)
        uncached = {name: uncached_rows for name in names if (uncached_rows := self[name].find_uncached(distinct_rows))}
        if uncached:
            rows_to_read = sorted(set().union(*uncached.values()))
            for name, cells in self._store.read(rows_to_read, list(uncached)).items():
                self[name].cache_cells(rows_to_read, cells)


class FetchedRows(Mapping[str, int]):
    """Row number by chunk id; the rows of chunks whose ids were fetched are cached."""

    def __init__(self, chunk_ids: FetchedColumn, store: LanceRows) -> None:
        self._chunk_ids, self._store = chunk_ids, store
        self._rows: dict[str, int] = {}

    def __getitem__(self, chunk_id: str) -> int:
        rows = self._rows
        if chunk_id not in rows:
            rows = self._rows = {cached_id: row for row, cached_id in self._chunk_ids.copy_cache().items()}
        row = rows.get(chunk_id)
        if row is None and (row := self._store.find_chunk(chunk_id)) is None:
            raise KeyError(chunk_id)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._chunk_ids.copy_cache().values())

    def __len__(self) -> int:
        return self._store.height


@dataclass(frozen=True)
class FetchedFacts(PassageFacts):
    """Columns of passages: the index build stored the numbers, and texts are fetched on demand."""

    store: LanceRows

    @cached_property
    def columns(self) -> FetchedColumns:
        """Return the columns by name, which fetch cells from the store on demand and cache them."""
        return FetchedColumns(self.store)

    def prefetch(self, rows: Sequence[int], names: Sequence[str]) -> None:
        """Fetch some cells that will be read one by one, in one read.

        Args:
            rows: 0-based rows of the index.
            names: Names of columns.
        """
        self.columns.fetch(rows, names)

    def read_cells(self, rows: Sequence[int], name: str) -> list[Any]:
        """Return the cells of some rows in a column, fetching those that are not cached in one read.

        Args:
            rows: 0-based rows of the index.
            name: Name of the column.
        """
        cells = self.columns[name].read_cached(rows)
        if cells is not None:
            return cells
        self.columns.fetch(rows, (name,))
        return self.columns[name].read(rows)

    @cached_property
    def row_of_chunk(self) -> Mapping[str, int]:
        """Return the row number of each chunk."""
        return FetchedRows(self.columns["chunk_id"], self.store)
