"""Documents that could not be processed, and when there are too many of them.

One row per document: the newest refused bytes. Rows of an older, sound version of the document stay in all tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.schemas import Quarantine

WITHHELD_FRAC = 0.02
WITHHELD_MIN = 2


def build_quarantine(refusals: Sequence[Mapping[str, Any]]) -> dy.DataFrame[Quarantine]:
    """One row per refused document.

    Args: refusals: for each document the values of the table's columns.
    """
    frame = pl.DataFrame(list(refusals), schema=Quarantine.create_empty().schema)
    return Quarantine.validate(frame.sort("document_id"))


def find_withheld(documents: pl.DataFrame, quarantine: pl.DataFrame) -> pl.DataFrame:
    """Documents withheld by laws, if they are more than 2 % of all and at least 2; unreadable files do not count."""
    withheld = quarantine.filter("is_law").select("document_id", "stage", "reason", "remedy")
    total = pl.concat([documents["document_id"], quarantine["document_id"]]).n_unique()
    return withheld if are_too_many(withheld.height, total) else withheld.clear()


def are_too_many(faulty: int, total: int) -> bool:
    """Decide whether so many faulty documents of all stop the corpus: more than 2 %, and at least 2."""
    return faulty >= WITHHELD_MIN and faulty > WITHHELD_FRAC * total
