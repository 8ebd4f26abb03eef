"""Dagster's private names, in one place: what a new version may move is fixed here and nowhere else.

Pinned to the Dagster of requirements.lock. Each name says why the public API does not do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import dagster as dg
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from cachetools import LRUCache
from dagster._core.definitions.data_version import DATA_VERSION_TAG, INPUT_DATA_VERSION_TAG_PREFIX
from dagster._core.execution.context.metadata_logging import AssetMetadataHandle, OutputMetadataAccumulator
from dagster._core.remote_origin import ManagedGrpcPythonEnvCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.storage import sql
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)
from dagster._core.storage.event_log import sql_event_log
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._serdes import deserialize_value

__all__ = [
    "DAEMON_MODULE",
    "AssetCheckExecutionRecord",
    "AssetCheckExecutionRecordStatus",
    "add_partition_metadata",
    "data_version_of",
    "input_versions_of",
    "keep_code_servers",
    "record_runs_at",
    "reuse_engines",
    "run_daemon",
    "set_data_version",
    "step_of",
]

DAEMON_MODULE = "taxkg_assets.defs.wiring.daemon_program"
"""What `dagster-daemon` starts, with code servers that are kept; as a module it runs with this very interpreter."""

CODE_SERVER_SECONDS = 3600.0
"""How long the daemon keeps a code server."""


def set_data_version(context: dg.OutputContext, version: str) -> None:
    """Set the data version of an asset, so that equal rows have the same version.

    Dagster offers this publicly only in the step's own context.

    Args:
        context: Context of the step's output.
        version: Digest of the rows.
    """
    context.step_context.set_data_version(context.asset_key, dg.DataVersion(version))


def data_version_of(materialization: dg.AssetMaterialization) -> str:
    """Return the data version of a materialization; empty if it has none.

    Args:
        materialization: Recorded materialization of an asset.
    """
    return (materialization.tags or {}).get(DATA_VERSION_TAG, "")


def input_versions_of(materialization: dg.AssetMaterialization) -> dict[str, str]:
    """Return the data version that each input had when an asset was materialized, by the input's name.

    Args:
        materialization: Recorded materialization of an asset.
    """
    prefix = f"{INPUT_DATA_VERSION_TAG_PREFIX}/"
    return {
        tag.removeprefix(prefix): version
        for tag, version in (materialization.tags or {}).items()
        if tag.startswith(prefix)
    }


def step_of(context: dg.InputContext) -> Any:
    """Return the step context that reads an input.

    Args:
        context: Context of the input.
    """
    return context.step_context


def add_partition_metadata(context: dg.OutputContext, metadata: Mapping[str, Mapping[str, Any]]) -> None:
    """Add metadata to the materializations of single partitions.

    The public `add_asset_metadata` reads all partitions again for each one.

    Args:
        context: Context of an output with partitions.
        metadata: Metadata by partition.
    """
    step = context.step_context
    handles: dict[Any, Mapping[str, Any]] = {
        AssetMetadataHandle(asset_key=context.asset_key, partition_key=partition): values
        for partition, values in metadata.items()
    }
    other_outputs = step._metadata_accumulator.per_output_metadata
    step._metadata_accumulator = OutputMetadataAccumulator(per_output_metadata={**other_outputs, **handles})


REPOSITORY = "__repository__"
"""Dagster's name for the one repository of a code location."""


@contextmanager
def record_runs_at(instance: dg.DagsterInstance, module: str) -> Iterator[None]:
    """Record the runs of this process under the UI's code location.

    The pages Overview and Jobs list only runs with the origin of a code location, which otherwise only the web server
    and the daemon set.

    Args:
        instance: Instance that keeps the records.
        module: Module of the definitions, as workspace.yaml names it.

    Yields:
        Nothing.
    """
    target = LoadableTargetOrigin(module_name=module)
    origin = RemoteRepositoryOrigin(ManagedGrpcPythonEnvCodeLocationOrigin(target, module), REPOSITORY)
    create = instance.create_run_for_job

    def create_run(job_def: dg.JobDefinition, **more: Any) -> dg.DagsterRun:
        return create(job_def=job_def, remote_job_origin=origin.get_job_origin(job_def.name), **more)

    instance.create_run_for_job = create_run  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        del instance.create_run_for_job


MOST_ENGINES = 64
"""Databases whose engines are kept: Dagster has one for each run."""
_engines: LRUCache[tuple[str, str], sqlalchemy.Engine] = LRUCache(MOST_ENGINES)
_engines_lock = threading.Lock()


def _open_engine(url: str, **options: Any) -> sqlalchemy.Engine:
    """Return the engine of a database; it keeps the statements that it has compiled, and no connection."""
    key = (url, repr(sorted(options.items(), key=lambda option: option[0])))
    with _engines_lock:
        if key not in _engines:
            engine = _engines[key] = sqlalchemy.create_engine(url, **options)
            if isinstance(engine.pool, sqlalchemy.NullPool):
                # A disposed engine would be made again after each statement; this one holds nothing to dispose of.
                engine.dispose = _keep_pool  # type: ignore[method-assign]
        return _engines[key]


def _keep_pool(close: bool = True) -> None:
    """Do nothing in place of `Engine.dispose`."""


MOST_EVENTS = 256
"""Events that are kept as objects."""
_events: LRUCache[tuple[str, Any], Any] = LRUCache(MOST_EVENTS)
_events_lock = threading.Lock()


class _Scripts(ScriptDirectory):
    """Alembic's scripts of a configuration, read once and not for each database."""

    @classmethod
    @cache
    def from_config(cls, config: Config) -> ScriptDirectory:
        """Return the scripts that a configuration names; Dagster has one for each kind of database."""
        return ScriptDirectory.from_config(config)


def _read_event(stored: str, kind: Any = None) -> Any:
    """Return the event of a stored text, read once: each step asks again for the last events of all tables above it."""
    key = (stored, kind)
    with _events_lock:
        event = _events.get(key)
    if event is None:
        event = deserialize_value(stored, kind)
        with _events_lock:
            _events[key] = event
    return event


def reuse_engines() -> None:
    """Make Dagster reuse its SQLite engines instead of creating one per statement.

    Creating a SQLAlchemy engine takes several times as long as the statement. Dagster requests engines without a
    connection pool, so a reused engine holds no file open. Dagster also checks on every read whether the event table
    has a column that old versions lacked; a column found once is not checked again. Events, which nothing changes, are
    read from their text once. Calling this twice changes nothing.
    """
    for storage in (sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage):
        storage.create_engine = _open_engine  # type: ignore[attr-defined]
    sql_event_log.deserialize_value = _read_event  # type: ignore[attr-defined, assignment]
    sql.ScriptDirectory = command.ScriptDirectory = _Scripts  # type: ignore[attr-defined]
    original = SqlEventLogStorage._has_asset_key_col_on_connection
    # Already replaced: to wrap the wrapper again would add a layer with every call.
    if original.__module__ == __name__:
        return

    def has_column(self: SqlEventLogStorage, conn: sqlalchemy.Connection, column_name: str) -> bool:
        seen = self.__dict__.setdefault("_taxkg_seen_columns", set[str]())
        if column_name not in seen and original(self, conn, column_name):
            seen.add(column_name)
        return column_name in seen

    SqlEventLogStorage._has_asset_key_col_on_connection = has_column  # type: ignore[method-assign]


def keep_code_servers(is_outdated: Callable[[], bool]) -> None:
    """Let the daemon start new code servers only where one has ended, failed or got old, or the code is outdated.

    Dagster has no setting for it: its daemon clears the registry of servers each minute. A server that runs but no
    longer answers is replaced after `CODE_SERVER_SECONDS`.

    Args:
        is_outdated: Returns whether the code has changed since the last call.
    """
    # Loaded here: only the daemon needs it.
    from dagster._core.remote_representation.grpc_server_registry import ErrorRegistryEntry, GrpcServerRegistry

    clear: Callable[[GrpcServerRegistry], None] = GrpcServerRegistry.clear_all_grpc_endpoints
    cleared_at = time.monotonic()

    def clear_outdated(registry: GrpcServerRegistry) -> None:
        nonlocal cleared_at
        has_ended_server = any(
            isinstance(entry, ErrorRegistryEntry) or entry.process.server_process.poll() is not None
            for entry in list(registry._active_entries.values())
        )
        is_old = time.monotonic() - cleared_at > CODE_SERVER_SECONDS
        if is_outdated() or has_ended_server or is_old:
            cleared_at = time.monotonic()
            clear(registry)

    GrpcServerRegistry.clear_all_grpc_endpoints = clear_outdated  # type: ignore[method-assign]


def run_daemon() -> None:
    """Run the command line of Dagster's daemon, which has no public entry point."""
    from dagster._daemon.cli import main  # loaded here: only the daemon needs it

    main()
