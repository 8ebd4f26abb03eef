"""Reliability of confidence: precision by bins of confidence on labeled rows, and uncertain rows to review."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import dataframely as dy
import polars as pl

from taxkg_assets.rules.confidence import find_sure_threshold, read_confidence
from taxkg_assets.schemas import Anchors, Sections, Tables

BINS = (0.0, 0.8, 0.9, 0.95, 1.0)
OUTCOME = {"confidence": pl.Float64, "is_right": pl.Boolean}


def score_reliability(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Compare confidence with precision, one row per confidence bin.

    Args:
        outcomes: `confidence` and `is_right` of labeled decisions.

    Returns:
        `confidence` (the bin), `n`, `precision` and `mean_confidence`.
    """
    rows = []
    for low, high in pairwise(BINS):
        is_in = (pl.col("confidence") >= low) & ((pl.col("confidence") < high) | (pl.lit(high) == BINS[-1]))
        in_bin = outcomes.filter(is_in)
        if in_bin.height:
            right = int(in_bin["is_right"].sum())
            rows.append((f"{low:.2f} to {high:.2f}", in_bin.height, right / in_bin.height, in_bin["confidence"].mean()))
    return pl.DataFrame(
        rows,
        schema={"confidence": pl.String, "n": pl.Int64, "precision": pl.Float64, "mean_confidence": pl.Float64},
        orient="row",
    )


def find_unsure(rows: pl.DataFrame, *, text: str, confidence: str = "confidence") -> pl.DataFrame:
    """Find the rows below the confidence threshold, for review, least confident first.

    Args:
        rows: Rows with `document_id`, `page`, a text and a confidence.
        text: Name of the text column.
        confidence: Name of the confidence column.

    Returns:
        `document_id`, `page`, `text` and `confidence`.
    """
    unsure = rows.filter(pl.col(confidence) < find_sure_threshold())
    renamed = unsure.select("document_id", "page", text=pl.col(text), confidence=pl.col(confidence))
    return renamed.sort("confidence", "document_id", "page", "text")


def find_unsure_owners(sections: dy.DataFrame[Sections], anchors: dy.DataFrame[Anchors]) -> pl.DataFrame:
    """Find paragraphs whose owning heading is uncertain; paragraphs before the first heading have no owner.

    Args:
        sections: Content elements with their owners.
        anchors: Anchors of these documents.

    Returns:
        Rows as those of `find_unsure`.
    """
    anchor_pages = anchors.select("anchor_id", anchor_page="page")
    kind = pl.when(pl.col("anchor_page") == pl.col("page")).then(pl.lit("same page")).otherwise(pl.lit("later page"))
    owned_sections = sections.select("document_id", "page", "anchor_id", "text").join(anchor_pages, on="anchor_id")
    return find_unsure(_add_confidence(owned_sections.with_columns(kind=kind), group="owners"), text="text")


def find_unsure_tables(tables: dy.DataFrame[Tables]) -> pl.DataFrame:
    """Find tables whose header assignment is uncertain.

    Args:
        tables: Extracted tables.

    Returns:
        Rows as those of `find_unsure`.
    """
    kind = pl.when("has_headers").then(pl.lit("with headers")).otherwise(pl.lit("without headers"))
    table_texts = tables.select("document_id", "page", "markdown", kind=kind)
    return find_unsure(_add_confidence(table_texts, group="tables"), text="markdown")


def _add_confidence(rows: pl.DataFrame, *, group: str) -> pl.DataFrame:
    # A join, not a replacement: without rows, a replacement would give a column of the wrong type.
    kind_confidences = [(kind, read_confidence(group, kind)) for kind in rows["kind"].unique().sort()]
    confidence_by_kind = pl.DataFrame(
        kind_confidences, schema={"kind": pl.String, "confidence": pl.Float64}, orient="row"
    )
    return rows.join(confidence_by_kind, on="kind", how="left", maintain_order="left")


def list_outcomes(pairs: Iterable[tuple[float, bool]]) -> pl.DataFrame:
    """Convert outcomes of labeled decisions to a table.

    Args:
        pairs: Confidence of each decision, and whether it is right.

    Returns:
        Columns `confidence` and `is_right`.
    """
    return pl.DataFrame(list(pairs), schema=OUTCOME, orient="row")
