"""The command `taxkg`: parse, call, render. Exit status: 0 done, 1 failed, 2 bad usage, 3 built with a quarantine."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from taxkg_assets.settings import Settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Tax forms and instructions to a gated knowledge graph and cited answers.",
)
out = Console()
err = Console(stderr=True)

HomeOption = Annotated[str, typer.Option("--home", help="Home folder (default: TAXKG_HOME, or data/store).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]

FAILED, USAGE, QUARANTINED = 1, 2, 3


def home_of(option: str) -> str:
    """The home to work on: the option, else the setting."""
    return option or Settings().home


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n")


@app.command()
def build(
    corpus: Annotated[
        list[Path] | None, typer.Option("--corpus", help="Folder or file to build from; recorded for later builds.")
    ] = None,
    home: HomeOption = "",
    select: Annotated[
        list[str] | None, typer.Option("--select", help="Only this asset, behind all gates above it.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try quarantined documents again.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show Dagster's own log.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Materialize the asset graph with its gates; a second run does only what changed."""
    from taxkg_assets.serving import render
    from taxkg_assets.serving.bars import Bars
    from taxkg_assets.serving.build import build as run_build

    with Bars():
        result = run_build(
            home_of(home),
            roots=corpus or [],
            select=select or [],
            retry=retry,
            log_level="DEBUG" if verbose else "CRITICAL",
        )
    if as_json:
        print_json(asdict(result))
    else:
        render.build_result(result, out=out)
    if not result.is_done:
        raise typer.Exit(FAILED)
    if result.quarantine:
        raise typer.Exit(QUARANTINED)


@app.command()
def status(home: HomeOption = "", as_json: JsonOption = False) -> None:
    """Show what is built, stale, failed, served and quarantined."""
    from taxkg_assets.defs.store import Store
    from taxkg_assets.serving import render
    from taxkg_assets.serving.status import table_statuses

    store = Store(home_of(home))
    tables = table_statuses(store)
    quarantine = store.read_or_empty("quarantine").to_dicts()
    if as_json:
        print_json({"home": str(store.home), "tables": [asdict(t) for t in tables], "quarantine": quarantine})
    else:
        render.statuses(tables, quarantine, home=str(store.home), out=out)


@app.command()
def ui(
    home: HomeOption = "",
    port: Annotated[int, typer.Option("--port", help="Port of the web server.")] = 3000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Open the Dagster UI on this home, with the daemon that runs sensors, automation and backfills."""
    from taxkg_assets.defs.automation import sync_partitions
    from taxkg_assets.defs.intake import scan_sources
    from taxkg_assets.defs.resources import PROJECT
    from taxkg_assets.defs.store import Store
    from taxkg_assets.serving.build import SAMPLES
    from taxkg_assets.serving.instance import open_instance

    store = Store(home_of(home))
    roots = [] if store.read_ledger()["roots"] else [SAMPLES]
    ledger = scan_sources(store, roots)
    with open_instance(store) as instance:
        sync_partitions(instance, set(ledger["files"]))
    environment = {**os.environ, "TAXKG_HOME": str(store.home)}
    command = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-w",
        str(PROJECT / "workspace.yaml"),
        "-h",
        host,
        "-p",
        str(port),
    ]
    err.print(f"Dagster UI on http://{host}:{port} for {store.home}; stop it with Ctrl-C.")
    os.chdir(PROJECT)
    os.execvpe(command[0], command, environment)


def main() -> None:
    """Run the command line; an expected error is one message without a trace."""
    from taxkg_assets.serving.errors import explained

    try:
        app()
    except Exception as error:
        message = explained(error)
        if message is None:
            raise
        err.print(f"[bold red]taxkg:[/] {message}", highlight=False, markup=True)
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
