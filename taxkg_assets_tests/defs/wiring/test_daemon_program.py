"""The daemon keeps its code server until this ends or gets old, or the code changes."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dagster._core.remote_representation.grpc_server_registry import ErrorRegistryEntry, GrpcServerRegistry

from taxkg_assets.defs.wiring.compat import keep_code_servers
from taxkg_assets.defs.wiring.daemon_program import CodeWatch, read_code_state


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with code and rules, of which the servers are kept during the test."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "code.py").write_text("dues = 1\n")
    (tmp_path / "rules" / "berths.yaml").write_text("berths: []\n")
    monkeypatch.setattr(
        GrpcServerRegistry, "clear_all_grpc_endpoints", GrpcServerRegistry.clear_all_grpc_endpoints
    )  # put back after the test
    keep_code_servers(CodeWatch(tmp_path).is_outdated)
    return tmp_path


def open_registry(entry: Any) -> GrpcServerRegistry:
    """A registry with one entry, which starts nothing."""
    registry = object.__new__(GrpcServerRegistry)
    registry._lock, registry._active_entries = threading.Lock(), {"origin": entry}
    return registry


def server(status: int | None) -> Any:
    """An entry of a server whose process has a status; None while it runs."""
    return SimpleNamespace(process=SimpleNamespace(server_process=SimpleNamespace(poll=lambda: status)))


@pytest.mark.parametrize(
    ("entry", "is_kept"), [(server(None), True), (server(-9), False), (ErrorRegistryEntry(None, 0.0, None), False)]
)
@pytest.mark.usefixtures("package")
def test_a_server_is_kept_while_it_runs(entry: Any, is_kept: bool) -> None:
    registry = open_registry(entry)
    registry.clear_all_grpc_endpoints()
    assert bool(registry._active_entries) == is_kept


@pytest.mark.parametrize("name", ["code.py", "rules/berths.yaml", "rules/new.py"])
def test_changed_code_is_loaded_by_a_new_server(package: Path, name: str) -> None:
    registry = open_registry(server(None))
    (package / name).write_text("dues = 'two'\n")
    registry.clear_all_grpc_endpoints()
    assert registry._active_entries == {}
    again = open_registry(server(None))
    again.clear_all_grpc_endpoints()
    assert again._active_entries, "what has changed once is seen once"


def test_the_package_itself_is_checked() -> None:
    names = {Path(path).name for path in read_code_state()}
    assert {"definitions.py", "daemon_program.py", "tables.yaml"} <= names
