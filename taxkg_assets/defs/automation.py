"""What runs by itself: the sensor that sees new and changed PDFs, the jobs, and the automation of the tables."""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import and_
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
    """Add to each asset the condition under which Dagster builds it by itself.

    Args:
        assets: Assets of all stages.
    """
    return [asset.map_asset_specs(_follow) for asset in assets]


def _follow(spec: dg.AssetSpec) -> dg.AssetSpec:
    """Let a table be built when the last of its upstream tables has changed and all their gates have passed.


    `eager` alone runs downstream on failed data. Upstream tables that come earlier on the way to another one are
    ignored: `index` is made from `documents` too, but not before `embeddings` is. Training does not follow by itself:
    it takes long and is started by name. The extraction follows the sensor, which knows the documents.

    A table also follows what it reads if it exists, such as a trained model, once no training runs; it waits for
    neither that nor its gates. No cycle arises, as what is trained follows nothing.
    """
    record = PIPELINE[spec.key.to_user_string()]
    upstream = record.upstream
    if not upstream or record.is_training or record.fingerprint is None:
        return spec
    indirect_inputs = {
        name for name in upstream if any(name in PIPELINE.ancestors([other]) for other in upstream if other != name)
    }
    condition = dg.AutomationCondition
    optional = dg.AssetSelection.assets(*record.optional)
    unfollowed = dg.AssetSelection.assets(*sorted(indirect_inputs)) | optional
    inputs_changed: dg.AutomationCondition[Any] = (
        condition.newly_missing() | condition.any_deps_updated().ignore(unfollowed)
    ).since_last_handled()
    if record.optional:
        inputs_changed |= condition.any_deps_updated().allow(optional).since_last_handled() & _no_training_runs()
    can_be_built = (
        ~condition.any_deps_missing().ignore(unfollowed)
        & ~condition.any_deps_in_progress().ignore(unfollowed)
        & ~condition.in_progress()
        & condition.all_deps_blocking_checks_passed().ignore(optional)
    )
    return spec.replace_attributes(automation_condition=inputs_changed & can_be_built)


def _no_training_runs() -> dg.AutomationCondition[Any]:
    """Return the condition that no table of training is being made: what it trains changes again until it ends."""
    conditions = (
        ~dg.AutomationCondition.asset_matches(name, dg.AutomationCondition.in_progress())
        for name in sorted(PIPELINE.trained())
    )
    return reduce(and_, conditions)


def sync_partitions(instance: dg.DagsterInstance, document_ids: set[str]) -> tuple[set[str], set[str]]:
    """Add and remove document partitions so that they equal the given ids.

    Args:
        instance: Dagster instance.
        document_ids: Documents that should have a partition each.

    Returns:
        Added and removed partitions.
    """
    name = DOCUMENT_PARTITIONS.name
    assert name is not None
    current_ids = set(instance.get_dynamic_partitions(name))
    added_ids, removed_ids = document_ids - current_ids, current_ids - document_ids
    if added_ids:
        instance.add_dynamic_partitions(name, sorted(added_ids))
    for document_id in sorted(removed_ids):
        instance.delete_dynamic_partition(name, document_id)
    return added_ids, removed_ids


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

    Args:
        context: Context of the Dagster sensor.
        home: Home with the recorded sources.
    """
    try:
        manifest, unreadable_reasons = scan_sources(home)
    except SourceError as error:
        _report_unreadable(context, home, [str(error)])
        return dg.SkipReason(str(error))
    _report_unreadable(context, home, unreadable_reasons)
    for work in (BUILD, TRAINING_WORK):
        report_dead_run(context.instance, home.store, work=work)
    interrupted_run = find_interrupted_run(context.instance)
    files = manifest.files
    sync_partitions(context.instance, set(files))
    hashes, changed_ids, removed_ids = find_changes(home, files)
    if not changed_ids and not removed_ids and not interrupted_run:
        return dg.SkipReason("Every document is as it was.")
    if not files:
        return dg.SkipReason("No document is left in the recorded sources: the tables stay as they are.")
    unpublished_ids = find_unpublished(home.store) & files.keys()
    versions = [str(home.store.version(name)) for name in INTAKE]
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                # A request that came to nothing is not repeated until a document or a table changes.
                run_key=digest(
                    *versions, *(hashes[document_id] for document_id in changed_ids), *removed_ids, interrupted_run
                ),
                tags=partition_range(
                    _find_range(context.instance, {*changed_ids, *unpublished_ids} or set(sorted(files)[:1]))
                ),
            )
        ]
    )


def _report_unreadable(context: dg.SensorEvaluationContext, home: Home, reasons: Sequence[str]) -> None:
    """Report once the sources that cannot be read; the others are processed."""
    message = "; ".join(reasons)
    if message and context.cursor != message:
        send(Alert("sources", "a source cannot be read", tuple(reasons)), settings=home.settings)
    context.update_cursor(message)


def _find_range(instance: dg.DagsterInstance, document_ids: set[str]) -> list[str]:
    """Return the first and the last of these partitions in Dagster's own order, which is that of their arrival."""
    assert DOCUMENT_PARTITIONS.name is not None
    requested = [
        document for document in instance.get_dynamic_partitions(DOCUMENT_PARTITIONS.name) if document in document_ids
    ]
    return [requested[0], requested[-1]]


def find_changes(home: Home, files: Mapping[str, SourceFile]) -> tuple[dict[str, str], list[str], list[str]]:
    """Compare the source files with the digests in the home.

    Args:
        home: Home with `documents` and `quarantine`.
        files: Entries of the manifest by document.

    Returns:
        Digests of the readable files by document, new and changed documents, and documents whose files were
        removed.
    """
    admitted_digests, refused_digests = (read_digests(home.store, name) for name in INTAKE)
    now = time.time()
    complete_files = {document: file for document, file in files.items() if not is_being_written(Path(file.path), now)}
    digests_of_present = {document: sha256 for document, sha256 in admitted_digests.items() if document in files}
    statuses = inspect_files(
        complete_files, admitted_hashes=digests_of_present, settings=home.settings, hash_file=seen_sha256
    )
    hashes = {document: status.sha256 for document, status in statuses.items()}
    # The last refusal is the newest reading, whatever the tables contain.
    last_digests = admitted_digests | refused_digests
    changed_documents = sorted(document for document, sha256 in hashes.items() if last_digests.get(document) != sha256)
    return hashes, changed_documents, sorted(last_digests.keys() - files.keys())


def is_being_written(path: Path, now: float) -> bool:
    """Return whether a file is missing, or was changed in the last seconds and may still be incomplete.

    Args:
        path: The file.
        now: Current time, in seconds since the epoch.
    """
    try:
        return 0 <= now - path.stat().st_ctime < SETTLE_SECONDS
    except FileNotFoundError:
        return True
    except OSError:
        return False


def read_digests(store: Store, name: str) -> dict[str, str]:
    """Return the digest with which each document was last admitted or refused.

    Args:
        store: Tables of the home.
        name: `documents` or `quarantine`.

    Returns:
        Digests by document.
    """
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
