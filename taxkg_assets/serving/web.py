"""The web explorer and the API reference as files of this package: no request leaves for another host."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from dataclasses import dataclass
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

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'{}; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
CONTENT_POLICY = _POLICY.format("")
"""Nothing but this server's own files runs or loads, and no other page can frame it."""

_STYLE_LINK = re.compile(r'<link rel="stylesheet" href="assets/(?P<name>[\w.]+)">')
_LEAST_COMPRESSED_BYTES = 1024

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class SecurityHeaders:
    """Adds the security headers `HEADERS` to every response that does not set them itself."""

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
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file of the explorer as it is sent.

    Attributes:
        content: Its bytes.
        compressed: The same, compressed by gzip; empty for a small file.
        headers: Media type, digest, and the content policy of a page.
    """

    content: bytes
    compressed: bytes
    headers: dict[str, str]


def create_web_router() -> APIRouter:
    """Create the routes of the explorer (`/`), the API reference (`/docs`) and their files (`/assets/...`).

    Returns:
        Router at the root.
    """
    router = APIRouter(include_in_schema=False)
    files = _read_files()

    @router.get("/")
    async def explorer(request: Request) -> Response:
        return _file_response(request, "index.html", files)

    @router.get("/docs")
    async def reference(request: Request) -> Response:
        return _file_response(request, "docs.html", files)

    @router.get("/assets/{name}")
    async def asset(request: Request, name: str) -> Response:
        return _file_response(request, name, files)

    return router


def _read_files() -> dict[str, WebFile]:
    """Return the files of the explorer by name."""
    folder = resources.files("taxkg_assets.serving") / FOLDER
    contents = {entry.name: entry.read_bytes() for entry in folder.iterdir() if _suffix(entry.name) in MEDIA_TYPES}
    files = {}
    for name, content in contents.items():
        policy = CONTENT_POLICY
        if _suffix(name) == ".html":
            content, policy = _inline_styles(content, contents)
        headers = {
            "Content-Type": MEDIA_TYPES[_suffix(name)],
            "ETag": f'"{hashlib.sha256(content).hexdigest()[:32]}"',
            "Cache-Control": "no-cache",
            "Content-Security-Policy": policy,
            "Vary": "Accept-Encoding",
        }
        compressed = gzip.compress(content, mtime=0) if len(content) >= _LEAST_COMPRESSED_BYTES else b""
        files[name] = WebFile(content, compressed, headers)
    return files


def _inline_styles(page: bytes, contents: dict[str, bytes]) -> tuple[bytes, str]:
    """Return a page with its style sheets in it, so that it is painted without another request, and its policy.

    Args:
        page: A page that links style sheets.
        contents: Files of the explorer by name.

    Returns:
        The page, and the content policy that allows exactly these styles.
    """
    digests = []

    def inline(link: re.Match[str]) -> str:
        styles = contents[link["name"]].decode()
        digests.append(base64.b64encode(hashlib.sha256(styles.encode()).digest()).decode())
        return f"<style>{styles}</style>"

    text = _STYLE_LINK.sub(inline, page.decode())
    return text.encode(), _POLICY.format("".join(f" 'sha256-{digest}'" for digest in digests))


def _suffix(name: str) -> str:
    return name[name.rfind(".") :]


def _file_response(request: Request, name: str, files: dict[str, WebFile]) -> Response:
    """Return one file, or an empty 304 where the browser has the same bytes."""
    file = files.get(name)
    if file is None:
        raise HTTPException(404, f"The explorer has no file {name!r}.")
    if request.headers.get("if-none-match") == file.headers["ETag"]:
        return Response(status_code=304, headers=file.headers)
    if file.compressed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.compressed, headers={**file.headers, "Content-Encoding": "gzip"})
    return Response(file.content, headers=file.headers)
