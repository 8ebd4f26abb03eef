"""`table` and `gate`: what binds a pure builder to a Delta table, and a law to the run.

A table is an asset; its builder's parameters name its upstream tables. The IO manager validates before it writes and
refuses to read a table whose gates are not passed and current, so that a bare click on Materialize cannot build on
failed data. A gate is a blocking asset check around one pure function that returns the offending rows.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import dagster as dg
import dataframely as dy
import polars as pl
import polars.selectors as cs
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)

from taxkg_assets.defs.gold import gold_fingerprint
from taxkg_assets.defs.progress import stage_progress
from taxkg_assets.defs.resources import PACKAGE, Home, code_version, source_line, stage_of
from taxkg_assets.defs.store import Store, TableState, digest, schema_of
from taxkg_assets.defs.timing import keep_times, timed

DOCUMENT_PARTITIONS = dg.DynamicPartitionsDefinition(name="document")
"""One partition a document; nothing after the extraction is partitioned."""

GATES: dict[str, list[str]] = {}
"""Blocking checks by table."""

JUDGES: dict[tuple[str, str], Callable[[Home], tuple["Verdict", dict[str, int]]]] = {}
"""For each table and blocking check: what it says of a home's tables, and of which versions."""

UPSTREAM: dict[str, tuple[str, ...]] = {}
"""Tables that a table is made from."""

TRAINED: set[str] = set()
"""Tables of training: `taxkg train` makes them, a build leaves them as they are."""

FINGERPRINTS: dict[str, Callable[[Home, Mapping[str, TableState]], str]] = {}
"""For each corpus-wide table: the digest of what it would be made from, given the states of its upstream tables."""

SHOWN: dict[str, Callable[[Store], Mapping[str, Any]]] = {}
"""What the UI shows of a table besides its rows, read from the home when the table has been made."""

MAKERS: dict[str, "Maker"] = {}
"""How each corpus-wide table is made."""

TRAINING = "training"
GATED_VERSIONS = "table versions"
GATED_BY = "code and labels"
PREVIEW_ROWS = 6
CELL_CHARACTERS = 80
ID_CHARACTERS = 26
OFFENDING_ROWS = 20


@dataclass(frozen=True, slots=True)
class Handle:
    """An upstream table whose gates have passed: its state now, its rows when somebody asks."""

    name: str
    store: Store
    state: TableState

    def frame(self) -> pl.DataFrame:
        """The rows of the version that was gated."""
        return self.store.read(self.name, version=self.state.version)


class Rows:
    """What a step hands to the IO manager."""


@dataclass(frozen=True, slots=True)
class Unchanged(Rows):
    """The table is made from exactly what stands there already; nothing is written."""


@dataclass(frozen=True, slots=True)
class WholeTable(Rows):
    """New rows for a whole table and the digest of what they were made from."""

    frame: pl.DataFrame
    inputs: str


@dataclass(frozen=True, slots=True)
class DocumentBatches(Rows):
    """New rows for some documents, in batches small enough for memory."""

    batches: Iterable[tuple[pl.DataFrame, Mapping[str, Mapping[str, str] | None]]]


@dataclass(frozen=True, slots=True)
class Maker:
    """A table's builder, the tables that it reads and what opens its other arguments."""

    build: Callable[..., pl.DataFrame]
    reads: tuple[str, ...]
    handles: Mapping[str, Callable[[Home], Any]]
    has_settings: bool

    def make(self, home: Home, **instead: Any) -> pl.DataFrame:
        """Build the table from the home's tables as they stand, with some arguments given instead of opened."""
        arguments: dict[str, Any] = {n: home.store.read(n) for n in self.reads}
        arguments |= {n: opener(home) for n, opener in self.handles.items() if n not in instead}
        return self.build(**arguments, **instead, **({"settings": home.settings} if self.has_settings else {}))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate found: offending rows, or a figure against its floor; `tables` are shown beside them."""

    offending: pl.DataFrame
    checked: int
    note: str = ""
    figures: Mapping[str, float | int | str] = field(default_factory=dict)
    is_passed: bool | None = None
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """A gate without a figure passes when nothing offends."""
        return self.offending.is_empty() if self.is_passed is None else self.is_passed


def snake(name: str) -> str:
    """`EvalRuns` is the table `eval_runs`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def ancestors(names: Iterable[str]) -> set[str]:
    """The tables that these are made from, and those that they are made from, and so on; with the tables themselves."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += UPSTREAM.get(name, ())
    return seen


def pipeline_order() -> list[str]:
    """All tables, each after those that it is made from; one order, whichever was wired first."""
    return list(TopologicalSorter({name: sorted(UPSTREAM[name]) for name in sorted(UPSTREAM)}).static_order())


def built_tables() -> list[str]:
    """The tables that a build brings up to date, in pipeline order: all but those of training."""
    return [name for name in pipeline_order() if name not in TRAINED]


# ------------------------------------------------------------------------------------------------- IO manager


class UngatedInputError(dg.DagsterInvariantViolationError):
    """An input's gate has failed, is older than the data, or was never run."""


def find_ungated(instance: dg.DagsterInstance, store: Store, names: Iterable[str]) -> dict[str, str]:
    """Gates (as `table:check`) of these tables that are not passed and current, with the reason.

    Current means: evaluated on the very versions of all tables it reads that lie there now, after the last
    materialization of its own.
    """
    faults: dict[str, str] = {}
    tables = sorted(n for n in names if GATES.get(n))
    made = {
        r.asset_entry.asset_key: r.asset_entry for r in instance.get_asset_records([dg.AssetKey(n) for n in tables])
    }
    keys = [dg.AssetCheckKey(dg.AssetKey(n), check) for n in tables for check in GATES[n]]
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    version_of = cache(store.version)
    for key in keys:
        table_name = key.asset_key.to_user_string()
        record, entry = _evaluated(instance, key, latest.get(key)), made.get(key.asset_key)
        stored = entry.last_materialization_record if entry is not None else None
        if record is None:
            reason = "has not been run"
        elif record.status == AssetCheckExecutionRecordStatus.PLANNED or record.event is None:
            reason = "was due in a run that has not come to it"
        elif record.status != AssetCheckExecutionRecordStatus.SUCCEEDED:
            reason = "has failed"
        elif stored is not None and _looked_at(record) < stored.storage_id:
            reason = "is older than the table"
        elif others := [n for n, v in _gated_versions(record).items() if v != version_of(n)]:
            reason = f"looked at another version of {', '.join(others)}"
        else:
            continue
        faults[f"{table_name}:{key.name}"] = reason
    return faults


def _evaluated(
    instance: dg.DagsterInstance, key: dg.AssetCheckKey, latest: AssetCheckExecutionRecord | None
) -> AssetCheckExecutionRecord | None:
    """What the gate said last. A run that waits to evaluate it takes nothing from that; one that ended without does."""
    if latest is None or latest.status != AssetCheckExecutionRecordStatus.PLANNED:
        return latest
    waiting = instance.get_run_by_id(latest.run_id)
    if waiting is None or waiting.is_finished:
        return latest
    said = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}
    return next(iter(instance.event_log_storage.get_asset_check_execution_history(key, limit=1, status=said)), latest)


def latest_evaluations(instance: dg.DagsterInstance) -> list[dg.AssetCheckEvaluation]:
    """What each gate said last, in pipeline order; gates that were never run are left out."""
    keys = [dg.AssetCheckKey(dg.AssetKey(n), check) for n in pipeline_order() for check in GATES.get(n, ())]
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    records = [latest[key] for key in keys if key in latest]
    return [record.evaluation for record in records if record.evaluation is not None]


def _looked_at(record: AssetCheckExecutionRecord) -> int:
    """The materialization that a gate looked at, by its number: clocks jump, numbers only grow."""
    target = record.evaluation.target_materialization_data if record.evaluation is not None else None
    return target.storage_id if target is not None else -1


def _gated_versions(record: AssetCheckExecutionRecord) -> dict[str, int]:
    """The versions of all tables that a gate looked at."""
    found = record.evaluation.metadata.get(GATED_VERSIONS) if record.evaluation is not None else None
    versions: dict[str, int] = (
        json.loads(found.value) if isinstance(found, dg.TextMetadataValue) and found.value else {}
    )
    return versions


class DeltaIO(dg.ConfigurableIOManager):
    """Writes validated rows to the home's Delta tables, reads only what its gates have passed."""

    home: dg.ResourceDependency[Home]

    def handle_output(self, context: dg.OutputContext, obj: Rows) -> None:
        """Validate, commit, and show row count and a preview."""
        name = context.asset_key.to_user_string()
        store = self.home.store
        before = store.version(name)
        if isinstance(obj, WholeTable):
            state: TableState | None = store.write(name, obj.frame, inputs=obj.inputs)
        elif isinstance(obj, DocumentBatches):
            state = store.state(name)
            for frame, documents in obj.batches:
                if documents:
                    state = store.replace_documents(name, frame, documents=documents)
        else:
            state = store.state(name)
        if state is None:
            state = store.write(name, schema_of(name).create_empty(), inputs="")
        # Equal rows have an equal data version: the UI then does not call what was made from them unsynced.
        context.step_context.set_data_version(context.asset_key, dg.DataVersion(state.content))
        context.add_output_metadata(
            {
                "dagster/row_count": store.count(name),
                "preview": table_metadata(shortened(store.head(name, PREVIEW_ROWS))),
                "version": state.version,
                "content": state.content,
                "unchanged": state.version == before,
            }
        )
        if name in SHOWN:
            context.add_output_metadata(dict(SHOWN[name](store)))

    def load_input(self, context: dg.InputContext) -> Handle:
        """The table, unless a gate on it or on anything it was made from is not passed and current."""
        name = context.asset_key.to_user_string()
        faults = find_ungated(context.instance, self.home.store, ancestors([name]))
        if faults:
            listed = "; ".join(f"{gate} {reason}" for gate, reason in sorted(faults.items()))
            raise UngatedInputError(
                f"{name} may not be used: {listed}. Mend the data or the code, then run `taxkg build`, "
                "or materialize the named tables with their checks."
            )
        state = self.home.store.state(name)
        if state is None:
            raise UngatedInputError(f"{name} has not been built: run `taxkg build`, or materialize it first.")
        return Handle(name, self.home.store, state)


def table_metadata(frame: pl.DataFrame) -> dg.TableMetadataValue:
    """A frame as the UI shows it: long texts cut, lists and rectangles on one line."""
    columns = [dg.TableColumn(name, str(kind.base_type())) for name, kind in frame.schema.items()]
    records = [dg.TableRecord({c: _cell(v) for c, v in row.items()}) for row in frame.iter_rows(named=True)]
    return dg.MetadataValue.table(records, schema=dg.TableSchema(columns))


def shortened(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame narrow enough to look at: no nested columns, and of long ids the end, where they differ."""
    tail = pl.format("…{}", pl.col(pl.String).str.tail(ID_CHARACTERS - 1)).name.keep()
    is_long_id = ~pl.col(pl.String).str.contains(" ") & (pl.col(pl.String).str.len_chars() > ID_CHARACTERS)
    return frame.select(~cs.nested()).with_columns(pl.when(is_long_id).then(tail).otherwise(pl.col(pl.String)))


def _cell(value: Any) -> str | int | float | bool | None:
    if isinstance(value, float):
        return round(value, 3)
    if value is None or isinstance(value, int):
        return value
    text = " ".join(_flat(value).split())
    return text if len(text) <= CELL_CHARACTERS else text[: CELL_CHARACTERS - 1] + "…"


def _flat(value: Any) -> str:
    """A nested value without its field names: a rectangle is `50.4 108.2 78.9 119.5`."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return " ".join(_flat(v) for v in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# ------------------------------------------------------------------------------------------------------ assets


def asset_arguments(schema: type[dy.Schema], build: Callable[..., Any], *, group: str) -> dict[str, Any]:
    """What the UI shows of a table: description, columns, and links to the builder and to the wiring."""
    columns = [
        dg.TableColumn(name, type(column).__name__, description=column.description)
        for name, column in schema.columns().items()
    ]
    return {
        "group_name": group,
        "description": inspect.getdoc(schema),
        "kinds": {"deltalake", "polars"},
        "metadata": {
            "dagster/column_schema": dg.TableSchema(columns=columns),
            "dagster/code_references": dg.CodeReferencesMetadataValue(
                code_references=[
                    dg.LocalFileCodeReference(file_path=file, line_number=line, label=label)
                    for label, (file, line) in (("builder", source_line(build)), ("wiring", _wiring(group)))
                ]
            ),
        },
    }


def _wiring(group: str) -> tuple[str, int]:
    """The statement of `defs` that wires a table."""
    for frame in inspect.stack():
        if frame.function == "<module>" and Path(frame.filename).parent == PACKAGE / "defs":
            return frame.filename, frame.lineno
    raise LookupError(f"No file of defs wires {group}.")


def table(
    schema: type[dy.Schema],
    build: Callable[..., pl.DataFrame],
    *,
    group: str,
    handles: Mapping[str, Callable[[Home], Any]] | None = None,
    fingerprint: Callable[[Home], str] | None = None,
    stages: Sequence[str] = (),
    after: Sequence[str] = (),
) -> dg.AssetsDefinition:
    """Make the asset of a corpus-wide table.

    Args:
        build: its parameters named after tables are its upstream; `settings` gets the settings.
        handles: opened things for the builder's other parameters, opened only when there is something to build.
        fingerprint: digest of what the handles stand for, part of what decides whether the table is current.
        stages: stages whose code the builder runs besides its own.
        after: further upstream tables, whose making leaves something behind that a handle opens; no rows of theirs.
    """
    name = snake(schema.__name__)
    if group == TRAINING:
        TRAINED.add(name)
    parameters = list(inspect.signature(build).parameters)
    opened = dict(handles or {})
    read = tuple(p for p in parameters if p != "settings" and p not in opened)
    upstream = (*read, *after)
    UPSTREAM[name] = upstream
    MAKERS[name] = Maker(build, read, opened, "settings" in parameters)

    def made_from_now(home: Home, states: Mapping[str, TableState]) -> str:
        return digest(
            *(code_version(stage) for stage in sorted({stage_of(build), *stages})),
            home.settings.shaping() if "settings" in parameters else "",
            fingerprint(home) if fingerprint else "",
            *(f"{n}={states[n].content}" for n in upstream),
        )

    FINGERPRINTS[name] = made_from_now

    def compute(context: dg.AssetExecutionContext, **inputs: Handle) -> Rows:
        home: Home = context.resources.home
        made_from = FINGERPRINTS[name](home, {n: inputs[n].state for n in upstream})
        state = home.store.state(name)
        if state is not None and state.inputs == made_from:
            return Unchanged()
        with stage_progress(name, 0):
            arguments: dict[str, Any] = {n: inputs[n].frame() for n in read}
            arguments |= {n: opener(home) for n, opener in opened.items()}
            if "settings" in parameters:
                arguments["settings"] = home.settings
            with timed(name):
                built = WholeTable(build(**arguments), made_from)
            keep_times(home.store)
            return built

    made: dg.AssetsDefinition = dg.asset(
        name=name,
        ins={n: dg.AssetIn(n) for n in upstream},
        required_resource_keys={"home"},
        **asset_arguments(schema, build, group=group),
    )(compute)
    return made


# ------------------------------------------------------------------------------------------------------- gates


def gate(
    *, on: str, reads: Sequence[str] = ()
) -> Callable[[Callable[..., pl.DataFrame | Verdict]], dg.AssetChecksDefinition]:
    """Make a blocking check of a pure function.

    Args:
        on: the table that is blocked for everything downstream when the check fails.
        reads: further tables that the law looks at.
    The function's parameters name tables, or `home`; it returns the offending rows or a `Verdict`.
    """

    def bind(law: Callable[..., pl.DataFrame | Verdict]) -> dg.AssetChecksDefinition:
        parameters = list(inspect.signature(law).parameters)
        GATES.setdefault(on, []).append(law.__name__)

        def judge(home: Home) -> tuple[Verdict, dict[str, int]]:
            versions = {n: home.store.version(n) for n in sorted({on, *reads, *parameters} - {"home"})}
            frames = {n: home.store.read(n, version=versions[n]) for n in parameters if n != "home"}
            found = law(**frames, **({"home": home} if "home" in parameters else {}))
            checked = frames[on].height if on in frames else 0
            return found if isinstance(found, Verdict) else Verdict(found, checked), versions

        JUDGES[on, law.__name__] = judge

        @dg.asset_check(
            asset=dg.AssetKey(on),
            name=law.__name__,
            description=inspect.getdoc(law),
            blocking=True,
            additional_deps=[dg.AssetKey(n) for n in reads],
            required_resource_keys={"home"},
        )
        def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
            home: Home = context.resources.home
            verdict, versions = judge(home)
            looked = {GATED_VERSIONS: json.dumps(versions), GATED_BY: gate_fingerprint(home)}
            return dg.AssetCheckResult(passed=verdict.passed, metadata=verdict_metadata(verdict) | looked)

        return check

    return bind


def gate_fingerprint(home: Home) -> str:
    """Digest of what gates judge by: the code of all stages, rules and floors among it, and the labelled folders."""
    stages = ("sources", "extraction", "graph", "chunking", "training", "retrieval", "evaluation", "llm", "defs")
    return digest(*(code_version(stage) for stage in stages), gold_fingerprint(home))


def verdict_metadata(verdict: Verdict) -> dict[str, Any]:
    """What the UI and the command line show of a gate."""
    shown: dict[str, Any] = {"rows checked": verdict.checked, "offending rows": verdict.offending.height}
    shown |= dict(verdict.figures)
    if verdict.note:
        shown["note"] = verdict.note
    if not verdict.offending.is_empty():
        shown["first offending rows"] = table_metadata(verdict.offending.head(OFFENDING_ROWS))
    for name, rows in verdict.tables.items():
        if not rows.is_empty():
            shown[name] = table_metadata(rows.head(OFFENDING_ROWS))
    return shown
