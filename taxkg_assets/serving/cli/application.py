"""The application behind the command `taxkg`: shared options, output, exit status, error messages."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated, Any

import typer

from taxkg_assets.serving.errors import BAD_USAGE, explained, is_one_of
from taxkg_assets.serving.terminal import Terminal, escape_controls
from taxkg_assets.settings import Settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Tax forms and instructions to a gated knowledge graph and cited answers.",
)
# A pipe has no width: use that of a wide terminal.
out = Terminal(width=None if sys.stdout.isatty() else 140)
err = Terminal(stderr=True)

HomeOption = Annotated[str, typer.Option("--home", help="Home folder (default: TAXKG_HOME, or data/store).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

FAILED, USAGE, QUARANTINED = 1, 2, 3


def home_of(option: str) -> str:
    """Return the home to work on: the option, else the setting.

    Args:
        option: Value of `--home`; empty where it is not given.

    Raises:
        SettingError: A setting is invalid, whether or not the option is given.
    """
    settings = Settings()
    return option or settings.home


def print_json(value: Any) -> None:
    """Print one JSON document on standard output.

    Args:
        value: Plain data; other types are printed as their text.
    """
    sys.stdout.write(escape_controls(json.dumps(value, indent=1, ensure_ascii=False, default=str)) + "\n")


def main() -> None:
    """Run the command line. An expected error prints one message, a defect its trace."""
    streams = {number: os.dup(number) for number in (1, 2) if _is_open(number)}
    try:
        app()
    except Exception as error:
        # Dagster redirects both to the log of a step, and does not restore them where the disk is full.
        for number, own in streams.items():
            os.dup2(own, number)
        message = explained(error)
        if message is None:
            raise
        err.print(f"[bold red]taxkg:[/] {message}", highlight=False, markup=True, soft_wrap=True)
        sys.exit(USAGE if is_one_of(error, BAD_USAGE) else FAILED)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
