"""The web explorer and the API reference as files of this package: no request leaves for another host."""

from __future__ import annotations

import hashlib
from importlib import resources

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FOLDER = "explorer"
"""Folder of this package that holds the pages."""

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Nothing but this server's own files runs or loads, and no other page can frame it."""

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class SecurityHeaders:
    """Adds the security headers `HEADERS` to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request with `HEADERS` added to its response.

        Args:
            scope: Connection.
            receive: Source of the client's messages.
            send: Sink of the server's messages.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)


def create_web_router() -> APIRouter:
    """Create the routes of the explorer (`/`), the API reference (`/docs`) and their files (`/assets/...`).

    Returns:
        Router at the root.
    """
    router = APIRouter(include_in_schema=False)
    folder = resources.files("taxkg_assets.serving") / FOLDER
    files = {entry.name: entry.read_bytes() for entry in folder.iterdir() if _suffix(entry.name) in MEDIA_TYPES}

    @router.get("/")
    def explorer(request: Request) -> Response:
        return _file_response(request, "index.html", files)

    @router.get("/docs")
    def reference(request: Request) -> Response:
        return _file_response(request, "docs.html", files)

    @router.get("/assets/{name}")
    def asset(request: Request, name: str) -> Response:
        return _file_response(request, name, files)

    return router


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]


def _file_response(request: Request, name: str, files: dict[str, bytes]) -> Response:
    """Return one file, or an empty 304 where the browser has the same bytes."""
    content = files.get(name)
    if content is None:
        raise HTTPException(404, f"The explorer has no file {name!r}.")
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=MEDIA_TYPES[_suffix(name)], headers=headers)
