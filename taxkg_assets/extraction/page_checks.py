"""Document checks on how pages were read: structure tags are trusted, and the layout of the page agrees with them."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.authored.trust import SILENT
from taxkg_assets.rules.models.document_checks import load_document_checks
from taxkg_assets.schemas import Anchors, Documents

_KINDS_WITHIN_LINES = ("runin", "line", "column")


def find_distrusted_pages(documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Find pages whose structure tags were rejected, in documents where these are a large share of the tagged pages.

    Pages are not counted if their tags were rejected only because they do not cover the text.

    Args:
        documents: Documents with the sources of their pages.

    Returns:
        One row per page with `document_id`, `page` and `reason`.
    """
    limits = load_document_checks().structure_tags_are_trusted
    pages = find_read_pages(documents).filter(~pl.col("reason").is_in(SILENT))
    tagged_pages = pages.filter((pl.col("source") == "tags") | (pl.col("reason") != ""))
    is_distrusted = pl.col("reason") != ""
    distrusted_share = is_distrusted.mean().over("document_id")
    distrusted_count = is_distrusted.sum().over("document_id")
    is_offending = (
        is_distrusted & (distrusted_share > limits.distrusted_frac) & (distrusted_count >= limits.least_pages)
    )
    return tagged_pages.filter(is_offending).select("document_id", "page", "reason").sort("document_id", "page")


def find_disputed_headings(anchors: dy.DataFrame[Anchors], documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Find headings that only the tags or only the layout shows, in documents where they are a large share of all.

    Not compared are headings inside a line of text, and pages whose tags have no heading.

    Args:
        anchors: Headings of all documents.
        documents: Documents with the sources of their pages.

    Returns:
        One row per heading: `document_id`, `page` and `heading`.
    """
    limits = load_document_checks().tags_and_layout_agree
    tagged_pages = find_read_pages(documents).filter(pl.col("source") == "tags")
    headings_on_tagged_pages = anchors.filter(~pl.col("kind").is_in(_KINDS_WITHIN_LINES)).join(
        tagged_pages, on=["document_id", "page"], how="semi"
    )
    # A page whose tags have no heading has headings of the layout only.
    headings_to_compare = headings_on_tagged_pages.filter(
        (pl.col("source") != "layout").any().over("document_id", "page")
    )
    is_agreed = pl.col("source") == "both"
    agreed_share = is_agreed.mean().over("document_id")
    heading_count = pl.len().over("document_id")
    is_offending = ~is_agreed & (agreed_share < limits.agreed_frac) & (heading_count >= limits.least_headings)
    return headings_to_compare.filter(is_offending).sort("anchor_id").select("document_id", "page", "heading")


def find_read_pages(documents: pl.DataFrame) -> pl.DataFrame:
    """List how every page was read.

    Args:
        documents: Documents with the sources of their pages.

    Returns:
        One row per page with `document_id`, `page`, `source` and `reason`.
    """
    rows = documents.select("document_id", "page_sources").explode("page_sources").drop_nulls("page_sources")
    return rows.unnest("page_sources").select("document_id", "page", "source", "reason")
