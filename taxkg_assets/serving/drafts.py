"""Reads the file of a draft: plain text, Markdown, or a PDF by the extraction of the product."""

from __future__ import annotations

import codecs
import hashlib
import re
import tempfile
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.settings import Settings

_PDF = b"%PDF-"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BETWEEN = "\n\n"
_LONE_RETURN = re.compile(r"\r(?!\n)")
_MOST_CONTROLS = 0.02


class DraftError(Exception):
    """A draft that cannot be checked; the message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class DraftFile:
    """The text of a draft and, for a PDF, the page position of each part.

    Attributes:
        name: Name of the draft's file.
        text: Whole text; the offsets of findings count its characters.
        starts: For a PDF, the 0-based offset of each paragraph in the text.
        pieces: For each paragraph of a PDF, ranges of its characters with their rectangles.
    """

    name: str
    text: str
    starts: tuple[int, ...] = ()
    pieces: tuple[tuple[Mapping[str, Any], ...], ...] = field(default=(), repr=False)

    def place(self, start: int, end: int) -> list[BoundingBox]:
        """Return the page rectangles of a character range; empty for a draft that is not a PDF.

        Args:
            start: Offset of the first character.
            end: Offset after the last character.
        """
        if not self.starts:
            return []
        paragraph_ix = max(0, bisect_right(self.starts, start) - 1)
        paragraph_start = self.starts[paragraph_ix]
        return find_rectangles(self.pieces[paragraph_ix], start - paragraph_start, end - paragraph_start)


def find_rectangles(pieces: Any, start: int, end: int) -> list[BoundingBox]:
    """Return the page rectangles of a character range of a paragraph.

    Args:
        pieces: Ranges of the paragraph's text with their rectangles, as in `sections`.
        start: Offset of the first character in the paragraph.
        end: Offset after the last character.
    """
    return [BoundingBox.of_row(piece) for piece in pieces if piece["start"] < end and start < piece["end"]]


def read_file(path: Path) -> DraftFile:
    """Read a draft from a file.

    Args:
        path: Text, Markdown or PDF.

    Returns:
        Its text and, for a PDF, the rectangles of each paragraph.

    Raises:
        DraftError: The file is too large, not a text file, or an unreadable PDF.
    """
    if not path.is_file():
        raise DraftError(f"{path} does not exist or is not a file. Give a text, Markdown or PDF file.")
    with path.open("rb") as file:
        return read_bytes(file.read(load_verification().limits.draft_bytes + 1), name=path.name)


def read_bytes(data: bytes, *, name: str) -> DraftFile:
    """Read a draft from its bytes.

    Args:
        data: Content of the file.
        name: Name of the draft.

    Returns:
        Its text and, for a PDF, the rectangles of each paragraph.

    Raises:
        DraftError: The file is too large, not a text file, or an unreadable PDF.
    """
    byte_limit = load_verification().limits.draft_bytes
    if len(data) > byte_limit:
        raise DraftError(f"{name} is larger than {byte_limit / 1e6:g} MB. Split it, and check each part.")
    if data.startswith(_PDF):
        return _read_pdf(data, name=name)
    encoding = "utf-16" if data.startswith(_WIDE) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as broken:
        remedy = "save it as UTF-8 text, Markdown or PDF"
        raise DraftError(f"{name} is neither UTF-8 text nor a PDF: {remedy}.") from broken
    return read_text(text, name=name)


def read_text(text: str, *, name: str) -> DraftFile:
    """Wrap a plain text or Markdown draft.

    Args:
        text: Plain text or Markdown.
        name: Name of the draft.

    Returns:
        The draft, without rectangles.

    Raises:
        DraftError: The text is empty, or is probably binary because of the number of its control characters.
    """
    control_count = sum(letter < " " and letter not in "\t\n\r\f" for letter in text)
    if control_count > _MOST_CONTROLS * len(text):
        raise DraftError(f"{name} is a binary file. Save it as UTF-8 text, Markdown or PDF.")
    if not text.strip():
        raise DraftError(f"{name} contains no text.")
    text = _LONE_RETURN.sub("\n", text)
    clean = "".join(letter if letter >= " " or letter in "\t\n" else " " for letter in text)
    return DraftFile(name, clean.replace("\x7f", " "))


def _read_pdf(data: bytes, *, name: str) -> DraftFile:
    """Read a PDF in a process of its own, within the limits of a build: a broken one can harm nothing else."""
    from taxkg_assets.defs.ingest.reader import Limits, read_documents  # loaded here: most drafts are text
    from taxkg_assets.defs.ingest.worker_replies import Job

    settings = Settings()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draft.pdf"
        path.write_bytes(data)
        job = Job(
            document_id="draft",
            path=str(path),
            sha256=hashlib.sha256(data).hexdigest(),
            source_uri=str(path),
            source_root=folder,
            is_text=False,
            code_version="",
            max_pages=load_verification().limits.pdf_pages,
            folder=str(Path(folder) / "frames"),
            table_engine=settings.table_engine,
        )
        seconds = min(settings.document_seconds, load_verification().limits.pdf_seconds)
        limits = Limits(seconds, settings.document_memory_mb)
        (outcome,) = read_documents([job], workers=1, limits=limits, on_done=lambda _: None)
        if not outcome.is_read:
            raise DraftError(f"{name} cannot be read as a PDF: {outcome.reason} {outcome.remedy}")
        sections = pl.read_ipc(Path(job.folder) / "sections.arrow")
    rows = sections.sort("paragraph_ix").select("text", "pieces").rows()
    if not any(text.strip() for text, _ in rows):
        raise DraftError(f"{name} contains no text. If it is a scan, run OCR on it first.")
    starts, offset = [], 0
    for text, _ in rows:
        starts.append(offset)
        offset += len(text) + len(_BETWEEN)
    pieces = tuple(tuple(paragraph_pieces) for _, paragraph_pieces in rows)
    return DraftFile(name, _BETWEEN.join(text for text, _ in rows), tuple(starts), pieces)
