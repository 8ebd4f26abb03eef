"""Which columns of the tables above a column comes from: only what the builders copy, or make of named columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dagster as dg

Sources = Sequence[str]
"""Columns as `table.column`."""

_OF_DOCUMENTS = {"document_id": ("documents.document_id",)}

COPIED: Mapping[str, Mapping[str, Sources]] = {
    "spans": _OF_DOCUMENTS,
    "tables": _OF_DOCUMENTS,
    "faces": _OF_DOCUMENTS,
    "elements": {**_OF_DOCUMENTS, "table_id": ("tables.table_id",)},
    "anchors": {**_OF_DOCUMENTS, "element_id": ("elements.element_id",)},
    "fields": {**_OF_DOCUMENTS, "anchor_id": ("anchors.anchor_id",)},
    "sections": {
        **_OF_DOCUMENTS,
        "element_id": ("elements.element_id",),
        "anchor_id": ("anchors.anchor_id",),
        "role": ("elements.role",),
        "table_id": ("tables.table_id",),
    },
    "links": {
        **_OF_DOCUMENTS,
        "element_id": ("elements.element_id",),
        "target_anchor_id": ("anchors.anchor_id",),
        "target_element_id": ("elements.element_id",),
    },
    "references": {
        **_OF_DOCUMENTS,
        "element_id": ("sections.element_id",),
        "anchor_id": ("sections.anchor_id",),
        "target_anchor_id": ("links.target_anchor_id",),
        "target_element_id": ("links.target_element_id",),
        "target_table_id": ("links.target_table_id",),
        "target_publisher_id": ("links.target_publisher_id",),
    },
    "document_quality": {"document_id": ("documents.document_id", "quarantine.document_id")},
    "registry": {
        "document_id": ("faces.document_id",),
        "form": ("faces.form",),
        "revision": ("faces.revision",),
        "box_key": ("faces.box_key",),
        "label": ("faces.label",),
        "confidence": ("faces.confidence",),
    },
    "lines": {
        **_OF_DOCUMENTS,
        "key": ("fields.key", "faces.box_key", "anchors.key"),
        "anchor_id": ("anchors.anchor_id",),
    },
    "formulas": {
        "document_id": ("lines.document_id",),
        "part": ("lines.part",),
        "key": ("lines.key",),
    },
    "flows": {**_OF_DOCUMENTS, "element_id": ("sections.element_id",)},
    "nodes": {
        **_OF_DOCUMENTS,
        "canonical_id": ("registry.canonical_id",),
    },
    "edges": {
        "source_id": ("nodes.node_id",),
        "target_id": ("nodes.node_id",),
        "element_id": ("sections.element_id",),
    },
    "revisions": {
        "irs_name": ("documents.irs_name",),
        "from_document_id": ("documents.document_id",),
        "to_document_id": ("documents.document_id",),
        "from_revision": ("documents.revision",),
        "to_revision": ("documents.revision",),
    },
    "chunks": {**_OF_DOCUMENTS, "anchor_id": ("anchors.anchor_id",)},
    "summaries": _OF_DOCUMENTS,
    "eval_runs": {
        "query_set": ("eval_queries.query_set",),
        "query_id": ("eval_queries.query_id",),
    },
    "eval_report": {"system": ("eval_runs.system",), "query_set": ("eval_queries.query_set",)},
    "release": {
        "index_version": ("index.index_version",),
        "index_path": ("index.path",),
        "model_name": ("index.model_name",),
        "model_hash": ("index.model_hash",),
    },
    "scenario_queries": {
        "node_id": ("nodes.node_id",),
        "chunk_id": ("chunks.chunk_id",),
        "document_id": ("chunks.document_id",),
    },
    "pairs": {
        "query_node_id": ("nodes.node_id",),
        "passage_node_id": ("nodes.node_id",),
        "chunk_id": ("chunks.chunk_id",),
        "document_id": ("chunks.document_id",),
    },
    "hard_negatives": {
        "pair_id": ("pairs.pair_id",),
        "node_id": ("nodes.node_id",),
        "chunk_id": ("chunks.chunk_id",),
        "document_id": ("chunks.document_id",),
    },
}
"""Columns whose values are values of these columns, as they were when the row was made."""

MADE_OF: Mapping[str, Mapping[str, Sources]] = {
    "anchors": {"heading": ("elements.text",), "page": ("elements.page",), "bbox": ("elements.bbox",)},
    "sections": {"text": ("elements.text",), "pieces": ("elements.bbox", "elements.page")},
    "references": {"evidence": ("sections.text",), "page": ("sections.pieces",)},
    "registry": {"aliases": ("anchors.heading", "sections.text"), "canonical_id": ("faces.form", "faces.box_key")},
    "lines": {"label": ("fields.label", "faces.label"), "entries": ("fields.kind",), "copies": ("fields.copy",)},
    "formulas": {"operation": ("lines.label",), "operands": ("lines.label",), "evidence": ("lines.label",)},
    "flows": {"evidence": ("sections.text", "lines.label", "tables.cells"), "source_line": ("lines.canonical_id",)},
    "nodes": {
        "text": ("sections.text", "anchors.heading", "tables.markdown", "documents.title"),
        "heading_path": ("documents.title", "anchors.heading"),
        "concepts": ("registry.label", "registry.aliases"),
    },
    "edges": {"evidence": ("references.evidence",), "polarity": ("references.polarity",)},
    "revisions": {"before": ("sections.text", "tables.cells"), "after": ("sections.text", "tables.cells")},
    "chunks": {
        "text": ("sections.text", "tables.markdown"),
        "context": ("documents.form", "documents.revision", "anchors.heading"),
        "heading_path": ("documents.title", "anchors.heading"),
        "bboxes": ("sections.pieces", "tables.bbox"),
    },
    "summaries": {"text": ("sections.text",), "evidence": ("sections.element_id",)},
    "embeddings": {"text_hash": ("chunks.context", "chunks.text"), "vector": ("chunks.context", "chunks.text")},
    "index": {"row_count": ("chunks.status",), "model_hash": ("embeddings.model_hash",)},
    "eval_queries": {"gold": ("sections.text",), "is_resolved": ("sections.text",)},
    "eval_report": {"value": ("eval_runs.rank", "eval_runs.text", "eval_queries.gold")},
    "family_figures": {
        "value": ("elements.role", "anchors.heading", "sections.anchor_id", "tables.cells", "eval_runs.rank")
    },
    "release": {"metrics": ("eval_report.value",)},
    "pairs": {"passage": ("chunks.context", "chunks.text")},
    "hard_negatives": {"passage": ("chunks.context", "chunks.text")},
}
"""Columns that are computed of these columns: parts of their texts, joins, counts."""


def find_column_sources(table: str) -> dict[str, tuple[str, ...]]:
    """List the source columns of each column of a table.

    Args:
        table: Table.

    Returns:
        Columns as `table.column`; columns without a declared source are omitted.
    """
    declared_sources = [*COPIED.get(table, {}).items(), *MADE_OF.get(table, {}).items()]
    return {column: tuple(sources) for column, sources in declared_sources}


def column_lineage(table: str) -> dg.TableColumnLineage | None:
    """Return the column lineage of a table for the UI; None if none is declared.

    Args:
        table: Name of the table.
    """
    lineage = {
        column: [
            dg.TableColumnDep(dg.AssetKey(source_table), source_column)
            for source_table, source_column in (source.split(".", 1) for source in sources)
        ]
        for column, sources in find_column_sources(table).items()
    }
    return dg.TableColumnLineage(lineage) if lineage else None
