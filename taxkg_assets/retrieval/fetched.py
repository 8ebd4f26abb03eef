"""Facts of passages whose cells are fetched by row number when they are read, and kept for a while."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.facts import Ints, PassageFacts
from taxkg_assets.retrieval.lexical import find_terms
from taxkg_assets.retrieval.row_store import RowStore

MOST_CELLS = 20_000
"""Cells of a column that are kept: those of the last questions."""
RANKED = ("text", "terms", "anchor_key", "heading_path", "level", "chunk_id")
"""Columns that the ranker reads of every candidate."""


class FetchedColumn(Sequence[Any]):
    """One column of an index; cells that are not at hand are fetched."""

    def __init__(self, name: str, store: RowStore) -> None:
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
            raise TypeError("a column that is fetched has no slices")
        found = self._cells.get(row, self)
        return self._store.read([row], [self.name])[self.name][0] if found is self else found

    def kept(self) -> dict[int, Any]:
        """The cells at hand by row."""
        return dict(self._cells)

    def lacking(self, rows: Sequence[int]) -> list[int]:
        """The rows whose cells are not at hand."""
        return [row for row in rows if row not in self._cells]

    def keep(self, rows: Sequence[int], cells: Sequence[Any]) -> None:
        """Keep fetched cells; old ones are forgotten all at once, so that readers need no lock."""
        if len(self._cells) + len(rows) > MOST_CELLS:
            self._cells = {}
        self._cells.update(zip(rows, cells, strict=True))


class FetchedColumns(dict[str, FetchedColumn]):
    """Columns by name, each made when it is first asked for."""

    def __init__(self, store: RowStore) -> None:
        super().__init__()
        self._store = store

    def __missing__(self, name: str) -> FetchedColumn:
        self[name] = FetchedColumn(name, self._store)
        return self[name]

    def fetch(self, rows: Sequence[int], names: Sequence[str]) -> None:
        """Fetch the cells of some rows that are not at hand, in one read."""
        if missing := self[names[0]].lacking(rows):
            frame = self._store.read(missing, names)
            for name in names:
                self[name].keep(missing, frame[name].to_list())


class FetchedLabels(Sequence[frozenset[str]]):
    """Terms of the tags and entities of rows; few rows have some."""

    def __init__(self, columns: FetchedColumns, is_labelled: npt.NDArray[np.bool_]) -> None:
        self._columns, self._is_labelled = columns, is_labelled

    def __len__(self) -> int:
        return len(self._is_labelled)

    @overload
    def __getitem__(self, row: int) -> frozenset[str]: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[frozenset[str]]: ...

    def __getitem__(self, row: int | slice) -> Any:
        if isinstance(row, slice):
            raise TypeError("labels that are fetched have no slices")
        if not self._is_labelled[row]:
            return frozenset()
        both = [*self._columns["tags"][row], *self._columns["entities"][row]]
        return frozenset(find_terms(" ".join(both)))


class FetchedRows(Mapping[str, int]):
    """Number of a chunk's row, of the chunks that were fetched; no search asks for another."""

    def __init__(self, chunk_ids: FetchedColumn) -> None:
        self._chunk_ids = chunk_ids
        self._rows: dict[str, int] = {}

    def __getitem__(self, chunk_id: str) -> int:
        if self._rows.get(chunk_id) is None:
            self._rows = {own: row for row, own in self._chunk_ids.kept().items()}
        return self._rows[chunk_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._chunk_ids.kept().values())

    def __len__(self) -> int:
        return len(self._chunk_ids.kept())


@dataclass(frozen=True)
class FetchedFacts(PassageFacts):
    """Facts over a store of rows: numbers of each row come from the build, texts are fetched."""

    store: RowStore

    @cached_property
    def columns(self) -> FetchedColumns:
        """Columns that are read cell by cell."""
        return FetchedColumns(self.store)

    def prefetch(self, rows: Ints) -> None:
        """Fetch what the ranker reads of some rows, and the terms of their neighbours under the same heading."""
        asked, last = np.unique(rows), len(self.anchor_number) - 1
        self.columns.fetch(asked.tolist(), RANKED)
        beside = np.concatenate([np.clip(asked + step, 0, last) for step in (-1, 1)])
        own = np.concatenate([asked, asked])
        near = np.unique(beside[self.anchor_number[beside] == self.anchor_number[own]])
        self.columns.fetch(near.tolist(), ("terms",))

    def read_bboxes(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """The rectangles of some rows, one after the other."""
        self.columns.fetch(rows, RANKED)
        return [box for own in self.store.read(rows, ["bboxes"])["bboxes"].to_list() for box in own]

    @cached_property
    def row_of_chunk(self) -> Mapping[str, int]:
        """Number of each fetched chunk's row."""
        return FetchedRows(self.columns["chunk_id"])

    @cached_property
    def labels(self) -> Sequence[frozenset[str]]:
        """Terms of the tags and entities of each row."""
        return FetchedLabels(self.columns, self.is_labelled)

    def find_tagged(self, tag: str) -> npt.NDArray[np.bool_]:
        """Rows that carry a tag or name an entity, whatever its capitals."""
        found = np.zeros(len(self.document_number), dtype=np.bool_)
        found[self.store.find_tagged(tag)] = True
        return found
