"""Service and container files call commands that exist, with options and settings that exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
import typer
import yaml

from taxkg_assets.serving.cli import app
from taxkg_assets.settings import Settings

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
SERVICES = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf8"))["services"]


def parse(arguments: list[str]) -> None:
    """Read a command line as `taxkg` would, without running it; fails on what `taxkg` does not know."""
    program, command, *options = arguments
    assert Path(program).name == "taxkg"
    group = typer.main.get_command(app)
    assert isinstance(group, click.Group) or hasattr(group, "commands")
    group.commands[command].make_context(command, options, resilient_parsing=False)


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_a_unit_starts_a_command_that_exists(unit: Path) -> None:
    found = re.search(r"^ExecStart=(.+)$", unit.read_text(encoding="utf8"), re.MULTILINE)
    assert found is not None
    parse(shlex.split(found[1]))


@pytest.mark.parametrize("service", SERVICES)
def test_a_container_starts_a_command_that_exists(service: str) -> None:
    parse(SERVICES[service]["command"])


def test_services_and_units_are_the_same() -> None:
    assert {unit.stem.removeprefix("taxkg-") for unit in UNITS} == set(SERVICES)


def test_no_file_names_a_setting_that_is_gone() -> None:
    texts = [path.read_text(encoding="utf8") for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    named = set(re.findall(r"\bTAXKG_([A-Z_]+)", " ".join(texts)))
    assert named <= {field.upper() for field in Settings.model_fields}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_systemd_understands_the_unit(unit: Path) -> None:
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if unit.name in line]
    # The program is not installed where the tests run.
    assert [line for line in complaints if "is not executable" not in line] == []
