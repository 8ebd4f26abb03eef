"""A server on loopback that speaks the wire protocols of models: answers as scripted, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does with one request."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    silent_seconds: float = 0.0
    drip_seconds: float = 0.0
    drips_head: bool = False
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it came over the wire."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(slots=True)
class Loopback:
    """The server's address, what it was sent, and what it will say."""

    url: str
    answer: Callable[[Sent, int], Answer]
    sent: list[Sent] = field(default_factory=list)


@contextmanager
def loopback(answer: Callable[[Sent, int], Answer]) -> Iterator[Loopback]:
    """Serve until the test is over; `answer` gets each request and how many came before it."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            sent = Sent(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            with lock:
                number = len(state.sent)
                state.sent.append(sent)
            reported = state.answer(sent, number)
            text = reported.body if isinstance(reported.body, bytes) else json.dumps(reported.body).encode()
            time.sleep(reported.silent_seconds)
            try:
                self._write(reported, text)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client has lost patience, as it should

        def _write(self, reported: Answer, text: bytes) -> None:
            self.send_response(reported.status)
            for name, value in {"content-type": "application/json", **reported.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(text)))
            if reported.drips_head:
                self._drip(b"".join(self._headers_buffer), reported.drip_seconds)
                self._headers_buffer = []
            self.end_headers()
            if reported.is_cut:
                self.wfile.write(text[: len(text) // 2])
                self.close_connection = True
            elif reported.drip_seconds:
                self._drip(text, reported.drip_seconds)
            else:
                self.wfile.write(text)

        def _drip(self, text: bytes, seconds: float) -> None:
            for byte in text:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(seconds)

        def log_message(self, format: str, *args: Any) -> None:
            """Be quiet."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that goes away is part of the tests."""

    server = Quiet(("127.0.0.1", 0), Handler)
    state = Loopback(f"http://127.0.0.1:{server.server_address[1]}", answer)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
