"""The asset graph as it was agreed on, and that README names every command and setting.

A table, gate or upstream table that comes or goes shows here; TAXKG_REWRITE_GOLDEN=1 rewrites the file after a look.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import typer

from taxkg_assets.definitions import defs
from taxkg_assets.serving.cli import app
from taxkg_assets.settings import Settings

HERE = Path(__file__).parent
README = (HERE.parents[1] / "README.md").read_text(encoding="utf8")
REWRITE = "TAXKG_REWRITE_GOLDEN"
COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def read_graph() -> dict[str, dict[str, list[str]]]:
    """For each asset what it is made from, its gates with the further tables they read, and checks that never block."""
    graph = defs.resolve_asset_graph()
    found = {
        key.to_user_string(): {
            "upstream": sorted(k.to_user_string() for k in graph.get(key).parent_keys),
            "gates": [],
            "reports": [],
        }
        for key in sorted(graph.get_all_asset_keys())
    }
    for check in sorted(graph.asset_check_keys, key=lambda k: (k.asset_key, k.name)):
        spec = graph.get_check_spec(check)
        reads = sorted(dep.asset_key.to_user_string() for dep in spec.additional_deps)
        shown = f"{check.name}({', '.join(reads)})"
        found[check.asset_key.to_user_string()]["gates" if spec.blocking else "reports"].append(shown)
    return found


def test_the_asset_graph_is_the_one_agreed_on() -> None:
    path = HERE / "asset_graph.json"
    text = json.dumps(read_graph(), indent=1) + "\n"
    if os.environ.get(REWRITE):
        path.write_text(text, encoding="utf8")
    assert json.loads(text) == json.loads(path.read_text(encoding="utf8"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_stands_in_the_readme(command: str) -> None:
    assert re.search(rf"^\| `taxkg {re.escape(command)}[ `]", README, re.MULTILINE)


@pytest.mark.parametrize("field", sorted(Settings.model_fields))
def test_every_setting_stands_in_the_readme(field: str) -> None:
    assert re.search(rf"^\| `TAXKG_{field.upper()}` \|", README, re.MULTILINE)


def test_the_readme_names_no_command_and_no_setting_that_is_gone() -> None:
    assert sorted(set(re.findall(r"^\| `taxkg (\w+)", README, re.MULTILINE))) == COMMANDS
    named = set(re.findall(r"^\| `TAXKG_(\w+)` \|", README, re.MULTILINE))
    assert named == {field.upper() for field in Settings.model_fields}
