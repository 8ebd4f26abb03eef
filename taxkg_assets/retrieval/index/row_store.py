"""Rows of a large index, read by number: LanceDB stores them, and searches read their columns from mapped files.

Here: reading cells and vectors of a few rows. Not here: searching, or opening a file.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.retrieval.encoding.encoder import Vectors

_READ_BETWEEN = 2_000
"""Rows that are read between two releases, those of a few questions: each may map some pages of the page cache."""


class Pages:
    """Memory pages of a mapped file, released now and then so that rows read once do not hold process memory."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped = mapped
        self._read = 0
        mapped.madvise(mmap.MADV_RANDOM)

    def release_after(self, rows: int) -> None:
        """Unmap the pages that were read if they are many; they stay in the operating system's page cache.

        Args:
            rows: Number of rows that were just read.
        """
        self._read += rows
        if self._read >= _READ_BETWEEN:
            self._read = 0
            self._mapped.madvise(mmap.MADV_DONTNEED)


class StoredVectors:
    """Rows of a matrix in a .npy file, each read when it is needed.

    They are not mapped: a page of a mapped file is mapped with those around it, which takes longer than to read a row.

    Args:
        path: File of the matrix.
    """

    def __init__(self, path: Path) -> None:
        matrix = np.load(path, mmap_mode="r")
        self._type, self._begin = matrix.dtype, matrix.offset
        self._height, self._width = matrix.shape
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)

    def __getitem__(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> Vectors:
        """Return the rows of these numbers.

        Raises:
            IndexError: A number is negative or past the last row.
        """
        file, begin, size = self._file, self._begin, self._width * self._type.itemsize
        wanted = np.asarray(rows, dtype=np.int64).tolist()
        if wanted and not 0 <= min(wanted) <= max(wanted) < self._height:
            raise IndexError(
                f"vectors have rows 0 to {self._height - 1}; {min(wanted)} to {max(wanted)} were requested"
            )
        read = bytearray().join([os.pread(file, size, begin + size * row) for row in wanted])
        vectors: Vectors = np.frombuffer(read, dtype=self._type).reshape(len(wanted), self._width)
        return vectors


@dataclass(frozen=True)
class LanceRows:
    """Rows of LanceDB's table of passages, addressed by row number.

    Attributes:
        passages: Table of LanceDB.
        mapped: Columns that ranking reads of every candidate, mapped from a file.
        pages: Pages of that file.
    """

    passages: Any
    mapped: pl.DataFrame
    pages: Pages | None = None

    @cached_property
    def height(self) -> int:
        """Return the number of rows."""
        return int(self.passages.count_rows())

    @cached_property
    def _near(self) -> Mapping[str, pl.Series]:
        """Return the mapped columns by name."""
        return {column.name: column for column in self.mapped}

    def read(self, rows: Sequence[int], columns: Sequence[str]) -> dict[str, list[Any]]:
        """Return the cells of some rows by column, in the given order, with at most one LanceDB read.

        Args:
            rows: Row numbers.
            columns: Names of columns.
        """
        near = [name for name in columns if name in self._near]
        others = [name for name in columns if name not in near]
        cells = _read_cells([self._near[name] for name in near], rows) if near else {}
        if near and self.pages is not None:
            self.pages.release_after(len(rows))
        return cells | (self._take(rows, others).to_dict(as_series=False) if others else {})

    def find_node(self, node_id: str) -> int | None:
        """Return the first row of a node or of an anchor; None for an unknown id.

        Args:
            node_id: Id of a node or anchor.
        """
        wanted = _quoted(node_id)
        return self._find_first(f"anchor_id = {wanted} OR array_has(node_ids, {wanted})")

    def find_chunk(self, chunk_id: str) -> int | None:
        """Return the row of a chunk; None for an unknown one.

        Args:
            chunk_id: Id of a chunk.
        """
        return self._find_first(f"chunk_id = {_quoted(chunk_id)}")

    def _find_first(self, where: str) -> int | None:
        rows = self.passages.search().where(where).select(["row"]).limit(self.height).to_list()
        return min((one["row"] for one in rows), default=None)

    def _take(self, rows: Sequence[int], columns: Sequence[str]) -> pl.DataFrame:
        wanted_rows = np.asarray(rows, dtype=np.int64)
        once = np.unique(wanted_rows)
        frame = pl.DataFrame(self.passages.take_offsets(once.tolist()).select(["row", *columns]).to_arrow()).sort("row")
        ordered: pl.DataFrame = frame.drop("row")[np.searchsorted(once, wanted_rows).tolist()]
        return ordered


def _read_cells(columns: Sequence[pl.Series], rows: Sequence[int]) -> dict[str, list[Any]]:
    """Return the cells of some rows by column; lists one by one, as to gather them takes time for all rows."""
    numbers = pl.Series(rows, dtype=pl.UInt32)
    return {
        column.name: [column[int(row)].to_list() for row in rows]
        if column.dtype.is_nested()
        else column[numbers].to_list()
        for column in columns
    }


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
