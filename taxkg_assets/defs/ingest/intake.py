"""How documents get in: which are new, read them in child processes, and publish their rows table by table.

The expensive part, reading a document, happens once per (bytes, code version) and leaves all its frames in the home's
cache; `documents` and `quarantine` record the outcome, and each extraction table then commits its frames from there.
A build that is killed at any moment therefore resumes where it was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from taxkg_assets.defs.home.contracts import schema_of
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.defs.home.timing import keep_times, timed
from taxkg_assets.defs.ingest.engine import open_engine
from taxkg_assets.defs.ingest.file_status import FileStatus, inspect_files
from taxkg_assets.defs.ingest.llm_refinement import open_refinement, refinement_fingerprint
from taxkg_assets.defs.ingest.reader import Limits, Outcome
from taxkg_assets.defs.ingest.reading import reading_version
from taxkg_assets.defs.ingest.worker_replies import Job
from taxkg_assets.defs.wiring.progress import Listener, stage_progress
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.digests import frame_digest
from taxkg_assets.records import DocumentRecord, QuarantineRecord, iter_records
from taxkg_assets.settings import Settings
from taxkg_assets.sources.documents import build_documents, find_tier
from taxkg_assets.sources.manifest import SourceFile
from taxkg_assets.sources.quarantine import build_quarantine
from taxkg_assets.sources.scan import (
    printable,
)

PER_DOCUMENT = ("spans", "elements", "tables", "anchors", "faces", "fields", "sections", "links", "references")
"""Tables that are published document by document."""

Batch = tuple[pl.DataFrame, Mapping[str, Mapping[str, str] | None]]
"""Rows to write, and what the commit records of each of their documents; None for a document whose rows are deleted."""


@dataclass(frozen=True, slots=True)
class Intake:
    """The rows that an intake of documents writes to `documents` and to `quarantine`, and those that it deletes."""

    documents: Batch
    quarantine: Batch


def extraction_key(sha256: str, version: str) -> str:
    """Return the cache key of a document's extracted tables: the digest of its bytes and the code version.

    Args:
        sha256: SHA-256 of the document's bytes.
        version: Digest of the code that reads documents, from `reading_version`.
    """
    return f"{sha256[:20]}-{version[:20]}"


def admit_documents(home: Home, document_ids: Iterable[str]) -> Intake:
    """Read new and changed documents, and decide which are admitted and which are quarantined.

    Args:
        home: Tables, files and settings of the home.
        document_ids: Documents of the manifest.

    Returns:
        Rows of `documents` and of `quarantine` to write, with the documents to remove from each table.
    """
    store, settings = home.store, home.settings
    version = reading_version(settings)
    files = store.read_manifest().files
    admitted_rows, quarantined_rows = _read_recorded_rows(store)
    jobs: list[Job] = []
    unchanged_ids: set[str] = set()
    statuses = inspect_sources(home, set(document_ids) & files.keys(), files=files, admitted_rows=admitted_rows)
    for document_id, status in sorted(statuses.items()):
        job = _job(store, document_id, files[document_id], status.sha256, version, settings=settings)
        if _is_same(admitted_rows.get(document_id), job):
            unchanged_ids.add(document_id)
        elif not _is_same(quarantined_rows.get(document_id), job):
            jobs.append(job)
    outcomes = _read(home, jobs, statuses=statuses)
    now = datetime.now(UTC)
    jobs_by_id = {outcome.document_id: j for outcome, j in zip(outcomes, jobs, strict=True) if outcome.is_read}
    rows = [_document_row(j, admitted_rows.get(d), now) for d, j in jobs_by_id.items()]
    # A changed tier needs no second reading.
    retiered_rows = [row for d in sorted(unchanged_ids) if (row := admitted_rows[d])["tier"] != tier_of(settings, row)]
    rows = [{**row, "tier": tier_of(settings, row)} for row in [*rows, *retiered_rows]]
    new_quarantine_rows = [
        _quarantine_row(outcome, j, _first_seen(quarantined_rows.get(outcome.document_id), j, now))
        for outcome, j in zip(outcomes, jobs, strict=True)
        if not outcome.is_read
    ]
    removed_ids = (admitted_rows.keys() | quarantined_rows.keys()) - files.keys()
    documents = {row["document_id"]: {"content": extraction_key(row["sha256"], row["code_version"])} for row in rows}
    recovered_ids = (unchanged_ids | jobs_by_id.keys()) & quarantined_rows.keys()
    quarantined = {row["document_id"]: {"content": row["sha256"]} for row in new_quarantine_rows}
    return Intake(
        documents=(build_documents(rows), {**documents, **dict.fromkeys(removed_ids)}),
        quarantine=(
            build_quarantine(new_quarantine_rows),
            {**quarantined, **dict.fromkeys(removed_ids | recovered_ids)},
        ),
    )


def inspect_sources(
    home: Home,
    document_ids: Collection[str],
    *,
    files: Mapping[str, SourceFile],
    admitted_rows: Mapping[str, DocumentRecord],
) -> dict[str, FileStatus]:
    """Inspect the source files of documents without reading the documents.

    Args:
        home: Tables, files and settings of the home.
        document_ids: Documents to inspect.
        files: Entries of the manifest by document.
        admitted_rows: Rows of `documents` by document.

    Returns:
        The state of each document's file, with the reason if it cannot be read.
    """
    admitted_hashes = {document: row["sha256"] for document, row in admitted_rows.items() if document in files}
    return inspect_files(
        {document: files[document] for document in sorted(document_ids)},
        admitted_hashes=admitted_hashes,
        settings=home.settings,
    )


def tier_of(settings: Settings, row: DocumentRecord) -> int:
    """Return the tier of a document from the settings or else from the rules.

    Args:
        settings: Settings of the home.
        row: Row of `documents`.
    """
    return find_tier(row, own_tiers=settings.tiers)


def clear_quarantine(store: Store) -> None:
    """Release quarantined documents for the next build, keeping the date of their first refusal.

    Args:
        store: Tables of the home.
    """
    quarantine = store.read_or_empty("quarantine").with_columns(code_version=pl.lit(""))
    if quarantine.height:
        documents = {name: {"content": "to be tried again"} for name in quarantine["document_id"]}
        store.replace_documents("quarantine", quarantine, documents=documents)


def publish(home: Home, name: str, document_ids: Iterable[str]) -> Iterator[Batch]:
    """Yield the row batches that bring one extraction table up to date.

    Args:
        home: Tables, files and settings of the home.
        name: Extraction table.
        document_ids: Documents that may have changed.

    Yields:
        Rows, and for each of their documents what the commit records; None for a document that is gone.
    """
    store = home.store
    refiner_digest = refinement_fingerprint(home, name)
    refine_rows = open_refinement(home, name)
    state = store.state(name)
    published = dict(state.documents) if state is not None else {}
    admitted_rows = {row["document_id"]: row for row in iter_records(store.read("documents"), DocumentRecord)}
    stale = [
        document
        for document in sorted(set(document_ids) & admitted_rows.keys())
        if published.get(document, {}).get("reading")
        != extraction_key(admitted_rows[document]["sha256"], admitted_rows[document]["code_version"])
        or published[document].get("settler", "") != refiner_digest
    ]
    _restore_readings(home, [admitted_rows[document] for document in stale])
    removed_entries: dict[str, Mapping[str, str] | None] = dict.fromkeys(
        sorted(published.keys() - admitted_rows.keys())
    )
    if removed_entries:
        yield schema_of(name).create_empty(), removed_entries
    frames: list[pl.DataFrame] = []
    states: dict[str, Mapping[str, str] | None] = {}
    megabytes = 0.0
    with stage_progress(name, len(stale)) as progress:
        for document_id in stale:
            folder = folder_of(store, admitted_rows[document_id])
            frame = refine_rows(folder)
            frames.append(frame)
            states[document_id] = {
                "reading": folder.name,
                **_describe(frame, folder, name=name, refiner_digest=refiner_digest),
            }
            megabytes += frame.estimated_size("mb")
            progress.advance(name)
            if megabytes > home.settings.tables_in_memory_mb:
                yield pl.concat(frames), states
                frames, states, megabytes = [], {}, 0.0
    if frames:
        yield pl.concat(frames), states


def find_unpublished(store: Store) -> set[str]:
    """Return the admitted documents whose newest rows are missing in an extraction table after an interrupted run.

    Args:
        store: Tables of the home.
    """
    documents_state = store.state("documents")
    if documents_state is None:
        return set()
    states = [store.state(name) for name in PER_DOCUMENT]
    published = [state.documents if state is not None else {} for state in states]
    unpublished = set()
    for document_id, record in documents_state.documents.items():
        if any(table.get(document_id, {}).get("reading") != record["content"] for table in published):
            unpublished.add(document_id)
    return unpublished


def find_outdated(home: Home, files: Mapping[str, SourceFile]) -> set[str]:
    """List the documents that a run must process.

    They are new or changed, were read by another version of the code, have a new tier, or have newer rows than some
    table contains.

    Args:
        home: Tables, files and settings of the home.
        files: Entries of the manifest by document.

    Returns:
        Document ids.
    """
    store, settings = home.store, home.settings
    version = reading_version(settings)
    admitted_rows, quarantined_rows = _read_recorded_rows(store)
    outdated = find_unpublished(store)
    for name in PER_DOCUMENT:
        state = store.state(name)
        refiner_digest = refinement_fingerprint(home, name)
        outdated |= {
            document
            for document, record in (state.documents if state else {}).items()
            if record.get("settler", "") != refiner_digest
        }
    for document_id, status in inspect_sources(home, files.keys(), files=files, admitted_rows=admitted_rows).items():
        job = _job(store, document_id, files[document_id], status.sha256, version, settings=settings)
        row = admitted_rows.get(document_id)
        if row is not None and _is_same(row, job):
            is_current = document_id not in quarantined_rows and row["tier"] == tier_of(settings, row)
        else:
            is_current = _is_same(quarantined_rows.get(document_id), job)
        if not is_current:
            outdated.add(document_id)
    return outdated & files.keys()


def _describe(frame: pl.DataFrame, folder: Path, *, name: str, refiner_digest: str) -> Mapping[str, str]:
    """Digest of a document's rows, and the model that refined them, if any."""
    if refiner_digest:
        return {"content": frame_digest(frame), "settler": refiner_digest}
    return {"content": json.loads((folder / "contents.json").read_text(encoding="utf8"))[name]}


def prune_readings(home: Home) -> None:
    """Delete cached readings that no row of `documents` refers to.

    Args:
        home: Tables, files and settings of the home.
    """
    store = home.store
    rows = store.read("documents").select("document_id", "sha256", "code_version").rows()
    kept_keys = {digest(document_id): extraction_key(sha256, version) for document_id, sha256, version in rows}
    for folder in store.folder("cache", "extract").iterdir():
        store.forget_other_readings(folder, keep=kept_keys.get(folder.name, ""))


def folder_of(store: Store, row: DocumentRecord) -> Path:
    """Return the folder with the cached frames of an admitted document.

    Args:
        store: Tables of the home.
        row: Row of `documents`.
    """
    return store.reading_folder(row["document_id"], reading=extraction_key(row["sha256"], row["code_version"]))


def _job(store: Store, document_id: str, file: SourceFile, sha256: str, version: str, *, settings: Settings) -> Job:
    return Job(
        document_id=document_id,
        path=file.path,
        sha256=sha256,
        source_uri=printable(file.path),
        source_root=printable(file.root),
        is_text=Path(file.path).suffix.lower() == ".txt",
        code_version=version,
        max_pages=settings.max_pages,
        folder=str(store.reading_folder(document_id, reading=extraction_key(sha256, version))),
        table_engine=settings.table_engine,
    )


def _read_recorded_rows(store: Store) -> tuple[dict[str, DocumentRecord], dict[str, QuarantineRecord]]:
    """Read what is recorded of admitted and of refused documents, by document."""
    admitted_rows = iter_records(store.read_or_empty("documents"), DocumentRecord)
    quarantined_rows = iter_records(store.read_or_empty("quarantine"), QuarantineRecord)
    return {row["document_id"]: row for row in admitted_rows}, {row["document_id"]: row for row in quarantined_rows}


def _is_same(row: DocumentRecord | QuarantineRecord | None, job: Job) -> bool:
    return row is not None and row["sha256"] == job.sha256 and row["code_version"] == job.code_version


def _read(home: Home, jobs: Sequence[Job], *, statuses: Mapping[str, FileStatus]) -> list[Outcome]:
    """Read what the cache does not hold yet, the largest files first so that no core idles at the end."""
    outcomes_by_id: dict[str, Outcome] = {}
    for job in jobs:
        status = statuses[job.document_id]
        if status.reason:
            outcomes_by_id[job.document_id] = Outcome(
                job.document_id, False, 0.0, status.stage, status.reason, status.remedy
            )
        elif (Path(job.folder) / "contents.json").exists():
            outcomes_by_id[job.document_id] = Outcome(job.document_id, True, 0.0)
    unread_jobs = [j for j in jobs if j.document_id not in outcomes_by_id]
    sizes = {j.document_id: Path(j.path).stat().st_size if Path(j.path).exists() else 0 for j in unread_jobs}
    unread_jobs.sort(key=lambda j: (-sizes[j.document_id], j.document_id))
    settings = home.settings
    limits = Limits(seconds=settings.document_seconds, memory_mb=settings.document_memory_mb)
    with stage_progress("documents", len(jobs)) as progress:
        progress.advance("documents", len(outcomes_by_id))
        reading = _ReadingProgress(progress, sizes)
        with timed("parse") if unread_jobs else nullcontext():
            outcomes = open_engine(settings).read(unread_jobs, limits=limits, on_done=reading.add)
    if unread_jobs:
        keep_times(home.store)
    by_id = outcomes_by_id | {outcome.document_id: outcome for outcome in outcomes}
    return [by_id[j.document_id] for j in jobs]


class _ReadingProgress:
    """Reports the documents and pages that were read, and the time left by the share of bytes that were read."""

    def __init__(self, progress: Listener, sizes: Mapping[str, int]) -> None:
        self._progress, self._sizes = progress, sizes
        self._started = time.monotonic()
        self._pages = self._bytes_read = 0
        self._bytes_left = sum(sizes.values())

    def add(self, outcome: Outcome) -> None:
        """Count a document that was read or refused."""
        self._pages += outcome.pages
        self._bytes_read += self._sizes[outcome.document_id]
        self._bytes_left -= self._sizes[outcome.document_id]
        seconds = time.monotonic() - self._started
        self._progress.advance("documents")
        self._progress.estimate("documents", self._pages, seconds * self._bytes_left / max(self._bytes_read, 1))


def _restore_readings(home: Home, rows: Sequence[DocumentRecord]) -> None:
    """Read documents again whose cached frames were lost, if their bytes are still the admitted ones."""
    store, settings = home.store, home.settings
    version = reading_version(settings)
    unread_rows = [
        r
        for r in rows
        if not (store.reading_folder(r["document_id"], reading=extraction_key(r["sha256"], r["code_version"]))).is_dir()
    ]
    files = store.read_manifest().files
    unread_by_id = {r["document_id"]: r for r in unread_rows}
    statuses = inspect_sources(home, unread_by_id.keys() & files.keys(), files=files, admitted_rows=unread_by_id)
    jobs = [
        _job(store, document_id, files[document_id], statuses[document_id].sha256, version, settings=settings)
        for document_id in unread_by_id
        if document_id in statuses
    ]
    for row, job in zip(unread_rows, jobs, strict=True):
        if not _is_same(row, job):
            raise LookupError(
                f"The cached tables of {row['document_id']} were deleted, and its file or the code has "
                "changed since they were made. Run `taxkg build`, or materialize `documents` for it first."
            )
    for outcome in _read(home, jobs, statuses=statuses):
        if not outcome.is_read:
            raise LookupError(f"{outcome.document_id}: {outcome.stage}: {outcome.reason} {outcome.remedy}")


def _document_row(job: Job, former_row: DocumentRecord | None, now: datetime) -> DocumentRecord:
    (row,) = iter_records(pl.read_ipc(Path(job.folder) / "documents.arrow"), DocumentRecord)
    is_same = former_row is not None and former_row["sha256"] == job.sha256
    return {**row, "fetched_at": former_row["fetched_at"] if is_same and former_row is not None else now}


def _first_seen(former_row: QuarantineRecord | None, job: Job, now: datetime) -> datetime:
    """When these very bytes were refused for the first time."""
    return former_row["first_seen_at"] if former_row is not None and former_row["sha256"] == job.sha256 else now


def _quarantine_row(outcome: Outcome, job: Job, first_seen: datetime) -> QuarantineRecord:
    return {
        "document_id": outcome.document_id,
        "sha256": job.sha256,
        "source_uri": job.source_uri,
        "stage": outcome.stage,
        "reason": outcome.reason,
        "remedy": outcome.remedy,
        "is_check_failure": outcome.is_check_failure,
        "code_version": job.code_version,
        "first_seen_at": first_seen,
    }
