"""Commands that run until they are stopped: serve, mcp, ui, daemon."""

from __future__ import annotations

import os
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from taxkg_assets.serving.cli.application import FAILED, HomeOption, app, err, examples, home_of
from taxkg_assets.settings import Settings

command = partial(app.command, rich_help_panel="Serve")


LOOPBACK = ("127.0.0.1", "localhost", "::1")
DEV_IS_SUPERSEDED = "ignore:Function `dev_command` is superseded:FutureWarning"


@command(epilog=examples("taxkg serve", "taxkg serve --port 8080", "TAXKG_API_KEY=… taxkg serve --host 0.0.0.0"))
def serve(
    home: HomeOption = "",
    port: Annotated[int, typer.Option("--port", help="Port to listen on.")] = 8000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Serve the HTTP API, the web explorer (/), the API reference (/docs) and the MCP tools (/mcp)."""
    import uvicorn

    from taxkg_assets.serving.http_api import create_app
    from taxkg_assets.serving.service import Service

    settings = Settings()
    if host not in LOOPBACK and not settings.api_key.get_secret_value():
        raise typer.BadParameter(f"Other machines can reach {host}. Set TAXKG_API_KEY first, or listen on 127.0.0.1.")
    address = home_of(home)
    listening_socket = _listen(host, port)
    err.print(f"Opening the release of {address} …", highlight=False)
    http_app = create_app(Service(address, settings=settings), hosts=[host])
    err.print(
        f"Serving {address} at http://{host}:{listening_socket.getsockname()[1]}. Stop with Ctrl-C.", highlight=False
    )
    uvicorn.Server(uvicorn.Config(http_app, log_level="warning")).run(sockets=[listening_socket])


def _listen(host: str, port: int) -> socket.socket:
    """Open the port before anything is read, so that a port in use is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        err.print(
            f"[bold red]taxkg:[/] Port {port} of {host} cannot be opened ({os.strerror(error.errno or 0)}). "
            "Choose another one with --port.",
            highlight=False,
            soft_wrap=True,
        )
        raise typer.Exit(FAILED) from None


@command(epilog=examples("taxkg mcp --home library"))
def mcp(home: HomeOption = "") -> None:
    """Serve the tools for agents over standard input and output.

    Tools: ask, search, passage, table, box, line, trace, fields, diff, documents, evidence, verify.
    """
    from taxkg_assets.serving.service import Service
    from taxkg_assets.serving.tools import create_tools

    create_tools(Service(home_of(home))).run("stdio")


@command(epilog=examples("taxkg ui", "taxkg ui --port 3001 --no-daemon"))
def ui(
    home: HomeOption = "",
    port: Annotated[int, typer.Option("--port", help="Port of the web server.")] = 3000,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    has_daemon: Annotated[
        bool,
        typer.Option(
            "--daemon/--no-daemon", help="Also run the daemon; with --no-daemon, start `taxkg daemon` yourself."
        ),
    ] = True,
) -> None:
    """Serve the Dagster UI of this home, with the daemon that runs sensors, schedules and backfills."""
    from taxkg_assets.serving.daemon import WORKSPACE, prepare_home

    store = prepare_home(home_of(home, is_new=True))
    err.print(f"Dagster UI of {store.uri} at http://{host}:{port}. Stop with Ctrl-C.")
    address = ["-h", host, "-p", str(port)]
    program = ["dagster", "dev"] if has_daemon else ["dagster_webserver"]
    _exec_dagster([*program, *WORKSPACE, *address], store.home)


@command(epilog=examples("taxkg daemon --home library"))
def daemon(home: HomeOption = "") -> None:
    """Run sensors, schedules, automation and queued runs of this home, without the UI."""
    from taxkg_assets.defs.wiring.compat import DAEMON_MODULE
    from taxkg_assets.serving.daemon import WORKSPACE, prepare_home

    store = prepare_home(home_of(home, is_new=True))
    err.print(f"Running the Dagster daemon for {store.uri}. Stop with Ctrl-C.")
    _exec_dagster([DAEMON_MODULE, "run", *WORKSPACE], store.home)


def _exec_dagster(module: list[str], home: Path) -> None:
    """Replace this process by one of Dagster's programs, running in the home."""
    from taxkg_assets.defs.ingest.file_status import inbox_of

    paths = {"TAXKG_HOME": str(home), "TAXKG_INBOX": str(inbox_of(Settings(home=str(home))))}
    environment = {**os.environ, **paths, "PYTHONWARNINGS": DEV_IS_SUPERSEDED}
    os.chdir(home)
    os.execvpe(sys.executable, [sys.executable, "-m", *module], environment)
