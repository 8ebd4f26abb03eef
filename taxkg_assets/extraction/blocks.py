"""A block: what one element of a page is inside the extraction, with its lines and its place in the reading order."""

from __future__ import annotations

from dataclasses import dataclass

from taxkg_assets.extraction.lines import Line, Piece

CONTENT_ROLES = ("BodyText", "ListBlock", "Callout", "FormField", "TableBlock")
HEADER_ROLES = ("SectionHeader", "SubsectionHeader", "BoxHeader")


@dataclass(slots=True)
class Block:
    """One element of a page in reading order; a run-in heading and the text after it are two blocks."""

    page: int
    element_ix: int
    element_id: str
    column_ix: int
    role: str
    confidence: float
    lines: list[Line]
    text: str
    pieces: list[Piece]
    size: float
    is_bold: bool
    is_italic: bool
    is_run_in: bool = False
    region_ix: int = -1
    table_id: str | None = None
    is_indented: bool = False
    is_listed: bool = False
    is_below_rule: bool = False
    is_centred: bool = False
    is_face: bool = False
    is_code: bool = False
    is_in_contents: bool = False
    is_continued: bool = False

    @property
    def bbox(self) -> tuple[float, float, float, float]:
        return (
            min(line.x0 for line in self.lines),
            min(line.y0 for line in self.lines),
            max(line.x1 for line in self.lines),
            max(line.y1 for line in self.lines),
        )
