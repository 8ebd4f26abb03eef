"""What a release holds, for readers who browse: documents, forms, one document's outline, one page's content."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.records import DocumentRecord, iter_records
from taxkg_assets.serving.known_names import list_names
from taxkg_assets.serving.library_replies import (
    Cell,
    DocumentDetail,
    DocumentEntry,
    FormEntry,
    FormField,
    FormRevision,
    Heading,
    IndexPlace,
    IndexTerm,
    PageDetail,
    PageTable,
    Paragraph,
)
from taxkg_assets.serving.released import Released
from taxkg_assets.serving.show import PageNotFoundError, SourceColumns, draw_sheet, opened_page

PAGE_ZOOM = 2.0
"""Pixels per point of a page's picture, unless the request names another zoom."""


KEYS_SHOWN = 2
"""Numbered fields that stand for a form where its questions are suggested."""


def list_documents(released: Released) -> list[DocumentEntry]:
    """Return the documents of a release by form, newest revision first; documents without a form come last.

    Args:
        released: The release to read.
    """
    rows = released.table("documents").sort(
        [pl.col("form") == "", "form", "irs_name", "revision", "document_id"],
        descending=[False, False, False, True, False],
    )
    return [_to_entry(row, released) for row in iter_records(rows, DocumentRecord)]


def describe_document(released: Released, document: str) -> DocumentDetail:
    """Return a document with its outline and its quality flags.

    Args:
        released: The release to read.
        document: Document id.

    Raises:
        PageNotFoundError: The release does not contain the document.
    """
    row = _find_document(released, document)
    nodes = released.read_documents("nodes", [document])
    headings = nodes.filter(pl.col("level") == "anchor", pl.col("page").is_not_null()).sort("ordinal")
    parents = dict(headings.select("node_id", "parent_id").iter_rows())
    outline = [
        Heading(
            node_id=heading["node_id"],
            text=heading["text"],
            level=_depth(heading["node_id"], parents),
            page=heading["page"],
            key=heading["anchor_key"],
        )
        for heading in headings.iter_rows(named=True)
        if "#face-" not in heading["node_id"]
    ]
    documents = released.table("documents")
    documents_of_product = documents.filter(pl.col("irs_name") == row["irs_name"], pl.col("irs_name") != "")
    document_ids = documents_of_product.sort("revision", "document_id", descending=True)["document_id"].to_list()
    return DocumentDetail(
        **_to_entry(row, released).model_dump(),
        outline=outline,
        quality=released.flags.get(document, []),
        revisions=document_ids,
    )


def list_index_terms(released: Released, document: str) -> list[IndexTerm]:
    """Return the terms of a document's printed index, in its order; empty for a document without an index.

    Args:
        released: The release to read; one of an older version does not contain links.
        document: Id of the document.

    Raises:
        PageNotFoundError: The release does not contain the document.
    """
    _find_document(released, document)
    if not released.holds("links"):
        return []
    links = released.read_documents("links", [document]).filter(pl.col("kind") == "index", pl.col("term") != "")
    terms: dict[tuple[str, str], list[IndexPlace]] = {}
    for row in links.sort("page", "link_ix").iter_rows(named=True):
        index_place = IndexPlace(label=row["text"].strip(" ,"), page=row["target_page"])
        terms.setdefault((row["term"], row["subterm"] or ""), []).append(index_place)
    return [IndexTerm(term=term, subterm=subterm, places=places) for (term, subterm), places in terms.items()]


def read_page(released: Released, document: str, page: int) -> PageDetail:
    """Return the size, paragraphs, tables and fields of a page.

    Args:
        released: The release to read.
        document: Id of the document.
        page: 1-based page.

    Raises:
        PageNotFoundError: There is no such document or page.
    """
    row = _find_document(released, document, page=page)
    nodes = released.read_documents("nodes", [document]).sort("ordinal")
    tables = released.read_documents("tables", [document]).filter(pl.col("page") == page)
    width, height = _page_size(row["source_uri"], row["sha256"], document, page)
    return PageDetail(
        document=document,
        page=page,
        width=width,
        height=height,
        paragraphs=[
            Paragraph(
                node_id=node["node_id"],
                heading_path=node["heading_path"],
                text=node["text"],
                bboxes=[BoundingBox.of_row(box) for box in node["bboxes"]],
            )
            for node in nodes.filter(pl.col("level") == "paragraph").iter_rows(named=True)
            if any(box["page"] == page for box in node["bboxes"] or ())
        ],
        tables=[_page_table(table) for table in tables.iter_rows(named=True)],
        fields=[field for field in list_fields(released, document) if field.page == page],
    )


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page drawn as a PNG, and the size of the page in points."""

    png: bytes
    width: float
    height: float


def draw_plain_page(released: Released, document: str, page: int, *, zoom: float = PAGE_ZOOM) -> PagePicture:
    """Draw a page without marks as a PNG.

    Args:
        released: The release to read.
        document: Document id.
        page: 1-based page.
        zoom: Pixels per point.

    Returns:
        The picture with the size of the page.

    Raises:
        PageNotFoundError: There is no such page, or its file is gone or has changed.
    """
    with opened_page(_find_document(released, document, page=page), page) as sheet:
        png = draw_sheet(sheet, zoom=zoom).tobytes("png")
        return PagePicture(png, float(sheet.rect.width), float(sheet.rect.height))


def list_forms(released: Released) -> list[FormEntry]:
    """List the forms with fields, each with its revisions.

    Args:
        released: The release to read.

    Returns:
        One entry per form, by name, its revisions newest first.
    """
    if not released.holds("fields"):
        return []
    fields = released.table("fields").sort("document_id", "page", "field_ix")
    counts = dict(fields.group_by("document_id").len().iter_rows())
    numbered_fields = fields.filter(pl.col("key") != "").unique(
        ["document_id", "key"], maintain_order=True, keep="first"
    )
    keys = dict(numbered_fields.group_by("document_id").agg(pl.col("key").head(KEYS_SHOWN)).iter_rows())
    forms: dict[str, list[FormRevision]] = {}
    documents = released.table("documents").sort("revision", "document_id", descending=True)
    for row in documents.iter_rows(named=True):
        if row["doc_type"] == "form" and row["form"] and counts.get(row["document_id"]):
            revision = FormRevision(
                document=row["document_id"],
                revision=row["revision"],
                is_draft=row["is_draft"],
                title=row["title"],
                fields=counts[row["document_id"]],
            )
            forms.setdefault(row["form"], []).append(revision)
    return [
        FormEntry(form=form, keys=keys.get(forms[form][0].document, []), revisions=forms[form])
        for form in sorted(forms)
    ]


def list_fields(released: Released, document: str) -> list[FormField]:
    """List the fields of one revision of a form.

    Args:
        released: The release to read.
        document: Id of the form's document.

    Returns:
        Fields in the order in which they are filled in; none for a release of an older version.

    Raises:
        PageNotFoundError: The release does not contain the document.
    """
    _find_document(released, document)
    if not released.holds("fields"):
        return []
    rows = released.read_documents("fields", [document]).sort("page", "field_ix")
    return [_to_field(row) for row in rows.iter_rows(named=True)]


def _find_document(released: Released, document: str, *, page: int | None = None) -> DocumentRecord:
    documents = released.table("documents")
    rows = list(iter_records(documents.filter(pl.col("document_id") == document), DocumentRecord))
    if not rows:
        similar_ids = list_names(documents["document_id"], unknown_name=document)
        raise PageNotFoundError(f"The release has no document {document!r}. Documents: {similar_ids}.")
    if page is not None and not 1 <= page <= rows[0]["page_count"]:
        raise PageNotFoundError(f"{document} has no page {page}. Its pages are 1 to {rows[0]['page_count']}.")
    return rows[0]


def _to_entry(row: DocumentRecord, released: Released) -> DocumentEntry:
    return DocumentEntry(
        document=row["document_id"],
        title=row["title"],
        form=row["form"],
        doc_type=row["doc_type"],
        revision=row["revision"],
        tax_year=row["tax_year"],
        is_draft=row["is_draft"],
        pages=row["page_count"],
        product=row["irs_name"],
        page_url=row["page_url"],
        pdf_url=row["pdf_url"],
        flags=len(released.flags.get(row["document_id"], ())),
    )


def _depth(node_id: str, parents: dict[str, str | None]) -> int:
    """Number of headings from the top of the outline down to this one; 1 at the top."""
    depth, parent = 1, parents.get(node_id)
    while parent in parents:
        depth, parent = depth + 1, parents[parent]
    return depth


@lru_cache(maxsize=4096)
def _page_size(source_uri: str, sha256: str, document: str, page: int) -> tuple[float, float]:
    """Width and height in points; the digest keeps sizes of a replaced file apart."""
    row = SourceColumns(document_id=document, source_uri=source_uri, sha256=sha256)
    with opened_page(row, page) as sheet:
        return float(sheet.rect.width), float(sheet.rect.height)


def _page_table(row: dict[str, Any]) -> PageTable:
    cells: Iterable[dict[str, Any]] = row["cells"] or ()
    return PageTable(
        table_id=row["table_id"],
        title=row["title"],
        cells=[
            Cell(
                row=cell["row_ix"],
                column=cell["col_ix"],
                row_path=cell["row_path"] or "",
                column_path=cell["col_path"] or "",
                text=cell["text"] or "",
                bbox=BoundingBox.of_row(cell["bbox"], page=row["page"]),
            )
            for cell in cells
        ],
        bbox=BoundingBox.of_row(row["bbox"], page=row["page"]),
    )


def _to_field(row: dict[str, Any]) -> FormField:
    common_columns = FormField.model_fields.keys() & row.keys() - {"bbox"}
    return FormField(
        document=row["document_id"],
        copy_name=row["copy"],
        bbox=BoundingBox.of_row(row["bbox"], page=row["page"]),
        **{name: row[name] for name in common_columns},
    )
