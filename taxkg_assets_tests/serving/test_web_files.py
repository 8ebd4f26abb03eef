"""Pages and files of the explorer as they are sent: styles in the page, compression."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from taxkg_assets.serving.web import CONTENT_POLICY, HEADERS, SecurityHeaders, create_web_router


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI(docs_url=None)
    app.include_router(create_web_router())
    app.add_middleware(SecurityHeaders)
    return TestClient(app)


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_is_painted_without_another_request_and_allows_only_its_own_styles(
    client: TestClient, path: str
) -> None:
    page = client.get(path)
    assert 'rel="stylesheet"' not in page.text
    styles = re.findall(r"<style>(.*?)</style>", page.text, re.S)
    digests = [base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in styles]
    assert styles
    allowed = "".join(f" 'sha256-{digest}'" for digest in digests)
    assert page.headers["content-security-policy"] == CONTENT_POLICY.replace(
        "style-src 'self'", f"style-src 'self'{allowed}"
    )
    assert page.headers["x-content-type-options"] == HEADERS["X-Content-Type-Options"]


def test_a_file_is_compressed_where_the_browser_takes_it(client: TestClient) -> None:
    plain = client.get("/assets/app.js", headers={"Accept-Encoding": "identity"})
    packed = client.get("/assets/app.js", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert packed.headers["content-type"].startswith("text/javascript")
