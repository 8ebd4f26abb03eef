"""Assets of the stage `sources`: which documents are in, and which had to stay out."""

import dagster as dg
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs._table import (
    DOCUMENT_PARTITIONS,
    UPSTREAM,
    DocumentBatches,
    Verdict,
    asset_arguments,
    gate,
)
from taxkg_assets.defs.intake import admit_documents
from taxkg_assets.defs.resources import Home
from taxkg_assets.sources.documents import build_documents, find_hidden_texts
from taxkg_assets.sources.quarantine import build_quarantine, find_withheld

UPSTREAM["documents"] = UPSTREAM["quarantine"] = ()


@dg.multi_asset(
    name="intake",
    outs={
        name: dg.AssetOut(**asset_arguments(schema, build, group="sources"))
        for name, schema, build in (
            ("documents", schemas.Documents, build_documents),
            ("quarantine", schemas.Quarantine, build_quarantine),
        )
    },
    partitions_def=DOCUMENT_PARTITIONS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    required_resource_keys={"home"},
)
def intake(context: dg.AssetExecutionContext) -> tuple[DocumentBatches, DocumentBatches]:
    """Look at each document of the partitions; read the new and the changed ones."""
    home: Home = context.resources.home
    found = admit_documents(home, context.partition_keys)
    return DocumentBatches([found.documents]), DocumentBatches([found.quarantine])


@gate(on="documents", reads=("quarantine",))
def few_documents_withheld(documents: pl.DataFrame, quarantine: pl.DataFrame) -> Verdict:
    """At most 2 % of the documents (or 1 in all) are withheld by laws; unreadable files do not count.

    Shows the text that nobody can see, which was left out, and text that gives orders to programs.
    """
    withheld = find_withheld(documents, quarantine)
    hidden = find_hidden_texts(documents)
    figures = {
        "in quarantine": quarantine.height,
        "documents with hidden text": hidden["document_id"].n_unique(),
        "documents that give orders to programs": hidden.filter("is_order")["document_id"].n_unique(),
    }
    return Verdict(
        withheld, documents.height + quarantine.height, figures=figures, tables={"hidden text and orders": hidden}
    )
