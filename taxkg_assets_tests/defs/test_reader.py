"""Child processes that read documents: one that hangs, grows or dies takes only its own document with it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from taxkg_assets.defs.reader import Job, Limits, Outcome, read_documents
from taxkg_assets_tests.defs.hostile import bomb, sound_pdf

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
    jobs = [job(tmp_path, "slow", bomb(1_200_000)), job(tmp_path, "sound", sound_pdf())]
    outcomes = read(jobs, Limits(seconds=4.0, memory_mb=8000))
    assert outcomes["slow"].stage == "limits"
    assert "longer than 4 seconds" in outcomes["slow"].reason
    assert "TAXKG_DOCUMENT_SECONDS" in outcomes["slow"].remedy
    assert outcomes["sound"].is_read


def test_a_document_that_eats_memory_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    jobs = [job(tmp_path, "greedy", bomb(400_000)), job(tmp_path, "sound", sound_pdf())]
    outcomes = read(jobs, Limits(seconds=120, memory_mb=256))
    assert outcomes["greedy"].stage == "limits"
    assert "TAXKG_DOCUMENT_MEMORY_MB" in outcomes["greedy"].remedy
    assert outcomes["sound"].is_read


def test_a_file_that_changes_under_the_reader_is_refused(tmp_path: Path) -> None:
    changed = job(tmp_path, "changed", sound_pdf())
    Path(changed.path).write_bytes(sound_pdf(pages=3))
    outcome = read([changed], ROOMY)["changed"]
    assert not outcome.is_read
    assert "changed while it was being read" in outcome.reason


def test_frames_appear_whole(tmp_path: Path) -> None:
    outcome = read([job(tmp_path, "sound", sound_pdf())], ROOMY)["sound"]
    assert outcome.is_read
    names = {path.stem for path in (tmp_path / "cache" / "sound").glob("*.arrow")}
    assert names == {"documents", "spans", "elements", "tables", "anchors", "faces", "sections", "references"}
