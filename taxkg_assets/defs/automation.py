"""What runs by itself: the sensor that sees new and changed PDFs, the jobs, and the automation of the tables."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from taxkg_assets.defs.home.recovery import find_interrupted_run, report_dead_run
from taxkg_assets.defs.home.store import BUILD, Store, digest
from taxkg_assets.defs.home.store import TRAINING as TRAINING_WORK
from taxkg_assets.defs.ingest.file_status import inspect_files
from taxkg_assets.defs.ingest.intake import find_unpublished
from taxkg_assets.defs.ingest.source_scan import scan_sources
from taxkg_assets.defs.wiring.alerts import Alert, default_status, send
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import WORK_TAG, Home
from taxkg_assets.defs.wiring.table_asset import DOCUMENT_PARTITIONS, GROUPS, TRAINING_GROUPS
from taxkg_assets.sources.manifest import SourceFile
from taxkg_assets.sources.scan import SourceError, seen_sha256

SENSOR_SECONDS = 10
SETTLE_SECONDS = 3.0
INTAKE = ("documents", "quarantine")
TRAINED = dg.AssetSelection.groups(*(GROUPS[stage] for stage in TRAINING_GROUPS))
"""What a training makes."""

BUILT = dg.AssetSelection.all() - TRAINED
"""What a build makes; training is selected by name."""


def add_automation_conditions(assets: Iterable[Any]) -> list[dg.AssetsDefinition]:
    """Add to each asset its automation condition."""
    return [asset.map_asset_specs(_follow) for asset in assets]


def _follow(spec: dg.AssetSpec) -> dg.AssetSpec:
    """When the last of its upstream tables has changed and all their gates have passed.

    `eager` alone runs downstream on failed data. Upstream tables that come earlier on the way to another one are
    ignored: `index` is made from `documents` too, but not before `embeddings` is. Training does not follow by itself:
    it takes long and is started by name. The extraction follows the sensor, which knows the documents.
    """
    record = PIPELINE[spec.key.to_user_string()]
    upstream = record.upstream
    if not upstream or record.is_training or record.fingerprint is None:
        return spec
    earlier = {n for n in upstream if any(n in PIPELINE.ancestors([other]) for other in upstream if other != n)}
    optional = dg.AssetSelection.assets(*record.optional)
    waiting = dg.AutomationCondition.eager().ignore(dg.AssetSelection.assets(*sorted(earlier)) | optional)
    passed = dg.AutomationCondition.all_deps_blocking_checks_passed().ignore(optional)
    return spec.replace_attributes(automation_condition=waiting & passed)


def sync_partitions(instance: dg.DagsterInstance, document_ids: set[str]) -> tuple[set[str], set[str]]:
    """Add and remove document partitions so that they equal the given ids.

    Args:
        instance: Dagster instance.
        document_ids: Wanted partitions.

    Returns:
        Added and removed partitions.
    """
    name = DOCUMENT_PARTITIONS.name
    assert name is not None
    present = set(instance.get_dynamic_partitions(name))
    added, removed = document_ids - present, present - document_ids
    if added:
        instance.add_dynamic_partitions(name, sorted(added))
    for document_id in sorted(removed):
        instance.delete_dynamic_partition(name, document_id)
    return added, removed


everything = dg.define_asset_job(
    "build",
    selection=BUILT,
    description="Builds all tables up to the release, without training. Current tables are not rebuilt.",
)

training = dg.define_asset_job(
    "train",
    selection=TRAINED,
    tags={WORK_TAG: TRAINING_WORK},
    description="Builds training pairs, negatives and models from the current graph. Builds of new "
    "documents do not wait for it.",
)

weekly_training = dg.ScheduleDefinition(
    name="weekly_training",
    job=training,
    cron_schedule="30 1 * * 6",
    description="Trains models on the current graph every Saturday night, which keeps all cores "
    "busy for 15 minutes or more.",
    default_status=dg.DefaultScheduleStatus.STOPPED,
)


@dg.sensor(
    job=everything,
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=default_status(),
    description="Checks the inbox and the recorded folders, and starts one run of the job `build` for new, changed "
    "and removed documents.",
)
def sources_changed(context: dg.SensorEvaluationContext, home: Home) -> dg.SensorResult | dg.SkipReason:
    """Scan the recorded sources and the inbox, and request one run if files are new, changed or removed.

    The run skips tables that are current. An interrupted run is requested again.
    """
    try:
        manifest, closed = scan_sources(home)
    except SourceError as clash:
        _tell_closed(context, home, [str(clash)])
        return dg.SkipReason(str(clash))
    _tell_closed(context, home, closed)
    for work in (BUILD, TRAINING_WORK):
        report_dead_run(context.instance, home.store, work=work)
    broken = find_interrupted_run(context.instance)
    files = manifest.files
    sync_partitions(context.instance, set(files))
    hashes, changed, gone = find_changes(home, files)
    if not changed and not gone and not broken:
        return dg.SkipReason("Every document is as it was.")
    if not files:
        return dg.SkipReason("No document is left in the recorded sources: the tables stay as they are.")
    behind = find_unpublished(home.store) & files.keys()
    versions = [str(home.store.version(name)) for name in INTAKE]
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                # A request that came to nothing is not repeated until a document or a table changes.
                run_key=digest(*versions, *(hashes[d] for d in changed), *gone, broken),
                tags=partition_range(_spanned(context.instance, {*changed, *behind} or set(sorted(files)[:1]))),
            )
        ]
    )


def _tell_closed(context: dg.SensorEvaluationContext, home: Home, closed: Sequence[str]) -> None:
    """Report once the sources that cannot be read; the others are processed."""
    message = "; ".join(closed)
    if message and context.cursor != message:
        send(Alert("sources", "a source cannot be read", tuple(closed)), settings=home.settings)
    context.update_cursor(message)


def _spanned(instance: dg.DagsterInstance, document_ids: set[str]) -> list[str]:
    """Return the first and the last of these partitions in Dagster's own order, which is that of their arrival."""
    assert DOCUMENT_PARTITIONS.name is not None
    present = [d for d in instance.get_dynamic_partitions(DOCUMENT_PARTITIONS.name) if d in document_ids]
    return [present[0], present[-1]]


def find_changes(home: Home, files: Mapping[str, SourceFile]) -> tuple[dict[str, str], list[str], list[str]]:
    """Return digests of the readable files, and the new, changed and removed documents."""
    admitted, refused = (known_digests(home.store, name) for name in INTAKE)
    now = time.time()
    settled = {d: file for d, file in files.items() if not is_being_written(Path(file.path), now)}
    standing = {d: sha256 for d, sha256 in admitted.items() if d in files}
    statuses = inspect_files(settled, admitted=standing, settings=home.settings, hash_file=seen_sha256)
    hashes = {d: status.sha256 for d, status in statuses.items()}
    # The last refusal is the newest reading, whatever the tables contain.
    last = admitted | refused
    changed = sorted(d for d, sha256 in hashes.items() if last.get(d) != sha256)
    return hashes, changed, sorted(last.keys() - files.keys())


def is_being_written(path: Path, now: float) -> bool:
    """Return whether a file is missing or was changed so recently that it may be incomplete; the next scan reads it."""
    try:
        return 0 <= now - path.stat().st_ctime < SETTLE_SECONDS
    except FileNotFoundError:
        return True
    except OSError:
        return False


def known_digests(store: Store, name: str) -> dict[str, str]:
    """Return the digest with which each document was last admitted or refused."""
    return dict(store.read_or_empty(name).select("document_id", "sha256").iter_rows())


def partition_range(partitions: Sequence[str]) -> dict[str, str]:
    """Return the run tags that make one run cover a contiguous range of partitions.

    Args:
        partitions: Partitions in definition order.
    """
    if not partitions:
        return {}
    return {
        "dagster/asset_partition_range_start": partitions[0],
        "dagster/asset_partition_range_end": partitions[-1],
    }
