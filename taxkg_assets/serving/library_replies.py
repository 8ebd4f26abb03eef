"""Replies of the library: its documents, pages, forms and fields."""

from __future__ import annotations

from pydantic import BaseModel, Field

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.results import Flag


class DocumentEntry(BaseModel):
    """One document of the release."""

    document: str = Field(description="document id")
    title: str
    form: str = Field(
        description="number of the form or publication that the document is about, e.g. 1099-DIV; empty if unknown"
    )
    doc_type: str
    revision: str = Field(description="revision, YYYY-MM or YYYY; empty if unknown")
    tax_year: int | None
    is_draft: bool
    pages: int
    product: str = Field(description="the publisher's file stem, e.g. f1099div; the same for every revision")
    page_url: str | None = Field(description="official address of the product's web page")
    pdf_url: str | None = Field(description="official address of the PDF")
    flags: int = Field(description="number of quality checks that the document fails")


class Heading(BaseModel):
    """One heading of a document's outline."""

    node_id: str
    text: str
    level: int = Field(description="depth in the outline, from 1")
    page: int
    key: str | None = Field(description="key of the heading: box_1a, line_3, …; null for a heading without a key")


class DocumentDetail(DocumentEntry):
    """A document with its outline and its quality flags."""

    outline: list[Heading]
    quality: list[Flag]
    revisions: list[str] = Field(description="ids of the documents of the same product, newest first")


class IndexPlace(BaseModel):
    """A page or section to which a document's printed index refers for a term."""

    label: str = Field(description="printed page number of the entry")
    page: int | None = Field(description="page of the PDF that the entry leads to; null outside the document")


class IndexTerm(BaseModel):
    """A term of a document's printed index."""

    term: str
    subterm: str = Field(description="subentries, joined with ', '; may be empty")
    places: list[IndexPlace]


class Paragraph(BaseModel):
    """One paragraph, list item or caption of a page."""

    node_id: str
    heading_path: str
    text: str
    bboxes: list[BoundingBox]


class Cell(BaseModel):
    """One body cell of a table."""

    row: int
    column: int
    row_path: str = Field(description="headers of the cell's row, joined with ' > '")
    column_path: str = Field(description="headers of the cell's column, joined with ' > '")
    text: str
    bbox: BoundingBox


class PageTable(BaseModel):
    """One table of a page."""

    table_id: str
    title: str
    cells: list[Cell]
    bbox: BoundingBox


class FormField(BaseModel):
    """One fillable field of a form, or one printed box of a form that cannot be filled in."""

    document: str
    page: int
    key: str = Field(description="key of the field: box_1b, line_8b, …; empty for a field without a number")
    label: str
    copy_name: str = Field(description="copy of the form: A, B, 1, …; empty if the form has no copies")
    part: str
    section: str
    column: str
    row: str
    name: str = Field(description="full name of the form field in the file")
    kind: str
    spoken: str = Field(description="accessible description of the field, as a screen reader reads it")
    formula: str = Field(description="formula of the field in its label; may be empty")
    bbox: BoundingBox


class PageDetail(BaseModel):
    """The content of one page: its paragraphs, tables and fields in reading order, and its size in points."""

    document: str
    page: int
    width: float
    height: float
    paragraphs: list[Paragraph]
    tables: list[PageTable]
    fields: list[FormField]


class FormRevision(BaseModel):
    """One revision of a form."""

    document: str
    revision: str
    is_draft: bool
    title: str
    fields: int


class FormEntry(BaseModel):
    """One form with its revisions, newest first."""

    form: str
    keys: list[str] = Field(description="keys of the first numbered boxes or lines of the newest revision")
    revisions: list[FormRevision]
