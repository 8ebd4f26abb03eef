"""One build from the command line: scan the sources, materialize in one in-process run, report what the gates said."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg

from taxkg_assets.defs.automation import BUILT, partition_range, sync_partitions
from taxkg_assets.defs.extraction import READ_TABLES
from taxkg_assets.defs.home.arithmetic import TORCH, uses_gpu
from taxkg_assets.defs.home.proposers import prune_journal
from taxkg_assets.defs.home.recovery import report_dead_run
from taxkg_assets.defs.home.store import BUILD, TRAINING, Store
from taxkg_assets.defs.ingest.engine import open_engine
from taxkg_assets.defs.ingest.file_status import inbox_of
from taxkg_assets.defs.ingest.intake import clear_quarantine, find_outdated, prune_readings
from taxkg_assets.defs.ingest.source_scan import scan_sources
from taxkg_assets.defs.retrieval import prune_indexes
from taxkg_assets.defs.wiring.alerts import alert_runs, describe_error
from taxkg_assets.defs.wiring.compat import record_runs_at
from taxkg_assets.defs.wiring.early_gates import early_gates
from taxkg_assets.defs.wiring.gates import GATED_BY, MEASURED_SUFFIX, find_ungated, latest_evaluations
from taxkg_assets.defs.wiring.io_manager import DeltaIO
from taxkg_assets.defs.wiring.provenance import find_unsynced
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import COMMAND_LINE, PROJECT, STARTED_BY_TAG, WORK_TAG, Home
from taxkg_assets.defs.wiring.step_process import prepare_processes, reads_much
from taxkg_assets.defs.wiring.table_asset import DOCUMENT_PARTITIONS
from taxkg_assets.defs.wiring.verdicts import FLOORS, MEASURED
from taxkg_assets.records import QuarantineRecord, iter_records
from taxkg_assets.serving.instance import open_instance
from taxkg_assets.serving.status import FlagRecord, find_stale, list_flagged
from taxkg_assets.sources.scan import MissingSourceError, describe_skipped, existing_roots

SAMPLES = PROJECT / "data" / "samples"
JOBS = {BUILD: "build", TRAINING: "train"}


class SelectionError(Exception):
    """An asset that does not exist was selected."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """The outcome of one gate."""

    table: str
    check: str
    is_passed: bool
    figures: dict[str, Any]
    word: str = ""
    """passed, not measured, warned or blocked"""


@dataclass(slots=True)
class BuildResult:
    """The outcome of a build: tables, gates and documents."""

    is_done: bool
    seconds: float
    run_ids: list[str]
    gates: list[GateResult] = field(default_factory=list)
    built: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    step_seconds: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    quarantine: list[QuarantineRecord] = field(default_factory=list)
    flagged: list[FlagRecord] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    """Sources that could not be read."""
    skipped: list[str] = field(default_factory=list)
    """What the sources contain that is not read, such as subfolders."""
    is_released: bool = False
    """Whether questions can be answered: from this build, or after a failure from an earlier one."""


def _check_machine(home: Home) -> None:
    """Report a GPU or a cluster that is named and missing before any document is read."""
    if home.settings.model_runtime == TORCH:
        uses_gpu(home)
    open_engine(home.settings)


def build(
    home: str,
    *,
    roots: Sequence[Path] = (),
    select: Sequence[str] = (),
    retry: bool = False,
    log_level: str = "CRITICAL",
) -> BuildResult:
    """Bring a home up to date with its sources, or only the selected assets.

    Args:
        home: Folder or bucket address of the home.
        roots: Folders and files to scan; empty for all recorded ones, or the bundled samples in a new home.
        select: Assets to materialize; the gates of everything upstream run first.
        retry: Whether quarantined documents are read again.
        log_level: Minimum level of the Dagster messages that are shown.

    Returns:
        What was built, results of the gates, and documents that are quarantined or flagged.

    Raises:
        SourceError: A source cannot be read.
        SelectionError: An asset does not exist, or cannot be built alone.
        HomeBusyError: Another process builds the home.
        ModelError: The settings name a GPU, and there is none.
        EngineError: The settings name a cluster, and its package is not installed.
    """
    import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates

    store = Store(home)
    started = time.monotonic()
    with store.exclusive():
        _check_selection(store, select)
        opened_home = Home(home=str(store.home))
        _check_machine(opened_home)
        if reads_much(opened_home, ("sections",)):
            prepare_processes()
        manifest, closed = scan_sources(opened_home, roots, default_roots=[SAMPLES])
        skipped = _list_skipped(opened_home, roots, recorded=manifest.roots)
        if not manifest.files:
            looked = ", ".join(manifest.roots)
            raise MissingSourceError(
                " ".join(
                    [
                        f"There is no .pdf or .txt document in {looked}. Add one, or give another folder "
                        "with --corpus.",
                        *skipped,
                        *closed,
                    ]
                )
            )
        if retry:
            clear_quarantine(store)
        with open_instance(store) as instance:
            report_dead_run(instance, store)
            sync_partitions(instance, set(manifest.files))
            result = BuildResult(is_done=True, seconds=0.0, run_ids=[], closed=closed, skipped=skipped)
            is_current = not select and _is_up_to_date(instance, home=Home(home=str(store.home)))
            if is_current:
                _report_unchanged(instance, store, result=result, log_level=log_level)
            for selection in () if is_current else _phases(select):
                if result.is_done:
                    run_selection(instance, store, selection=selection, result=result, log_level=log_level)
            alert_runs(instance, store, result.run_ids, settings=opened_home.settings)
        if result.is_done and store.exists("documents"):
            prune_readings(Home(home=str(store.home)))
            prune_indexes(store)
            prune_journal(store)
        result.quarantine = list(iter_records(store.read_or_empty("quarantine"), QuarantineRecord))
        result.flagged = list_flagged(store)
        result.is_released = store.exists("release")
        result.seconds = time.monotonic() - started
    return result


def _check_selection(store: Store, select: Sequence[str]) -> None:
    """Raise an error if a selected asset does not exist, or if a table above the selection is missing."""
    if unknown := sorted(set(select) - set(PIPELINE)):
        raise SelectionError(f"No asset named {', '.join(unknown)}. Assets: {', '.join(PIPELINE)}.")
    if missing_tables := sorted(
        name for name in PIPELINE.ancestors(select) - made_with(select) if not store.exists(name)
    ):
        raise SelectionError(
            f"{', '.join(select)} cannot be built alone: {store.uri} does not have {', '.join(missing_tables)} "
            "yet. Run `taxkg build` first, or select these tables as well."
        )


def _list_skipped(home: Home, roots: Sequence[Path], *, recorded: Sequence[str]) -> list[str]:
    """Return what the scanned sources contain that is not read; the bundled samples are left out."""
    scanned = [root.resolve() for root in roots] or existing_roots([*recorded, str(inbox_of(home.settings))])
    return [message for root in scanned if root != SAMPLES and (message := describe_skipped(root, roots=recorded))]


def _is_up_to_date(instance: dg.DagsterInstance, *, home: Home) -> bool:
    """Return whether a run would write nothing, and every gate has passed on these tables by this code and labels."""
    tables = PIPELINE.built()
    if find_stale(home, {name: home.store.state(name) for name in tables}):
        return False
    if find_ungated(instance, home.store, tables):
        return False
    for evaluation in latest_evaluations(instance):
        judged = evaluation.metadata.get(GATED_BY)
        today = PIPELINE[evaluation.asset_key.to_user_string()].gate_code[evaluation.check_name](home)
        if judged is None or judged.value != today:
            return False
    return True


def _record_inputs(instance: dg.DagsterInstance, store: Store, *, result: BuildResult, log_level: str) -> None:
    """Materialize current tables that the UI calls unsynced; nothing is written but which inputs they are made from."""
    unsynced = find_unsynced(instance)
    if not unsynced:
        return
    run = BuildResult(is_done=True, seconds=0.0, run_ids=[])
    run_selection(instance, store, selection=dg.AssetSelection.assets(*unsynced), result=run, log_level=log_level)
    result.is_done, result.run_ids, result.errors = run.is_done, run.run_ids, run.errors


def _report_unchanged(instance: dg.DagsterInstance, store: Store, *, result: BuildResult, log_level: str) -> None:
    """Report the current tables with the results of their gates; a run only records new inputs of some."""
    _record_inputs(instance, store, result=result, log_level=log_level)
    for evaluation in latest_evaluations(instance):
        record_gate(evaluation, result)
    for name in PIPELINE.built():
        result.rows[name] = store.count(name)
        result.unchanged.append(name)


def record_gate(evaluation: dg.AssetCheckEvaluation, result: BuildResult) -> None:
    """Add the outcome of one gate to a build result.

    Args:
        evaluation: Result of the asset check.
        result: Result of the build, which gains a row in `gates`.
    """
    if evaluation.check_name.endswith(MEASURED_SUFFIX):
        return  # the gate itself says that it had nothing to measure
    figures = {name: _figure(value) for name, value in evaluation.metadata.items() if name != FLOORS}
    table = evaluation.asset_key.to_user_string()
    is_warning = evaluation.severity == dg.AssetCheckSeverity.WARN
    passed_word = "passed" if figures.pop(MEASURED, True) else "not measured"
    failed_word = "warned" if is_warning else "blocked"
    word = passed_word if evaluation.passed else failed_word
    result.gates.append(GateResult(table, evaluation.check_name, evaluation.passed or is_warning, figures, word))


def _phases(select: Sequence[str]) -> Iterable[dg.AssetSelection]:
    """Return the gates of all ancestors of a selection, then the selection: Dagster orders only direct neighbors."""
    if not select:
        return [BUILT]
    above = sorted(name for name in PIPELINE.ancestors(select) - made_with(select) if PIPELINE.gates(name))
    phases = [dg.AssetSelection.checks_for_assets(*above)] if above else []
    return [*phases, dg.AssetSelection.assets(*select).required_multi_asset_neighbors()]


def made_with(select: Sequence[str]) -> set[str]:
    """Extend tables by those that the same Dagster steps produce.

    Args:
        select: Names of tables.

    Returns:
        The tables, and those that the same steps produce.
    """
    read = {spec.name for spec in READ_TABLES}
    return set(select) | (read if read & set(select) else set())


def run_selection(
    instance: dg.DagsterInstance,
    store: Store,
    *,
    selection: dg.AssetSelection,
    result: BuildResult,
    log_level: str,
    work: str = BUILD,
) -> None:
    """Materialize a selection in this process and record the outcome.

    Args:
        instance: Dagster instance of the home.
        store: Tables of the home, locked for `work`.
        selection: Assets to materialize.
        result: Result that is extended.
        log_level: Minimum level of the Dagster messages that are shown.
        work: Name of the lock: a build or a training.
    """
    from taxkg_assets import definitions

    defs = definitions.defs

    home = Home(home=str(store.home))
    tables = {key.to_user_string() for key in selection.resolve(defs.resolve_asset_graph())}
    with warnings.catch_warnings(), early_gates(tables), record_runs_at(instance, definitions.__name__):
        warnings.simplefilter("ignore")
        job = dg.Definitions(
            assets=defs.assets,
            asset_checks=defs.asset_checks,
            jobs=[dg.define_asset_job(JOBS[work], selection=selection)],
            resources={"home": home, "io_manager": DeltaIO(home=home)},
            executor=dg.in_process_executor,
        ).resolve_job_def(JOBS[work])
        run = job.execute_in_process(
            instance=instance,
            run_config={"loggers": {"console": {"config": {"log_level": log_level}}}},
            tags={**partition_range(find_partitions(instance, home)), WORK_TAG: work, STARTED_BY_TAG: COMMAND_LINE},
            raise_on_error=False,
        )
    _record(run, result)


def find_partitions(instance: dg.DagsterInstance, home: Home) -> Sequence[str]:
    """Find the smallest range of partitions that contains all outdated documents.

    Dagster stores an event for each partition and table, so a run for one document must not span the library.

    Args:
        instance: Dagster instance of the home.
        home: Home whose documents are compared.

    Returns:
        Ids of consecutive documents; the first document alone if none is outdated.
    """
    assert DOCUMENT_PARTITIONS.name is not None
    partitions = instance.get_dynamic_partitions(DOCUMENT_PARTITIONS.name)
    materialized = instance.get_materialized_partitions(dg.AssetKey(READ_TABLES[0].name))
    outdated = find_outdated(home, home.store.read_manifest().files) | (set(partitions) - materialized)
    places = [ix for ix, partition in enumerate(partitions) if partition in outdated]
    return partitions[places[0] : places[-1] + 1] if places else partitions[:1]


def _record(run: dg.ExecuteInProcessResult, result: BuildResult) -> None:
    """Add what a run did to the result of the build."""
    result.run_ids.append(run.run_id)
    result.is_done = result.is_done and run.success
    for evaluation in run.get_asset_check_evaluations():
        record_gate(evaluation, result)
    for event in run.get_asset_materialization_events():
        table = event.asset_key.to_user_string() if event.asset_key else ""
        metadata = event.step_materialization_data.materialization.metadata
        result.rows[table] = int(metadata["dagster/row_count"].value)  # type: ignore[arg-type]
        target = result.unchanged if metadata["unchanged"].value else result.built
        if table not in target:
            target.append(table)
    for event in run.all_events:
        if event.is_step_success and event.step_key:
            result.step_seconds[event.step_key] = event.step_success_data.duration_ms / 1000
        if event.is_step_failure and event.step_key:
            error = event.step_failure_data.error
            message = describe_error(error) if error is not None else ""
            if message and "DagsterAssetCheckFailedError" not in message:
                result.errors.append(f"{event.step_key}: {message}")


def _figure(value: dg.MetadataValue) -> Any:
    """Return a figure of a gate as plain data; rows as mappings."""
    return [dict(r.data) for r in value.records] if isinstance(value, dg.TableMetadataValue) else value.value
