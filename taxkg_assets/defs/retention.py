"""What may go: files of tables that neither the newest version nor a kept release reads, and old entries of their logs.

Kept releases are the newest ones that were not rolled back (`KEPT_RELEASES`): what is served, and what a rollback may
go back to. Delta's own vacuum writes two commits to each table, which would make every gate and release look out of
date; so it only lists what may be deleted, and the files are deleted here.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg

from taxkg_assets.defs.home.proposers import prune_journal
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.ingest.intake import prune_readings
from taxkg_assets.defs.retrieval import find_kept_releases, prune_indexes
from taxkg_assets.defs.wiring.alerts import default_schedule_status
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home

_CHECKPOINT = re.compile(r"^(\d{20})\.checkpoint(\..*)?\.parquet$")
_ENTRY = re.compile(r"^(\d{20})\.(json|checkpoint(\..*)?\.parquet)$")
LEAST_HOURS = 1
"""Files younger than this always stay: a reader may have opened the version that has just been replaced."""


@dataclass(frozen=True, slots=True)
class ReclaimedFiles:
    """Files of one table that were, or would be, deleted."""

    table: str
    files: int
    bytes: int


def find_kept_versions(store: Store) -> dict[str, set[int]]:
    """List the table versions to keep: the newest ones, and those that kept releases use.

    Args:
        store: Tables of the home.

    Returns:
        Version numbers by table.
    """
    kept_versions = {name: {store.version(name)} for name in PIPELINE if store.exists(name)}
    for row in find_kept_releases(store).iter_rows(named=True):
        for name, version in json.loads(row["table_versions"]).items():
            kept_versions.setdefault(name, set()).add(version)
    return kept_versions


def vacuum(store: Store, *, keep_days: float, is_dry: bool = False) -> Iterator[ReclaimedFiles]:
    """Delete files that no kept version reads and that are older than a number of days.

    The caller must hold the lock of the home.

    Args:
        store: Tables of the home.
        keep_days: Files younger than this stay, as do those younger than an hour.
        is_dry: Whether to only list the files.
    """
    hours = max(LEAST_HOURS, round(keep_days * 24))
    for name, versions in sorted(find_kept_versions(store).items()):
        table = store.open_table(name)
        assert table is not None
        unread_files = table.vacuum(
            retention_hours=hours,
            dry_run=True,
            enforce_retention_duration=False,
            full=True,
            keep_versions=sorted(versions),
        )
        deletable_paths = [f"tables/{name}/{file}" for file in unread_files] + _find_old_log_entries(
            store, name, min(versions), hours=hours
        )
        files = {file: stat for file in deletable_paths if (stat := store.storage.stat(file)) is not None}
        if not is_dry:
            for file in files:
                store.storage.remove(file)
        yield ReclaimedFiles(name, len(files), sum(stat.bytes for stat in files.values()))


def _find_old_log_entries(store: Store, name: str, oldest: int, *, hours: int) -> list[str]:
    """Return log entries of a table before the checkpoint from which the oldest kept version can be read."""
    log = f"tables/{name}/_delta_log"
    entries = store.storage.children(log)
    numbers = [int(match[1]) for entry in entries if (match := _CHECKPOINT.match(entry))]
    start = max((number for number in numbers if number <= oldest), default=0)
    before = [f"{log}/{entry}" for entry in entries if (match := _ENTRY.match(entry)) and int(match[1]) < start]
    return [path for path in before if (stat := store.storage.stat(path)) and stat.age_s > hours * 3600]


def run_retention(home: Home, *, keep_days: float, is_dry: bool = False) -> list[ReclaimedFiles]:
    """Delete old versions of tables and of the index, and cached readings.

    The caller must hold the lock of the home.

    Args:
        home: Tables, files and settings of the home.
        keep_days: Age in days from which versions that no kept release reads are deleted.
        is_dry: Whether to only list the files.

    Returns:
        Files and bytes by table.
    """
    store = home.store
    if not is_dry and store.exists("documents"):
        prune_readings(home)
        prune_indexes(store)
        prune_journal(store)
    return list(vacuum(store, keep_days=keep_days, is_dry=is_dry))


@dg.op
def vacuum_home(context: dg.OpExecutionContext, home: Home) -> None:
    """Delete old versions of tables and of the index that no kept release uses.

    Args:
        context: Context of the Dagster op, for its log.
        home: Home to clean up.
    """
    for freed in run_retention(home, keep_days=home.settings.keep_days):
        if freed.files:
            context.log.info(f"{freed.table}: {freed.files} files, {freed.bytes} bytes")


@dg.job
def housekeeping() -> None:
    """Delete old versions of tables and of the index, and unused readings; kept releases stay complete."""
    vacuum_home()


nightly_housekeeping = dg.ScheduleDefinition(
    name="nightly_housekeeping",
    job=housekeeping,
    cron_schedule="40 3 * * *",
    description="Deletes table and index versions older than TAXKG_KEEP_DAYS every night, except those "
    "that a kept release uses.",
    default_status=default_schedule_status(),
)
