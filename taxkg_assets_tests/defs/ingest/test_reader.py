"""Child processes that read documents: one that hangs, grows or dies takes only its own document with it."""

from __future__ import annotations

import errno
import hashlib
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pymupdf
import pytest

from taxkg_assets.defs.ingest import worker
from taxkg_assets.defs.ingest.reader import Limits, Outcome, read_documents
from taxkg_assets.defs.ingest.worker_replies import Job
from taxkg_assets.extraction.errors import StageError
from taxkg_assets_tests.defs.hostile import bomb, valid_pdf

pytestmark = pytest.mark.slow

ROOMY = Limits(seconds=120, memory_mb=3000)


def job(folder: Path, name: str, data: bytes) -> Job:
    """A file on disk and the job of reading it."""
    path = folder / f"{name}.pdf"
    path.write_bytes(data)
    return Job(
        document_id=name,
        path=str(path),
        sha256=hashlib.sha256(data).hexdigest(),
        source_uri=str(path),
        source_root=str(folder),
        is_text=False,
        code_version="test",
        max_pages=100,
        folder=str(folder / "cache" / name),
    )


def read(jobs: list[Job], limits: Limits) -> dict[str, Outcome]:
    """Outcomes by document."""
    done: list[str] = []
    outcomes = read_documents(jobs, workers=1, limits=limits, on_done=lambda o: done.append(o.document_id))
    assert done == [j.document_id for j in jobs]
    return {o.document_id: o for o in outcomes}


def test_a_document_that_takes_too_long_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    jobs = [job(tmp_path, "slow", bomb(1_200_000)), job(tmp_path, "sound", valid_pdf())]
    outcomes = read(jobs, Limits(seconds=4.0, memory_mb=8000))
    assert outcomes["slow"].stage == "limits"
    assert "longer than 4 seconds" in outcomes["slow"].reason
    assert "TAXKG_DOCUMENT_SECONDS" in outcomes["slow"].remedy
    assert outcomes["sound"].is_read


def test_a_document_that_eats_memory_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    jobs = [job(tmp_path, "greedy", bomb(200_000)), job(tmp_path, "sound", valid_pdf())]
    outcomes = read(jobs, Limits(seconds=900, memory_mb=128))
    assert outcomes["greedy"].stage == "limits"
    assert "TAXKG_DOCUMENT_MEMORY_MB" in outcomes["greedy"].remedy
    assert outcomes["sound"].is_read


def test_a_process_that_dies_while_idle_is_replaced_and_no_document_blamed(tmp_path: Path) -> None:
    def kill_reader(_: Outcome) -> None:
        for child in psutil.Process().children():
            if "taxkg_assets.defs.ingest.worker" in child.cmdline():
                child.kill()
                while child.status() != psutil.STATUS_ZOMBIE or child.num_threads() > 1:
                    time.sleep(0.01)

    jobs = [job(tmp_path, name, valid_pdf()) for name in ("first", "second")]
    outcomes = read_documents(jobs, workers=1, limits=ROOMY, on_done=kill_reader)
    assert [outcome.is_read for outcome in outcomes] == [True, True]


def test_a_reading_process_that_cannot_start_ends_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(RuntimeError, match=r"No worker process could start to read documents\. .* build again\.$"):
        read_documents([job(tmp_path, "sound", valid_pdf())], workers=1, limits=ROOMY, on_done=lambda _: None)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory limit rests on the kernel's figures")
def test_the_memory_that_one_document_took_is_not_laid_to_the_next() -> None:
    code = """
from taxkg_assets.defs.ingest import worker
worker.limit_memory(400)
worker.begin_document()
print(len(b"x" * (340 << 20)) > 0 and worker.has_met_limit())
worker.begin_document()
print(worker.has_met_limit())
print(len(b"x" * (340 << 20)) > 0 and worker.has_met_limit())
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "False", "True"]


def test_a_file_that_changes_under_the_reader_is_refused(tmp_path: Path) -> None:
    changed = job(tmp_path, "changed", valid_pdf())
    Path(changed.path).write_bytes(valid_pdf(pages=3))
    outcome = read([changed], ROOMY)["changed"]
    assert not outcome.is_read
    assert "changed while it was being read" in outcome.reason


def test_frames_appear_whole(tmp_path: Path) -> None:
    outcome = read([job(tmp_path, "sound", valid_pdf())], ROOMY)["sound"]
    assert outcome.is_read
    names = {path.stem for path in (tmp_path / "cache" / "sound").glob("*.arrow")}
    assert names == {
        *("documents", "spans", "elements", "tables", "anchors", "faces", "fields"),
        *("sections", "references", "links"),
    }


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (pymupdf.mupdf.FzErrorSystem("malloc (4000000 bytes) failed"), True),
        (pymupdf.mupdf.FzErrorFormat("out of memory is a word of the document"), False),
        (ValueError("cannot allocate the cost of a rowing boat"), False),
    ],
)
def test_types_and_error_numbers_tell_memory_from_other_faults(error: Exception, is_memory: bool) -> None:
    wrapped = StageError("open", "The file cannot be read.", "Fetch it again.")
    wrapped.__cause__ = error
    assert worker.is_out_of_memory(error) == is_memory
    assert worker.is_out_of_memory(wrapped) == is_memory
