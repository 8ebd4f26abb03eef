"""Dagster's private names, in one place: what a new version may move is mended here and nowhere else.

Pinned to the Dagster of requirements.lock. Each name says why the public API does not do.
"""

from __future__ import annotations

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationPlanned
from dagster._core.definitions.asset_daemon_cursor import AssetDaemonCursor
from dagster._core.events import DagsterEvent
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)

__all__ = [
    "DAEMON_MODULE",
    "AssetCheckEvaluationPlanned",
    "AssetCheckExecutionRecord",
    "AssetCheckExecutionRecordStatus",
    "AssetDaemonCursor",
    "DagsterEvent",
    "set_data_version",
]

DAEMON_MODULE = "dagster._daemon"
"""What `dagster-daemon` starts; as a module it runs with this very interpreter."""


def set_data_version(context: dg.OutputContext, version: str) -> None:
    """Name the content of an asset: equal rows are the same version. Only a step's own context can be public here."""
    context.step_context.set_data_version(context.asset_key, dg.DataVersion(version))
