"""Rows of an index read by number: from a frame in memory or mapped from a file, or from LanceDB.

Here: reading cells, vectors and directions of a few rows. Not here: searching, or opening a file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoder import Vectors


class RowStore(Protocol):
    """Whatever gives back rows of an index by their numbers."""

    @property
    def height(self) -> int:
        """Number of rows."""

    def read(self, rows: Sequence[int], columns: Sequence[str]) -> pl.DataFrame:
        """Some cells, one row for each number, in the order asked for."""

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """Vectors of some rows: (rows, dimension)."""

    def directions(self, anchors: Sequence[int]) -> Vectors:
        """Mean directions of some sections by anchor number: (anchors, dimension)."""

    def find_table(self, table_id: str) -> list[int]:
        """The rows that print a table, in order."""

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""

    def find_tagged(self, tag: str) -> list[int]:
        """The rows that carry a tag or name an entity, whatever its capitals."""

    def count_tags(self) -> list[str]:
        """The tags of the index, most frequent first."""


class VectorFile:
    """Rows of a .npy file of one matrix, read by number; nothing of it stays in memory."""

    def __init__(self, path: Path) -> None:
        mapped = np.load(path, mmap_mode="r")
        self.shape: tuple[int, int] = mapped.shape
        self._start, self._bytes = int(mapped.offset), int(mapped.strides[0])
        self._dtype = mapped.dtype
        self._file = os.open(path, os.O_RDONLY)

    def __del__(self) -> None:
        os.close(self._file)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Vectors:
        """The rows of these numbers."""
        asked = np.atleast_1d(np.asarray(rows, dtype=np.int64)).tolist()
        read = b"".join(os.pread(self._file, self._bytes, self._start + row * self._bytes) for row in asked)
        found: Vectors = np.frombuffer(read, dtype=self._dtype).reshape(len(asked), self.shape[1])
        return found


@dataclass(frozen=True)
class FrameRows:
    """Rows of a frame, which may be mapped from a file, with vectors and directions as matrices or files of them."""

    frame: pl.DataFrame
    matrix: Any
    section_matrix: Any

    @property
    def height(self) -> int:
        return self.frame.height

    def read(self, rows: Sequence[int], columns: Sequence[str]) -> pl.DataFrame:
        """Some cells, in the order asked for."""
        return self.frame.select(columns)[list(rows)]

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """Vectors of some rows."""
        found: Vectors = self.matrix[rows]
        return found

    def directions(self, anchors: Sequence[int]) -> Vectors:
        """Mean directions of some sections."""
        found: Vectors = self.section_matrix[anchors]
        return found

    @cached_property
    def _tables(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        is_table = (self.frame["level"] == "table").arg_true()
        for row, node_ids in zip(is_table.to_list(), self.frame["node_ids"][is_table].to_list(), strict=True):
            found.setdefault(node_ids[0], []).append(row)
        return found

    def find_table(self, table_id: str) -> list[int]:
        """The rows that print a table."""
        return self._tables.get(table_id, [])

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""
        holds = self.frame.select(
            pl.col("node_ids").list.contains(node_id) | pl.col("anchor_id").eq_missing(pl.lit(node_id))
        )
        return next(iter(holds.to_series().arg_true().to_list()), None)

    def find_tagged(self, tag: str) -> list[int]:
        """The rows that carry a tag or name an entity."""
        own = pl.col("tags").list.concat("entities")
        wanted = tag.strip().casefold()
        some = self.frame.lazy().with_row_index("row").filter(own.list.len() > 0).select("row", own.alias("own"))
        return [row for row, held in some.collect().iter_rows() if any(wanted == one.casefold() for one in held)]

    def count_tags(self) -> list[str]:
        """The tags of the index, most frequent first."""
        tags = self.frame["tags"].explode().drop_nulls()
        return tags.value_counts(sort=True)["tags"].to_list()


@dataclass(frozen=True)
class LanceRows:
    """Rows of LanceDB's table of passages, whose offsets are row numbers, and of its table of sections' directions."""

    passages: Any
    sections: Any

    @cached_property
    def height(self) -> int:
        """Number of rows."""
        return int(self.passages.count_rows())

    def read(self, rows: Sequence[int], columns: Sequence[str]) -> pl.DataFrame:
        """Some cells, in the order asked for."""
        return _take(self.passages, rows, columns)

    def vectors(self, rows: Sequence[int]) -> Vectors:
        """Vectors of some rows."""
        return _stack(_take(self.passages, rows, ["vector"]))

    def directions(self, anchors: Sequence[int]) -> Vectors:
        """Mean directions of some sections."""
        return _stack(_take(self.sections, anchors, ["vector"]))

    def find_table(self, table_id: str) -> list[int]:
        """The rows that print a table."""
        return self._find(f"level = 'table' AND array_has(node_ids, '{_quoted(table_id)}')")

    def find_node(self, node_id: str) -> int | None:
        """The first row that holds a node or that an anchor owns."""
        wanted = _quoted(node_id)
        return next(iter(self._find(f"anchor_id = '{wanted}' OR array_has(node_ids, '{wanted}')")), None)

    def find_tagged(self, tag: str) -> list[int]:
        """The rows that carry a tag or name an entity; names are written in several ways, so rows with any are read."""
        wanted = tag.strip().casefold()
        return [row for row, *held in self._labelled() if any(wanted == one.casefold() for own in held for one in own)]

    def count_tags(self) -> list[str]:
        """The tags of the index, most frequent first."""
        tags = pl.Series("tags", [tag for _, own, _ in self._labelled() for tag in own], dtype=pl.String)
        return tags.value_counts(sort=True)["tags"].to_list()

    def _labelled(self) -> list[tuple[int, list[str], list[str]]]:
        some = self.passages.search().where("array_length(tags) > 0 OR array_length(entities) > 0")
        found = some.select(["row", "tags", "entities"]).limit(self.height).to_list()
        return sorted((one["row"], one["tags"] or [], one["entities"] or []) for one in found)

    def _find(self, where: str) -> list[int]:
        found = self.passages.search().where(where).select(["row"]).limit(self.height).to_list()
        return sorted(one["row"] for one in found)


def _take(table: Any, rows: Sequence[int], columns: Sequence[str]) -> pl.DataFrame:
    """Rows of a table by their numbers, each as often as it is asked for."""
    asked = np.asarray(rows, dtype=np.int64)
    once = np.unique(asked)
    found = pl.DataFrame(table.take_offsets(once.tolist()).select(["row", *columns]).to_arrow()).sort("row")
    ordered: pl.DataFrame = found.drop("row")[np.searchsorted(once, asked).tolist()]
    return ordered


def _stack(frame: pl.DataFrame) -> Vectors:
    matrix: Vectors = np.asarray(frame["vector"].to_numpy(), dtype=np.float32).reshape(frame.height, -1)
    return matrix


def _quoted(text: str) -> str:
    return text.replace("'", "''")
