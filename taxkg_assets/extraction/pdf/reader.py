"""PDF bytes to pages, which all later stages of the extraction use.

The extraction opens a PDF here only; page_reader.py reads an open page. PyMuPDF also opens text files (.txt), as pages
of a fixed size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from taxkg_assets.extraction.errors import DAMAGED_PAGES, LEFT_OUT, UNREADABLE_PAGES, StageError
from taxkg_assets.extraction.pdf.document import BoundedDocument
from taxkg_assets.extraction.pdf.form_widgets import hide_additions, read_template
from taxkg_assets.extraction.pdf.hidden_text import PRINTED, HiddenText
from taxkg_assets.extraction.pdf.library import pymupdf
from taxkg_assets.extraction.pdf.model import Page, Source
from taxkg_assets.extraction.pdf.navigation import Navigation
from taxkg_assets.extraction.pdf.navigation_reader import NavigationReader
from taxkg_assets.extraction.pdf.page_reader import read_page
from taxkg_assets.extraction.pdf.prompt_injection import find_printed_injections, find_rows
from taxkg_assets.extraction.pdf.sanitize import strip_control_characters
from taxkg_assets.extraction.pdf.tag_guard import TreeReport, inspect_tree
from taxkg_assets.extraction.pdf.tag_policy import TagPolicy
from taxkg_assets.extraction.pdf.text_paging import open_text_parts

# PyMuPDF has no complete type annotations.
_MUPDF: Any = pymupdf
_REFERENCE = re.compile(r"(\d+) \d+ R")
_HTML_HEAD = re.compile(rb"^\s*(?:<!doctype html|<html|<head|<\?xml)", re.IGNORECASE)
_REDOWNLOAD = "Download the file again from its source."
# Errors that the parser raises for a damaged file; errors of MuPDF itself are no RuntimeError.
_DAMAGE: tuple[type[Exception], ...] = (RuntimeError, ValueError, _MUPDF.mupdf.FzErrorBase)
_DAMAGE_OR_LOSS: tuple[type[Exception], ...] = (*_DAMAGE, IndexError)
_ADDITIONS = "values of fields, or comments,"
_UNREADABLE = "images, or fonts that do not state their letters"
_DAMAGED_CONTENT = re.compile(
    r"zlib error|read error|syntax error in content stream|syntax error after inline image"
    r"|ignoring rest of page|invalid key in dict|premature end in (?:lzw|run length)"
)
"""Messages of MuPDF about content that it cannot read to the end. It reads on after others, such as a surplus `Q`."""
_MOST_PLACEHOLDER_CHARACTERS = 1_500
"""Length of the longest text that asks to wait, in several languages."""
_ERROR_CODE = re.compile(r"^code=\d+:\s*")


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the pages of one PDF are read.

    Attributes:
        has_fields: Whether the PDF has form fields.
        links: Reader of the links.
        policy: Decides which pages are read by their structure tags; None reads no tags.
        distrust: Why no page is read by its tags; "" where the policy decides.
        may_replace_text: Whether structure tags may state other words than the pages print.
        damaged_pages: Pages read so far whose content is damaged.
        changed_pages: Pages read so far on which somebody filled in fields or commented.
    """

    has_fields: bool
    links: NavigationReader
    policy: TagPolicy | None
    distrust: str = ""
    may_replace_text: bool = True
    damaged_pages: list[int] = field(default_factory=list)
    changed_pages: list[int] = field(default_factory=list)


def read_source(
    data: bytes,
    *,
    document_id: str,
    is_text: bool = False,
    max_pages: int = 10_000,
    policy: TagPolicy | None = None,
) -> Source:
    """Read a PDF or text file into pages of spans, rules, fills and form fields.

    Args:
        data: Bytes of the file.
        document_id: Id of the document.
        is_text: Whether the file is plain text and no PDF.
        max_pages: Maximum number of pages.
        policy: Decides which pages are read by their structure tags; None reads no tags.

    Returns:
        The document as plain data; its `warnings` state what was repaired, left out as invisible, or has no text.

    Raises:
        StageError: For a file that is no PDF, is encrypted, has lost pages, or has no readable text.
    """
    hidden_texts: list[HiddenText] = []
    template, navigation = b"", Navigation()
    if is_text:
        pages, metadata, warnings = _read_text(data, max_pages=max_pages, hidden_texts=hidden_texts)
    else:
        pages, metadata, warnings, template, navigation = _read_pdf(
            data, max_pages=max_pages, hidden_texts=hidden_texts, policy=policy
        )
    if not any(page.has_text for page in pages):
        if any(page.image_count or page.is_garbled for page in pages):
            raise StageError(
                "open", f"No page has readable text, only {_UNREADABLE}.", "Run OCR on the file, and add the result."
            )
        if any(warning.startswith(f"{LEFT_OUT}{_ADDITIONS}") for warning in warnings):
            remedy = "Print it to a PDF and add the result, if this text belongs to the library."
            raise StageError("open", "All of its text is in form fields or comments.", remedy)
        raise StageError("open", "All pages are blank.", _REDOWNLOAD)
    hidden_texts += find_printed_injections([(page.page, page.spans) for page in pages])
    rows = find_rows(sorted(hidden_texts, key=lambda row: row.page))
    warnings += _hidden_warnings(rows)
    unreadable_pages = Source(document_id, pages).unreadable_pages
    if unreadable_pages:
        warnings.append(f"{UNREADABLE_PAGES}{_join_pages(unreadable_pages)}: {_UNREADABLE}. Run OCR on the file.")
    return Source(document_id, pages, metadata, tuple(warnings), is_text, tuple(rows), template, navigation)


def _hidden_warnings(rows: Sequence[HiddenText]) -> list[str]:
    """Return warnings that name the pages with invisible text or with text that instructs programs."""
    hidden_pages = [row.page for row in rows if row.kind != PRINTED]
    injected_pages = [row.page for row in rows if row.is_order]
    return [
        *([f"Invisible text was left out on page(s) {_join_pages(hidden_pages)}."] if hidden_pages else []),
        *([f"Text on page(s) {_join_pages(injected_pages)} looks like a prompt injection."] if injected_pages else []),
    ]


def _read_pdf(
    data: bytes, *, max_pages: int, hidden_texts: list[HiddenText], policy: TagPolicy | None
) -> tuple[tuple[Page, ...], dict[str, str], list[str], bytes, Navigation]:
    """Read a PDF: pages, metadata, warnings on repairs, form template, and navigation."""
    document = _open(data, is_text=False)
    try:
        _check_page_count(document.page_count, max_pages=max_pages)
        has_fields = bool(document.is_form_pdf)
        is_tagged = document.xref_get_key(document.pdf_catalog(), "StructTreeRoot")[0] in ("xref", "dict")
        tree = inspect_tree(document) if is_tagged and policy is not None else TreeReport(may_replace_text=True)
        policy = policy if is_tagged and not tree.danger else None
        reading = _Reading(has_fields, NavigationReader(document), policy, tree.danger, tree.may_replace_text)
        pages = tuple(
            _read_page(document, ix, page_ix=ix, reading=reading, hidden_texts=hidden_texts)
            for ix in range(document.page_count)
        )
        _check_static(document, pages)
        warnings = _portfolio_warnings(document)
        warnings += _repair_warnings(document)  # MuPDF may find the damage only while it loads a page
        if reading.damaged_pages:
            damaged = _join_pages(reading.damaged_pages)
            warnings.append(f"{DAMAGED_PAGES}{damaged}: some of their text may be missing.")
        if reading.changed_pages:
            changed = _join_pages(reading.changed_pages)
            warnings.append(f"{LEFT_OUT}{_ADDITIONS} on page(s) {changed}.")
        template = read_template(document) if has_fields else b""
        return pages, _metadata(document), warnings, template, reading.links.finish()
    except _DAMAGE_OR_LOSS as error:
        # MuPDF may repair a truncated file into one with missing parts.
        reason = f"The file is truncated or damaged beyond repair ({_first_line(error)})."
        raise StageError("open", reason, _REDOWNLOAD) from error
    finally:
        document.close()


def _read_text(
    data: bytes, *, max_pages: int, hidden_texts: list[HiddenText]
) -> tuple[tuple[Page, ...], dict[str, str], list[str]]:
    """Read a text file in parts: pages, metadata and warnings."""
    pages: list[Page] = []
    metadata: dict[str, str] = {}
    for document, page_count in open_text_parts(data, open_text=lambda portion: _open(portion, is_text=True)):
        try:
            _check_page_count(len(pages) + page_count, max_pages=max_pages)
            metadata = metadata or _metadata(document)
            for ix in range(page_count):
                page_ix = len(pages)
                pages.append(_read_page(document, ix, page_ix=page_ix, reading=None, hidden_texts=hidden_texts))
        finally:
            document.close()
    return tuple(pages), metadata, []


def _check_page_count(page_count: int, *, max_pages: int) -> None:
    if page_count > max_pages:
        reason = f"The file has {page_count} pages or more; {max_pages} are allowed."
        raise StageError("limits", reason, "Split the file, or raise TAXKG_MAX_PAGES and build with --retry.")


def _check_static(document: Any, pages: Sequence[Page]) -> None:
    """Raise a StageError for a dynamic XFA form, whose only page asks the reader to wait (ISO 32000-1, table 28)."""
    if sum(len(span.text) for page in pages for span in page.spans) > _MOST_PLACEHOLDER_CHARACTERS:
        return
    catalog = document.pdf_catalog()
    is_dynamic = document.xref_get_key(catalog, "NeedsRendering")[1] == "true"
    if is_dynamic and document.xref_get_key(catalog, "AcroForm/XFA")[0] != "null":
        reason = "Its pages are a dynamic XFA form, which only Adobe Reader can lay out."
        raise StageError("open", reason, "Print it to a PDF in Adobe Reader, and add the result.")


def _portfolio_warnings(document: Any) -> list[str]:
    """Return a warning for a portfolio: its documents are embedded files, which are not read."""
    if document.xref_get_key(document.pdf_catalog(), "Collection")[0] == "null":
        return []
    return [f"{LEFT_OUT}the embedded files of a portfolio. Add each of them as a file of its own."]


def _metadata(document: Any) -> dict[str, str]:
    return {key: strip_control_characters(value) for key, value in (document.metadata or {}).items() if value}


def _join_pages(pages: Iterable[int]) -> str:
    return ", ".join(str(page) for page in sorted(set(pages)))


def _open(data: bytes, *, is_text: bool) -> Any:
    """Open the bytes with PyMuPDF, or raise a StageError that states why this is impossible."""
    if not data.strip():
        raise StageError("open", "The file is empty.", _REDOWNLOAD)
    if not is_text and b"%PDF-" not in data[:1024]:
        if _HTML_HEAD.match(data[:512]):
            raise StageError("open", "The file is a web page, not a PDF.", _REDOWNLOAD)
        raise StageError("open", "The file has no PDF header.", _REDOWNLOAD)
    _MUPDF.TOOLS.mupdf_display_errors(False)
    _MUPDF.TOOLS.mupdf_display_warnings(False)
    _MUPDF.TOOLS.reset_mupdf_warnings()
    try:
        document = BoundedDocument(stream=data, filetype="txt" if is_text else "pdf")
        _ = document.page_count  # raises an error if the page tree has a cycle
    except _DAMAGE as error:
        raise StageError("open", f"The file is damaged beyond repair ({_first_line(error)}).", _REDOWNLOAD) from error
    if document.needs_pass:
        document.close()
        raise StageError(
            "open", "The file is encrypted with a password.", "Remove the password and add the file again."
        )
    if document.page_count == 0:
        is_cut = document.is_pdf and document.is_repaired
        document.close()
        reason = "The file is truncated: its pages are lost." if is_cut else "The file has no pages."
        raise StageError("open", reason, _REDOWNLOAD)
    return document


def _first_line(error: Exception) -> str:
    """Return the parser's message without its error number."""
    return strip_control_characters(_ERROR_CODE.sub("", (str(error).splitlines() or [type(error).__name__])[0]))


def _repair_warnings(document: Any) -> list[str]:
    """Return a warning for a repaired file; raise a StageError if the repair lost pages."""
    if not document.is_pdf or not document.is_repaired:
        return []
    declared_count = max(_declared_page_count(document), document.page_count)
    missing_pages = declared_count - sum(_has_content(document, ix) for ix in range(document.page_count))
    if missing_pages:
        raise StageError(
            "open", f"The file is truncated: {missing_pages} of {declared_count} pages are lost.", _REDOWNLOAD
        )
    return ["The cross-reference table was damaged and has been rebuilt."]


def _declared_page_count(document: Any) -> int:
    """Read the number of pages that the root of the page tree states; 0 if there is no root."""
    kind, pages = document.xref_get_key(document.pdf_catalog(), "Pages")
    if kind != "xref":
        return 0
    kind, count = document.xref_get_key(int(pages.split()[0]), "Count")
    return int(count) if kind == "int" else 0


def _has_content(document: Any, ix: int) -> bool:
    """Decide whether a page and all of its content streams are still in the file; a page may have none."""
    xref = document.page_xref(ix)
    kind, value = document.xref_get_key(xref, "Contents")
    is_page = document.xref_get_key(xref, "Type")[1] == "/Page"
    if not is_page and kind == "null":
        return False
    streams = [int(number) for number in _REFERENCE.findall(value)] if kind in ("xref", "array") else []
    return all(document.xref_is_stream(number) for number in streams)


def _read_page(
    document: Any, ix: int, *, page_ix: int, reading: _Reading | None, hidden_texts: list[HiddenText]
) -> Page:
    """Read page `ix` of the open document as page `page_ix` of the file; a text file is opened in several parts."""
    try:
        _MUPDF.TOOLS.reset_mupdf_warnings()
        page = document[ix]
        if reading is None:
            return read_page(page, number=page_ix + 1, has_fields=False, is_text=True, hidden_texts=hidden_texts)
        reading.links.read_areas(page, number=page_ix + 1)
        commented_text = hide_additions(page)
        if commented_text is not None:
            reading.changed_pages.append(page_ix + 1)
        read_result = read_page(
            page,
            number=page_ix + 1,
            has_fields=reading.has_fields,
            is_text=False,
            hidden_texts=hidden_texts,
            policy=reading.policy,
            may_replace_text=reading.may_replace_text,
        )
        if _DAMAGED_CONTENT.search(_MUPDF.TOOLS.mupdf_warnings()):
            reading.damaged_pages.append(page_ix + 1)
        if reading.distrust or commented_text:
            distrust = reading.distrust or read_result.distrust
            return replace(read_result, distrust=distrust, text_with_comments=commented_text or "")
        return read_result
    except _DAMAGE as error:
        reason = f"Page {page_ix + 1} is missing or damaged ({_first_line(error)})."
        raise StageError("open", reason, _REDOWNLOAD) from error
