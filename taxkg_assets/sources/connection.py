"""Transport of one request: to the resolved address, under the requested host's name, within a time limit.

What belongs here: sockets and what a request carries. What does not: which addresses are allowed, what a response
means.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx

AGENT = "taxkg (conditional requests; one document at a time)"
Trace = Callable[[str, Mapping[str, Any]], None]


@cache
def load_certificates() -> ssl.SSLContext:
    """Load the certificates that servers are checked against, once: each client would load them again.

    Returns:
        The context of connections; variables of the environment do not change it.
    """
    return httpx.create_ssl_context(trust_env=False)


def pin_address(url: str, address: str) -> str:
    """Replace the host of a URL by its verified IP address.

    Args:
        url: Address of a document.
        address: IPv4 or IPv6 address that the host resolved to.

    Returns:
        The URL with the address as its host.
    """
    parts = urlsplit(url)
    host = f"[{address}]" if ":" in address else address
    return parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()


def request_options(url: str, headers: Mapping[str, str], *, trace: Trace) -> dict[str, Any]:
    """Build the headers and the TLS server name of a request to a pinned address.

    Args:
        url: Address of a document, with the host's name.
        headers: Further headers, which replace the default ones.
        trace: Receives httpcore's events.

    Returns:
        Keyword arguments of `httpx.Client.stream`: `headers` and `extensions`.
    """
    parts = urlsplit(url)
    sent = {"Host": parts.netloc, "User-Agent": AGENT, "Accept": "application/pdf", "Accept-Encoding": "identity"}
    return {"headers": {**sent, **headers}, "extensions": {"sni_hostname": parts.hostname, "trace": trace}}


@contextmanager
def limit_connection(due_at: float) -> Iterator[Trace]:
    """Shut a request's connection down at a deadline.

    Timeouts only bound the wait for the next byte, and nothing else limits slowly sent headers. A second descriptor of
    the socket ends the connection even where TLS has taken over the first one.

    Args:
        due_at: Deadline on the monotonic clock, in seconds.

    Yields:
        Trace to pass with the request, which learns its socket.
    """
    sockets: list[socket.socket] = []

    def shut_down() -> None:
        for connected in sockets:
            with suppress(OSError):  # the other side was faster
                connected.shutdown(socket.SHUT_RDWR)

    def note(event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            sockets.append(info["return_value"].get_extra_info("socket").dup())
            if time.monotonic() >= due_at:
                shut_down()

    timer = threading.Timer(max(0.0, due_at - time.monotonic()), shut_down)
    timer.daemon = True
    timer.start()
    try:
        yield note
    finally:
        timer.cancel()
        timer.join()
        for connected in sockets:
            connected.close()
