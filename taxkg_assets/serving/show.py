"""A page as a picture: what the extraction made of it, drawn over the page, so that a person can judge it by eye.

Each element is a box in the color of its role with its column and its place in the reading order; cells of tables are
outlined; where another heading begins, its words are above the first element that it owns. Next to the page
stand the legend and one line for each element but page furniture.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import polars as pl

from taxkg_assets.defs.home.store import Store
from taxkg_assets.records import CornersRecord, DocumentRecord, ElementRecord, TableRecord, iter_records
from taxkg_assets.schemas import ROLES
from taxkg_assets.serving.known_names import list_names
from taxkg_assets.serving.mupdf import MUPDF

Color = tuple[float, float, float]

ROLE_COLORS: dict[str, Color] = {
    "DocTitle": (0.55, 0.0, 0.55),
    "SectionHeader": (0.80, 0.0, 0.0),
    "SubsectionHeader": (0.95, 0.45, 0.0),
    "BoxHeader": (0.85, 0.0, 0.45),
    "BodyText": (0.0, 0.35, 0.80),
    "ListBlock": (0.0, 0.60, 0.60),
    "TableBlock": (0.0, 0.50, 0.0),
    "Callout": (0.60, 0.45, 0.0),
    "FormField": (0.35, 0.25, 0.80),
    "PageArtifact": (0.50, 0.50, 0.50),
}
"""One color per role; the order is that of the legend."""

PANEL_PT = 300.0
MARGIN_PT = 10.0
LINE_PT = 8.0
PANEL_FONT_PT = 6.0
TAG_FONT_PT = 5.0
CELL_COLOR: Color = (0.0, 0.65, 0.0)
OWNER_COLOR: Color = (0.80, 0.0, 0.0)
UNOWNED = "(no heading)"
GROUND_ZOOM = 4.0
"""Pixels a point of a text's page, the most of a requested picture."""
MOST_PIXELS = 20_000_000
"""Of one picture, which is 60 MB: a tabloid page fits at four pixels a point, larger sheets are drawn smaller."""
_PLAIN_LETTERS = str.maketrans({"—": "-", "–": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "…": "...", "•": "·"})
# PyMuPDF carries no complete type annotations.


class PageNotFoundError(Exception):
    """No such document or page, its file is missing, or the page cannot be drawn; the message names alternatives."""


class SourceColumns(TypedDict):
    """Columns of `documents` that identify a document's file."""

    document_id: str
    source_uri: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PageContent:
    """What was extracted from one page, in reading order.

    Attributes:
        document_id: Document.
        page: 1-based page.
        elements: Rows of `elements`.
        tables: Rows of `tables`.
        owners: Heading that owns each element, by element_id.
    """

    document_id: str
    page: int
    elements: list[ElementRecord]
    tables: list[TableRecord]
    owners: dict[str, str]

    def describe_elements(self) -> Iterator[str]:
        """Return one line of text for each element, in reading order."""
        return (self.describe(row) for row in self.elements)

    def describe(self, row: ElementRecord) -> str:
        """Return the tag, the role with its confidence, and the owning heading of an element.

        Args:
            row: Row of `elements`.
        """
        owner = self.owners.get(row["element_id"], "")
        return f"{_format_tag(row)}  {row['role']} {row['role_confidence']:.2f}{'  < ' + owner if owner else ''}"

    @property
    def listed_elements(self) -> list[ElementRecord]:
        """Return the elements to list next to the page, without page furniture such as dot leaders."""
        return [row for row in self.elements if row["role"] != "PageArtifact"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn page."""

    png: bytes
    width_px: int
    height_px: int


def _undrawable() -> tuple[type[Exception], ...]:
    """Return the exceptions that the library raises on a page that it cannot draw."""
    return (RuntimeError, ValueError, IndexError, MUPDF.mupdf.FzErrorBase)


def find_page(store: Store, document_id: str, page: int) -> PageContent:
    """Collect what was extracted from a page.

    Args:
        store: Tables of the home.
        document_id: Document.
        page: 1-based page.

    Returns:
        Elements and tables of the page, and the heading that owns each element.

    Raises:
        PageNotFoundError: The home does not contain the document or the page.
    """
    document = find_document(store, document_id)
    if not 1 <= page <= document["page_count"]:
        raise PageNotFoundError(f"{document_id} has no page {page}. Its pages are 1 to {document['page_count']}.")
    is_on_page = (pl.col("document_id") == document_id) & (pl.col("page") == page)
    elements = list(iter_records(store.read("elements").filter(is_on_page).sort("element_ix"), ElementRecord))
    tables = list(iter_records(store.read("tables").filter(is_on_page), TableRecord))
    return PageContent(document_id, page, elements, tables, _read_owners(store, document_id, elements))


def draw_page(store: Store, content: PageContent, *, zoom: float = 2.0) -> Picture:
    """Draw a page with what was extracted from it.

    Args:
        store: Tables of the home.
        content: Result of `find_page`.
        zoom: Pixels per point.

    Returns:
        The picture.

    Raises:
        PageNotFoundError: The file of the document is gone, or has changed since it was read.
    """
    document = find_document(store, content.document_id)
    with opened_page(document, content.page) as page, MUPDF.open() as drawing:
        width, height = page.rect.width, page.rect.height
        panel_height = MARGIN_PT * 2 + LINE_PT * (len(ROLES) + len(content.listed_elements) + 4)
        canvas = drawing.new_page(width=width + PANEL_PT, height=max(height, panel_height))
        image = draw_sheet(page, zoom=zoom)
        canvas.insert_image(MUPDF.Rect(0, 0, width, height), pixmap=image)
        _draw_elements(canvas, content)
        _draw_tables(canvas, content.tables)
        _draw_owners(canvas, content)
        _draw_panel(canvas, content, x=width + MARGIN_PT)
        picture = draw_sheet(canvas, zoom=zoom)
        return Picture(picture.tobytes("png"), picture.width, picture.height)


# ------------------------------------------------------------------------------------------------- the tables


def find_document(store: Store, document_id: str) -> DocumentRecord:
    """Return the row of a document.

    Args:
        store: Tables of the home.
        document_id: Id of the document.
    """
    if not store.exists("documents"):
        raise PageNotFoundError(f"{store.uri} has no tables yet. Run `taxkg build` first, or give another --home.")
    documents = store.read("documents")
    rows = list(iter_records(documents.filter(pl.col("document_id") == document_id), DocumentRecord))
    if not rows:
        stem = document_id.lower().removesuffix(".pdf").removesuffix(".txt")
        similar_ids = list_names(documents["document_id"], unknown_name=stem)
        raise PageNotFoundError(f"{store.uri} has no document {document_id!r}. Documents: {similar_ids}.")
    return rows[0]


def _read_owners(store: Store, document_id: str, elements: Sequence[ElementRecord]) -> dict[str, str]:
    """Return the heading that owns each element; an element is owned as the paragraph that it is part of."""
    of_document = pl.col("document_id") == document_id
    headings = dict(store.read("anchors").filter(of_document).select("anchor_id", "heading").iter_rows())
    owned: dict[str, str] = {}
    for row in store.read("sections").filter(of_document).iter_rows(named=True):
        heading = headings.get(row["anchor_id"], UNOWNED)
        for element_id in row["element_ids"]:
            owned[element_id] = heading
    return {row["element_id"]: owned[row["element_id"]] for row in elements if row["element_id"] in owned}


@contextmanager
def opened_page(document: SourceColumns, page: int) -> Iterator[Any]:
    """Open a page of a document's file for drawing.

    Args:
        document: The document.
        page: 1-based page.

    Yields:
        PyMuPDF's page.

    Raises:
        PageNotFoundError: The file is gone or has changed, or the parser cannot open the page.
    """
    try:
        with _open_source(document) as source, _as_pdf(source, page) as sheet:
            yield sheet
    except _undrawable() as error:
        reason = str(error).strip().rstrip(".")
        raise PageNotFoundError(f"Page {page} of {document['document_id']} cannot be drawn: {reason}.") from error


@contextmanager
def _as_pdf(source: Any, page: int) -> Iterator[Any]:
    """Yield the page as a PDF page, which alone can be drawn on; a page of text becomes the background of one.

    PyMuPDF 2.0 converts no range of pages but one that begins with the first.
    """
    sheet = source[page - 1]
    if source.is_pdf:
        yield sheet
        return
    with MUPDF.open() as background_file:
        background = background_file.new_page(width=sheet.rect.width, height=sheet.rect.height)
        background.insert_image(background.rect, pixmap=sheet.get_pixmap(matrix=MUPDF.Matrix(GROUND_ZOOM, GROUND_ZOOM)))
        yield background


def draw_sheet(sheet: Any, *, zoom: float) -> Any:
    """Draw an opened page as a pixmap.

    Args:
        sheet: PyMuPDF's page.
        zoom: Pixels per point; reduced if the picture would have more than `MOST_PIXELS`.

    Returns:
        PyMuPDF's pixmap.
    """
    area = max(1.0, sheet.rect.width * sheet.rect.height)
    zoom = min(zoom, math.sqrt(MOST_PIXELS / area))
    return sheet.get_pixmap(matrix=MUPDF.Matrix(zoom, zoom))


def _open_source(document: SourceColumns) -> Any:
    """Open the document's file if its bytes are those that were read; `PageNotFoundError` otherwise."""
    path = Path(document["source_uri"])
    if not path.is_file():
        raise PageNotFoundError(
            f"{path} no longer exists. Restore the file, or run `taxkg build --corpus` with its new folder."
        )
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != document["sha256"]:
        raise PageNotFoundError(f"{path} has changed since it was read. Run `taxkg build`, and try again.")
    from taxkg_assets.extraction.pdf.document import BoundedDocument  # loads PyMuPDF

    return BoundedDocument(stream=data, filetype="txt" if path.suffix.lower() == ".txt" else "pdf")


# ------------------------------------------------------------------------------------------------ the drawing


def _draw_elements(canvas: Any, content: PageContent) -> None:
    for row in content.elements:
        color, box = ROLE_COLORS[row["role"]], _rect(row["bbox"])
        canvas.draw_rect(box, color=color, fill=color, width=0.8, fill_opacity=0.10, overlay=True)
        tag = _format_tag(row)
        # In the gutter, so that no words of the page are hidden.
        x = max(0.0, box.x0 - MUPDF.get_text_length(tag, fontsize=TAG_FONT_PT) - 2.4)
        _write_tag(canvas, tag, x=x, y=box.y0 + TAG_FONT_PT, color=color)


def _draw_tables(canvas: Any, tables: Sequence[TableRecord]) -> None:
    for table in tables:
        canvas.draw_rect(_rect(table["bbox"]), color=CELL_COLOR, width=1.5)
        for cell in table["cells"]:
            canvas.draw_rect(_rect(cell["bbox"]), color=CELL_COLOR, width=0.4, dashes="[2 1] 0")


def _draw_owners(canvas: Any, content: PageContent) -> None:
    """Name the owner above the first element of each run that it owns."""
    previous_owner: str | None = None
    for row in content.elements:
        owner = content.owners.get(row["element_id"])
        if owner is not None and owner != previous_owner:
            box = _rect(row["bbox"])
            words = f"< {_printable(owner)[:50]}"
            width = MUPDF.get_text_length(words, fontsize=TAG_FONT_PT) + 2
            _write_tag(canvas, words, x=max(box.x0 + 26, box.x1 - width), y=box.y0, color=OWNER_COLOR, is_filled=False)
            previous_owner = owner


def _write_tag(canvas: Any, words: str, *, x: float, y: float, color: Color, is_filled: bool = True) -> None:
    """Write small words on a patch at the upper edge of a box."""
    words = _printable(words)
    width = MUPDF.get_text_length(words, fontsize=TAG_FONT_PT) + 2
    patch = MUPDF.Rect(x, y - TAG_FONT_PT, x + width, y + 1)
    canvas.draw_rect(patch, color=color, fill=color if is_filled else (1, 1, 1), width=0.3, fill_opacity=0.8)
    ink = (1, 1, 1) if is_filled else color
    canvas.insert_text((x + 1, y), words, fontsize=TAG_FONT_PT, color=ink)


def _draw_panel(canvas: Any, content: PageContent, *, x: float) -> None:
    """Draw the legend and the list of elements next to the page."""
    y = MARGIN_PT + LINE_PT
    canvas.insert_text((x, y), _printable(f"{content.document_id}, page {content.page}"), fontsize=8)
    for role, color in ROLE_COLORS.items():
        y += LINE_PT
        canvas.draw_rect(MUPDF.Rect(x, y - 5, x + 8, y), color=color, fill=color, fill_opacity=0.3)
        canvas.insert_text((x + 12, y), role, fontsize=PANEL_FONT_PT)
    y += LINE_PT
    notes = "element_ix . column_ix (* across columns)   < heading that owns   green dashes: cells of a table"
    canvas.insert_text((x, y), notes, fontsize=PANEL_FONT_PT)
    y += LINE_PT
    width = PANEL_PT - 2 * MARGIN_PT
    for row in content.listed_elements:
        y += LINE_PT
        canvas.insert_text(
            (x, y),
            _shorten_to_fit(content.describe(row), width),
            fontsize=PANEL_FONT_PT,
            color=ROLE_COLORS[row["role"]],
        )


def _format_tag(row: ElementRecord) -> str:
    column = "*" if row["column_ix"] < 0 else str(row["column_ix"])
    return f"{row['element_ix']}.{column}"


def _shorten_to_fit(line: str, width: float) -> str:
    line = _printable(line)
    while MUPDF.get_text_length(line, fontsize=PANEL_FONT_PT) > width:
        line = line[:-4] + "..."
    return line


def _printable(words: str) -> str:
    """Return a text in characters of the built-in font."""
    return " ".join(words.split()).translate(_PLAIN_LETTERS).encode("latin-1", "replace").decode("latin-1")


def _rect(bbox: CornersRecord) -> Any:
    return MUPDF.Rect(bbox["x0_pt"], bbox["y0_pt"], bbox["x1_pt"], bbox["y1_pt"])
