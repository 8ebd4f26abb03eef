"""Limits on requests: host, origin, key, size, time to send, number of waiting requests.

Pure ASGI middleware, before any routing, so that it covers the API, the explorer and the tools. A web page of another
site cannot reach a server on loopback through a user's browser: the host name must be one of ours (DNS rebinding), and
so must the origin that the browser sends (cross-site requests).

A request counts as waiting from its last byte to the first byte of its response, so that slow clients block no others.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taxkg_assets.serving.problems import refuse
from taxkg_assets.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPEN_PATHS = ("/", "/docs", "/healthz")
"""Paths without a key: watchdogs have none, and the explorer's empty page asks the user for one."""

OPEN_FOLDER = "/assets/"
"""Files of the explorer's empty page."""

UNCOUNTED_PATHS = ("/healthz", "/metrics")
"""Paths that are served however many requests wait: a busy server is not a dead one."""

DRAFT_PATH = "/v1/verify"
"""Takes a whole draft, so its body may be larger."""

BODY_SECONDS = 10.0
"""Time to send a body: the largest one of 64 KiB takes it at 50 kbit/s, which no client in use is below."""


class RequestLimits:
    """Middleware that rejects requests beyond the limits, with reason and remedy."""

    def __init__(self, app: ASGIApp, *, settings: Settings, hosts: Iterable[str] = ()) -> None:
        self.app = app
        self._key = settings.api_key.get_secret_value()
        self._hosts = {*LOOPBACK, *hosts, *_split_list(settings.api_hosts)}
        self._origins = set(_split_list(settings.api_origins))
        self._most_bytes = settings.api_body_kb * 1024
        self._most_draft_bytes = max(self._most_bytes, settings.api_draft_kb * 1024)
        self._most_waiting = settings.api_waiting
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or answer it with the reason for its refusal.

        Args:
            scope: Connection.
            receive: Source of the client's messages.
            send: Sink of the server's messages.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = b""
        byte_limit = self._most_draft_bytes if scope["path"] == DRAFT_PATH else self._most_bytes
        refusal = self._find_refusal(scope["path"], Headers(scope=scope), byte_limit=byte_limit)
        if refusal is None:
            try:
                with anyio.fail_after(BODY_SECONDS):
                    body = await self._read_body(receive, byte_limit=byte_limit)
            except TimeoutError:
                refusal = _refuse(408, f"The request body did not arrive within {BODY_SECONDS:g} seconds.")
            except _BodyTooLongError:
                refusal = _too_long(byte_limit)
            except ClientDisconnect:
                return
        is_counted = scope["path"] not in UNCOUNTED_PATHS
        if refusal is None and is_counted and self._waiting >= self._most_waiting:
            refusal = _refuse(503, "Too many requests are waiting. Try again.")
            refusal.headers["Retry-After"] = "1"
        if refusal is not None:
            await refusal(scope, receive, send)
        elif is_counted:
            await self._serve_counted(scope, _replayed(body, receive), send)
        else:
            await self.app(scope, _replayed(body, receive), send)

    async def _read_body(self, receive: Receive, *, byte_limit: int) -> bytes:
        """Read the whole body, whether or not the request states its length."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > byte_limit:
                raise _BodyTooLongError
            if not message.get("more_body", False):
                return bytes(body)

    async def _serve_counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; it waits until its answer begins."""
        is_waiting = True

        def stop_waiting() -> None:
            nonlocal is_waiting
            self._waiting -= is_waiting
            is_waiting = False

        async def send_noted(message: Message) -> None:
            stop_waiting()
            await send(message)

        self._waiting += 1
        try:
            await self.app(scope, receive, send_noted)
        finally:
            stop_waiting()

    def _find_refusal(self, path: str, headers: Headers, *, byte_limit: int) -> JSONResponse | None:
        netloc = headers.get("host", "")
        host = _hostname(netloc)
        if host not in self._hosts:
            return _refuse(
                421,
                f"This server rejects requests to the host name {host!r}. To allow the name, add it to "
                "TAXKG_API_HOSTS.",
            )
        origin = headers.get("origin")
        if origin and origin not in self._origins and _netloc(origin) != netloc:
            return _refuse(
                403,
                f"Web pages of {origin} may not call this server. To allow them, add the origin to TAXKG_API_ORIGINS.",
            )
        is_open = path in OPEN_PATHS or path.startswith(OPEN_FOLDER)
        if self._key and not is_open and not self._has_key(headers):
            return _refuse(401, "This server requires a key. Send it in the header X-API-Key, or as a bearer token.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > byte_limit:
            return _too_long(byte_limit)
        return None

    def _has_key(self, headers: Headers) -> bool:
        sent_key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        return secrets.compare_digest(sent_key.encode(), self._key.encode())


class PostOnly:
    """Restricts the agent tools to POST requests, as calls are independent and need no stream or session."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a POST; answer any other method with status 405.

        Args:
            scope: Connection.
            receive: Source of the client's messages.
            send: Sink of the server's messages.
        """
        if scope["type"] == "http" and scope["method"] != "POST":
            refusal = _refuse(405, "Call the tools by POST; this server offers no event stream.")
            refusal.headers["Allow"] = "POST"
            await refusal(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class ToolsPath:
    """Serves the agent tools under /mcp as well as /mcp/, because some clients do not follow redirects of a POST."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; one to `/mcp` as if it were to `/mcp/`.

        Args:
            scope: Connection.
            receive: Source of the client's messages.
            send: Sink of the server's messages.
        """
        is_bare = scope["type"] == "http" and scope["path"] == "/mcp"
        await self.app({**scope, "path": "/mcp/", "raw_path": b"/mcp/"} if is_bare else scope, receive, send)


class _BodyTooLongError(Exception):
    pass


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that yields the body in one message, then further messages of the client."""
    is_sent = False

    async def replay() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _split_list(setting: str) -> list[str]:
    return [part.strip() for part in setting.split(",") if part.strip()]


def _hostname(netloc: str) -> str:
    """Return the name in `name:port`, without the brackets of an IPv6 address."""
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str | None:
    """Return `name:port` of an origin; None if it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _too_long(byte_limit: int) -> JSONResponse:
    return _refuse(413, f"The request body exceeds the limit of {byte_limit} bytes.")


def _refuse(status: int, detail: str) -> JSONResponse:
    """Return a refusal; it closes the connection if an unread body may still arrive."""
    return refuse(status, detail, headers={"Connection": "close"} if status in (408, 413) else None)
