"""Records of documents and of what is extracted from them."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from taxkg_assets.records.structs import (
    CellRecord,
    CornersRecord,
    HiddenTextRecord,
    PageSourceRecord,
    PieceRecord,
)


class DocumentRecord(TypedDict):
    """A row of `documents`."""

    document_id: str
    irs_name: str
    form: str
    doc_type: str
    revision: str
    tax_year: int | None
    is_draft: bool
    title: str
    tier: int
    pdf_modified_on: str
    sha256: str
    page_count: int
    source_uri: str
    source_root: str
    code_version: str
    warnings: list[str]
    image_only_pages: list[int]
    hidden_texts: list[HiddenTextRecord]
    page_sources: list[PageSourceRecord]
    page_url: str | None
    pdf_url: str | None
    fetched_at: datetime


class QuarantineRecord(TypedDict):
    """A row of `quarantine`."""

    document_id: str
    sha256: str
    source_uri: str
    stage: str
    reason: str
    remedy: str
    is_check_failure: bool
    code_version: str
    first_seen_at: datetime


class ElementRecord(TypedDict):
    """A row of `elements`."""

    element_id: str
    document_id: str
    page: int
    element_ix: int
    column_ix: int
    role: str
    role_confidence: float
    text: str
    bbox: CornersRecord
    table_id: str | None
    size_pt: float
    is_bold: bool


class TableRecord(TypedDict):
    """A row of `tables`."""

    table_id: str
    document_id: str
    page: int
    title: str
    markdown: str
    cells: list[CellRecord]
    bbox: CornersRecord
    has_headers: bool
    publisher_id: str | None


class AnchorRecord(TypedDict):
    """A row of `anchors`."""

    anchor_id: str
    document_id: str
    page: int
    kind: str
    key: str | None
    heading: str
    parent_anchor_id: str | None
    form: str
    perspective: str
    repeat_ix: int
    element_id: str
    confidence: float
    source: str
    bbox: CornersRecord
    publisher_id: str | None
    official_url: str | None


class FaceRecord(TypedDict):
    """A row of `faces`."""

    document_id: str
    form: str
    revision: str
    box_key: str
    label: str
    is_unlabelled: bool
    page: int
    bbox: CornersRecord
    field_names: list[str]
    confidence: float


class FieldRecord(TypedDict):
    """A row of `fields`."""

    document_id: str
    page: int
    field_ix: int
    name: str
    kind: str
    copy: str
    part: str
    section: str
    key: str
    column: str
    row: str
    label: str
    spoken: str
    formula: str
    source: str
    anchor_id: str | None
    bbox: CornersRecord


class SectionRecord(TypedDict):
    """A row of `sections`."""

    element_id: str
    anchor_id: str | None
    document_id: str
    page: int
    paragraph_ix: int
    role: str
    table_id: str | None
    text: str
    source: str
    element_ids: list[str]
    pieces: list[PieceRecord]
    publisher_id: str | None


class ReferenceRecord(TypedDict):
    """A row of `references`."""

    document_id: str
    page: int
    element_id: str
    anchor_id: str | None
    start: int
    end: int
    mention_start: int
    mention_end: int
    kind: str
    target: str
    target_form: str | None
    evidence: str
    is_self: bool
    relation: str
    polarity: str
    confidence: float
    rule_id: str
    created_by: str
    resolved_by: str | None
    target_anchor_id: str | None
    target_element_id: str | None
    target_table_id: str | None
    target_publisher_id: str | None
    target_url: str | None
