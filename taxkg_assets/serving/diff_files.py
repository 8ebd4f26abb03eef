"""A PDF outside the home, read for one comparison; nothing of it is stored."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from taxkg_assets.defs.ingest.reader import Limits, read_documents
from taxkg_assets.defs.ingest.worker_replies import Job
from taxkg_assets.serving.diff import COMPARED, Readable, RevisionNotFoundError
from taxkg_assets.settings import Settings
from taxkg_assets.sources.scan import printable, sha256_of

_SHOWN_DIGITS = 8


@dataclass(frozen=True, slots=True)
class WithFiles:
    """Tables of a home extended in memory by further PDF files."""

    tables: Readable
    """Tables of the home."""
    frames: Mapping[str, pl.DataFrame]
    """Rows of the further files, by table."""

    def read(self, name: str) -> pl.DataFrame:
        """Return a whole table, including the further files.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        return self._joined(self.tables.read(name), name)

    def read_documents(self, name: str, document_ids: Collection[str]) -> pl.DataFrame:
        """Return the rows of some documents, including the further files.

        Args:
            name: Name of the table, e.g. `sections`.
            document_ids: Documents whose rows are read.
        """
        rows = self._joined(self.tables.read_documents(name, document_ids), name)
        return rows.filter(pl.col("document_id").is_in(list(document_ids)))

    def _joined(self, rows: pl.DataFrame, name: str) -> pl.DataFrame:
        file_rows = self.frames.get(name)
        return rows if file_rows is None else pl.concat([rows, file_rows.select(rows.columns)], how="vertical_relaxed")


def admit_files(
    tables: Readable, revisions: Sequence[str], *, product: str, settings: Settings
) -> tuple[Readable, list[str]]:
    """Read the revisions to compare that are given as PDF files, and assign each a document id.

    Args:
        tables: Tables of the home.
        revisions: Revisions, document ids, or paths of PDF files.
        product: Product with which the files are compared.
        settings: Settings with the limits of time and memory for reading a document.

    Returns:
        Tables with the documents of the files added, and `revisions` with each path replaced by its document id.

    Raises:
        RevisionNotFoundError: A file does not exist, cannot be read, or is of another product.
    """
    ids: list[str] = []
    frames_of_files: list[dict[str, pl.DataFrame]] = []
    for name in revisions:
        if Path(name).suffix.lower() != ".pdf":
            ids.append(name)
            continue
        frames = _read(Path(name), settings=settings)
        row = frames["documents"].row(0, named=True)
        if row["irs_name"] != product.strip().lower() and not _names_form(product, row["form"]):
            printed_product = f"is {row['irs_name']}" if row["irs_name"] else "prints no form number"
            raise RevisionNotFoundError(f"{name} cannot be compared with {product!r}: it {printed_product}.")
        ids.append(row["document_id"])
        frames_of_files.append(frames)
    if not frames_of_files:
        return tables, ids
    joined_frames = {
        table: pl.concat([frames[table] for frames in frames_of_files]).unique(maintain_order=True)
        for table in frames_of_files[0]
    }
    return WithFiles(tables, joined_frames), ids


def _names_form(name: str, form: str) -> bool:
    return any(name.strip().lower().removeprefix("form ") == part.lower() for part in form.split(" and "))


def _read(path: Path, *, settings: Settings) -> dict[str, pl.DataFrame]:
    if not path.is_file():
        raise RevisionNotFoundError(f"{path} does not exist. Give a revision, a document id, or the path of a PDF.")
    sha256 = sha256_of(path)
    part = "__" if "--" in path.stem else "--"
    with tempfile.TemporaryDirectory() as folder:
        job = Job(
            document_id=f"{path.stem}{part}file{sha256[:_SHOWN_DIGITS]}",
            path=str(path),
            sha256=sha256,
            source_uri=printable(str(path)),
            source_root=printable(str(path.parent)),
            is_text=False,
            code_version="",
            max_pages=settings.max_pages,
            folder=str(Path(folder) / "frames"),
            table_engine=settings.table_engine,
        )
        limits = Limits(settings.document_seconds, settings.document_memory_mb)
        (outcome,) = read_documents([job], workers=1, limits=limits, on_done=lambda _: None)
        if not outcome.is_read:
            raise RevisionNotFoundError(
                f"{path} could not be read ({outcome.stage}): {outcome.reason} {outcome.remedy}"
            )
        return {name: pl.read_ipc(Path(job.folder) / f"{name}.arrow") for name in ("documents", *COMPARED)}
