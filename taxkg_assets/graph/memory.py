"""What a builder found in the rows of a document, for its next run: most documents are those of the last build."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import polars as pl


class Memory(Protocol):
    """Interface of a cache of results by the digest of their inputs."""

    def recall(self, key: str) -> Any:
        """Return the cached result under a key; None if there is none.

        Args:
            key: Digest of the result's inputs.
        """

    def remember(self, key: str, result: Any) -> None:
        """Add a result to the cache.

        Args:
            key: Digest of the result's inputs.
            result: Any value that JSON can represent except None.
        """

    def keep(self) -> None:
        """Write the results that this run used, and drop the rest."""


class NoMemory:
    """A cache that stores nothing, for runs that compute everything."""

    def recall(self, key: str) -> None:
        """Return None.

        Args:
            key: Any key.
        """

    def remember(self, key: str, result: Any) -> None:
        """Discard a result.

        Args:
            key: Any key.
            result: Result.
        """

    def keep(self) -> None:
        """Do nothing."""


def split_by_document(frame: pl.DataFrame) -> Mapping[str, pl.DataFrame]:
    """Split a table into one frame per document.

    Args:
        frame: Rows with `document_id`.

    Returns:
        Rows by document_id.
    """
    return {str(name): rows for (name,), rows in frame.partition_by("document_id", as_dict=True).items()}
