"""The explorer's files as they are served, and the endpoints for readers who browse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest
from fastapi.testclient import TestClient

from taxkg_assets.serving.http_api import create_app
from taxkg_assets.serving.service import Service
from taxkg_assets.settings import Settings

pytestmark = pytest.mark.slow

BASE = "http://127.0.0.1:8000"
FIRST_VIEW_BYTES = 150_000


@pytest.fixture(scope="module")
def client(built_samples: Path) -> Iterator[TestClient]:
    with TestClient(create_app(Service(str(built_samples))), base_url=BASE) as opened:
        yield opened


@pytest.mark.parametrize("page", ["/", "/docs"])
def test_a_page_loads_nothing_from_elsewhere(client: TestClient, page: str) -> None:
    files = [client.get(page)]
    names = re.findall(r'(?:src|href)="(assets/[^"]+)"', files[0].text)
    files += [client.get(f"/{name}") for name in names]
    assert len(files) >= 3
    for file in files:
        assert file.status_code == 200
        assert file.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in file.headers["content-security-policy"]
        assert not re.search(r"https?://(?!www\.w3\.org)", file.text)


def test_every_module_that_a_page_imports_is_served(client: TestClient) -> None:
    waiting, seen, size = ["app.js", "docs.js"], set(), len(client.get("/").content)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        reply = client.get(f"/assets/{name}")
        assert reply.status_code == 200, name
        assert reply.headers["content-type"].startswith("text/javascript")
        size += len(reply.content)
        waiting += re.findall(r'from "\./([^"]+)"', reply.text)
    assert size < FIRST_VIEW_BYTES


def test_a_file_that_has_not_changed_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/assets/app.js")
    again = client.get("/assets/app.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/assets/nothing.js").status_code == 404
    assert client.get("/assets/..%2Fhttp_api.py").status_code == 404


def test_a_document_is_listed_and_described(client: TestClient) -> None:
    rows = client.get("/v1/documents").json()
    assert len({row["document"] for row in rows}) == len(rows) > 3
    form = next(row for row in rows if row["doc_type"] == "form")
    detail = client.get(f"/v1/documents/{form['document']}").json()
    assert detail["pages"] == form["pages"]
    assert form["document"] in detail["revisions"]
    assert next(heading["level"] for heading in detail["outline"]) == 1
    assert all(1 <= heading["page"] <= detail["pages"] for heading in detail["outline"])


def test_a_page_states_its_paragraphs_tables_and_size(client: TestClient) -> None:
    rows = client.get("/v1/documents").json()
    booklet = next(row for row in rows if row["doc_type"] == "filer_instructions")
    pages = [client.get(f"/v1/documents/{booklet['document']}/pages/{n + 1}").json() for n in range(booklet["pages"])]
    assert all(page["paragraphs"] for page in pages)
    cells = [cell for page in pages for table in page["tables"] for cell in table["cells"]]
    assert any(cell["column_path"] and cell["text"] for cell in cells)
    for page in pages:
        boxes = [box for row in page["paragraphs"] for box in row["bboxes"] if box["page"] == page["page"]]
        assert all(0 <= box["x0"] < box["x1"] <= page["width"] and box["y1"] <= page["height"] for box in boxes)
    picture = client.get(f"/v1/documents/{booklet['document']}/pages/1.png?zoom=1")
    assert abs(pymupdf.Pixmap(picture.content).width - pages[0]["width"]) <= 1
    assert float(picture.headers["x-page-width"]) == pytest.approx(pages[0]["width"], abs=0.1)


def test_a_form_lists_its_fields_where_they_are_printed(client: TestClient) -> None:
    forms = client.get("/v1/forms").json()
    own = next(form for form in forms if form["form"] == "1099-DIV")["revisions"][0]
    fields = client.get("/v1/fields", params={"document": own["document"]}).json()
    assert len(fields) == own["fields"]
    ordinary = next(field for field in fields if field["key"] == "box_1a")
    assert "ordinary dividends" in ordinary["label"].lower()
    assert ordinary["bbox"]["page"] == ordinary["page"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/v1/documents/nothing", "Documents:"),
        ("/v1/documents/nothing/pages/1", "Documents:"),
        ("/v1/fields?document=nothing", "Documents:"),
        ("/v1/documents/sample-i1099div--2024-01/pages/99", "Its pages are"),
        ("/v1/documents/sample-i1099div--2024-01/pages/99.png", "Its pages are"),
    ],
)
def test_what_is_not_there_says_what_is(client: TestClient, path: str, reason: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 404
    assert reason in reply.json()["detail"]


def test_an_answer_can_be_limited_to_a_form_and_a_year(client: TestClient) -> None:
    queried = {"question": "What is reported in box 1a?", "form": "1099-DIV", "year": 2024}
    found = client.post("/v1/ask", json=queried).json()
    assert found["results"]
    assert {row["form"] for row in found["results"]} == {"1099-DIV"}
    assert client.post("/v1/ask", json={**queried, "year": 1950}).status_code == 404


def test_changes_can_be_had_without_routine(client: TestClient) -> None:
    every = client.get("/v1/diff?name=f1099div").json()
    some = client.get("/v1/diff?name=f1099div&routine=false").json()
    assert 0 < len(some) <= len(every)
    assert not any(row["is_routine"] for row in some)


def test_bare_pages_need_no_key_and_everything_else_does(built_samples: Path) -> None:
    service = Service(str(built_samples), settings=Settings(api_key="secret"))
    with TestClient(create_app(service), base_url=BASE) as client:
        assert [client.get(path).status_code for path in ("/", "/docs", "/assets/app.js")] == [200, 200, 200]
        closed = ("/openapi.json", "/v1/documents", "/v1/forms", "/v1/documents/x/pages/1.png")
        assert {client.get(path).status_code for path in closed} == {401}
