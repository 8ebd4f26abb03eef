"""Documents that could not be processed, and when there are too many of them.

One row per document: the newest refused bytes. Rows of an older, sound version of the document stay in all tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.schemas import Quarantine


def build_quarantine(refusals: Sequence[Mapping[str, Any]]) -> dy.DataFrame[Quarantine]:
    """One row per refused document.

    Args: refusals: for each document the values of the table's columns.
    """
    frame = pl.DataFrame(list(refusals), schema=Quarantine.create_empty().schema)
    return Quarantine.validate(frame.sort("document_id"))


def find_withheld(
    documents: pl.DataFrame, quarantine: pl.DataFrame, *, share: float, least: int
) -> tuple[pl.DataFrame, bool]:
    """List the documents that laws withhold, and decide whether they are too many; unreadable files do not count.

    Args:    share: of all documents, more than which stop the corpus. least: fewer than these never stop it.
    Returns: `document_id`, `stage`, `reason`, `remedy`, one row per document; and whether they stop the corpus.
    """
    withheld = quarantine.filter("is_law").select("document_id", "stage", "reason", "remedy")
    total = pl.concat([documents["document_id"], quarantine["document_id"]]).n_unique()
    return withheld, withheld.height >= least and withheld.height > share * total
