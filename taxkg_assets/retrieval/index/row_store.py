"""Rows of a large index, read by number: LanceDB stores all columns, mapped files those that searches read.

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

_ROWS_PER_RELEASE = 2_000
"""Rows after which the memory pages of a mapped file are released: those of a few questions."""


class Pages:
    """Memory pages of a mapped file, released after some reads so that the process does not keep all of them."""

    def __init__(self, mapped: mmap.mmap) -> None:
        self._mapped = mapped
        self._read = 0
        mapped.madvise(mmap.MADV_RANDOM)

    def release_after(self, rows: int) -> None:
        """Count rows that were read, and unmap the pages once these are many; the operating system still caches them.

        Args:
            rows: Number of rows that were just read.
        """
        self._read += rows
        if self._read >= _ROWS_PER_RELEASE:
            self._read = 0
            self._mapped.madvise(mmap.MADV_DONTNEED)


class StoredVectors:
    """Rows of a matrix in a .npy file, each read when it is needed.

    The file is not memory-mapped: that would load the pages around each row, which takes longer than to read the row.

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
        file, offset, row_bytes = self._file, self._begin, self._width * self._type.itemsize
        row_numbers = np.asarray(rows, dtype=np.int64).tolist()
        if row_numbers and not 0 <= min(row_numbers) <= max(row_numbers) < self._height:
            raise IndexError(
                f"vectors have rows 0 to {self._height - 1}; {min(row_numbers)} to {max(row_numbers)} were requested"
            )
        buffer = bytearray().join([os.pread(file, row_bytes, offset + row_bytes * row) for row in row_numbers])
        vectors: Vectors = np.frombuffer(buffer, dtype=self._type).reshape(len(row_numbers), self._width)
        return vectors


@dataclass(frozen=True)
class LanceRows:
    """Rows of LanceDB's table of passages, addressed by row number.

    Attributes:
        passages: LanceDB's table of passages.
        mapped: Columns that searches read, mapped from a file.
        pages: Memory pages of that file; None where they are never released.
    """

    passages: Any
    mapped: pl.DataFrame
    pages: Pages | None = None

    @cached_property
    def height(self) -> int:
        """Return the number of rows."""
        return int(self.passages.count_rows())

    @cached_property
    def _mapped_columns(self) -> Mapping[str, pl.Series]:
        """Return the mapped columns by name."""
        return {column.name: column for column in self.mapped}

    def read(self, rows: Sequence[int], columns: Sequence[str]) -> dict[str, list[Any]]:
        """Return the cells of some rows by column, in the given order, with at most one LanceDB read.

        Args:
            rows: Row numbers.
            columns: Names of columns.
        """
        mapped = [name for name in columns if name in self._mapped_columns]
        unmapped = [name for name in columns if name not in mapped]
        cells = _read_cells([self._mapped_columns[name] for name in mapped], rows) if mapped else {}
        if mapped and self.pages is not None:
            self.pages.release_after(len(rows))
        return cells | (self._take(rows, unmapped).to_dict(as_series=False) if unmapped else {})

    def find_node(self, node_id: str) -> int | None:
        """Return the first row of a node or of an anchor; None for an unknown id.

        Args:
            node_id: Id of a node or anchor.
        """
        quoted_id = _quoted(node_id)
        return self._find_first(f"anchor_id = {quoted_id} OR array_has(node_ids, {quoted_id})")

    def find_chunk(self, chunk_id: str) -> int | None:
        """Return the row of a chunk; None for an unknown one.

        Args:
            chunk_id: Id of a chunk.
        """
        return self._find_first(f"chunk_id = {_quoted(chunk_id)}")

    def _find_first(self, where: str) -> int | None:
        matches = self.passages.search().where(where).select(["row"]).limit(self.height).to_list()
        return min((match["row"] for match in matches), default=None)

    def _take(self, rows: Sequence[int], columns: Sequence[str]) -> pl.DataFrame:
        """Return rows of LanceDB's table in the given order, which may repeat rows."""
        row_numbers = np.asarray(rows, dtype=np.int64)
        distinct_rows = np.unique(row_numbers)
        frame = pl.DataFrame(
            self.passages.take_offsets(distinct_rows.tolist()).select(["row", *columns]).to_arrow()
        ).sort("row")
        repeated: pl.DataFrame = frame.drop("row")[np.searchsorted(distinct_rows, row_numbers).tolist()]
        return repeated


def _read_cells(columns: Sequence[pl.Series], rows: Sequence[int]) -> dict[str, list[Any]]:
    """Return the cells of some rows by column; lists are read one by one, as polars would gather them from all rows."""
    numbers = pl.Series(rows, dtype=pl.UInt32)
    return {
        column.name: [column[int(row)].to_list() for row in rows]
        if column.dtype.is_nested()
        else column[numbers].to_list()
        for column in columns
    }


def _quoted(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
