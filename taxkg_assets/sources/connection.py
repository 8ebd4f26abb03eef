"""How one connection is made: to the address that was looked at, under the name that was asked for, for so long.

What belongs here: sockets and what a request carries. What does not: which addresses are allowed, what an answer means.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

AGENT = "taxkg (conditional requests; one document at a time)"
Trace = Callable[[str, Mapping[str, Any]], None]


def pinned(url: str, address: str) -> str:
    """The URL with the name replaced by the address that was looked at."""
    parts = urlsplit(url)
    host = f"[{address}]" if ":" in address else address
    return parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()


def options_of(url: str, headers: Mapping[str, str], *, trace: Trace) -> dict[str, Any]:
    """Headers and TLS name of the host that was asked for; the certificate is checked against that name."""
    parts = urlsplit(url)
    sent = {"Host": parts.netloc, "User-Agent": AGENT, "Accept": "application/pdf", "Accept-Encoding": "identity"}
    return {"headers": {**sent, **headers}, "extensions": {"sni_hostname": parts.hostname, "trace": trace}}


@contextmanager
def cut_off_at(due_at: float) -> Iterator[Trace]:
    """A trace for a request whose connection is broken off when its time is over (a moment of the monotonic clock).

    Timeouts bound the wait for the next byte only, and nothing else bounds headers that drip. A second descriptor of
    the socket ends the connection also where TLS has taken over the first one.
    """
    held: list[socket.socket] = []

    def cut() -> None:
        for connected in held:
            with suppress(OSError):  # the other side was faster
                connected.shutdown(socket.SHUT_RDWR)

    def note(event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            held.append(info["return_value"].get_extra_info("socket").dup())
            if time.monotonic() >= due_at:
                cut()

    timer = threading.Timer(max(0.0, due_at - time.monotonic()), cut)
    timer.daemon = True
    timer.start()
    try:
        yield note
    finally:
        timer.cancel()
        timer.join()
        for connected in held:
            connected.close()
