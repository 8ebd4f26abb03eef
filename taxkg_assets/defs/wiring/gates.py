"""`gate`: a condition that blocks everything downstream of a table; and whether the gates of some tables have passed.

A gate is a blocking asset check around one pure function that returns the offending rows.
"""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import dagster as dg
import polars as pl

from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.store import Store, digest
from taxkg_assets.defs.wiring.code_references import code_references
from taxkg_assets.defs.wiring.compat import AssetCheckExecutionRecord, AssetCheckExecutionRecordStatus
from taxkg_assets.defs.wiring.early_gates import begin_gates, take_verdict
from taxkg_assets.defs.wiring.gold import gold_fingerprint
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.step_process import reads_much, run_in_process
from taxkg_assets.defs.wiring.verdicts import MEASURED, Verdict, verdict_metadata

GATED_VERSIONS = "table versions"
GATED_BY = "code and labels"
MEASURED_SUFFIX = "_is_measured"
"""Ends the name of the check that warns where a gate had nothing to measure."""


class UngatedInputError(dg.DagsterInvariantViolationError):
    """A gate of an input failed, was never run, or ran on older data."""


def find_ungated(instance: dg.DagsterInstance, store: Store, names: Iterable[str]) -> dict[str, str]:
    """Find the gates of some tables that have not passed on the current versions.

    A gate is current if it was evaluated on the current versions of all tables it reads, after the last materialization
    of its own table.

    Args:
        instance: Dagster instance.
        store: Tables of the home.
        names: Tables.

    Returns:
        Reasons by gate, written `table:check`.
    """
    tables = sorted(table for table in names if PIPELINE.gates(table))
    asset_records = instance.get_asset_records([dg.AssetKey(table) for table in tables])
    entry_by_asset = {record.asset_entry.asset_key: record.asset_entry for record in asset_records}
    keys = [dg.AssetCheckKey(dg.AssetKey(table), check) for table in tables for check in PIPELINE.gates(table)]
    latest_results = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    version_of = cache(store.version)
    reasons: dict[str, str] = {}
    for key in keys:
        record = _last_result(instance, key, latest_results.get(key))
        entry = entry_by_asset.get(key.asset_key)
        materialization = entry.last_materialization_record if entry is not None else None
        storage_id = materialization.storage_id if materialization is not None else None
        reason = _find_reason(record, storage_id, version_of)
        if reason:
            reasons[f"{key.asset_key.to_user_string()}:{key.name}"] = reason
    return reasons


def _find_reason(
    record: AssetCheckExecutionRecord | None,
    table_storage_id: int | None,
    version_of: Callable[[str], object],
) -> str:
    """Return why the result of a gate does not count; empty for a gate that passed on the current versions.

    Args:
        record: Its last result; None for none.
        table_storage_id: Event of the last materialization of its table; None for none.
        version_of: Returns the current version of a table.
    """
    if record is None:
        return "has not been run"
    if record.status == AssetCheckExecutionRecordStatus.PLANNED or record.event is None:
        return "is waiting in a run"
    if record.status != AssetCheckExecutionRecordStatus.SUCCEEDED:
        return "has failed"
    if table_storage_id is not None and _evaluated_at(record) < table_storage_id:
        return "ran before the table changed"
    changed_tables = [table for table, version in _gated_versions(record).items() if version != version_of(table)]
    return f"checked another version of {', '.join(changed_tables)}" if changed_tables else ""


def _last_result(
    instance: dg.DagsterInstance, key: dg.AssetCheckKey, latest: AssetCheckExecutionRecord | None
) -> AssetCheckExecutionRecord | None:
    """Return the last result of a gate. A run that waits to evaluate it does not replace it; one that ended does."""
    if latest is None or latest.status != AssetCheckExecutionRecordStatus.PLANNED:
        return latest
    run_in_progress = instance.get_run_by_id(latest.run_id)
    if run_in_progress is None or run_in_progress.is_finished:
        return latest
    final_statuses = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}
    return next(
        iter(instance.event_log_storage.get_asset_check_execution_history(key, limit=1, status=final_statuses)), latest
    )


def latest_evaluations(instance: dg.DagsterInstance) -> list[dg.AssetCheckEvaluation]:
    """Return the last evaluation of each gate, in pipeline order, without gates that never ran.

    Args:
        instance: Dagster instance.
    """
    keys = [
        dg.AssetCheckKey(dg.AssetKey(table), check) for table in PIPELINE.order() for check in PIPELINE.gates(table)
    ]
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    records = [latest[key] for key in keys if key in latest]
    return [record.evaluation for record in records if record.evaluation is not None]


def _evaluated_at(record: AssetCheckExecutionRecord) -> int:
    """Return the storage id of the materialization that a gate checked: ids only grow, clocks jump."""
    target = record.evaluation.target_materialization_data if record.evaluation is not None else None
    return target.storage_id if target is not None else -1


def _gated_versions(record: AssetCheckExecutionRecord) -> dict[str, int]:
    """Return the versions of all tables that a gate read."""
    recorded = record.evaluation.metadata.get(GATED_VERSIONS) if record.evaluation is not None else None
    versions: dict[str, int] = (
        json.loads(recorded.value) if isinstance(recorded, dg.TextMetadataValue) and recorded.value else {}
    )
    return versions


def find_current_result(
    instance: dg.DagsterInstance, key: dg.AssetCheckKey, *, versions: Mapping[str, int], fingerprint: str
) -> Mapping[str, dg.MetadataValue] | None:
    """Return the stored result of a gate if it passed on the same table versions, code and labels.

    Args:
        instance: Dagster instance with the results.
        key: The gate's check.
        versions: Present version of each table that the gate reads.
        fingerprint: Hash of the gate's code and labels.

    Returns:
        Metadata of the result; None if the gate must be evaluated again.
    """
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key([key]).get(key)
    record = _last_result(instance, key, latest)
    if record is None or record.evaluation is None or record.status != AssetCheckExecutionRecordStatus.SUCCEEDED:
        return None
    metadata = record.evaluation.metadata
    stored_fingerprint = metadata.get(GATED_BY)
    is_same = (
        stored_fingerprint is not None
        and stored_fingerprint.value == fingerprint
        and _gated_versions(record) == dict(versions)
    )
    return metadata if is_same else None


@dataclass(frozen=True, slots=True)
class _Condition:
    """The condition of a gate.

    Attributes:
        on: Table whose downstream tables it blocks.
        reads: Further tables that it reads through the home.
        condition: Function that returns the offending rows or a verdict.
        parameters: Names of the function's parameters: tables, or `home`.
    """

    on: str
    reads: tuple[str, ...]
    condition: Callable[..., pl.DataFrame | Verdict]
    parameters: tuple[str, ...]

    def read_versions(self, store: Store) -> dict[str, int]:
        return {name: store.version(name) for name in sorted({self.on, *self.reads, *self.parameters} - {"home"})}

    def evaluate(
        self, home: Home, frame_cache: dict[tuple[str, int], Any] | None = None
    ) -> tuple[Verdict, dict[str, int]]:
        """Apply the condition to the current tables; `frame_cache` keeps them for the next gate that reads them."""
        versions = self.read_versions(home.store)
        frame_cache = {} if frame_cache is None else frame_cache
        names = [name for name in self.parameters if name != "home"]
        for name in names:
            if (name, versions[name]) not in frame_cache:
                frame_cache[name, versions[name]] = home.store.read(name, version=versions[name])
        frames = {name: frame_cache[name, versions[name]] for name in names}
        verdict = self.condition(**frames, **({"home": home} if "home" in self.parameters else {}))
        checked = frames[self.on].height if self.on in frames else 0
        return verdict if isinstance(verdict, Verdict) else Verdict(verdict, checked), versions


def gate(
    *, on: str, reads: Sequence[str] = (), opens: Sequence[str] = (), measures: bool = False
) -> Callable[[Callable[..., pl.DataFrame | Verdict]], dg.AssetChecksDefinition]:
    """Create a blocking check from a pure function.

    The function's parameters name tables, or `home`; it returns the offending rows or a `Verdict`. A check that passed
    is evaluated again only when its tables, code or labels have changed; one with the parameter `home` may read more
    than tables, so it is evaluated every time.

    Args:
        on: Table whose downstream tables a failed check blocks.
        reads: Further tables that must be written before the check runs.
        opens: Tables that the condition reads through the home, if it is to run in its own process when they are large.
        measures: Whether the condition needs labels or questions that a home may lack. Without them it passes, and a
            second, non-blocking check warns that nothing was measured.

    Returns:
        Decorator that turns the function into the definition of the check.
    """

    def bind(condition: Callable[..., pl.DataFrame | Verdict]) -> dg.AssetChecksDefinition:
        parameters = list(inspect.signature(condition).parameters)

        gate_condition = _Condition(on, tuple(reads), condition, tuple(parameters))

        def compute_fingerprint(home: Home) -> str:
            return digest(code_fingerprint(condition), gold_fingerprint(home))

        read_tables = {on, *parameters, *opens} - {"home"}
        PIPELINE.add_gate(on, condition.__name__, gate_condition.evaluate, code=compute_fingerprint, reads=read_tables)

        def evaluate(context: dg.AssetCheckExecutionContext) -> tuple[bool, Mapping[str, Any]]:
            home: Home = context.resources.home
            fingerprint = compute_fingerprint(home)
            versions = gate_condition.read_versions(home.store)
            begin_gates()
            if "home" not in parameters:
                key = dg.AssetCheckKey(dg.AssetKey(on), condition.__name__)
                if stored_result := find_current_result(
                    context.instance, key, versions=versions, fingerprint=fingerprint
                ):
                    return True, stored_result
            if early_verdict := take_verdict(on, condition.__name__, versions=versions):
                passed, metadata = _summarize(early_verdict, versions)
            elif reads_much(home, read_tables):
                passed, metadata = run_in_process(
                    f"the gate {condition.__name__}", _evaluate_in_child, home.home, on, condition.__name__
                )
            else:
                passed, metadata = _summarize(*gate_condition.evaluate(home))
            return passed, metadata | {GATED_BY: fingerprint}

        return _make_checks(gate_condition, evaluate, measures=measures)

    return bind


def _make_checks(
    gate_condition: _Condition,
    evaluate: Callable[[dg.AssetCheckExecutionContext], tuple[bool, Mapping[str, Any]]],
    *,
    measures: bool,
) -> dg.AssetChecksDefinition:
    """Make the blocking check of a gate, and in the same step the one that warns where nothing was measured.

    Each of them can be executed alone: of checks that cannot, the UI says that the table must be materialized first.
    """
    table = dg.AssetKey(gate_condition.on)
    name = gate_condition.condition.__name__
    spec = dg.AssetCheckSpec(
        name,
        asset=table,
        description=inspect.getdoc(gate_condition.condition),
        blocking=True,
        metadata={"dagster/code_references": code_references(gate=gate_condition.condition)},
        additional_deps=[dg.AssetKey(n) for n in gate_condition.reads],
    )
    measured_spec = dg.AssetCheckSpec(
        f"{name}{MEASURED_SUFFIX}",
        asset=table,
        description=f"Warns if there are no labels or questions for the check `{name}`, which then passes unmeasured.",
        metadata=spec.metadata,
        additional_deps=[dg.AssetKey(n) for n in gate_condition.reads],
    )

    @dg.multi_asset_check(
        name=f"{gate_condition.on}_{name}",
        specs=[spec, measured_spec] if measures else [spec],
        required_resource_keys={"home"},
        can_subset=measures,
    )
    def check(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        passed, metadata = evaluate(context)
        selected_names = {key.name for key in context.selected_asset_check_keys}
        if measured_spec.name in selected_names:
            is_measured = _is_measured(metadata)
            note = {} if is_measured else {"note": metadata.get("note", "")}
            yield dg.AssetCheckResult(
                passed=is_measured,
                asset_key=table,
                check_name=measured_spec.name,
                severity=dg.AssetCheckSeverity.WARN,
                metadata=note,
            )
        if name in selected_names:
            yield dg.AssetCheckResult(passed=passed, asset_key=table, check_name=name, metadata=metadata)

    return check


def _is_measured(metadata: Mapping[str, Any]) -> bool:
    """Return whether a gate had something to measure; its metadata may be of an earlier evaluation."""
    measured = metadata.get(MEASURED, True)
    return bool(measured.value if isinstance(measured, dg.MetadataValue) else measured)


def _evaluate_in_child(home_name: str, table: str, name: str) -> tuple[bool, dict[str, Any]]:
    """Evaluate a gate in a process that knows the home by its name only."""
    return _summarize(*PIPELINE[table].gates[name](Home(home=home_name)))


def _summarize(verdict: Verdict, versions: Mapping[str, int]) -> tuple[bool, dict[str, Any]]:
    """Return whether a gate passes, and what the UI shows of it."""
    return verdict.passed, verdict_metadata(verdict) | {GATED_VERSIONS: json.dumps(versions)}
