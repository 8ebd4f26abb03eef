"""The explorer over the bundled samples in headless Chromium: fixtures of its tests."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

WIDE = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}
PATIENCE_MS = 60_000
"""Longest wait of a browser test: its server and other tests share two cores."""
SIZES = {"wide": WIDE, "phone": PHONE}
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def explorer_url(built_samples: Path) -> Iterator[str]:
    """The address of a server over the samples."""
    from taxkg_assets.serving.http_api import create_app
    from taxkg_assets.serving.service import Service

    config = uvicorn.Config(create_app(Service(str(built_samples))), port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium for one module: its driver keeps an event loop running, and other tests start their own.

    Skips with a reason where there is none.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=chromium, args=[*FLAGS])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Any, explorer_url: str) -> Iterator[Callable[..., Any]]:
    """Opens an address in a window of a size; an error in the console or a request to another host fails the test."""
    complaints: list[str] = []
    contexts = []

    def opened(path: str, size: dict[str, int] = WIDE, *, is_quiet: bool = True, scheme: str = "light") -> Any:
        context = browser.new_context(viewport=size, color_scheme=scheme)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda sent: None if _is_own(sent.url, explorer_url) else complaints.append(sent.url))
        if is_quiet:
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
            page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(explorer_url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _is_own(url: str, own: str) -> bool:
    return url.startswith((own, "blob:", "data:"))


def fits(page: Any) -> bool:
    """Whether a page is no wider than its window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def find_serious_faults(page: Any) -> list[tuple[str, str]]:
    """Rules of axe-core that a page breaks seriously, each with the element; skips where axe is not installed."""
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf8"))
    found = page.evaluate("axe.run()")
    assert found["passes"]
    return [
        (fault["id"], node["html"][:200])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
