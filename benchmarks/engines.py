"""What is timed: our own per-document stages, the parser alone as the floor, and other people's extractors.

A rival is an optional import (extra `bench`); one that is not installed is left out with a line that says so.
"""

from __future__ import annotations

import importlib.util
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pymupdf

from benchmarks.documents import Document
from taxkg_assets import extraction
from taxkg_assets.extraction.extract import extract

_MUPDF: Any = pymupdf


@dataclass(frozen=True, slots=True)
class Seconds:
    """What one reading took: on the clock, and of processor time, child processes included."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Engine:
    """One extractor: its name, what it gives, and how it reads a set of documents."""

    name: str
    gives: str
    read: Callable[[Sequence[Document]], None]
    module: str = ""
    program: str = ""

    @property
    def is_installed(self) -> bool:
        has_module = not self.module or importlib.util.find_spec(self.module) is not None
        return has_module and (not self.program or shutil.which(self.program) is not None)


def _read_own(documents: Sequence[Document]) -> None:
    for document in documents:
        forget_texts()
        extract(document.data, document_id=document.document_id)


def forget_texts() -> None:
    """Empty what the extraction keeps of texts seen: a document that is read again and again must stay a new one."""
    for kept in _find_caches(len(sys.modules)):
        kept.cache_clear()


@lru_cache(maxsize=1)
def _find_caches(_: int) -> list[Any]:
    """Find what keeps a bounded number of results; looked for again once more modules are loaded.

    To look for it takes as long as several stages of a short document, whose time it is no part of.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith(extraction.__name__)]
    values = [value for module in modules for value in vars(module).values() if hasattr(value, "cache_info")]
    return [value for value in values if value.cache_info().maxsize is not None]


def _read_dicts(documents: Sequence[Document]) -> None:
    for document in documents:
        with _MUPDF.open(stream=document.data, filetype="pdf") as opened:
            for page in opened:
                page.get_text("dict")


def _read_opendataloader(documents: Sequence[Document]) -> None:
    # An optional extra: the benchmark runs without it.
    import opendataloader_pdf

    with tempfile.TemporaryDirectory() as folder:
        opendataloader_pdf.convert(
            [str(document.path) for document in documents], output_dir=folder, format=["json"], quiet=True
        )
        if len(list(Path(folder).glob("**/*.json"))) != len(documents):
            raise RuntimeError("opendataloader-pdf did not give one JSON file for each document")


def _read_pymupdf4llm(documents: Sequence[Document]) -> None:
    # An optional extra: the benchmark runs without it.
    import pymupdf4llm

    for document in documents:
        with _MUPDF.open(stream=document.data, filetype="pdf") as opened:
            pymupdf4llm.to_markdown(opened, show_progress=False)


OWN = Engine("taxkg", "all seven tables, validated", _read_own)
FLOOR = Engine('PyMuPDF get_text("dict")', "spans as stored", _read_dicts)
RIVALS = (
    Engine(
        "opendataloader-pdf", "JSON with headings, tables, order", _read_opendataloader, "opendataloader_pdf", "java"
    ),
    Engine("pymupdf4llm", "Markdown by a layout model", _read_pymupdf4llm, "pymupdf4llm"),
)


def timed(engine: Engine, documents: Sequence[Document]) -> Seconds:
    """Time one reading."""
    cpu, wall = _cpu_seconds(), time.perf_counter()
    engine.read(documents)
    return Seconds(time.perf_counter() - wall, _cpu_seconds() - cpu)


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
