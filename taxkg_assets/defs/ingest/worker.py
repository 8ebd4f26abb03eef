"""A child process that reads documents, one JSON line in, one JSON line out.

It runs under a memory limit of its own, so that a file that makes the parser eat memory or crash takes only this
process with it. Start: `python -m taxkg_assets.defs.ingest.worker REPLY_FD MEMORY_MB`.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import hashlib
import json
import os
import re
import resource
import shutil
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

if __name__ == "__main__":
    # Schemas load SQLAlchemy where there is one, for conversions that no reading needs: a third of the time to start.
    sys.modules["sqlalchemy"] = cast(Any, None)
    gc.disable()  # until all is loaded: looking for garbage among what stays takes another fifth

import polars as pl

from taxkg_assets.defects import describe_defect
from taxkg_assets.defs.home.contracts import ContractError, enforce_contract, schema_of
from taxkg_assets.defs.ingest.worker_replies import (
    MEMORY_REMEDY,
    Extracted,
    Job,
    Ready,
    Refused,
    Reply,
    Unwritable,
    encode_reply,
)
from taxkg_assets.digests import frame_digest
from taxkg_assets.extraction.document_check import REPORT, find_failed_check
from taxkg_assets.extraction.errors import StageError
from taxkg_assets.extraction.extract import extract
from taxkg_assets.extraction.invariants import CORRUPT_CHECKS
from taxkg_assets.extraction.pdf.library import MEMORY_ERRORS
from taxkg_assets.records import DocumentRecord
from taxkg_assets.sources.documents import build_documents, find_tier
from taxkg_assets.sources.scan import printable

NEAR_LIMIT_FRAC = 0.7
_baseline = {"peak": 0, "resident": 0, "left": 0}
_STATUS = Path("/proc/self/status")
_PEAK_SWITCH = Path("/proc/self/clear_refs")
DEFECT_REMEDY = REPORT


def limit_memory(memory_mb: int) -> None:
    """Limit this process to `memory_mb` of data memory beyond its current use."""
    if not _STATUS.exists():
        return
    limit = _read_status("VmData") + memory_mb * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def begin_document() -> None:
    """Record the current memory as baseline, so that earlier documents' peaks do not count against this document."""
    if not _STATUS.exists():
        return
    with contextlib.suppress(OSError):  # the peak cannot be set back everywhere; then only a new peak counts
        _PEAK_SWITCH.write_text("5", encoding="ascii")
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    _baseline.update(peak=_read_status("VmHWM"), resident=_read_status("VmRSS"), left=limit - _read_status("VmData"))


def _read_status(name: str) -> int:
    """Return one of the kernel's figures on this process, in bytes."""
    match = re.search(rf"{name}:\s+(\d+) kB", _STATUS.read_text(encoding="ascii"))
    return int(match[1]) * 1024 if match else 0


def read_document(job: Job) -> Reply:
    """Read one document, write its frames to the job's folder, and return a reply with the outcome.

    Args:
        job: The document, and the folder for its frames.

    Returns:
        Whether it was read or refused, or that the folder cannot be written.
    """
    begin_document()
    try:
        data = Path(job.path).read_bytes()
    except OSError as gone:
        reason = f"The file cannot be read ({gone.strerror})."
        return _refusal("open", reason, "Restore the file, or build again without it.")
    if hashlib.sha256(data).hexdigest() != job.sha256:
        return _refusal("open", "The file changed while it was being read.", "Run the build again.")
    try:
        extraction = extract(
            data,
            document_id=job.document_id,
            is_text=job.is_text,
            max_pages=job.max_pages,
            table_engine=job.table_engine,
        )
    except Exception as defect:
        is_of_library = not isinstance(defect, StageError) or defect.__cause__ is not None
        if is_out_of_memory(defect) or (is_of_library and has_met_limit()):
            reason = "Reading the document took more memory than allowed."
            return _refusal("limits", reason, MEMORY_REMEDY)
        if isinstance(defect, StageError):
            return _refusal(defect.stage, defect.reason, defect.remedy, is_check_failure=defect.is_check_failure)
        # A defect of the extraction on one document must not stop the others.
        return _refusal("extract", f"Reading failed with {describe_defect(defect)}.", DEFECT_REMEDY)
    if failed_check := find_failed_check(extraction.frames, CORRUPT_CHECKS):
        check, offending = failed_check
        return _refusal(check.on, check.refuse(offending), check.remedy, is_check_failure=True)
    job_columns = {
        key: getattr(job, key) for key in ("document_id", "sha256", "source_uri", "source_root", "code_version")
    }
    # Identity and addresses have the columns of the table as their fields.
    columns: dict[str, Any] = {
        **asdict(extraction.identity),
        **job_columns,
        "page_count": extraction.page_count,
        **asdict(extraction.addresses),
        "warnings": list(extraction.warnings),
        "image_only_pages": list(extraction.image_only_pages),
        "hidden_texts": [
            {"page": row.page, "kind": row.kind, "text": row.text, "is_order": row.is_order}
            | dict(zip(("x0_pt", "y0_pt", "x1_pt", "y1_pt"), row.box, strict=True))
            for row in extraction.hidden_texts
        ],
        "page_sources": [asdict(row) for row in extraction.page_sources],
        "fetched_at": datetime.now(UTC),
    }
    admission = cast(DocumentRecord, {**columns, "tier": find_tier(cast(DocumentRecord, columns), own_tiers={})})
    frames = {"documents": build_documents([admission]), **extraction.frames}
    try:
        return _save(frames, Path(job.folder), pages=extraction.page_count)
    except OSError as unwritable:
        # The home's fault and not the document's: nothing is stated about the document, the build stops.
        return Unwritable(unwritable.errno, unwritable.strerror or str(unwritable), job.folder)


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error chain contains a failed allocation, by type or error number.

    Args:
        error: Exception; its causes and contexts are checked, too.
    """
    while error is not None:
        if isinstance(error, (MemoryError, *MEMORY_ERRORS)) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        error = error.__cause__ or error.__context__
    return False


def has_met_limit() -> bool:
    """Return whether this document has used nearly all of its memory, so that other errors probably result from it."""
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if limit == resource.RLIM_INFINITY or not _STATUS.exists():
        return False
    peak = _read_status("VmHWM")
    return peak > _baseline["peak"] and peak - _baseline["resident"] > NEAR_LIMIT_FRAC * _baseline["left"]


def _save(frames: dict[str, pl.DataFrame], folder: Path, *, pages: int) -> Extracted | Refused:
    """Write validated frames and their digests; the folder appears completely or not at all."""
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    contents: dict[str, str] = {}
    for name, frame in frames.items():
        try:
            checked = enforce_contract(schema_of(name), frame)
        except ContractError as broken:
            shutil.rmtree(temporary)
            return _refusal(name, " ".join(str(broken).split())[:500], REPORT, is_check_failure=True)
        checked.write_ipc(temporary / f"{name}.arrow")
        contents[name] = frame_digest(checked)
    (temporary / "contents.json").write_text(json.dumps(contents), encoding="utf8")
    shutil.rmtree(folder, ignore_errors=True)
    temporary.replace(folder)
    return Extracted(pages)


def _refusal(stage: str, reason: str, remedy: str, *, is_check_failure: bool = False) -> Refused:
    # The message of a parser may contain text of the file.
    return Refused(stage, printable(reason), remedy, is_check_failure)


def main() -> None:
    """Process jobs from standard input until it closes."""
    gc.freeze()
    gc.enable()
    replies = os.fdopen(int(sys.argv[1]), "w", encoding="utf8", buffering=1)
    limit_memory(int(sys.argv[2]))
    replies.write(encode_reply(Ready()))
    for line in sys.stdin:
        started = time.perf_counter()
        reply = read_document(Job(**json.loads(line)))
        replies.write(encode_reply(reply, seconds=time.perf_counter() - started))


if __name__ == "__main__":
    main()
