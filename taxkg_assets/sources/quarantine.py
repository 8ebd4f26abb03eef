"""Documents that could not be processed, and when there are too many of them.

One row per document: the newest refused bytes. Rows of an older, valid version of the document stay in all tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import dataframely as dy
import polars as pl

from taxkg_assets.records import QuarantineRecord
from taxkg_assets.schemas import Quarantine


def build_quarantine(refusals: Sequence[QuarantineRecord]) -> dy.DataFrame[Quarantine]:
    """Build the table of refused documents.

    Args:
        refusals: Why each document is refused.

    Returns:
        One row per document, sorted by `document_id`.
    """
    frame = pl.DataFrame(list(refusals), schema=Quarantine.create_empty().schema)
    return Quarantine.validate(frame.sort("document_id"))


def find_withheld(
    documents: pl.DataFrame, quarantine: pl.DataFrame, *, share: float, least: int
) -> tuple[pl.DataFrame, bool]:
    """List the documents withheld by failed checks, and decide whether they are too many to continue.

    Unreadable files do not count.

    Args:
        documents: Admitted documents.
        quarantine: Refused documents; those with `is_check_failure` are withheld.
        share: Share of all documents, 0 to 1; more than these stop the corpus.
        least: Number of documents; fewer than these never stop the corpus.

    Returns:
        `document_id`, `stage`, `reason` and `remedy`, one row per document; and whether they stop the corpus.
    """
    withheld = quarantine.filter("is_check_failure").select("document_id", "stage", "reason", "remedy")
    total = pl.concat([documents["document_id"], quarantine["document_id"]]).n_unique()
    return withheld, withheld.height >= least and withheld.height > share * total
