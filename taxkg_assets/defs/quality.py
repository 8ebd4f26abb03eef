"""The asset `document_quality`, and one check a law: passed, or warned with the documents named; it never blocks.

What blocks is the gate `few_documents_withheld` on `documents`.
"""

import base64
from collections.abc import Mapping
from typing import Any

import dagster as dg
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.code_references import code_references
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import table
from taxkg_assets.defs.wiring.verdicts import OFFENDING_ROWS, table_metadata
from taxkg_assets.evaluation.quality_plot import count_outcomes, render_quality_plot, render_quality_table
from taxkg_assets.extraction.document_law import CORRUPT, DocumentLaw
from taxkg_assets.extraction.document_quality import ALL_LAWS, build_document_quality

DOUBTS = ("document_id", "law", "outcome", "message", "remedy")
"""Columns of `document_quality` that are shown."""


def show_quality(store: Store) -> Mapping[str, Any]:
    """The laws with their counts as a table and a plot, and the documents to check."""
    quality = schemas.DocumentQuality.cast(store.read("document_quality"))
    counts = count_outcomes(quality)
    picture = base64.b64encode(render_quality_plot(counts)).decode()
    return {
        "laws": dg.MetadataValue.md(render_quality_table(counts)),
        "plot": dg.MetadataValue.md(f"![documents by law and outcome](data:image/png;base64,{picture})"),
        "documents to check": table_metadata(find_doubts(quality)),
    }


def find_doubts(quality: pl.DataFrame) -> pl.DataFrame:
    """The checks that documents failed, with message and remedy."""
    return quality.filter(pl.col("outcome") != "passed").select(DOUBTS)


document_quality = table(schemas.DocumentQuality, build_document_quality, group="quality", show=show_quality)


def quality_check(law: DocumentLaw) -> dg.AssetChecksDefinition:
    """Make the asset check of a document check: it passes, or warns and names the documents."""
    effect = "is held back" if law.strength == CORRUPT else "is served with a flag"
    finder = law.find if law.find is not None and not law.tables else build_document_quality

    @dg.asset_check(
        asset=dg.AssetKey("document_quality"),
        name=law.name,
        description=f"{law.title.capitalize()}. A document that fails this check ({law.broken}) {effect}.",
        blocking=False,
        metadata={"dagster/code_references": code_references(law=finder)},
        required_resource_keys={"home"},
    )
    def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        home: Home = context.resources.home
        rows = home.store.read("document_quality").filter(pl.col("law") == law.name)
        doubts = rows.filter(pl.col("outcome") != "passed")
        names = doubts["document_id"].to_list()
        shown: dict[str, Any] = {"documents": rows.height, "failed by": len(names)}
        if names:
            shown |= {
                "note": f"{doubts['outcome'].to_list()[0]}: {', '.join(names[:OFFENDING_ROWS])}",
                "first offending rows": table_metadata(doubts.head(OFFENDING_ROWS).drop("law", "strength")),
            }
        return dg.AssetCheckResult(passed=not names, severity=dg.AssetCheckSeverity.WARN, metadata=shown)

    return check


quality_checks = [quality_check(law) for law in ALL_LAWS]
