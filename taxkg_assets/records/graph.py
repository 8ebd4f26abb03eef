"""Records of the graph."""

from __future__ import annotations

from typing import TypedDict

from taxkg_assets.records.structs import ChangedWordsRecord, CornersRecord, PlacedBoxRecord


class BoxRecord(TypedDict):
    """A row of `registry`."""

    document_id: str
    form: str
    revision: str
    box_key: str
    canonical_id: str
    label: str
    aliases: list[str]
    group_id: str | None
    history: list[str]
    source: str
    confidence: float


class LineRecord(TypedDict):
    """A row of `lines`."""

    document_id: str
    part: str
    key: str
    form: str
    revision: str
    line_ix: int
    kind: str
    section: str
    label: str
    column_letters: list[str]
    copies: list[str]
    entries: list[str]
    field_count: int
    canonical_id: str
    history: list[str]
    anchor_id: str | None
    page: int
    bbox: CornersRecord


class FlowRecord(TypedDict):
    """A row of `flows`."""

    flow_id: str
    relation: str
    source_document_id: str | None
    source_form: str
    source_part: str
    source_key: str
    source_column: str
    source_code: str
    source_line: str | None
    target_document_id: str | None
    target_form: str
    target_part: str
    target_key: str
    target_column: str
    target_code: str
    target_line: str | None
    is_same_year: bool
    problem: str
    agreement: str
    document_id: str
    element_id: str | None
    evidence: str
    start: int
    end: int
    page: int
    bbox: CornersRecord
    rule_id: str


class FormulaRecord(TypedDict):
    """A row of `formulas`."""

    document_id: str
    part: str
    key: str
    operation: str
    operands: list[str]
    operand_parts: list[str]
    factor: float | None
    bound: str
    condition: str
    column: str
    also_added_in: list[str]
    repeated_lines: list[str]
    problem: str
    evidence: str
    start: int
    end: int
    page: int
    bbox: CornersRecord


class NodeRecord(TypedDict):
    """A row of `nodes`."""

    node_id: str
    document_id: str | None
    perspective: str | None
    level: str
    parent_id: str | None
    anchor_key: str | None
    canonical_id: str | None
    heading_path: str
    text: str
    concepts: list[str]
    page: int | None
    bboxes: list[PlacedBoxRecord]
    ordinal: int


class EdgeRecord(TypedDict):
    """A row of `edges`."""

    source_id: str
    target_id: str
    relation: str
    start: int
    end: int
    element_id: str | None
    polarity: str
    confidence: float
    evidence: str
    page: int | None
    created_by: str
    rule_id: str


class RevisionRecord(TypedDict):
    """A row of `revisions`."""

    irs_name: str
    form: str
    from_revision: str
    to_revision: str
    from_document_id: str
    to_document_id: str
    change_ix: int
    kind: str
    key: str
    previous_key: str
    heading_path: str
    perspective: str
    before: str
    after: str
    words: list[ChangedWordsRecord]
    nature: str
    is_routine: bool
    before_places: list[PlacedBoxRecord]
    after_places: list[PlacedBoxRecord]
    evidence: str
