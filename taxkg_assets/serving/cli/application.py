"""The application behind the command `taxkg`: shared options, output, exit status, error messages."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from taxkg_assets.garbage import collect_rarely
from taxkg_assets.serving.errors import BAD_USAGE, explained, is_one_of
from taxkg_assets.serving.terminal import Terminal, escape_controls
from taxkg_assets.settings import Settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Turn tax forms and instructions into a knowledge graph with quality gates, and into answers with citations.",
    epilog="Exit status: 0 done, 1 failed, 2 bad usage or a name that does not exist, 3 built with documents in "
    "quarantine.",
)
# A pipe has no width: use that of a wide terminal.
out = Terminal(width=None if sys.stdout.isatty() else 140)
err = Terminal(stderr=True)

HomeOption = Annotated[
    str, typer.Option("--home", help="Home: a folder, or s3://BUCKET/FOLDER (default: TAXKG_HOME, else data/store).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

FAILED, USAGE, QUARANTINED = 1, 2, 3

SLOW_SECONDS = 3.0
"""Time of a question from which on a server is worth mentioning."""


class HomeMissingError(Exception):
    """The home directory to read does not exist."""


def examples(*lines: str) -> str:
    """Format the examples in a command's help, one per line.

    Args:
        lines: Commands as they are typed.

    Returns:
        Text of the help's epilog.
    """
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)])


def show_version(is_wanted: bool) -> None:
    """Print the version and exit if `--version` is given.

    Args:
        is_wanted: Whether `--version` is given.
    """
    if is_wanted:
        out.print(f"taxkg {version('taxkg')}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    is_version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Turn tax forms and instructions into a knowledge graph with quality gates, and into answers with citations."""


def home_of(option: str, *, is_new: bool = False) -> str:
    """Return the home address from `--home`, or from the settings if the option is not given.

    Args:
        option: Value of `--home`; empty where it is not given.
        is_new: Whether the command creates the home if it does not exist.

    Raises:
        SettingError: A setting is invalid, whether or not the option is given.
        HomeMissingError: The local folder does not exist, and `is_new` is false.
    """
    settings = Settings()
    home = option or settings.home
    if not (is_new or "://" in home or Path(home).is_dir()):
        raise HomeMissingError(
            f"There is no home at {home}. Check the path, or create one: `taxkg build --home {home} --corpus FOLDER`."
        )
    return home


def keep_to_one_thread() -> None:
    """Have matrices multiplied by this thread alone, unless the environment says otherwise.

    Further threads wait busily for the next product: they took a twelfth of the processor time of a question. Call this
    function before numpy is imported, because numpy reads the variable then.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@contextmanager
def answering() -> Iterator[None]:
    """Show a progress notice while a question is answered, and suggest the server if it took long.

    Yields:
        Nothing; the notice disappears at the end.
    """
    started = time.perf_counter()
    if not err.is_terminal:
        yield
        return
    with err.status("Opening the release …"):
        yield
    seconds = time.perf_counter() - started
    if seconds > SLOW_SECONDS:
        err.print(
            f"[dim]{seconds:.0f} s, mostly to open the release. `taxkg serve` keeps it open and answers in less than a "
            "second.[/]",
            highlight=False,
        )


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output.

    Args:
        value: Plain data and models; other types are converted to strings.
    """
    sys.stdout.write(escape_controls(json.dumps(value, indent=1, ensure_ascii=False, default=_as_plain)) + "\n")


def _as_plain(value: object) -> object:
    """Return the fields that a model was made with; the text of any other object."""
    return value.model_dump(by_alias=True, exclude_unset=True) if isinstance(value, BaseModel) else str(value)


def counted(number: int, noun: str) -> str:
    """Format a count with its noun: `1 document`, `2 documents`.

    Args:
        number: The number.
        noun: Noun in the singular; its plural ends in -s.

    Returns:
        The number with its noun.
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def main() -> None:
    """Run the command line; print one message for an expected error, and a traceback for a defect.

    Garbage collection is nearly disabled, and skipped at exit: most objects live until then, and collecting took a
    sixth of the time to answer a question.
    """
    collect_rarely()
    streams = {number: os.dup(number) for number in (1, 2) if _is_open(number)}
    try:
        app()
    except Exception as error:
        # Dagster redirects stdout and stderr to the log of a step, and does not restore them if the disk is full.
        for number, stream in streams.items():
            os.dup2(stream, number)
        message = explained(error)
        if message is None:
            raise
        err.print(f"[bold red]taxkg:[/] {message}", highlight=False, markup=True, soft_wrap=True)
        sys.exit(USAGE if is_one_of(error, BAD_USAGE) else FAILED)
    finally:
        gc.freeze()


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
