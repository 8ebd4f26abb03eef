"""Real PDF bytes for tests: lines of text in four faces of one family, set where a test wants them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pymupdf

from taxkg_assets.extraction.pdf.model import Source
from taxkg_assets.extraction.pdf.reader import read_source
from taxkg_assets.extraction.structure.blocks import Block
from taxkg_assets.extraction.structure.elements import find_blocks
from taxkg_assets.extraction.structure.identity import Identity

_FONTS: dict[str, Any] = {
    face: pymupdf.Font(name) for face, name in {"": "helv", "b": "hebo", "i": "heit", "bi": "hebi"}.items()
}
LEFT, RIGHT, BOTTOM = 42.0, 315.0, 730.0

Run = tuple[str, str]


@dataclass
class Booklet:
    """A document under construction; text is set line by line at the current place."""

    document: Any = field(default_factory=pymupdf.open)
    x: float = LEFT
    y: float = 60.0

    def __post_init__(self) -> None:
        self.turn()

    def turn(self) -> Booklet:
        """Begin a page."""
        self.page = self.document.new_page(width=612, height=792)
        self.x, self.y = LEFT, 60.0
        return self

    def to(self, x: float, y: float = 60.0) -> Booklet:
        self.x, self.y = x, y
        return self

    def set(self, *runs: Run, size: float = 10.0, indent: float = 0.0, gap: float = 0.0) -> Booklet:
        """Set one line of (text, face) runs; face is '', 'b', 'i' or 'bi'."""
        self.y += gap
        writer: Any = pymupdf.TextWriter(self.page.rect)
        x = self.x + indent
        for text, face in runs:
            x = writer.append((x, self.y + size), text, font=_FONTS[face], fontsize=size)[1].x
        writer.write_text(self.page)
        self.y += 1.12 * size
        return self

    def lines(self, *texts: str, indent: float = 0.0, gap: float = 0.0) -> Booklet:
        """Set a paragraph of plain lines; only the first is indented."""
        for ix, text in enumerate(texts):
            self.set((text, ""), indent=indent if ix == 0 else 0.0, gap=gap if ix == 0 else 0.0)
        return self

    def head(self, text: str, *, size: float = 14.0) -> Booklet:
        return self.set((text, "b"), size=size, gap=8.0)

    def bytes(self) -> bytes:
        return bytes(self.document.tobytes())

    def source(self) -> Source:
        return read_source(self.bytes(), document_id="sample")


def identity_of(doc_type: str = "filer_instructions", *, form: str = "9999-X") -> Identity:
    return Identity("i9999x", form, doc_type, "2031-01", None, False, "Instructions for Form 9999-X", "")


def blocks_of(booklet: Booklet, *, identity: Identity | None = None) -> list[Block]:
    return find_blocks(booklet.source(), identity=identity or identity_of(), regions={}, face_boxes={})


def filler(count: int) -> list[str]:
    """Give lines of plain text of a column's width."""
    return [f"Plain words of the text that fill column line number {ix} here." for ix in range(count)]
