"""What a step hands to the IO manager: new rows, rows written already, or nothing new."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl


class Rows:
    """Interface of what a step passes to the IO manager."""


@dataclass(frozen=True, slots=True)
class Unchanged(Rows):
    """The table is current, so nothing is written."""


@dataclass(frozen=True, slots=True)
class WholeTable(Rows):
    """New rows for a whole table; `inputs` is the digest of what they were built from."""

    frame: pl.DataFrame
    inputs: str
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Shown with the table in the UI, once."""
    parts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For a table that is made in parts: the digest of what each part was made from."""


@dataclass(frozen=True, slots=True)
class Written(Rows):
    """A table that has already been written.

    Attributes:
        content: Digest of its rows.
        metadata: What the UI shows of it.
    """

    content: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentBatches(Rows):
    """New rows for some documents, in batches small enough for memory."""

    batches: Iterable[tuple[pl.DataFrame, Mapping[str, Mapping[str, str] | None]]]
