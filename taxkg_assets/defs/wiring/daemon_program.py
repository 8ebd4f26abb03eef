"""Dagster's daemon with one code server for its whole life: `python -m taxkg_assets.defs.wiring.daemon_program run …`.

Dagster's own daemon starts a new code server each minute, to see changed code. To load the asset graph takes seconds
of a processor each time, and memory for two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dagster._core.remote_representation.grpc_server_registry import ErrorRegistryEntry, GrpcServerRegistry
from dagster._daemon.cli import main

PACKAGE = Path(__file__).resolve().parents[2]

CodeState = dict[str, tuple[int, int]]
"""Time of change and size of each file of code and rules, by path."""


def read_code_state(folder: Path = PACKAGE) -> CodeState:
    """Return what changes when a file of code or rules does.

    Args:
        folder: Folder of the package.

    Returns:
        Time of change in nanoseconds and size in bytes, by path.
    """
    files = (path for pattern in ("*.py", "*.yaml") for path in folder.rglob(pattern))
    return {str(path): (status.st_mtime_ns, status.st_size) for path in files if (status := path.stat())}


def keep_code_servers(folder: Path = PACKAGE) -> None:
    """Let registries start new code servers only where one has ended or failed, or a file of the package has changed.

    Args:
        folder: Folder of the package.
    """
    clear: Callable[[GrpcServerRegistry], None] = GrpcServerRegistry.clear_all_grpc_endpoints
    seen = read_code_state(folder)

    def clear_outdated(registry: GrpcServerRegistry) -> None:
        nonlocal seen
        state = read_code_state(folder)
        if state != seen or _has_ended_server(registry):
            seen = state
            clear(registry)

    GrpcServerRegistry.clear_all_grpc_endpoints = clear_outdated  # type: ignore[method-assign]


def _has_ended_server(registry: GrpcServerRegistry) -> bool:
    return any(
        isinstance(entry, ErrorRegistryEntry) or entry.process.server_process.poll() is not None
        for entry in list(registry._active_entries.values())
    )


if __name__ == "__main__":
    keep_code_servers()
    main()
