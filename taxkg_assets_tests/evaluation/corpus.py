"""A corpus of three invented documents and questions about it, for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.evaluation.eval_queries import build_eval_queries
from taxkg_assets.schemas import Anchors, Documents, EvalQueries, EvalRuns, Sections
from taxkg_assets.schemas.validation import dtypes, validated

FORM, BOOK, LAW = "f9000--2030", "i9000--2030", "town-code"
RENT = "Enter the rent that you paid for the shop in box 1a, but do not include deposits that are returned."
DEPOSIT = "A deposit that the owner keeps becomes rent in the month in which the lease ends."
FEE = "Every shop pays a yearly fee of $120 to the town before the first day of March."


def document(document_id: str, **overrides: Any) -> dict[str, Any]:
    return {
        "document_id": document_id,
        "irs_name": "",
        "form": "9000",
        "doc_type": "form",
        "revision": "2030",
        "tax_year": None,
        "is_draft": False,
        "title": document_id,
        "pdf_modified_on": "",
        "sha256": "0" * 64,
        "page_count": 2,
        "source_uri": "memory",
        "source_root": "memory",
        "code_version": "1",
        "warnings": [],
        "image_only_pages": [],
        "hidden_texts": [],
        "page_sources": [],
        "tier": 1,
        "fetched_at": datetime(2030, 1, 1, tzinfo=UTC),
        **overrides,
    }


def section(document_id: str, ix: int, text: str, anchor_id: str | None = None, page: int = 1) -> dict[str, Any]:
    element_id = f"{document_id}:p{page:04}:e{ix:04}"
    return {
        "element_id": element_id,
        "anchor_id": anchor_id,
        "document_id": document_id,
        "page": page,
        "paragraph_ix": ix,
        "source": "layout",
        "role": "BodyText",
        "table_id": None,
        "text": text,
        "element_ids": [element_id],
        "pieces": [],
    }


def anchor(anchor_id: str, heading: str, **overrides: Any) -> dict[str, Any]:
    return {
        "anchor_id": anchor_id,
        "document_id": anchor_id.split("#")[0],
        "page": 1,
        "kind": "section",
        "key": None,
        "heading": heading,
        "parent_anchor_id": None,
        "form": "9000",
        "perspective": "filer",
        "repeat_ix": 0,
        "source": "layout",
        "element_id": anchor_id,
        "confidence": 1.0,
        "bbox": {"x0_pt": 0.0, "y0_pt": 0.0, "x1_pt": 1.0, "y1_pt": 1.0},
        **overrides,
    }


def documents(*rows: dict[str, Any]) -> dy.DataFrame[Documents]:
    kept = rows or (
        document(FORM),
        document(BOOK, doc_type="filer_instructions"),
        document(LAW, form="", doc_type="statute", revision=""),
    )
    return validated(pl.DataFrame(list(kept), schema=dtypes(Documents)), Documents)


def sections(*rows: dict[str, Any]) -> dy.DataFrame[Sections]:
    return validated(pl.DataFrame(list(rows), schema=dtypes(Sections)), Sections)


def anchors(*rows: dict[str, Any]) -> dy.DataFrame[Anchors]:
    return validated(pl.DataFrame(list(rows), schema=dtypes(Anchors)), Anchors)


def question(query_id: str, *gold: tuple[str, str], type: str = "concept", **overrides: Any) -> dict[str, Any]:
    return {
        "id": query_id,
        "query": f"question {query_id}",
        "type": type,
        "gold": [{"document": name, "page": 1, "quote": quote, "grade": 3} for name, quote in gold],
        "near_miss": [],
        "coverage": None,
        **overrides,
    }


def queries(*rows: dict[str, Any]) -> dy.DataFrame[EvalQueries]:
    return build_eval_queries({"town": rows}, documents(), sections=sections(), anchors=anchors())


def runs(*rows: tuple[str, str, int, str, str]) -> dy.DataFrame[EvalRuns]:
    """Rows of (system, query, rank, document, text)."""
    filled = [
        {
            "system": system,
            "query_set": "town",
            "query_id": query,
            "rank": rank,
            "document_id": name,
            "page": 1,
            "chunk_id": None,
            "text": text,
            "score": None,
            "is_abstained": False,
            "confidence": 1.0,
        }
        for system, query, rank, name, text in rows
    ]
    return validated(pl.DataFrame(filled, schema=dtypes(EvalRuns)), EvalRuns)
