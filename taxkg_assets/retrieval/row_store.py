"""Rows of a large index read by number: LanceDB holds them, files mapped from the disk hold what ranking reads of each.

Here: reading cells and vectors of a few rows. Not here: searching, or opening a file.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.retrieval.encoder import Vectors

_READ_BEFORE_RELEASE = 5_000
"""Rows of a mapped file that are read before its pages are given back; a scattered one takes up to 64 KB of them."""


class Pages:
    """The pages of a mapped file of which single rows are read: they are given back now and then."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped, self._read = mapped, 0
        mapped.madvise(mmap.MADV_RANDOM)

    def note(self, count: int) -> None:
        """So many rows were read; what is read again after its pages were given back is the same."""
        self._read += count
        if self._read > _READ_BEFORE_RELEASE:
            self._read = 0
            self._mapped.madvise(mmap.MADV_DONTNEED)


class MappedVectors:
    """Rows of a matrix in a .npy file, read by number."""

    def __init__(self, mapped: np.memmap[Any, Any]) -> None:
        self._pages = Pages(mapped._mmap)  # type: ignore[attr-defined]
        self._matrix: Vectors = np.asarray(mapped)

    def __getitem__(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> Vectors:
        """The rows of these numbers."""
        found: Vectors = np.take(self._matrix, np.asarray(rows, dtype=np.int64), axis=0)
        self._pages.note(len(found))
        return found


@dataclass(frozen=True)
class LanceRows:
    """Rows of LanceDB's table of passages, whose offsets are row numbers.

    Attributes: mapped: the columns that ranking reads of every candidate, mapped from a file. pages: that file's.
    """

    passages: Any
    mapped: pl.DataFrame
    pages: Pages | None = None

    @cached_property
    def height(self) -> int:
        """Number of rows."""
        return int(self.passages.count_rows())

    def read(self, rows: Sequence[int], columns: Sequence[str]) -> pl.DataFrame:
        """Some cells, one row for each number, in the order asked for; LanceDB is asked once, if at all."""
        near = [name for name in columns if name in self.mapped.columns]
        others = [name for name in columns if name not in near]
        parts = [self.mapped.select(near)[list(rows)]] if near else []
        if near and self.pages is not None:
            self.pages.note(len(rows))
        parts += [self._take(rows, others)] if others else []
        return pl.concat(parts, how="horizontal")

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""
        wanted = _quoted(node_id)
        return self._find_first(f"anchor_id = {wanted} OR array_has(node_ids, {wanted})")

    def find_chunk(self, chunk_id: str) -> int | None:
        """The row of a chunk."""
        return self._find_first(f"chunk_id = {_quoted(chunk_id)}")

    def _find_first(self, where: str) -> int | None:
        found = self.passages.search().where(where).select(["row"]).limit(self.height).to_list()
        return min((one["row"] for one in found), default=None)

    def _take(self, rows: Sequence[int], columns: Sequence[str]) -> pl.DataFrame:
        asked = np.asarray(rows, dtype=np.int64)
        once = np.unique(asked)
        found = pl.DataFrame(self.passages.take_offsets(once.tolist()).select(["row", *columns]).to_arrow()).sort("row")
        ordered: pl.DataFrame = found.drop("row")[np.searchsorted(once, asked).tolist()]
        return ordered


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
