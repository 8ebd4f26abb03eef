"""Documents by name into a folder, each under the name of its revision; only what changed is loaded.

The command `taxkg fetch` and the daily schedule call the same function. What it brings into a recorded folder is
built like any other file there.

The record `.fetched.json` of a folder holds, for each address, what the server said last, so that the next request is
conditional, and an interrupted download resumes.
"""

import fcntl
import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dagster as dg
import polars as pl

from taxkg_assets.defs.home.store import HomeBusyError, atomic_write
from taxkg_assets.defs.ingest.file_status import inbox_of
from taxkg_assets.defs.ingest.reader import Limits, read_documents
from taxkg_assets.defs.ingest.worker_replies import Job
from taxkg_assets.defs.wiring.alerts import default_schedule_status
from taxkg_assets.rules.models.fetching import load_fetching
from taxkg_assets.settings import Settings
from taxkg_assets.sources.fetch import Fetched, Fetcher, FetchError, Known, UnreachableError, find_urls
from taxkg_assets.sources.scan import sha256_of

RECORD = ".fetched.json"
LOCK = ".fetching.lock"


@dataclass(frozen=True, slots=True)
class FetchResult:
    """Outcome of one download.

    Attributes:
        url: Address of the document.
        status: `new`, `changed` or `unchanged`; `absent` if the server has no such file, `planned` in a dry run, or
            `failed`.
        file: Name of the file in the folder; empty if there is none.
        reason: Why the download failed, with a remedy; else empty.
    """

    url: str
    status: str
    file: str = ""
    reason: str = ""


def fetch(
    names: Iterable[str],
    *,
    folder: Path,
    settings: Settings,
    years: Iterable[int] = (),
    base_url: str = "",
    is_draft: bool = False,
    is_dry: bool = False,
) -> Iterator[FetchResult]:
    """Download IRS products or families by name; a failed download stops the others only if the host is unreachable.

    Args:
        names: File stems such as `f1099div`, or families in rules/fetching.yaml.
        folder: Folder of the documents.
        settings: Settings of the home.
        years: Years of earlier revisions; empty for the current files.
        base_url: Server address; the IRS by default.
        is_draft: Whether to download drafts.
        is_dry: Whether to only list the downloads.

    Yields:
        The outcome of each address, as soon as it is known.

    Raises:
        FetchError: A name or an address is invalid.
        HomeBusyError: Another process fills the folder.
    """
    base_url = base_url or load_fetching().base_url
    fetcher = Fetcher(base_url)
    revision_years = tuple(years)
    url_lists = [find_urls(name, base_url=base_url, years=revision_years, is_draft=is_draft) for name in names]
    with nullcontext() if is_dry else _alone_in(folder):
        for url in dict.fromkeys(url for urls in url_lists for url in urls):
            record = _read_record(folder)
            known_file = Known(**record[url]) if url in record and (folder / record[url]["file"]).is_file() else None
            try:
                fetched = fetcher.fetch(url, folder, known_state=known_file, is_dry=is_dry)
            except FetchError as failed:
                yield FetchResult(url, "failed", reason=str(failed))
                if isinstance(failed, UnreachableError):
                    return
                continue
            yield _settle(fetched, folder, known_file=known_file, settings=settings)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Allow one fetch per folder: two would write into one half-loaded file. The lock ends with its process.

    Folders that are made here and get no file are taken away again.
    """
    new_folders = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as busy:
            raise HomeBusyError(f"Another fetch is filling {folder}. Wait for it, or choose another folder.") from busy
        try:
            yield
        finally:
            _drop_empty(new_folders)


def _drop_empty(folders: Iterable[Path]) -> None:
    """Delete folders, the innermost first, that have no file or only the lock."""
    with suppress(OSError):  # another process may fill a folder meanwhile
        for folder in folders:
            if any(path.name != LOCK for path in folder.iterdir()):
                return
            (folder / LOCK).unlink(missing_ok=True)
            folder.rmdir()


def _settle(fetched: Fetched, folder: Path, *, known_file: Known | None, settings: Settings) -> FetchResult:
    """Rename a new document to its final name, and record the headers that the server sent."""
    former = known_file or Known()
    current = replace(former, etag=fetched.etag, last_modified=fetched.last_modified, sha256=fetched.sha256)
    status = fetched.status
    if fetched.path is not None:
        current = _name_by_revision(current, fetched.path, urlsplit(fetched.url).path, settings=settings)
        replaces_file = (folder / current.file).exists()
        if replaces_file and not current.is_read and (former.is_read or former.file != current.file):
            fetched.path.unlink()
            reason = "the downloaded file cannot be opened, so the earlier one is kept. Run the same command later."
            return FetchResult(fetched.url, "failed", file=current.file, reason=reason)
        status = "changed" if replaces_file else "new"
        fetched.path.replace(folder / current.file)
    if fetched.status in ("new", "unchanged"):
        if not current.is_read:  # requested again without a condition: the next reply may be valid
            current = replace(current, etag="", last_modified="")
        record = {**_read_record(folder), fetched.url: asdict(current)}
        atomic_write(folder / RECORD, json.dumps(record, indent=1, sort_keys=True).encode())
        if former.file != current.file and not former.is_named:
            _drop(folder / former.file, sha256=former.sha256)
    return FetchResult(fetched.url, status, file=current.file)


def _drop(path: Path, *, sha256: str) -> None:
    """Take away what was fetched under a makeshift name and is corrected now; never what somebody put there since."""
    if path.is_file() and sha256_of(path) == sha256:
        path.unlink()


def _name_by_revision(current: Known, path: Path, url_path: str, *, settings: Settings) -> Known:
    """Return `<irs name>--<revision>.pdf` as its pages state; the server's name where they state none or are broken."""
    server_name = Path(url_path).name
    with tempfile.TemporaryDirectory() as folder:
        job = Job(
            document_id=Path(server_name).stem,
            path=str(path),
            sha256=sha256_of(path),
            source_uri=str(path),
            source_root=folder,
            is_text=False,
            code_version="",
            max_pages=settings.max_pages,
            folder=str(Path(folder) / "frames"),
        )
        limits = Limits(settings.document_seconds, settings.document_memory_mb)
        (outcome,) = read_documents([job], workers=1, limits=limits, on_done=lambda _: None)
        if not outcome.is_read:
            return replace(current, file=server_name, is_read=False, is_named=False)
        row = pl.read_ipc(Path(job.folder) / "documents.arrow").row(0, named=True)
    if "--" in server_name or not row["revision"]:
        return replace(current, file=server_name, is_read=True, is_named="--" in server_name)
    stem = row["irs_name"] or Path(server_name).stem
    return replace(current, file=f"{stem}--{row['revision']}.pdf", is_read=True, is_named=True)


def _read_record(folder: Path) -> dict[str, Any]:
    path = folder / RECORD
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


@dg.op
def fetch_watched(context: dg.OpExecutionContext) -> None:
    """Download the watched forms and publications into the inbox, from which the source sensor takes them.

    Args:
        context: Context of the Dagster op, for its log.
    """
    settings = Settings()
    names = [name.strip() for name in settings.watch.split(",") if name.strip()]
    failed = 0
    for result in fetch(names, folder=inbox_of(settings), settings=settings):
        context.log.info(f"{result.status}: {result.url} {result.file} {result.reason}")
        failed += result.status == "failed"
    if failed:
        raise dg.Failure(
            f"{failed} of the documents in TAXKG_WATCH could not be downloaded. The log gives the reason for each."
        )


@dg.job(tags={"dagster/max_runtime": str(load_fetching().run_seconds)})
def watch_releases() -> None:
    """Run `fetch_watched` on a schedule to detect new revisions."""
    fetch_watched()


daily_releases = dg.ScheduleDefinition(
    name="daily_releases",
    job=watch_releases,
    cron_schedule="15 6 * * *",
    description="Fetches the names of TAXKG_WATCH into the inbox every morning.",
    default_status=default_schedule_status(),
)
