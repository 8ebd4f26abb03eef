"""Writes the pages that the code knows best: tables.md, commands.md and settings.md, beside this file.

`make docs` runs it; a test fails where a page is not what the code says.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from pydantic import SecretStr

import taxkg_assets.definitions as definitions
from taxkg_assets.defs.contracts import schema_of
from taxkg_assets.defs.registry import PIPELINE
from taxkg_assets.serving.cli import app
from taxkg_assets.settings import Settings

HERE = Path(__file__).resolve().parent
WRITTEN = "<!-- Written by `make docs`; do not edit. -->"


def write_tables() -> str:
    """Every table: what a row is, its columns, what it is made from, its gates."""
    groups = {spec.key.to_user_string(): spec.group_name for spec in definitions.defs.resolve_all_asset_specs()}
    lines = ["# Tables", "", WRITTEN, ""]
    for name in PIPELINE.order():
        schema = schema_of(name)
        keys = schema.primary_key()
        lines += [f"## {name}", "", " ".join(str(inspect.getdoc(schema)).split()), ""]
        above = ", ".join(f"`{n}`" for n in (*PIPELINE[name].upstream, *PIPELINE[name].optional)) or "the sources"
        gates = ", ".join(f"`{g}`" for g in PIPELINE.gates(name)) or "none"
        lines += [
            f"Group {groups[name]}; made from {above}; gates: {gates}.",
            "",
            "| column | type | is |",
            "|---|---|---|",
        ]
        for column, kind in schema.columns().items():
            mark = " (key)" if column in keys else ""
            lines.append(f"| `{column}`{mark} | {type(kind).__name__} | {_cell(kind.description or '')} |")
        lines.append("")
    return "\n".join(lines)


def write_commands() -> str:
    """Every command with its arguments and options, as `--help` tells them."""
    lines = ["# Commands", "", WRITTEN, ""]
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for name, command in sorted(commands.items()):
        lines += [f"## taxkg {name}", "", " ".join(str(command.help).split()), "", "| option | does |", "|---|---|"]
        lines += [f"| {shown} | {_cell(said)} |" for shown, said in _parameters(command)]
        lines.append("")
        if command.epilog:
            shown = [line.strip() for line in command.epilog.split("\n\n")[1:]]
            lines += ["```", *shown, "```", ""]
    return "\n".join(lines)


def _parameters(command: Any) -> Iterator[tuple[str, str]]:
    for parameter in command.params:
        if parameter.name == "help":
            continue
        is_option = parameter.param_type_name == "option"
        names = [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.name.upper()]
        yield ", ".join(f"`{name}`" for name in names), str(getattr(parameter, "help", "") or "")


def write_settings() -> str:
    """Every setting with its environment variable, default and meaning."""
    lines = ["# Settings", "", WRITTEN, "", "| variable | default | is |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default.get_secret_value() if isinstance(field.default, SecretStr) else field.default
        shown = "" if default == "" else f"`{default}`"
        lines.append(f"| `TAXKG_{name.upper()}` | {shown} | {_cell(field.description or '')} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGES = {"tables.md": write_tables, "commands.md": write_commands, "settings.md": write_settings}


def main(folder: Path = HERE) -> None:
    """Write all pages."""
    for name, write in PAGES.items():
        (folder / name).write_text(write(), encoding="utf8")


if __name__ == "__main__":
    sys.exit(main())
