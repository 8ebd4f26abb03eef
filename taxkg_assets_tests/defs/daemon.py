"""A real daemon on a home, and a loopback server that takes its alerts; both end without leaving a process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil

END_SECONDS = 20.0
POLL_SECONDS = 0.5
"""Between two checks of a home: each takes some of the time that the daemon's runs need."""


@dataclass
class Hook:
    """Address of the server, and the alerts that came."""

    url: str
    alerts: list[dict[str, Any]] = field(default_factory=list)

    def kinds(self) -> list[str]:
        """What the alerts were about, in their order."""
        return [alert["kind"] for alert in self.alerts]


@contextmanager
def open_hook(*, failures: int = 0) -> Iterator[Hook]:
    """A server for alerts; it refuses the first N of them."""
    refused = iter(range(failures))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            is_refused = next(refused, None) is not None
            if not is_refused:
                hook.alerts.append(json.loads(body))
            self.send_response(503 if is_refused else 204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the test inspects what came."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hook = Hook(f"http://127.0.0.1:{server.server_port}/alerts")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def open_daemon(home: Path, *, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """`taxkg daemon` on a home, with code server and runs in a process group of their own."""
    command = [sys.executable, "-m", "taxkg_assets.serving.cli", "daemon", "--home", str(home)]
    log = home.with_name("daemon.log")
    with (
        log.open("ab") as sink,
        subprocess.Popen(
            command, stdout=sink, stderr=sink, env={**os.environ, **environment}, start_new_session=True
        ) as process,
    ):
        try:
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the daemon as a service manager does, then whatever it started that is still there."""
    started = _descendants(process.pid)
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    alive = [one for one in started if one.is_running()]
    for one in alive:
        one.terminate()
    for one in psutil.wait_procs(alive, timeout=END_SECONDS)[1]:
        one.send_signal(signal.SIGKILL)
    psutil.wait_procs(alive, timeout=END_SECONDS)


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def await_truth(is_so: Callable[[], bool], *, seconds: float, process: subprocess.Popen[bytes], log: Path) -> float:
    """Seconds until something became true; fails with the end of the log where it does not, or the daemon dies."""
    started = time.monotonic()
    while not is_so():
        assert process.poll() is None, log.read_text(errors="replace")[-4000:]
        waited = time.monotonic() - started
        assert waited < seconds, f"not after {waited:.0f} s:\n{log.read_text(errors='replace')[-6000:]}"
        time.sleep(POLL_SECONDS)
    return time.monotonic() - started
