"""The documents that were admitted: what each one is, where its bytes came from, and which code read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.rules.loader import load_family
from taxkg_assets.schemas import Documents

_SHOWN = ("document_id", "page", "kind", "is_order", "text")


def build_documents(admissions: Sequence[Mapping[str, Any]]) -> dy.DataFrame[Documents]:
    """One row per admitted document.

    Args: admissions: for each document the values of the table's columns.
    """
    frame = pl.DataFrame(list(admissions), schema=Documents.create_empty().schema)
    return Documents.validate(frame.sort("document_id"))


def find_tier(row: Mapping[str, Any], *, own: Mapping[str, int]) -> int:
    """Decide whose chunks a person looks at first: `own` names documents, IRS names or types; drafts come last.

    Source: rules/semantic.yaml.
    """
    named = (row["document_id"], row["irs_name"], row["doc_type"])
    tiers = load_family("semantic")["tiers"]
    by_rule: int = tiers["draft"] if row["is_draft"] else tiers["doc_types"][row["doc_type"]]
    return next((own[name] for name in named if name in own), by_rule)


def find_hidden_texts(documents: pl.DataFrame) -> pl.DataFrame:
    """Find what was hidden in the documents, or gives orders to programs: one row per kind and page, orders first."""
    rows = documents.select("document_id", "hidden_texts").explode("hidden_texts").drop_nulls("hidden_texts")
    return rows.unnest("hidden_texts").select(_SHOWN).sort(~pl.col("is_order"), "document_id", "page", "kind")
