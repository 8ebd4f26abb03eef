"""Results of the document checks: what was held back, what is served with a flag, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.defects import DEFECTS, describe_defect, drop_documents, find_failing
from taxkg_assets.extraction.document_check import CORRUPT, REPORT, DocumentCheck, render_examples
from taxkg_assets.extraction.incomplete_checks import INCOMPLETE_CHECKS
from taxkg_assets.extraction.invariants import CORRUPT_CHECKS
from taxkg_assets.schemas import (
    Anchors,
    Chunks,
    DocumentQuality,
    Documents,
    Edges,
    Elements,
    Faces,
    Fields,
    Formulas,
    Lines,
    Nodes,
    Quarantine,
    References,
    Registry,
    Sections,
    Tables,
)

SCHEMA_CHECK = DocumentCheck(
    "tables_keep_their_schemas", CORRUPT, "", "rows do not fit the schema of their table", REPORT
)
FILE_CHECK = DocumentCheck("files_can_be_read", CORRUPT, "", "file could not be read", "Replace the file.")
REPORT_ERROR = "This is a defect of taxkg: report the error, and the sha256 of the document (`taxkg status --json`)."
"""Remedy where our code fails on a document."""
CHECKS = (FILE_CHECK, SCHEMA_CHECK, *CORRUPT_CHECKS, *INCOMPLETE_CHECKS)
"""The checks of files and extraction tables, including those of a file that cannot be read and of rows that do not fit
their schema."""


# arguments: one per upstream table, as the wiring reads their names
def build_document_quality(
    documents: dy.DataFrame[Documents],
    quarantine: dy.DataFrame[Quarantine],
    elements: dy.DataFrame[Elements],
    anchors: dy.DataFrame[Anchors],
    sections: dy.DataFrame[Sections],
    tables: dy.DataFrame[Tables],
    faces: dy.DataFrame[Faces],
    fields: dy.DataFrame[Fields],
    references: dy.DataFrame[References],
    registry: dy.DataFrame[Registry],
    lines: dy.DataFrame[Lines],
    formulas: dy.DataFrame[Formulas],
    nodes: dy.DataFrame[Nodes],
    edges: dy.DataFrame[Edges],
    chunks: dy.DataFrame[Chunks],
    *,
    failures: pl.DataFrame,
    checks: Sequence[DocumentCheck],
) -> dy.DataFrame[DocumentQuality]:
    """Record for each document and check whether the document passed.

    Args:
        documents: Documents.
        quarantine: Documents that could not be read or were held back. For a document that was held back, the failed
            check has the outcome `withheld`; the other checks judge its older rows, which are still served.
        elements: Printed elements.
        anchors: Headings.
        sections: Content elements with their text.
        tables: Tables with their cells.
        faces: Boxes of forms.
        fields: Fillable fields.
        references: References in the text.
        registry: Registered boxes.
        lines: Registered lines.
        formulas: How lines are computed.
        nodes: Nodes of the graph.
        edges: Edges of the graph.
        chunks: Passages.
        failures: `document_id`, `table` and `error` of documents on which the builder of a table failed.
        checks: All document checks.

    Returns:
        One row per document and check; for a document that was never served, only the check that it failed.
    """
    frames = {
        "documents": documents,
        "elements": elements,
        "anchors": anchors,
        "sections": sections,
        "tables": tables,
        "faces": faces,
        "fields": fields,
        "references": references,
        "registry": registry,
        "lines": lines,
        "formulas": formulas,
        "nodes": nodes,
        "edges": edges,
        "chunks": chunks,
        "failures": failures,
    }
    quarantine_rows = {row["document_id"]: row for row in quarantine.iter_rows(named=True)}
    rows = list(_withheld_rows(quarantine_rows))
    withheld_checks = {(row["document_id"], row["law"]) for row in rows}
    served_ids = documents["document_id"].to_list()
    for check in checks:
        offending, errors = _by_document(check, frames, served_ids)
        for document_id in served_ids:
            if (document_id, check.name) in withheld_checks:
                continue
            if document_id in errors:
                rows.append(_flag_failed_check(check, document_id, errors[document_id]))
            else:
                rows.append(_judge(check, document_id, offending.get(document_id)))
    frame = pl.DataFrame(rows, schema=DocumentQuality.create_empty().schema)
    return DocumentQuality.validate(frame.sort("document_id", "law"))


def find_check(stage: str, reason: str) -> DocumentCheck:
    """Return the check that a reason in `quarantine` refers to; the schema check if none matches.

    Args:
        stage: Table or stage that refused the document.
        reason: Reason as recorded, which contains the check's words.
    """
    return next((check for check in CORRUPT_CHECKS if check.on == stage and check.broken in reason), SCHEMA_CHECK)


def find_flags(quality: pl.DataFrame) -> dict[str, list[dict[str, str]]]:
    """Return the quality flags of each document: name, message and remedy of each failed check.

    Args:
        quality: Rows of `document_quality`.
    """
    flags: dict[str, list[dict[str, str]]] = {}
    for row in quality.filter(pl.col("outcome") != "passed").iter_rows(named=True):
        flags.setdefault(row["document_id"], []).append({name: row[name] for name in ("law", "message", "remedy")})
    return flags


def _withheld_rows(quarantine_rows: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for document_id, quarantine_row in quarantine_rows.items():
        check = (
            find_check(quarantine_row["stage"], quarantine_row["reason"])
            if quarantine_row["is_check_failure"]
            else FILE_CHECK
        )
        yield {
            "document_id": document_id,
            "law": check.name,
            "strength": CORRUPT,
            "outcome": "withheld",
            "rows": 1,
            "message": quarantine_row["reason"],
            "examples": [],
            "remedy": quarantine_row["remedy"],
        }


def _by_document(
    check: DocumentCheck, frames: Mapping[str, pl.DataFrame], document_ids: Sequence[str]
) -> tuple[dict[str, pl.DataFrame], dict[str, str]]:
    """Return the offending rows of an incomplete check by document, and the error by document on which it fails.

    A corrupt check ran before the rows were published.
    """
    if check.severity == CORRUPT:
        return {}, {}

    def find(units: Sequence[tuple[str, ...]]) -> pl.DataFrame:
        others = set(document_ids) - {document_id for (document_id,) in units}
        return check.find_offending(drop_documents(frames, others) if others else frames)

    units = [(document_id,) for document_id in document_ids]
    errors: dict[str, str] = {}
    try:
        offending = find(units)
    except DEFECTS as defect:
        failing = find_failing(find, units, most=len(units))
        try:
            offending = find([unit for unit in units if unit not in failing])
            errors = {document_id: error for (document_id,), error in failing.items()}
        except DEFECTS:  # the check fails only on several documents together
            return {}, dict.fromkeys(document_ids, describe_defect(defect))
    return {str(key): rows for (key,), rows in offending.group_by("document_id", maintain_order=True)}, errors


def _flag_failed_check(check: DocumentCheck, document_id: str, error: str) -> dict[str, Any]:
    return _judge(check, document_id, None) | {
        "outcome": "flagged",
        "rows": 1,
        "message": f"This check failed on the document: {error}.",
        "remedy": REPORT_ERROR,
    }


def _judge(check: DocumentCheck, document_id: str, offending: pl.DataFrame | None) -> dict[str, Any]:
    is_passed = offending is None
    return {
        "document_id": document_id,
        "law": check.name,
        "strength": check.severity,
        "outcome": "passed" if is_passed else "flagged",
        "rows": 0 if offending is None else offending.height,
        "message": "" if offending is None else check.describe(offending.height),
        "examples": [] if offending is None else render_examples(offending, check.show),
        "remedy": "" if is_passed else check.remedy,
    }
