"""Row count and first rows of each document in a table, for the partition pages of the UI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import dagster as dg
import polars as pl

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.verdicts import shortened, table_metadata

PREVIEW_ROWS = 6
"""Rows of a table that the UI shows."""

MOST_PREVIEWS = 500
"""Documents of a run that get a preview each; a run over more documents shows their row counts only."""


def describe_documents(
    store: Store, name: str, documents: Sequence[str], *, explorer_url: str = ""
) -> dict[str, dict[str, Any]]:
    """Describe the rows of each document of a run, for the Dagster UI.

    Args:
        store: The home's tables.
        name: Table that is made per document.
        documents: Documents of the run.
        explorer_url: Address of the web explorer; empty for no links.

    Returns:
        Metadata by document: the number of its rows, a link to the explorer and, in a run over few documents, its
        first rows; for a document in quarantine also the reason and the remedy.
    """
    rows_of_run = store.scan(name).filter(pl.col("document_id").is_in(list(documents)))
    counts = dict(rows_of_run.group_by("document_id").len().collect().iter_rows())
    metadata: dict[str, dict[str, Any]] = {
        document_id: {"dagster/partition_row_count": counts.get(document_id, 0)} for document_id in documents
    }
    for document_id in documents:
        if explorer_url and counts.get(document_id):
            metadata[document_id] |= link_explorer(explorer_url, f"?view=document&document={quote(document_id)}")
    refused = store.read_or_empty("quarantine").filter(pl.col("document_id").is_in(list(documents)))
    for row in refused.iter_rows(named=True):
        metadata[row["document_id"]]["in quarantine"] = f"{row['reason']} {row['remedy']}"
    if len(documents) <= MOST_PREVIEWS:
        first = rows_of_run.filter(pl.int_range(pl.len()).over("document_id") < PREVIEW_ROWS).collect()
        for (document,), rows in first.group_by("document_id", maintain_order=True):
            metadata[str(document)]["preview"] = table_metadata(shortened(rows))
    return metadata


def link_explorer(explorer_url: str, address: str = "") -> dict[str, dg.MetadataValue]:
    """Return a link to the web explorer, as metadata for the UI.

    Args:
        explorer_url: Address of the explorer.
        address: Query of a page; empty for the start page.
    """
    return {"explorer (taxkg serve)": dg.MetadataValue.url(f"{explorer_url.rstrip('/')}/{address}")}
