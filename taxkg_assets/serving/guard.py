"""Who may ask a server, and how much: host, origin, key, size, number of waiting requests.

Pure ASGI, before any routing, so that one guard stands before the API, the explorer and the tools alike. A web page
from elsewhere cannot reach a server on loopback through its reader's browser: the name it calls must be one of ours
(DNS rebinding), and so must the origin that the browser states (cross-site requests).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from urllib.parse import urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taxkg_assets.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPEN_PATHS = ("/", "/healthz")
"""Paths that need no key: a watchdog carries none, and the explorer's bare page asks its reader for one."""


class Guard:
    """Turns away what should not be served, with the reason and the remedy."""

    def __init__(self, app: ASGIApp, *, settings: Settings, hosts: Iterable[str] = ()) -> None:
        self.app = app
        self._key = settings.api_key.get_secret_value()
        self._hosts = {*LOOPBACK, *hosts, *_listed(settings.api_hosts)}
        self._origins = set(_listed(settings.api_origins))
        self._most_bytes = settings.api_body_kb * 1024
        self._most_waiting = settings.api_waiting
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope["path"], Headers(scope=scope))
        if refusal is None and self._waiting >= self._most_waiting:
            headers = {"Retry-After": "1"}
            refusal = JSONResponse({"detail": "Too many requests are waiting: try again."}, 503, headers=headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        self._waiting += 1
        try:
            await self._serve(scope, receive, send)
        finally:
            self._waiting -= 1

    def _refusal(self, path: str, headers: Headers) -> JSONResponse | None:
        netloc = headers.get("host", "")
        host = _hostname(netloc)
        if host not in self._hosts:
            return _refused(421, f"This server does not answer to the name {host!r}: add it to TAXKG_API_HOSTS.")
        origin = headers.get("origin")
        if origin and origin not in self._origins and urlsplit(origin).netloc != netloc:
            return _refused(403, f"Pages of {origin} may not call this server: add the origin to TAXKG_API_ORIGINS.")
        if self._key and path not in OPEN_PATHS and not self._is_known(headers):
            return _refused(401, "A key is needed: send it as X-API-Key, or as a bearer token.")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._most_bytes:
            return _refused(413, f"The body may have {self._most_bytes} bytes at most.")
        return None

    def _is_known(self, headers: Headers) -> bool:
        given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        return secrets.compare_digest(given.encode(), self._key.encode())

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count the bytes of a body that does not say how long it is."""
        seen = 0

        async def receive_counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most_bytes:
                raise HTTPException(413, f"The body may have {self._most_bytes} bytes at most.")
            return message

        await self.app(scope, receive_counted, send)


def _listed(setting: str) -> list[str]:
    return [part.strip() for part in setting.split(",") if part.strip()]


def _hostname(netloc: str) -> str:
    """The name in `name:port`, brackets of an IPv6 address aside."""
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


def _refused(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, status)
