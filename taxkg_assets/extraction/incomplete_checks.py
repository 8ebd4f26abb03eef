"""Incomplete document checks on extraction tables: a document that fails one is served with a flag.

They are checked on the published tables, so a changed limit reads no document again.
"""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.extraction.box_checks import (
    find_boxes_without_face,
    find_invented_boxes,
    find_unexplained_boxes,
)
from taxkg_assets.extraction.document_check import INCOMPLETE, DocumentCheck, column_check
from taxkg_assets.extraction.errors import DAMAGED_PAGES, LEFT_OUT, TABLES_AS_TEXT, UNREADABLE_PAGES
from taxkg_assets.extraction.page_checks import find_disputed_headings, find_distrusted_pages
from taxkg_assets.extraction.table_checks import find_foreign_rows
from taxkg_assets.rules.models.document_checks import load_document_checks
from taxkg_assets.schemas import Documents, Elements


def find_pages_without_elements(elements: dy.DataFrame[Elements], documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Return pages that have no element, although their document does not list them as scanned or blank.

    Args:
        elements: Elements of all documents.
        documents: Documents with their page counts.
    """
    pages = documents.select(
        "document_id", "image_only_pages", page=pl.int_ranges(1, pl.col("page_count") + 1, dtype=pl.Int32)
    ).explode("page")
    text_pages = pages.filter(~pl.col("page").is_in(pl.col("image_only_pages")))
    return text_pages.join(elements, on=["document_id", "page"], how="anti").select("document_id", "page")


def find_pages_without_content(elements: dy.DataFrame[Elements]) -> pl.DataFrame:
    """Return pages of which almost all text is taken for page artifacts, such as headers, so that no passage has it.

    Args:
        elements: Elements of all documents.

    Returns:
        One row per page: `document_id` and `page`.
    """
    limits = load_document_checks().pages_have_content
    chars = pl.col("text").str.len_chars()
    is_artifact = pl.col("role") == "PageArtifact"
    counts = elements.group_by("document_id", "page", maintain_order=True).agg(
        chars=chars.sum(), artifact_chars=chars.filter(is_artifact).sum()
    )
    is_empty = pl.col("artifact_chars") > limits.artifact_frac * pl.col("chars")
    return counts.filter((pl.col("chars") >= limits.least_chars) & is_empty).select("document_id", "page")


def find_left_out_parts(documents: dy.DataFrame[Documents]) -> pl.DataFrame:
    """Return warnings about what was left out of documents: values of fields, comments and embedded files.

    Args:
        documents: Documents with their warnings.

    Returns:
        `document_id` and `warning`.
    """
    return _find_warnings(documents, LEFT_OUT)


def _find_warnings(documents: pl.DataFrame, beginning: str) -> pl.DataFrame:
    """Return the warnings of documents that begin with some words."""
    warnings = documents.select("document_id", warning="warnings").explode("warning")
    return warnings.filter(pl.col("warning").str.starts_with(beginning))


def _warned_pages_check(name: str, *, beginning: str, broken: str, remedy: str) -> DocumentCheck:
    """Declare an incomplete check that flags the pages that a warning names after its first words."""

    def find(documents: pl.DataFrame) -> pl.DataFrame:
        pages = pl.col("warning").str.extract_all(r"\d+").list.eval(pl.element().cast(pl.Int32))
        return _find_warnings(documents, beginning).select("document_id", page=pages).explode("page")

    return DocumentCheck(name, INCOMPLETE, "documents", broken, remedy, find, show=("page",))


_LOOK = "Check the pages; the rest of the document is not affected."

INCOMPLETE_CHECKS: tuple[DocumentCheck, ...] = (
    DocumentCheck(
        "boxes_are_explained",
        INCOMPLETE,
        "anchors",
        "boxes of the form have no heading in these instructions",
        "Look for the box in the document itself. `taxkg box` shows what was found of it.",
        find_unexplained_boxes,
        show=("form", "revision", "box_key"),
    ),
    DocumentCheck(
        "headings_name_printed_boxes",
        INCOMPLETE,
        "anchors",
        "headings mention boxes that the form does not print",
        _LOOK,
        find_invented_boxes,
        show=("form", "key", "heading"),
    ),
    DocumentCheck(
        "forms_show_their_boxes",
        INCOMPLETE,
        "faces",
        "headings mention boxes of this form, but no box was found on its pages",
        _LOOK,
        find_boxes_without_face,
        show=("boxes",),
    ),
    DocumentCheck(
        "pages_have_text",
        INCOMPLETE,
        "elements",
        "pages have no text, although they are neither scanned nor blank",
        "Read these pages in the PDF itself.",
        find_pages_without_elements,
        show=("page",),
    ),
    DocumentCheck(
        "pages_have_content",
        INCOMPLETE,
        "elements",
        "pages are served without most of their text, as it looks like headers and footers",
        "Read these pages in the PDF itself, or replace the file by one that is printed to letter size.",
        find_pages_without_content,
        show=("page",),
    ),
    _warned_pages_check(
        "pages_are_undamaged",
        beginning=DAMAGED_PAGES,
        broken="pages are damaged in the file, and some of their text may be missing",
        remedy="Download the file again from its source. Until then, read these pages with care.",
    ),
    _warned_pages_check(
        "pages_are_readable",
        beginning=UNREADABLE_PAGES,
        broken="pages are only images, or their fonts do not state their letters, so that no search finds their text",
        remedy="Run OCR on the file, and replace it by the result. Until then, read these pages in the PDF itself.",
    ),
    DocumentCheck(
        "files_are_as_published",
        INCOMPLETE,
        "documents",
        "parts of the file are not served: what somebody filled in or commented, or embedded files",
        "If these parts belong to the library, print the file to a PDF, or add the embedded files by themselves.",
        find_left_out_parts,
        show=("warning",),
    ),
    column_check(
        "table_cells_have_headers",
        on="documents",
        where=pl.col("warnings").list.eval(pl.element().str.starts_with(TABLES_AS_TEXT)).list.any(),
        show=("warnings",),
        broken="tables are served as plain text, because some cells have no header",
        remedy="Read the table on the page. `taxkg explain` names it.",
    ),
    DocumentCheck(
        "table_rows_are_their_own",
        INCOMPLETE,
        "tables",
        "rows of tables belong to another table, or are printed outside of their own",
        "Compare the table with the printed page. `taxkg explain` names it.",
        find_foreign_rows,
        show=("page", "table_id", "text"),
    ),
    column_check(
        "no_prompt_injection",
        on="documents",
        where=pl.col("hidden_texts").list.eval(pl.element().struct.field("is_order")).list.any(),
        show=(),
        broken="passages contain prompt injections or hidden text",
        remedy="Read them with `taxkg status`. Let no program follow them.",
    ),
    column_check(
        "totals_use_lines_once",
        on="formulas",
        where=pl.col("repeated_lines").list.len() > 0,
        show=("key", "repeated_lines"),
        broken="totals use a line more than once although the form does not say so",
        remedy="Compare the totals with the printed form. `taxkg form FORM` lists its lines.",
    ),
    DocumentCheck(
        "structure_tags_are_trusted",
        INCOMPLETE,
        "documents",
        "pages were read by their layout, because their structure tags contradict it",
        "Compare headings and paragraphs of these pages with the printed page.",
        find_distrusted_pages,
        show=("page", "reason"),
    ),
    DocumentCheck(
        "tags_and_layout_agree",
        INCOMPLETE,
        "anchors",
        "headings were found only in the structure tags, or only by the layout",
        "Compare the headings of the document with its printed pages.",
        find_disputed_headings,
        show=("page", "heading"),
    ),
)
"""All incomplete checks of extraction tables, the most severe first."""
