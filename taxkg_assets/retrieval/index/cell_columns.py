"""Columns of a frame that are read cell by cell, and become lists once that is cheaper."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

_LIST_AFTER_SHARE = 20
"""A column becomes a list once one in `_LIST_AFTER_SHARE` of its cells has been read; a read from the frame costs
about 20 times one from the list."""
_SEARCHES = 60
"""Values that are searched for one by one, which takes as long as to make a dict of 50,000."""


Key = TypeVar("Key", bound=Hashable)


class CellColumn(Sequence[Any]):
    """A column read cell by cell: from the frame at first, from a list once many cells have been read.

    One question reads a few hundred cells of a library; an evaluation reads most of them. Cells that are lists, such as
    all cells of a table, are always read from the frame: to convert all of them costs more than to find a few, and the
    caller keeps those that it has read.
    """

    __slots__ = ("_cells", "_columns", "_frame_reads_left")

    def __init__(self, cells: pl.Series, columns: CellColumns) -> None:
        self._cells = cells
        self._columns = columns
        self._frame_reads_left = sys.maxsize if cells.dtype.is_nested() else len(cells) // _LIST_AFTER_SHARE

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, row: Any) -> Any:
        if not self._frame_reads_left:
            return self._columns.make_list(self._cells.name)[row]
        self._frame_reads_left -= 1
        cell = self._cells[row]
        return cell.to_list() if isinstance(cell, pl.Series) else cell

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns.make_list(self._cells.name))


class RowNumbers(Mapping[str, int]):
    """Row number of each value of a column without repeats: a binary search at first, a dict after many look-ups."""

    def __init__(self, values: pl.Series) -> None:
        self._values = values
        self._searches_left = _SEARCHES
        self._rows: dict[str, int] | None = None

    def __getitem__(self, value: str) -> int:
        if self._rows is None and self._searches_left:
            self._searches_left -= 1
            if (row := self._values.index_of(value)) is None:
                raise KeyError(value)
            return int(row)
        return self._read_all()[value]

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._read_all())

    def _read_all(self) -> dict[str, int]:
        if self._rows is None:
            self._rows = {value: row for row, value in enumerate(self._values.to_list())}
        return self._rows


class CellColumns(dict[str, Sequence[Any]]):
    """Columns of a frame by name, each made on first access."""

    def __init__(self, rows: pl.DataFrame) -> None:
        super().__init__()
        self._rows = rows

    def __missing__(self, name: str) -> Sequence[Any]:
        self[name] = CellColumn(self._rows[name], self)
        return self[name]

    @property
    def names(self) -> list[str]:
        """Return the names of the frame's columns."""
        return self._rows.columns

    def make_list(self, name: str) -> list[Any]:
        """Convert a column to a list and use the list for all later reads.

        Args:
            name: Name of the column.

        Returns:
            The list.
        """
        column = self[name]
        if not isinstance(column, list):
            column = self[name] = self._rows[name].to_list()
        return column


def group_rows(pairs: Iterable[tuple[int, Key]]) -> Mapping[Key, list[int]]:
    """Group row numbers by value, keeping their order.

    Args:
        pairs: Row number and value, one pair per row.

    Returns:
        Row numbers by value.
    """
    rows_by_value: dict[Key, list[int]] = {}
    for row, value in pairs:
        rows_by_value.setdefault(value, []).append(row)
    return rows_by_value
