"""The documents that the benchmarks read: a form, two booklets and a publication of the real corpus, 93 pages."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf

NAMES = ("i1099ac--2022-01", "iw2w3--2026", "p525--2025", "f1099r--2025")
_MUPDF: Any = pymupdf


class CorpusError(Exception):
    """The documents are not there; the message says where they were looked for."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document's bytes and what sort it is."""

    document_id: str
    path: Path
    data: bytes
    page_count: int
    has_fields: bool


def load_documents() -> list[Document]:
    """Load the 93 pages from TAXKG_TEST_CORPUS (or ../shared), its subfolder `corpus` included."""
    root = Path(os.environ.get("TAXKG_TEST_CORPUS", "../shared"))
    found = []
    for name in NAMES:
        path = next((p for p in (root / f"{name}.pdf", root / "corpus" / f"{name}.pdf") if p.is_file()), None)
        if path is None:
            raise CorpusError(f"{name}.pdf is not in {root}: set TAXKG_TEST_CORPUS to a folder with the real PDFs.")
        data = path.read_bytes()
        with _MUPDF.open(stream=data, filetype="pdf") as document:
            found.append(Document(name, path, data, document.page_count, bool(document.is_form_pdf)))
    return found


def split_pages(document: Document) -> list[bytes]:
    """Each page of a document as a PDF of its own, form fields included."""
    pages = []
    for ix in range(document.page_count):
        # Opened again for each page: of a document that pages were taken from before, no form fields come along.
        with _MUPDF.open(stream=document.data, filetype="pdf") as whole, _MUPDF.open() as single:
            single.insert_pdf(whole, from_page=ix, to_page=ix)
            pages.append(single.tobytes())
    return pages


def blank_page() -> bytes:
    """A PDF of one page with one word: what a document costs before its content does."""
    with _MUPDF.open() as document:
        document.new_page().insert_text((72, 72), "Word")
        data: bytes = document.tobytes()
    return data
