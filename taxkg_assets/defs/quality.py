"""The asset `document_quality`, and an asset check for each document check: it passes or warns, and never blocks.

What blocks is the gate `few_documents_withheld` on `documents`.
"""

import base64
from collections.abc import Mapping
from typing import Any

import dagster as dg
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.chunking.coverage import find_documents_without_passages, find_uncovered_sections
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.code_references import code_references
from taxkg_assets.defs.wiring.isolation import read_failures
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import table
from taxkg_assets.defs.wiring.verdicts import OFFENDING_ROWS, table_metadata
from taxkg_assets.digests import frame_digest
from taxkg_assets.evaluation.quality_plot import count_outcomes, render_quality_plot, render_quality_table
from taxkg_assets.extraction.document_check import CORRUPT, INCOMPLETE, DocumentCheck, column_check
from taxkg_assets.extraction.document_quality import CHECKS, REPORT_ERROR, build_document_quality
from taxkg_assets.graph.document_checks import find_lost_references, find_unrelated_nodes
from taxkg_assets.graph.lines import find_unregistered_fields
from taxkg_assets.graph.registry import find_unregistered_boxes

SHOWN_COLUMNS = ("document_id", "law", "outcome", "message", "remedy")
"""Columns of `document_quality` that are shown."""


def show_quality(store: Store) -> Mapping[str, Any]:
    """Return the document checks with their counts as a table and a plot, and the documents that failed.

    Args:
        store: Tables of the home.
    """
    quality = schemas.DocumentQuality.cast(store.read("document_quality"))
    counts = count_outcomes(quality)
    picture = base64.b64encode(render_quality_plot(counts)).decode()
    return {
        "checks": dg.MetadataValue.md(render_quality_table(counts)),
        "plot": dg.MetadataValue.md(f"![documents by check and outcome](data:image/png;base64,{picture})"),
        "documents to check": table_metadata(find_failed_checks(quality)),
    }


def find_failed_checks(quality: pl.DataFrame) -> pl.DataFrame:
    """List the failed checks of documents, with message and remedy.

    Args:
        quality: Rows of `document_quality`.
    """
    return quality.filter(pl.col("outcome") != "passed").select(SHOWN_COLUMNS)


_FOLLOW_BY_HAND = "Search finds these passages all the same. Follow their references by hand; `taxkg trace` cannot."
_LIBRARY_CHECKS = (
    column_check(
        "tables_can_be_built",
        on="failures",
        where=pl.lit(True),
        show=("table", "error"),
        broken="tables lack the document, because building its rows failed",
        remedy=REPORT_ERROR,
    ),
    DocumentCheck(
        "documents_have_passages",
        INCOMPLETE,
        "chunks",
        "documents have no passage, so that no search finds them",
        "Open the PDF: its text may be outside of the pages, or too large or too small to be read.",
        find_documents_without_passages,
        show=("page_count",),
    ),
    DocumentCheck(
        "boxes_are_registered",
        INCOMPLETE,
        "registry",
        "boxes of the form are not registered",
        "Look for the box on the printed form.",
        find_unregistered_boxes,
        show=("box_key", "label"),
    ),
    DocumentCheck(
        "fields_belong_to_lines",
        INCOMPLETE,
        "lines",
        "numbered fields belong to no line of the form",
        "Look for the line on the printed form. `taxkg form FORM` lists the lines that were found.",
        find_unregistered_fields,
        show=("part", "key"),
    ),
    DocumentCheck(
        "references_lead_to_a_place",
        INCOMPLETE,
        "references",
        "references name a place that was not found in the document",
        _FOLLOW_BY_HAND,
        find_lost_references,
        show=("page", "evidence"),
    ),
    DocumentCheck(
        "passages_are_related",
        INCOMPLETE,
        "nodes",
        "passages have no reference, directly or through their neighbors",
        _FOLLOW_BY_HAND,
        find_unrelated_nodes,
        show=("page", "text"),
    ),
    DocumentCheck(
        "paragraphs_are_in_passages",
        INCOMPLETE,
        "chunks",
        "paragraphs are in no passage that can be searched",
        "Read these paragraphs on the page, as no search finds them.",
        find_uncovered_sections,
        show=("page", "text"),
    ),
)
ALL_CHECKS = (*CHECKS, *_LIBRARY_CHECKS)
"""All document checks."""


document_quality = table(
    schemas.DocumentQuality,
    build_document_quality,
    group="quality",
    resources={"checks": lambda home: ALL_CHECKS, "failures": lambda home: read_failures(home.store)},
    fingerprint=lambda home: frame_digest(read_failures(home.store)),
    after=("revisions", "flows", "summaries"),
    code=[check.find for check in _LIBRARY_CHECKS if check.find is not None],
    show=show_quality,
)


def quality_check(check: DocumentCheck) -> dg.AssetChecksDefinition:
    """Create the asset check of a document check; it passes, or warns and names the documents.

    Args:
        check: The document check, from `ALL_CHECKS`.
    """
    effect = "is held back" if check.severity == CORRUPT else "is served with a flag"
    checking_function = check.find if check.find is not None and not check.tables else build_document_quality

    @dg.asset_check(
        asset=dg.AssetKey("document_quality"),
        name=check.name,
        description=f"{check.title.capitalize()}. A document that fails this check ({check.broken}) {effect}.",
        blocking=False,
        metadata={"dagster/code_references": code_references(check=checking_function)},
        required_resource_keys={"home"},
    )
    def evaluate(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        home: Home = context.resources.home
        rows = home.store.read("document_quality").filter(pl.col("law") == check.name)
        failed_rows = rows.filter(pl.col("outcome") != "passed")
        names = failed_rows["document_id"].to_list()
        metadata: dict[str, Any] = {"documents": rows.height, "failed by": len(names)}
        if names:
            metadata |= {
                "note": f"{failed_rows['outcome'].to_list()[0]}: {', '.join(names[:OFFENDING_ROWS])}",
                "first offending rows": table_metadata(failed_rows.head(OFFENDING_ROWS).drop("law", "strength")),
            }
        return dg.AssetCheckResult(passed=not names, severity=dg.AssetCheckSeverity.WARN, metadata=metadata)

    return evaluate


quality_checks = [quality_check(check) for check in ALL_CHECKS]
