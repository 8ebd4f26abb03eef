"""Tables of the sources: documents, quarantine, results of the document checks."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.schemas.columns import corner_columns, key_column, one_of, strings_column, text_column
from taxkg_assets.schemas.values import CHECK_OUTCOMES, CHECK_SEVERITIES, DOC_TYPES, PAGE_SOURCES


class Documents(dy.Schema):
    """One admitted document (PDF or .txt statute): it was read, and its tables pass the checks."""

    document_id = key_column("file name without extension; `<irs name>--<revision>` for fetched files")
    irs_name = text_column("the IRS's own file stem, e.g. f1099div; empty where there is none")
    form = text_column(
        "form or publication number the document is about, e.g. 1099-DIV; several joined by ' and '; empty if unknown"
    )
    doc_type = dy.String(regex=one_of(DOC_TYPES), description=" | ".join(DOC_TYPES))
    revision = text_column("revision as YYYY-MM or YYYY; empty where the document states none")
    tax_year = dy.Int32(nullable=True, description="tax year the document covers; null for continuous use")
    is_draft = dy.Bool(description="whether the pages say that the document is a draft")
    title = text_column("title as printed on the first page")
    tier = dy.Int32(min=1, max=3, description="review priority of the document's chunks: 1 before 2 before 3")
    pdf_modified_on = dy.String(
        regex=r"^(\d{4}-\d\d-\d\d)?$", description="date of the last change in the file's metadata; may be empty"
    )
    sha256 = dy.String(regex=r"^[0-9a-f]{64}$", description="SHA-256 of the file's bytes")
    page_count = dy.Int32(min=1, description="pages")
    source_uri = text_column("where the bytes came from")
    source_root = text_column("folder (or file) given as a source that this document belongs to")
    code_version = text_column("version of the extraction code and rules that read the document")
    warnings = strings_column("repairs and oddities met while reading, e.g. a rebuilt cross-reference table")
    image_only_pages = dy.List(dy.Int32(), description="pages without any text: scanned or blank")
    hidden_texts = dy.List(
        dy.Struct(
            {"page": dy.Int32(), "kind": dy.String(), "text": dy.String(), "is_order": dy.Bool(), **corner_columns()},
        ),
        description="invisible text, left out of all tables, and suspected prompt injections",
    )
    page_sources = dy.List(
        dy.Struct(
            {
                "page": dy.Int32(min=1),
                "source": dy.String(regex=one_of(PAGE_SOURCES)),
                "reason": dy.String(),
            }
        ),
        description="how each page was read: tags, template or layout, with the reason if its tags are not trusted",
    )
    page_url = text_column("official web page of the product; null where it is none of the IRS's", nullable=True)
    pdf_url = text_column("official address of the PDF of this revision", nullable=True)
    fetched_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when these bytes were first seen")


class Quarantine(dy.Schema):
    """One document that could not be processed; rows of its last valid version stay in the other tables."""

    document_id = key_column("file name without extension")
    sha256 = text_column("SHA-256 of the offending bytes; if it was rejected unread, of the reason")
    source_uri = text_column("where the bytes came from")
    stage = text_column("step of reading that failed: open, spans, elements, …, or limits")
    reason = text_column("what was wrong, one sentence")
    remedy = text_column("what to do about it, one sentence")
    is_check_failure = dy.Bool(
        description="true if a failed document check withholds the document, false if the file could not be processed"
    )
    code_version = text_column("version of the extraction code and rules that refused it")
    first_seen_at = dy.Datetime(time_unit="us", time_zone="UTC", description="when these bytes were first refused")


class DocumentQuality(dy.Schema):
    """The result of one document check for one document: passed, failed with a flag, or failed and withheld."""

    document_id = key_column("document")
    law = key_column("name of the document check")
    strength = dy.String(
        regex=one_of(CHECK_SEVERITIES),
        description="severity: corrupt withholds the document, incomplete flags it",
    )
    outcome = dy.String(regex=one_of(CHECK_OUTCOMES), description=" | ".join(CHECK_OUTCOMES))
    rows = dy.Int32(min=0, description="rows that fail the check")
    message = text_column("what was found, one sentence; empty if the check passed")
    examples = strings_column("the first rows that fail the check")
    remedy = text_column("what to do about it, one sentence; empty if the check passed")

    @dy.rule()
    def a_passed_check_has_no_rows(cls) -> pl.Expr:
        """Require offending rows if and only if the check failed."""
        return (pl.col("outcome") == "passed") == (pl.col("rows") == 0)

    @dy.rule()
    def only_a_corrupt_document_is_withheld(cls) -> pl.Expr:
        """Require that a failed check withholds a document if and only if its severity is `corrupt`."""
        return (pl.col("outcome") == "passed") | (
            (pl.col("outcome") == "withheld") == (pl.col("strength") == "corrupt")
        )
