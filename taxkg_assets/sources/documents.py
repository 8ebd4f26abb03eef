"""The table of admitted documents, their review priority, and their hidden texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import dataframely as dy
import polars as pl

from taxkg_assets.records import DocumentRecord
from taxkg_assets.rules.models.semantic import load_semantic
from taxkg_assets.schemas import Documents


class FoundTextRecord(TypedDict):
    """A hidden text or suspected prompt injection with its document: a row of `find_hidden_texts`."""

    document_id: str
    page: int
    kind: str
    is_order: bool
    text: str


def build_documents(admissions: Sequence[DocumentRecord]) -> dy.DataFrame[Documents]:
    """Build the table of admitted documents.

    Args:
        admissions: Identity and file of each document.

    Returns:
        One row per document, sorted by `document_id`.
    """
    frame = pl.DataFrame(list(admissions), schema=Documents.create_empty().schema)
    return Documents.validate(frame.sort("document_id"))


def find_tier(row: DocumentRecord, *, own_tiers: Mapping[str, int]) -> int:
    """Determine the review priority of a document's chunks.

    Args:
        row: The document; its column `tier` is not used.
        own_tiers: Tiers that the settings give to document ids, IRS names or document types; they override the rules.

    Returns:
        Tier from 1 (reviewed first) to 3; drafts come last.

    Source:
        rules/semantic.yaml, `tiers`.
    """
    document_names = (row["document_id"], row["irs_name"], row["doc_type"])
    tiers = load_semantic().tiers
    rule_tier: int = tiers.draft if row["is_draft"] else tiers.doc_types[row["doc_type"]]
    return next((own_tiers[name] for name in document_names if name in own_tiers), rule_tier)


def find_hidden_texts(documents: pl.DataFrame) -> pl.DataFrame:
    """Find hidden texts and suspected prompt injections.

    Args:
        documents: Rows with `document_id` and `hidden_texts`.

    Returns:
        `document_id`, `page`, `kind`, `is_order` and `text`, one row per kind and page, prompt injections first.
    """
    rows = documents.select("document_id", "hidden_texts").explode("hidden_texts").drop_nulls("hidden_texts")
    return (
        rows.unnest("hidden_texts")
        .select(*FoundTextRecord.__annotations__)
        .sort(~pl.col("is_order"), "document_id", "page", "kind")
    )
