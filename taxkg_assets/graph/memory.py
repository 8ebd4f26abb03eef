"""What a builder found in the rows of a document, for its next run: most documents are those of the last build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import polars as pl


class Memory(Protocol):
    """Findings by the digest of what they were made from."""

    def recall(self, key: str) -> Any:
        """Return what is remembered under a key; None for nothing.

        Args:
            key: Digest of what it was made from.
        """

    def remember(self, key: str, found: Any) -> None:
        """Remember findings.

        Args:
            key: Digest of what they were made from.
            found: Any value that JSON can hold, but None.
        """

    def keep(self) -> None:
        """Write the findings that this run recalled or computed, and drop the rest."""


class NoMemory:
    """The memory of a run that makes everything."""

    def recall(self, key: str) -> None:
        """Return None.

        Args:
            key: Any key.
        """

    def remember(self, key: str, found: Any) -> None:
        """Discard findings.

        Args:
            key: Any key.
            found: Findings.
        """

    def keep(self) -> None:
        """Do nothing."""


def split_by_document(frame: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    """Split a table into the rows of each document, in their order.

    Args:
        frame: Rows with `document_id`.

    Returns:
        Rows by document_id.
    """
    return {str(name): own for (name,), own in frame.partition_by("document_id", as_dict=True).items()}
