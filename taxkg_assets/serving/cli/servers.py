"""Commands that run until they are stopped: serve, mcp, ui, daemon."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from taxkg_assets.serving.cli.application import HomeOption, app, err, home_of
from taxkg_assets.settings import Settings

command = partial(app.command, rich_help_panel="Serve")


LOOPBACK = ("127.0.0.1", "localhost", "::1")
DEV_IS_SUPERSEDED = "ignore:Function `dev_command` is superseded:FutureWarning"


@command()
def serve(
    home: HomeOption = "",
    port: Annotated[int, typer.Option("--port", help="Port to listen on.")] = 8000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Serve the HTTP API, the web explorer and the tools for agents (/mcp) over the released corpus."""
    import uvicorn

    from taxkg_assets.serving.http_api import create_app
    from taxkg_assets.serving.service import Service

    settings = Settings()
    if host not in LOOPBACK and not settings.api_key.get_secret_value():
        raise typer.BadParameter(f"{host} is reachable by others: set TAXKG_API_KEY first, or listen on 127.0.0.1")
    err.print(f"taxkg on http://{host}:{port} for {home_of(home)}; stop it with Ctrl-C.", highlight=False)
    service = Service(home_of(home), settings=settings)
    uvicorn.run(create_app(service, hosts=[host]), host=host, port=port, log_level="warning")


@command()
def mcp(home: HomeOption = "") -> None:
    """Serve the tools for agents over standard input and output."""
    from taxkg_assets.serving.service import Service
    from taxkg_assets.serving.tools import create_tools

    create_tools(Service(home_of(home))).run("stdio")


@command()
def ui(
    home: HomeOption = "",
    port: Annotated[int, typer.Option("--port", help="Port of the web server.")] = 3000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    has_daemon: Annotated[
        bool, typer.Option("--daemon/--no-daemon", help="Run the daemon too, or rely on one that `taxkg daemon` runs.")
    ] = True,
) -> None:
    """Open the Dagster UI on this home, with the daemon that runs sensors, automation and backfills."""
    from taxkg_assets.serving.daemon import WORKSPACE, prepare_home

    store = prepare_home(home_of(home))
    err.print(f"Dagster UI on http://{host}:{port} for {store.uri}; stop it with Ctrl-C.")
    address = ["-h", host, "-p", str(port)]
    program = ["dagster", "dev"] if has_daemon else ["dagster_webserver"]
    _exec_dagster([*program, *WORKSPACE, *address], store.home)


@command()
def daemon(home: HomeOption = "") -> None:
    """Run sensors, schedules, automation and queued runs of this home, without the UI."""
    from taxkg_assets.defs.compat import DAEMON_MODULE
    from taxkg_assets.serving.daemon import WORKSPACE, prepare_home

    store = prepare_home(home_of(home))
    err.print(f"Dagster daemon for {store.uri}; stop it with Ctrl-C.")
    _exec_dagster([DAEMON_MODULE, "run", *WORKSPACE], store.home)


def _exec_dagster(module: list[str], home: Path) -> None:
    """Replace this process by one of Dagster's programs, running in the home."""
    from taxkg_assets.defs.looks import inbox_of

    paths = {"TAXKG_HOME": str(home), "TAXKG_INBOX": str(inbox_of(Settings(home=str(home))))}
    environment = {**os.environ, **paths, "PYTHONWARNINGS": DEV_IS_SUPERSEDED}
    os.chdir(home)
    os.execvpe(sys.executable, [sys.executable, "-m", *module], environment)
