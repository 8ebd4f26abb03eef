"""PDF bytes to pages: the one reading of a document that every later stage of the extraction works from.

Here and nowhere else in the extraction a PDF is opened. A `Page` is plain data, so that the stages after it are pure
functions. Text files (.txt) open through PyMuPDF too and get pages of a fixed size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from sys import intern
from typing import Any, TypeVar

import pymupdf

from taxkg_assets.extraction.errors import StageError
from taxkg_assets.extraction.glyphs import find_misprints
from taxkg_assets.extraction.orders import find_printed_orders, find_rows
from taxkg_assets.extraction.plain_pages import has_named_parts, is_plain
from taxkg_assets.extraction.plain_text import find_plain_text
from taxkg_assets.extraction.text_direction import find_sideways
from taxkg_assets.extraction.text_portions import open_portions
from taxkg_assets.extraction.visibility import (
    COVERED,
    FAR_PT,
    OFF_PAGE,
    PRINTED,
    UNPAINTED,
    Ground,
    HiddenText,
    Sight,
)
from taxkg_assets.rules.loader import load_rules


# Not frozen: a page has hundreds of them, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class Span:
    """A run of text in one font. Coordinates are points from the page's top left, y downwards."""

    span_ix: int
    block_ix: int
    line_ix: int
    text: str
    font: str
    size_pt: float
    is_bold: bool
    is_italic: bool
    color: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn horizontal or vertical line, or one edge of a thin filled rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def is_horizontal(self) -> bool:
        return abs(self.y1 - self.y0) <= abs(self.x1 - self.x0)


@dataclass(frozen=True, slots=True)
class Fill:
    """A filled rectangle (cell shading, callout background)."""

    x0: float
    y0: float
    x1: float
    y1: float
    color: int


@dataclass(frozen=True, slots=True)
class Widget:
    """A field of the classic AcroForm (XFA is never resolved)."""

    name: str
    label: str
    kind: str
    value: str
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page as data; `rules`, `fills` and `widgets` may be empty.

    `sideways`: its text runs upwards (1) or downwards (−1) instead of from left to right (0).
    """

    page: int
    width_pt: float
    height_pt: float
    spans: tuple[Span, ...]
    rules: tuple[Rule, ...] = ()
    fills: tuple[Fill, ...] = ()
    widgets: tuple[Widget, ...] = ()
    image_count: int = 0
    sideways: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """A document as read: its pages, the PDF's own metadata, and what had to be repaired."""

    document_id: str
    pages: tuple[Page, ...]
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    is_text_file: bool = False
    hidden_texts: tuple[HiddenText, ...] = ()

    @property
    def image_only_pages(self) -> tuple[int, ...]:
        """Give the pages that show an image and hold no text: they need OCR."""
        return tuple(page.page for page in self.pages if not page.spans and page.image_count)


Turn = Callable[[Sequence[float]], tuple[float, float, float, float]]
Shape = TypeVar("Shape", Rule, Fill, Widget)

# PyMuPDF carries no complete type annotations.
_MUPDF: Any = pymupdf
# Text beside the page is read too, so that it can be told that it is there.
_TEXT_FLAGS: int = _MUPDF.TEXTFLAGS_DICT & ~_MUPDF.TEXT_PRESERVE_IMAGES & ~_MUPDF.TEXT_MEDIABOX_CLIP
# What glyphs print within their clips, and not what the file says in their place.
_PRINTED_FLAGS: int = _TEXT_FLAGS | _MUPDF.TEXT_MEDIABOX_CLIP | _MUPDF.TEXT_IGNORE_ACTUALTEXT
_AROUND: Any = _MUPDF.Rect(-FAR_PT, -FAR_PT, FAR_PT, FAR_PT)
_REFERENCE = re.compile(r"(\d+) \d+ R")
_HTML_HEAD = re.compile(rb"^\s*(?:<!doctype html|<html|<head|<\?xml)", re.IGNORECASE)
_REDOWNLOAD = "Download the file again from its source."
# What a broken file makes the parser raise; errors of MuPDF itself are no RuntimeError.
_DAMAGE: tuple[type[Exception], ...] = (RuntimeError, ValueError, _MUPDF.mupdf.FzErrorBase)
_DAMAGE_OR_LOSS: tuple[type[Exception], ...] = (*_DAMAGE, IndexError)
_ERROR_CODE = re.compile(r"^code=\d+:\s*")


def read_source(data: bytes, *, document_id: str, is_text: bool = False, max_pages: int = 10_000) -> Source:
    """Read a document's bytes into pages of spans, rules, fills and form fields.

    Args:     data: the file. document_id: the document's name. is_text: the file is plain text, not a PDF.
    Returns:  the document as plain data; `warnings` says what was repaired, hidden or left without text.
    Raises:   StageError('open', …) for a file that is no PDF, is encrypted, has lost pages, or holds only images.
    """
    hidden: list[HiddenText] = []
    if is_text:
        pages, metadata, warnings = _read_text(data, max_pages=max_pages, hidden=hidden)
    else:
        pages, metadata, warnings = _read_pdf(data, max_pages=max_pages, hidden=hidden)
    if not any(page.spans for page in pages):
        if any(page.image_count for page in pages):
            raise StageError("open", "No page holds any text, only images.", "Run OCR on the file and add the result.")
        raise StageError("open", "The pages are blank: there is no text on any of them.", _REDOWNLOAD)
    hidden += find_printed_orders([(page.page, page.spans) for page in pages])
    rows = find_rows(sorted(hidden, key=lambda row: row.page))
    warnings += _hidden_warnings(rows)
    image_only = Source(document_id, pages).image_only_pages
    if image_only:
        warnings.append(f"Page(s) {_listed(image_only)} hold only images; their text needs OCR.")
    return Source(document_id, pages, metadata, tuple(warnings), is_text, tuple(rows))


def _hidden_warnings(rows: Sequence[HiddenText]) -> list[str]:
    """Say where text was left out that nobody can see, and where text gives orders to programs."""
    unseen = [row.page for row in rows if row.kind != PRINTED]
    orders = [row.page for row in rows if row.is_order]
    return [
        *([f"Invisible text was left out on page(s) {_listed(unseen)}."] if unseen else []),
        *([f"Text on page(s) {_listed(orders)} gives orders to programs that read it."] if orders else []),
    ]


def _read_pdf(
    data: bytes, *, max_pages: int, hidden: list[HiddenText]
) -> tuple[tuple[Page, ...], dict[str, str], list[str]]:
    """Read a PDF's pages, its own metadata and what had to be repaired."""
    document = _open(data, is_text=False)
    try:
        _check_page_count(document.page_count, max_pages=max_pages)
        warnings = _repair_warnings(document)
        has_fields = bool(document.is_form_pdf)
        pages = tuple(
            _read_page(document, ix, page_ix=ix, has_fields=has_fields, is_text=False, hidden=hidden)
            for ix in range(document.page_count)
        )
        return pages, _metadata(document), warnings
    except _DAMAGE_OR_LOSS as error:
        # What is left of a truncated file can be repaired into something whose parts are missing.
        reason = f"The file is truncated or damaged beyond repair ({_first_line(error)})."
        raise StageError("open", reason, _REDOWNLOAD) from error
    finally:
        document.close()


def _read_text(
    data: bytes, *, max_pages: int, hidden: list[HiddenText]
) -> tuple[tuple[Page, ...], dict[str, str], list[str]]:
    """Read a text file's pages, portion by portion."""
    pages: list[Page] = []
    metadata: dict[str, str] = {}
    for document, page_count in open_portions(data, open_text=lambda portion: _open(portion, is_text=True)):
        try:
            _check_page_count(len(pages) + page_count, max_pages=max_pages)
            metadata = metadata or _metadata(document)
            for ix in range(page_count):
                page_ix = len(pages)
                pages.append(_read_page(document, ix, page_ix=page_ix, has_fields=False, is_text=True, hidden=hidden))
        finally:
            document.close()
    return tuple(pages), metadata, []


def _check_page_count(page_count: int, *, max_pages: int) -> None:
    if page_count > max_pages:
        reason = f"The file has {page_count} pages or more; {max_pages} are allowed."
        raise StageError("limits", reason, "Split the file, or raise TAXKG_MAX_PAGES.")


def _metadata(document: Any) -> dict[str, str]:
    return {key: find_plain_text(value) for key, value in (document.metadata or {}).items() if value}


def _listed(pages: Iterable[int]) -> str:
    return ", ".join(str(page) for page in sorted(set(pages)))


def _open(data: bytes, *, is_text: bool) -> Any:
    """Open the bytes with PyMuPDF, or say in one sentence why that cannot be."""
    if not data.strip():
        raise StageError("open", "The file is empty.", _REDOWNLOAD)
    if not is_text and b"%PDF-" not in data[:1024]:
        if _HTML_HEAD.match(data[:512]):
            raise StageError("open", "The file holds a web page, not a PDF.", _REDOWNLOAD)
        raise StageError("open", "The file has no PDF header.", _REDOWNLOAD)
    _MUPDF.TOOLS.mupdf_display_errors(False)
    _MUPDF.TOOLS.mupdf_display_warnings(False)
    _MUPDF.TOOLS.reset_mupdf_warnings()
    try:
        document = _MUPDF.open(stream=data, filetype="txt" if is_text else "pdf")
    except _DAMAGE as error:
        raise StageError("open", f"The file is damaged beyond repair ({_first_line(error)}).", _REDOWNLOAD) from error
    if document.needs_pass:
        document.close()
        raise StageError("open", "The file is encrypted with a password.", "Remove the password and add it again.")
    if document.page_count == 0:
        is_cut = document.is_pdf and document.is_repaired
        document.close()
        reason = "The file is truncated: its pages are lost." if is_cut else "The file has no pages."
        raise StageError("open", reason, _REDOWNLOAD)
    return document


def _first_line(error: Exception) -> str:
    """The parser's words without its error number."""
    return find_plain_text(_ERROR_CODE.sub("", (str(error).splitlines() or [type(error).__name__])[0]))


def _repair_warnings(document: Any) -> list[str]:
    """Tell what had to be repaired; pages that the repair could not bring back refuse the document."""
    if not document.is_pdf or not document.is_repaired:
        return []
    declared = max(_declared_page_count(document), document.page_count)
    lost = declared - sum(_has_content(document, ix) for ix in range(document.page_count))
    if lost:
        raise StageError("open", f"The file is truncated: {lost} of {declared} pages are lost.", _REDOWNLOAD)
    return ["The cross-reference table was damaged and has been rebuilt."]


def _declared_page_count(document: Any) -> int:
    """Read the number of pages that the page tree's root promises; 0 where there is no root left."""
    kind, pages = document.xref_get_key(document.pdf_catalog(), "Pages")
    if kind != "xref":
        return 0
    kind, count = document.xref_get_key(int(pages.split()[0]), "Count")
    return int(count) if kind == "int" else 0


def _has_content(document: Any, ix: int) -> bool:
    """Decide whether the streams that a page names are still in the file; a page may be empty by intent."""
    kind, value = document.xref_get_key(document.page_xref(ix), "Contents")
    streams = [int(number) for number in _REFERENCE.findall(value)] if kind in ("xref", "array") else []
    return all(document.xref_is_stream(number) for number in streams)


def _read_page(
    document: Any, ix: int, *, page_ix: int, has_fields: bool, is_text: bool, hidden: list[HiddenText]
) -> Page:
    """Read page `ix` of what is open as page `page_ix` of the whole document."""
    # drawings.py builds the data classes of this module, so it can only be imported once they exist.
    from taxkg_assets.extraction.drawings import read_drawings, read_painters, read_widgets

    try:
        page = document[ix]
        said = page.get_textpage(clip=_AROUND, flags=_TEXT_FLAGS)
        content = page.get_text("dict", textpage=said)
        written = b"" if is_text else page.read_contents()
        has_one_reading = is_text or is_plain(page, written, blocks=content["blocks"])
        printed = None if has_one_reading else page.get_textpage(clip=_AROUND, flags=_PRINTED_FLAGS)
        rules, fills, covers = ((), (), ()) if is_text else read_drawings(page)
        widgets = read_widgets(page) if has_fields else ()
        image_count = 0 if is_text or not has_named_parts(page) else len(page.get_images())
        painters = read_painters(page, written)
    except _DAMAGE as error:
        reason = f"Page {page_ix + 1} is lost or damaged ({_first_line(error)})."
        raise StageError("open", reason, _REDOWNLOAD) from error
    width, height = page.rect.width, page.rect.height
    turn = _turn_of(page) if page.rotation else None
    ground = Ground(fills, covers, has_pictures=image_count > 0, painters=painters)
    sight = Sight(page, width=width, height=height, ground=ground)
    readings = None if printed is None else (said, printed)
    spans, unseen = _read_spans(content["blocks"], sight=sight, turn=turn, page=page_ix + 1, readings=readings)
    hidden += unseen
    if turn is not None:
        rules, fills, widgets = _turned(rules, turn), _turned(fills, turn), _turned(widgets, turn)
    sideways = find_sideways(content["blocks"], page.rotation_matrix if turn else None)
    return Page(page_ix + 1, width, height, spans, rules, fills, widgets, image_count, sideways)


def _turn_of(page: Any) -> Turn:
    """Give the function that turns a rectangle of a rotated page into the page as it is shown."""
    matrix = page.rotation_matrix

    def turn(box: Sequence[float]) -> tuple[float, float, float, float]:
        shown = _MUPDF.Rect(*box) * matrix
        return shown.x0, shown.y0, shown.x1, shown.y1

    return turn


def _turned(shapes: tuple[Shape, ...], turn: Turn) -> tuple[Shape, ...]:
    turned = []
    for shape in shapes:
        x0, y0, x1, y1 = turn((shape.x0, shape.y0, shape.x1, shape.y1))
        turned.append(replace(shape, x0=x0, y0=y0, x1=x1, y1=y1))
    return tuple(turned)


def _read_spans(
    blocks: list[dict[str, Any]], *, sight: Sight, turn: Turn | None, page: int, readings: tuple[Any, Any] | None
) -> tuple[tuple[Span, ...], list[HiddenText]]:
    """Read the visible spans of a page in stored order, and the words of those that nobody can see."""
    spans: list[Span] = []
    unseen: list[HiddenText] = []
    under_picture: list[Span] = []
    placed = [
        (block_ix, line_ix, raw)
        for block_ix, block in enumerate(blocks)
        for line_ix, line in enumerate(block["lines"])
        for raw in line["spans"]
    ]
    raws = [raw for _, _, raw in placed]
    boxes = [turn(raw["bbox"]) if turn else raw["bbox"] for raw in raws]
    reasons = sight.find_reasons(raws, boxes)
    if readings is not None:
        on_page = [reason != OFF_PAGE for reason in reasons]
        for ix, misprint in find_misprints(raws, on_page, said=readings[0], printed=readings[1]).items():
            if not misprint.printed.strip():
                reasons[ix] = reasons[ix] or misprint.kind
            elif not reasons[ix]:
                unseen.append(HiddenText(page, misprint.kind, find_plain_text(misprint.unseen), boxes[ix]))
                raws[ix]["text"] = misprint.printed
    for (block_ix, line_ix, raw), (x0, y0, x1, y1), reason in zip(placed, boxes, reasons, strict=True):
        text = shown = raw["text"]
        if not text.isprintable():
            text = find_plain_text(text)
            shown = text.replace("\xa0", " ")
        font, size_pt, is_bold, is_italic = _type_of(raw["font"], raw["size"], raw["flags"])
        span = Span(
            len(spans), block_ix, line_ix, shown, font, size_pt, is_bold, is_italic, raw["color"], x0, y0, x1, y1
        )
        if not reason:
            spans.append(span)
        elif text.strip():
            unseen.append(HiddenText(page, reason, text, (x0, y0, x1, y1)))
            if reason in (UNPAINTED, COVERED):
                under_picture.append(span)
    if under_picture and sight.is_scan_of(spans, under_picture):
        # The reading of a scan lies unseen over or under its picture.
        read = [replace(span, span_ix=number) for number, span in enumerate([*spans, *under_picture])]
        return tuple(read), [row for row in unseen if row.kind not in (UNPAINTED, COVERED)]
    return tuple(spans), unseen


@lru_cache(maxsize=1024)
def _type_of(font: str, size: float, flags: int) -> tuple[str, float, bool, bool]:
    """Tell font, size, weight and slant: a page repeats a few of them hundreds of times."""
    is_bold = bool(flags & 16) or any(rule.pattern.search(font) for rule in load_rules("roles", "bold_fonts"))
    return intern(font), round(size, 2), is_bold, bool(flags & 2)
