"""How documents get in: which are new, read them in child processes, and publish their rows table by table.

The expensive part, reading a document, happens once per (bytes, code version) and leaves all its frames in the home's
cache; `documents` and `quarantine` record the outcome, and each extraction table then commits its frames from there.
A build that is killed at any moment therefore resumes where it was.
"""

from __future__ import annotations

import json
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
from taxkg_assets.defs.wiring.progress import stage_progress
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


@dataclass(frozen=True, slots=True)
class Intake:
    """The intake of scanned sources: rows to write and removed documents."""

    documents: Batch
    quarantine: Batch


def extraction_key(sha256: str, version: str) -> str:
    """Return the cache key of a document's extracted tables: the digest of its bytes and the code version."""
    return f"{sha256[:20]}-{version[:20]}"


def admit_documents(home: Home, document_ids: Iterable[str]) -> Intake:
    """Read new and changed documents, and decide which are admitted and which are quarantined.

    Args:
        home: The home.
        document_ids: Documents of the manifest.

    Returns:
        Rows of `documents` and of `quarantine` to write, with the documents to remove from each table.
    """
    store, settings = home.store, home.settings
    version = reading_version(settings)
    files = store.read_manifest().files
    known, refused = _read_known(store)
    jobs: list[Job] = []
    cleared: set[str] = set()
    statuses = inspect_sources(home, set(document_ids) & files.keys(), files=files, known=known)
    for document_id, status in sorted(statuses.items()):
        job = _job(store, document_id, files[document_id], status.sha256, version, settings=settings)
        if _is_same(known.get(document_id), job):
            cleared.add(document_id)
        elif not _is_same(refused.get(document_id), job):
            jobs.append(job)
    outcomes = _read(home, jobs, statuses=statuses)
    now = datetime.now(UTC)
    admitted = {o.document_id: j for o, j in zip(outcomes, jobs, strict=True) if o.is_read}
    rows = [_document_row(j, known.get(d), now) for d, j in admitted.items()]
    # A changed tier needs no second reading.
    updated = [row for d in sorted(cleared) if (row := known[d])["tier"] != tier_of(settings, row)]
    rows = [{**row, "tier": tier_of(settings, row)} for row in [*rows, *updated]]
    bad = [
        _quarantine_row(o, j, _first_seen(refused.get(o.document_id), j, now))
        for o, j in zip(outcomes, jobs, strict=True)
        if not o.is_read
    ]
    removed = (known.keys() | refused.keys()) - files.keys()
    documents = {row["document_id"]: {"content": extraction_key(row["sha256"], row["code_version"])} for row in rows}
    recovered = (cleared | admitted.keys()) & refused.keys()
    quarantined = {row["document_id"]: {"content": row["sha256"]} for row in bad}
    return Intake(
        documents=(build_documents(rows), {**documents, **dict.fromkeys(removed)}),
        quarantine=(build_quarantine(bad), {**quarantined, **dict.fromkeys(removed | recovered)}),
    )


def inspect_sources(
    home: Home,
    document_ids: Collection[str],
    *,
    files: Mapping[str, SourceFile],
    known: Mapping[str, DocumentRecord],
) -> dict[str, FileStatus]:
    """Inspect the source files of documents without reading the documents.

    Args:
        home: The home.
        document_ids: Documents to inspect.
        files: Entries of the manifest by document.
        known: Rows of `documents` by document.

    Returns:
        The state of each document's file, with the reason if it cannot be read.
    """
    admitted = {d: row["sha256"] for d, row in known.items() if d in files}
    return inspect_files({d: files[d] for d in sorted(document_ids)}, admitted=admitted, settings=home.settings)


def tier_of(settings: Settings, row: DocumentRecord) -> int:
    """Return the tier of a document from the settings or else from the rules.

    Args:
        settings: Settings of the home.
        row: Row of `documents`.
    """
    return find_tier(row, own=settings.tiers)


def clear_quarantine(store: Store) -> None:
    """Release quarantined documents for the next build, keeping the date of their first refusal.

    Args:
        store: Tables of the home.
    """
    refused = store.read_or_empty("quarantine").with_columns(code_version=pl.lit(""))
    if refused.height:
        documents = {name: {"content": "to be tried again"} for name in refused["document_id"]}
        store.replace_documents("quarantine", refused, documents=documents)


def publish(home: Home, name: str, document_ids: Iterable[str]) -> Iterator[Batch]:
    """Yield the row batches that bring one extraction table up to date.

    Args:
        home: The home.
        name: Extraction table.
        document_ids: Documents that may have changed.

    Yields:
        Rows with the reading of each of their documents; None in place of the reading of a document that is gone.
    """
    store, settler, settle = home.store, refinement_fingerprint(home, name), open_refinement(home, name)
    state = store.state(name)
    known = dict(state.documents) if state is not None else {}
    wanted = {r["document_id"]: r for r in iter_records(store.read("documents"), DocumentRecord)}
    stale = [
        d
        for d in sorted(set(document_ids) & wanted.keys())
        if known.get(d, {}).get("reading") != extraction_key(wanted[d]["sha256"], wanted[d]["code_version"])
        or known[d].get("settler", "") != settler
    ]
    _restore_readings(home, [wanted[d] for d in stale])
    removed: dict[str, Mapping[str, str] | None] = dict.fromkeys(sorted(known.keys() - wanted.keys()))
    if removed:
        yield schema_of(name).create_empty(), removed
    frames: list[pl.DataFrame] = []
    states: dict[str, Mapping[str, str] | None] = {}
    size = 0.0
    with stage_progress(name, len(stale)) as progress:
        for document_id in stale:
            folder = folder_of(store, wanted[document_id])
            frame = settle(folder)
            frames.append(frame)
            states[document_id] = {"reading": folder.name, **_describe(frame, folder, name=name, settler=settler)}
            size += frame.estimated_size("mb")
            progress.advance(name)
            if size > home.settings.tables_in_memory_mb:
                yield pl.concat(frames), states
                frames, states, size = [], {}, 0.0
    if frames:
        yield pl.concat(frames), states


def find_unpublished(store: Store) -> set[str]:
    """Return the admitted documents whose newest rows are missing in an extraction table after an interrupted run.

    Args:
        store: Tables of the home.
    """
    admitted = store.state("documents")
    if admitted is None:
        return set()
    wanted = {d: s["content"] for d, s in admitted.documents.items()}
    states = [store.state(name) for name in PER_DOCUMENT]
    stored = [state.documents if state is not None else {} for state in states]
    return {d for d, reading in wanted.items() if any(h.get(d, {}).get("reading") != reading for h in stored)}


def find_outdated(home: Home, files: Mapping[str, SourceFile]) -> set[str]:
    """List the documents that a run must process.

    They are new or changed, were read by another version of the code, have a new tier, or have newer rows than some
    table contains.

    Args:
        home: The home.
        files: Entries of the manifest by document.

    Returns:
        Document ids.
    """
    store, settings = home.store, home.settings
    version = reading_version(settings)
    known, refused = _read_known(store)
    outdated = find_unpublished(store)
    for name in PER_DOCUMENT:
        state, settler = store.state(name), refinement_fingerprint(home, name)
        outdated |= {d for d, s in (state.documents if state else {}).items() if s.get("settler", "") != settler}
    for document_id, status in inspect_sources(home, files.keys(), files=files, known=known).items():
        job = _job(store, document_id, files[document_id], status.sha256, version, settings=settings)
        row = known.get(document_id)
        if row is not None and _is_same(row, job):
            is_current = document_id not in refused and row["tier"] == tier_of(settings, row)
        else:
            is_current = _is_same(refused.get(document_id), job)
        if not is_current:
            outdated.add(document_id)
    return outdated & files.keys()


def _describe(frame: pl.DataFrame, folder: Path, *, name: str, settler: str) -> Mapping[str, str]:
    """Digest of a document's rows, and the model that refined them, if any."""
    if settler:
        return {"content": frame_digest(frame), "settler": settler}
    return {"content": json.loads((folder / "contents.json").read_text(encoding="utf8"))[name]}


def prune_readings(home: Home) -> None:
    """Delete cached readings that no row of `documents` refers to.

    Args:
        home: The home.
    """
    store = home.store
    rows = store.read("documents").select("document_id", "sha256", "code_version").rows()
    kept = {digest(document_id): extraction_key(sha256, version) for document_id, sha256, version in rows}
    for folder in store.folder("cache", "extract").iterdir():
        store.forget_other_readings(folder, keep=kept.get(folder.name, ""))


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


def _read_known(store: Store) -> tuple[dict[str, DocumentRecord], dict[str, QuarantineRecord]]:
    """Read what is recorded of admitted and of refused documents, by document."""
    known = iter_records(store.read_or_empty("documents"), DocumentRecord)
    refused = iter_records(store.read_or_empty("quarantine"), QuarantineRecord)
    return {row["document_id"]: row for row in known}, {row["document_id"]: row for row in refused}


def _is_same(row: DocumentRecord | QuarantineRecord | None, job: Job) -> bool:
    return row is not None and row["sha256"] == job.sha256 and row["code_version"] == job.code_version


def _read(home: Home, jobs: Sequence[Job], *, statuses: Mapping[str, FileStatus]) -> list[Outcome]:
    """Read what the cache does not hold yet, the largest files first so that no core idles at the end."""
    done: dict[str, Outcome] = {}
    for job in jobs:
        status = statuses[job.document_id]
        if status.reason:
            done[job.document_id] = Outcome(job.document_id, False, 0.0, status.stage, status.reason, status.remedy)
        elif (Path(job.folder) / "contents.json").exists():
            done[job.document_id] = Outcome(job.document_id, True, 0.0)
    missing = [j for j in jobs if j.document_id not in done]
    missing.sort(key=lambda j: (-Path(j.path).stat().st_size if Path(j.path).exists() else 0, j.document_id))
    settings = home.settings
    limits = Limits(seconds=settings.document_seconds, memory_mb=settings.document_memory_mb)
    with stage_progress("documents", len(jobs)) as progress:
        progress.advance("documents", len(done))
        with timed("parse") if missing else nullcontext():
            outcomes = open_engine(settings).read(
                missing, limits=limits, on_done=lambda _: progress.advance("documents")
            )
    if missing:
        keep_times(home.store)
    by_id = done | {o.document_id: o for o in outcomes}
    return [by_id[j.document_id] for j in jobs]


def _restore_readings(home: Home, rows: Sequence[DocumentRecord]) -> None:
    """Read documents again whose cached frames were lost, if their bytes are still the admitted ones."""
    store, settings = home.store, home.settings
    version = reading_version(settings)
    lost = [
        r
        for r in rows
        if not (store.reading_folder(r["document_id"], reading=extraction_key(r["sha256"], r["code_version"]))).is_dir()
    ]
    files = store.read_manifest().files
    known = {r["document_id"]: r for r in lost}
    statuses = inspect_sources(home, known.keys() & files.keys(), files=files, known=known)
    jobs = [_job(store, d, files[d], statuses[d].sha256, version, settings=settings) for d in known if d in statuses]
    for row, job in zip(lost, jobs, strict=True):
        if not _is_same(row, job):
            raise LookupError(
                f"The cached tables of {row['document_id']} were deleted, and its file or the code has "
                "changed since they were made. Run `taxkg build`, or materialize `documents` for it first."
            )
    for outcome in _read(home, jobs, statuses=statuses):
        if not outcome.is_read:
            raise LookupError(f"{outcome.document_id}: {outcome.stage}: {outcome.reason} {outcome.remedy}")


def _document_row(job: Job, old: DocumentRecord | None, now: datetime) -> DocumentRecord:
    (row,) = iter_records(pl.read_ipc(Path(job.folder) / "documents.arrow"), DocumentRecord)
    is_same = old is not None and old["sha256"] == job.sha256
    return {**row, "fetched_at": old["fetched_at"] if is_same and old is not None else now}


def _first_seen(old: QuarantineRecord | None, job: Job, now: datetime) -> datetime:
    """When these very bytes were refused for the first time."""
    return old["first_seen_at"] if old is not None and old["sha256"] == job.sha256 else now


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
