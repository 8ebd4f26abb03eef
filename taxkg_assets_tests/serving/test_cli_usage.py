"""The command line as a person meets it: version, examples, exit status, ports and homes that are not there."""

from __future__ import annotations

import importlib.metadata
import os
import socket
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from taxkg_assets.serving.cli import app
from taxkg_assets_tests.serving.homes import run_cli, run_here

COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
NEEDS_A_HOME = (
    ["status"],
    ["ask", "x"],
    ["search", "x"],
    ["box", "W-2"],
    ["line", "8960", "1"],
    ["diff", "f1099div"],
    ["show", "x", "1"],
    ["sources", "list"],
    ["release"],
    ["review", "list"],
    ["eval"],
    ["mcp"],
    ["train"],
)


@pytest.fixture(autouse=True, scope="module")
def _commands_are_read_once() -> Iterator[None]:
    """Typer would make all commands again for each call."""
    with patch("typer.testing._get_command", cache(get_command)):
        yield


def test_the_version_is_that_of_the_package() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert done.exit_code == 0
    assert done.stdout.strip() == f"taxkg {importlib.metadata.version('taxkg')}"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_has_an_example_of_it(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "--help"]).stdout
    assert f"taxkg {name}" in shown.partition("Examples:")[2]


def test_the_help_names_each_exit_status() -> None:
    shown = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    assert "0 done, 1 failed, 2 bad usage" in shown


def test_a_folder_that_cannot_be_read_is_left_to_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []
    monkeypatch.setattr(os, "access", lambda *_args, **_options: False)
    monkeypatch.setattr("taxkg_assets.serving.build.build", lambda _home, *, roots, **_options: seen.extend(roots))
    CliRunner().invoke(app, ["build", "--corpus", str(tmp_path), "--home", str(tmp_path / "home")])
    assert seen == [tmp_path]


@pytest.mark.parametrize(("option", "level"), [("--verbose", "CRITICAL"), ("--debug", "DEBUG")])
def test_the_list_of_gates_comes_without_the_log_of_dagster(
    option: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr("taxkg_assets.serving.build.build", lambda _home, *, log_level, **_: seen.append(log_level))
    CliRunner().invoke(app, ["build", option, "--home", str(tmp_path / "home")])
    assert seen == [level]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", NEEDS_A_HOME, ids=lambda arguments: arguments[0])
def test_a_home_that_is_not_there_is_named_and_not_made(arguments: list[str], tmp_path: Path) -> None:
    home = tmp_path / "mistyped"
    done = run_here(*arguments, "--home", str(home))
    assert done.returncode == 2
    assert f"There is no home at {home}." in done.stderr
    assert "Traceback" not in done.stderr
    assert not home.exists()


@pytest.mark.slow
def test_a_process_ends_with_the_status_of_a_home_that_is_not_there(tmp_path: Path) -> None:
    home = tmp_path / "mistyped"
    done = run_cli("train", "--home", str(home))
    assert done.returncode == 2
    assert f"There is no home at {home}." in done.stderr
    assert "Traceback" not in done.stderr
    assert not home.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["box", "1099-XX", "1a"],
        ["line", "1099-XX", "1a"],
        ["search", "x", "--form", "1099-XX"],
        ["diff", "f0"],
        ["show", "nothing", "1"],
        ["explain", "nothing"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_name_that_does_not_exist_is_bad_usage(arguments: list[str], built_samples: Path) -> None:
    done = run_here(*arguments, "--home", str(built_samples))
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("taxkg: ")


def test_a_port_in_use_is_a_failure_that_is_reported_at_once(built_samples: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_cli("serve", "--home", str(built_samples), "--port", str(port))
    assert done.returncode == 1
    assert f"Port {port} of 127.0.0.1 cannot be opened" in done.stderr
    assert "Serving" not in done.stderr
