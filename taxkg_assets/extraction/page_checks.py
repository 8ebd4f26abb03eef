"""Document checks on how pages were read: structure tags are trusted, and the layout of the page agrees with them."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.authored.trust import SILENT
from taxkg_assets.rules.models.document_checks import load_document_checks
from taxkg_assets.schemas import Anchors, Documents

_NOT_OWN_LINE = ("runin", "line", "column")


def find_distrusted_pages(documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Find pages whose tags were rejected, in documents where these are a large share of the tagged pages.

    Pages whose tags do not cover their text are not counted.

    Args:
        documents: Documents with the sources of their pages.

    Returns:
        One row per page with `document_id`, `page` and `reason`.
    """
    limits = load_document_checks().structure_tags_are_trusted
    pages = find_read_pages(documents).filter(~pl.col("reason").is_in(SILENT))
    tagged = pages.filter((pl.col("source") == "tags") | (pl.col("reason") != ""))
    is_distrusted = pl.col("reason") != ""
    share = is_distrusted.mean().over("document_id")
    count = is_distrusted.sum().over("document_id")
    is_offending = is_distrusted & (share > limits.distrusted_frac) & (count >= limits.least_pages)
    return tagged.filter(is_offending).select("document_id", "page", "reason").sort("document_id", "page")


def find_disputed_headings(anchors: dy.DataFrame[Anchors], documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Find headings on which tags and layout disagree, in documents where the two agree on few.

    Pages whose tags name no heading are not counted.

    Args:
        anchors: Headings of all documents.
        documents: Documents.

    Returns:
        One row per heading on a page that was read by its tags, with `document_id`, `page` and `heading`.
    """
    limits = load_document_checks().tags_and_layout_agree
    tagged = find_read_pages(documents).filter(pl.col("source") == "tags")
    on_tagged = anchors.filter(~pl.col("kind").is_in(_NOT_OWN_LINE)).join(
        tagged, on=["document_id", "page"], how="semi"
    )
    own_line = on_tagged.filter((pl.col("source") != "layout").any().over("document_id", "page"))
    is_agreed = pl.col("source") == "both"
    share, count = is_agreed.mean().over("document_id"), pl.len().over("document_id")
    is_offending = ~is_agreed & (share < limits.agreed_frac) & (count >= limits.least_headings)
    return own_line.filter(is_offending).sort("anchor_id").select("document_id", "page", "heading")


def find_read_pages(documents: pl.DataFrame) -> pl.DataFrame:
    """List for every page how it was read: one row per document and page with `source` and `reason`."""
    rows = documents.select("document_id", "page_sources").explode("page_sources").drop_nulls("page_sources")
    return rows.unnest("page_sources").select("document_id", "page", "source", "reason")
