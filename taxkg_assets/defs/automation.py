"""What runs by itself: the sensor that sees new and changed PDFs, the jobs, and the automation of the tables."""

from pathlib import Path

import dagster as dg

from taxkg_assets.defs._table import DOCUMENT_PARTITIONS
from taxkg_assets.defs.intake import scan_sources
from taxkg_assets.defs.resources import Home
from taxkg_assets.sources.scan import SourceError, sha256_of

SENSOR_SECONDS = 30


def sync_partitions(instance: dg.DagsterInstance, document_ids: set[str]) -> tuple[set[str], set[str]]:
    """Make the document partitions equal these ids; returns the added and the removed ones."""
    name = DOCUMENT_PARTITIONS.name
    assert name is not None
    held = set(instance.get_dynamic_partitions(name))
    added, removed = document_ids - held, held - document_ids
    if added:
        instance.add_dynamic_partitions(name, sorted(added))
    for document_id in sorted(removed):
        instance.delete_dynamic_partition(name, document_id)
    return added, removed


@dg.sensor(
    asset_selection=dg.AssetSelection.assets("documents", "quarantine"),
    minimum_interval_seconds=SENSOR_SECONDS,
    default_status=dg.DefaultSensorStatus.STOPPED,
    required_resource_keys={"home"},
)
def sources_changed(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """Scan the recorded sources; request `documents` for new and changed files, let automation carry them on."""
    home: Home = context.resources.home
    try:
        ledger = scan_sources(home.store)
    except SourceError as clash:
        return dg.SkipReason(str(clash))
    files = {d: Path(f["path"]) for d, f in ledger["files"].items()}
    _, removed = sync_partitions(context.instance, set(files))
    hashes = {d: sha256_of(path) for d, path in files.items() if path.exists()}
    known: dict[str, str] = {}
    for name in ("quarantine", "documents"):
        known |= dict(home.store.read_or_empty(name).select("document_id", "sha256").iter_rows())
    changed = sorted(d for d, sha256 in hashes.items() if known.get(d) != sha256)
    if not changed and not removed:
        return dg.SkipReason("Every document is as it was.")
    targets = changed or sorted(files)[:1]
    return dg.SensorResult(
        run_requests=[
            dg.RunRequest(
                run_key=f"{'+'.join(hashes[d][:12] for d in targets)}-{len(removed)}",
                tags={
                    "dagster/asset_partition_range_start": targets[0],
                    "dagster/asset_partition_range_end": targets[-1],
                },
            )
        ]
    )
