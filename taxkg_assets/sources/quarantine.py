"""The table of documents that could not be processed, and the decision whether there are too many of them.

The table has one row per document, for the newest refused file. Other tables keep the rows of the document's last valid
version.
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
        refusals: Document, stage, reason and remedy of each refusal.

    Returns:
        One row per document, sorted by `document_id`.
    """
    frame = pl.DataFrame(list(refusals), schema=Quarantine.create_empty().schema)
    return Quarantine.validate(frame.sort("document_id"))


def find_withheld(
    documents: pl.DataFrame, quarantine: pl.DataFrame, *, max_share: float, least_count: int
) -> tuple[pl.DataFrame, bool]:
    """List the documents that failed a check, and decide whether they are too many to continue.

    Unreadable files do not count.

    Args:
        documents: Admitted documents.
        quarantine: Refused documents; `is_check_failure` is true for those that failed a check.
        max_share: Largest share of all documents, 0 to 1, with which the build continues.
        least_count: With fewer documents than this, the build continues in any case.

    Returns:
        `document_id`, `stage`, `reason` and `remedy`, one row per document; and whether the build must stop.
    """
    withheld = quarantine.filter("is_check_failure").select("document_id", "stage", "reason", "remedy")
    document_count = pl.concat([documents["document_id"], quarantine["document_id"]]).n_unique()
    most = find_most_withheld(document_count, max_share=max_share, least_count=least_count)
    return withheld, withheld.height > most


def find_most_withheld(document_count: int, *, max_share: float, least_count: int) -> int:
    """Return how many documents may be left out at most before a build stops.

    Args:
        document_count: Number of all documents.
        max_share: Largest share of all documents, 0 to 1, with which the build continues.
        least_count: With fewer documents than this, the build continues in any case.
    """
    return max(least_count - 1, int(max_share * document_count))
