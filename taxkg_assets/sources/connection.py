"""Connection for one request: to the resolved address, under the requested host's name, within a time limit.

fetch.py decides which addresses are allowed and what a response means.
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
    """Load the certificates for the verification of servers, once per process.

    Returns:
        TLS context; environment variables do not change it.
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
        trace: Function that httpcore calls with each event of the connection.

    Returns:
        Keyword arguments of `httpx.Client.stream`: `headers` and `extensions`.
    """
    parts = urlsplit(url)
    default_headers = {
        "Host": parts.netloc,
        "User-Agent": AGENT,
        "Accept": "application/pdf",
        "Accept-Encoding": "identity",
    }
    return {"headers": {**default_headers, **headers}, "extensions": {"sni_hostname": parts.hostname, "trace": trace}}


@contextmanager
def limit_connection(deadline_s: float) -> Iterator[Trace]:
    """Shut a request's connection down at a deadline.

    Timeouts of the client limit only the wait for the next byte: a server may send its headers very slowly. A duplicate
    of the socket ends the connection even if TLS uses the first one.

    Args:
        deadline_s: Deadline on the monotonic clock, in seconds.

    Yields:
        Function to pass as `trace` with the request: it receives the socket of the connection.
    """
    sockets: list[socket.socket] = []

    def shut_down() -> None:
        for connected_socket in sockets:
            with suppress(OSError):  # the server has closed the connection already
                connected_socket.shutdown(socket.SHUT_RDWR)

    def note(event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            sockets.append(info["return_value"].get_extra_info("socket").dup())
            if time.monotonic() >= deadline_s:
                shut_down()

    timer = threading.Timer(max(0.0, deadline_s - time.monotonic()), shut_down)
    timer.daemon = True
    timer.start()
    try:
        yield note
    finally:
        timer.cancel()
        timer.join()
        for connected_socket in sockets:
            connected_socket.close()
