"""Documents by name into a folder, each under the name of its revision; only what changed is loaded.

The command `taxkg fetch` and the daily schedule call the same function. What it brings into a recorded folder is
built like any other file there.

The record `.fetched.json` of a folder holds, for each address, what the server said last, so that the next request is
conditional and an interrupted one goes on.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dagster as dg
import polars as pl

from taxkg_assets.defs.alerts import default_schedule_status
from taxkg_assets.defs.intake import inbox_of
from taxkg_assets.defs.reader import Job, Limits, read_documents
from taxkg_assets.defs.store import atomic_write
from taxkg_assets.rules.loader import load_family
from taxkg_assets.settings import Settings
from taxkg_assets.sources.fetch import Fetched, Fetcher, FetchError, Known, find_urls
from taxkg_assets.sources.scan import sha256_of

RECORD = ".fetched.json"


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one address: new, changed, unchanged, absent, planned or failed."""

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
) -> Iterator[Line]:
    """Fetch products or families by name; one line for each address as it is done. A failed one stops no other.

    Args:   years: of prior revisions; none means the current ones. base_url: another server than the IRS.
    Raises: FetchError for a name or an address that cannot be right.
    """
    base_url = base_url or str(load_family("fetching")["base_url"])
    fetcher = Fetcher(base_url)
    found = (find_urls(n, base_url=base_url, years=tuple(years), is_draft=is_draft) for n in names)
    for url in dict.fromkeys(url for urls in found for url in urls):
        record = _read_record(folder)
        known = Known(**record[url]) if url in record and (folder / record[url]["file"]).is_file() else None
        try:
            fetched = fetcher.fetch(url, folder, known=known, is_dry=is_dry)
        except FetchError as failed:
            yield Line(url, "failed", reason=str(failed))
            continue
        yield _settle(fetched, folder, known=known, settings=settings)


def _settle(fetched: Fetched, folder: Path, *, known: Known | None, settings: Settings) -> Line:
    """Give a new document its name, and write down what the server said."""
    file = known.file if known is not None else ""
    status = fetched.status
    if fetched.path is not None:
        file = _name(fetched.path, urlsplit(fetched.url).path, settings=settings)
        status = "changed" if (folder / file).exists() else "new"
        fetched.path.replace(folder / file)
    if fetched.status in ("new", "unchanged"):
        now = Known(etag=fetched.etag, last_modified=fetched.last_modified, sha256=fetched.sha256, file=file)
        record = {**_read_record(folder), fetched.url: asdict(now)}
        atomic_write(folder / RECORD, json.dumps(record, indent=1, sort_keys=True).encode())
    return Line(fetched.url, status, file=file)


def _name(path: Path, url_path: str, *, settings: Settings) -> str:
    """`<irs name>--<revision>.pdf` by what its pages say; the server's name for one that says nothing or is broken."""
    plain = Path(url_path).name
    with tempfile.TemporaryDirectory() as folder:
        job = Job(
            document_id=Path(plain).stem,
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
            return plain
        row = pl.read_ipc(Path(job.folder) / "documents.arrow").row(0, named=True)
    if "--" in plain or not row["revision"]:
        return plain
    stem = row["irs_name"] or Path(plain).stem
    return f"{stem}--{row['revision']}.pdf"


def _read_record(folder: Path) -> dict[str, Any]:
    path = folder / RECORD
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


@dg.op
def fetch_watched(context: dg.OpExecutionContext) -> None:
    """Fetch the watched names into the inbox; the sensor sees what is new there."""
    settings = Settings()
    names = [name.strip() for name in settings.watch.split(",") if name.strip()]
    failed = 0
    for line in fetch(names, folder=inbox_of(settings), settings=settings):
        context.log.info(f"{line.status}: {line.url} {line.file} {line.reason}")
        failed += line.status == "failed"
    if failed:
        raise dg.Failure(f"{failed} of the watched documents could not be fetched; the log names each of them.")


@dg.job
def watch_releases() -> None:
    """Look for new revisions of the watched names."""
    fetch_watched()


daily_releases = dg.ScheduleDefinition(
    name="daily_releases",
    job=watch_releases,
    cron_schedule="15 6 * * *",
    description="Every morning: fetch the names of TAXKG_WATCH into the inbox.",
    default_status=default_schedule_status(),
)
