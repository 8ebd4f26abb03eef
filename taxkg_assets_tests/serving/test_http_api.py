"""The API over a built home: answers as the command line gives them, refusals with their reasons, one release."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from fastapi.testclient import TestClient

from taxkg_assets.defs.home.store import Store
from taxkg_assets.graph.change_report import GROUPS
from taxkg_assets.serving.api_examples import BODIES, ERROR, PARAMETERS
from taxkg_assets.serving.evaluate import report_usage
from taxkg_assets.serving.http_api import create_app
from taxkg_assets.serving.release import withdraw
from taxkg_assets.serving.released import NotReleasedError
from taxkg_assets.serving.service import Service
from taxkg_assets.serving.status import table_statuses
from taxkg_assets.settings import Settings

pytestmark = pytest.mark.slow

TWO_BOXES = "How do the amounts in box 1b and box 2e relate to the total ordinary dividends in box 1a?"
BASE = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def service(built_samples: Path) -> Service:
    return Service(str(built_samples))


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[TestClient]:
    with TestClient(create_app(service), base_url=BASE) as opened:
        yield opened


def test_a_query_is_answered_with_sources_that_can_be_seen(client: TestClient) -> None:
    found = client.post("/v1/query", json={"question": TWO_BOXES, "mode": "detailed"}).json()
    assert not found["abstained"]
    assert found["detail_level"] == "detailed"
    source = found["sources"][0]
    assert source["page"] >= 1
    assert all(isinstance(box["page"], int) for box in source["bboxes"])
    assert all(box[name] == round(box[name], 2) for box in source["bboxes"] for name in ("x0", "y0", "x1", "y1"))
    picture = client.get(source["evidence"])
    assert picture.headers["content-type"] == "image/png"
    assert pymupdf.Pixmap(picture.content).width > 500


def test_the_evidence_marks_the_words_of_the_node(client: TestClient, service: Service) -> None:
    row = client.post("/v1/search", json={"question": "what is reported in box 2e", "k": 1}).json()[0]
    node = service.current.table("nodes").filter(node_id=row["node_id"]).to_dicts()[0]
    picture = pymupdf.Pixmap(service.draw_evidence(row["node_id"], zoom=1.0))
    box = next(b for b in node["bboxes"] if b["page"] == node["page"])
    inside = picture.pixel(int(box["x0_pt"]) - 1, int((box["y0_pt"] + box["y1_pt"]) / 2))
    outside = picture.pixel(3, 3)
    assert inside[2] < outside[2] - 20, "a yellow mark takes blue away"


def test_an_answer_is_the_same_for_any_number_of_passages(client: TestClient) -> None:
    body = {"question": "What do boxes 2e and 2f of Form 1099-DIV show, and who reports them?"}
    one, many = (client.post("/v1/ask", json={**body, "k": k}).json() for k in (1, 20))
    assert one["answer"] == many["answer"]
    assert one["confidence"] == many["confidence"]
    cited = [row["rank"] for row in many["results"] if row["rank"] == 1 or f"[{row['rank']}]" in many["answer"]]
    assert [row["rank"] for row in one["results"]] == cited
    assert len(cited) < len(many["results"])


def test_queried_twice_is_answered_from_memory(client: TestClient, service: Service) -> None:
    first = client.post("/v1/ask", json={"question": TWO_BOXES}).json()
    hits = service.counts.hits
    assert client.post("/v1/ask", json={"question": TWO_BOXES}).json() == first
    assert service.counts.hits == hits + 1


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("/v1/ask", {"question": " "}, 422, "must not be blank"),
        ("/v1/ask", {"question": "x" * 5000}, 422, "at most"),
        ("/v1/ask", {"question": "x", "k": 0}, 422, "k must be at least 1."),
        ("/v1/ask", {"question": "x", "sql": "drop"}, 422, "sql is not a parameter of this call."),
        ("/v1/search", {"question": "x", "document": "nothing"}, 404, "Documents:"),
        ("/v1/search", {"question": "x", "form": "9999-ZZ"}, 404, "Forms:"),
        ("/v1/search", {"question": "x", "year": 1950}, 404, "Years:"),
        ("/v1/ask", {"question": "x" * 100_000}, 413, "exceeds the limit"),
    ],
)
def test_a_bad_request_is_refused_with_its_reason(
    client: TestClient, path: str, body: dict[str, Any], status: int, reason: str
) -> None:
    reply = client.post(path, json=body)
    assert reply.status_code == status
    problem = reply.json()
    assert reason in problem["detail"]
    assert problem["code"] == {404: "not_found", 413: "too_long", 422: "invalid"}[status]


def test_every_error_has_the_same_form(client: TestClient) -> None:
    for reply in (
        client.get("/v1/nothing"),
        client.get("/mcp/"),
        client.post("/v1/ask", content="{not json", headers={"content-type": "application/json"}),
        client.get("/v1/lines"),
        client.get("/healthz", headers={"host": "elsewhere.example"}),
    ):
        assert reply.status_code >= 400
        assert set(reply.json()) == {"detail", "code"}
        assert isinstance(reply.json()["detail"], str)


def test_a_wrong_path_or_method_is_answered_with_the_right_one(client: TestClient) -> None:
    assert client.get("/v1/asks").json()["detail"] == (
        "The path /v1/asks does not exist. See /docs or /openapi.json for all calls."
    )
    assert client.get("/v1/ask").json()["detail"] == "/v1/ask does not accept GET: use POST."
    assert client.post("/v1/ask", json=[]).json()["detail"] == "The body must be a JSON object."


@pytest.mark.parametrize("path", sorted(BODIES.keys() - {"/v1/feedback"}))
def test_the_example_of_an_operation_works(client: TestClient, path: str) -> None:
    reply = client.post(path, json=BODIES[path])
    assert reply.status_code == 200, reply.text
    assert reply.json()


def test_examples_are_in_the_description(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    operations = [own for methods in described["paths"].values() for own in methods.values()]
    parameters = [one for own in operations for one in own.get("parameters", ())]
    assert all("example" in one for one in parameters)
    assert {one["name"] for one in parameters} == PARAMETERS.keys()
    bodies = [own["requestBody"]["content"]["application/json"] for own in operations if "requestBody" in own]
    assert len(bodies) == len(BODIES)
    assert all("example" in body for body in bodies)
    assert client.get("/v1/boxes?form=1099-XX&key=1").json() == ERROR


def test_a_body_that_is_not_json_is_named_as_such(client: TestClient) -> None:
    reply = client.post("/v1/ask", content="{not json", headers={"content-type": "application/json"})
    assert reply.json() == {"detail": "The body is not valid JSON (character 1).", "code": "invalid"}


def test_the_description_names_every_field_parameter_and_error(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert set(described["components"]["securitySchemes"]) == {"ApiKey", "Bearer"}
    for name, schema in described["components"]["schemas"].items():
        assert all(own.get("description") for own in schema.get("properties", {}).values()), name
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            name = f"{method} {path}"
            assert {"401", "403", "413", "421", "422", "503"} <= set(operation["responses"]), name
            assert all(own.get("description") for own in operation.get("parameters", [])), name
            reply = operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema")
            assert reply is None or "$ref" in str(reply), f"{name} has a typed reply"


def test_a_box_is_one_of_all_boxes(client: TestClient) -> None:
    every = client.get("/v1/boxes?form=1099-DIV").json()
    assert {"filer", "recipient"} <= every[0].keys()
    one = client.get("/v1/boxes?form=1099-DIV&key=2e").json()
    assert {row["box_key"] for row in one} == {"box_2e"} < {row["box_key"] for row in every}


def test_changes_are_limited_to_a_box_and_a_number(client: TestClient) -> None:
    rows = client.get("/v1/diff?name=f1099div").json()
    routine = [row["is_routine"] for row in rows]
    assert routine == sorted(routine), "routine changes come last"
    key = next(row["key"] for row in rows if row["key"])
    order = [group for group, _ in GROUPS]
    assert [row["group"] for row in rows] == sorted((row["group"] for row in rows), key=order.index)
    assert rows[0]["group"] == "Boxes"
    mine = client.get("/v1/diff", params={"name": "f1099div", "key": key}).json()
    assert {row["key"] for row in mine} == {key}
    assert len(client.get("/v1/diff?name=f1099div&k=2").json()) == 2


def test_a_node_is_read_with_its_relations(client: TestClient) -> None:
    row = client.post("/v1/search", json={"question": "section 897 gain", "k": 1}).json()[0]
    node = client.get(f"/v1/nodes/{row['node_id'].replace('#', '%23')}").json()
    assert node["document_id"] == row["document"]
    assert not {edge["relation"] for edge in node["edges"]} & {"parent_of", "follows"}
    assert client.get("/v1/nodes/nothing").status_code == 404


def test_a_trace_begins_in_the_revision_that_is_named(client: TestClient) -> None:
    path = "/v1/trace?form=1099-DIV&key=1a"
    assert client.get(f"{path}&revision=2024").json()["revision"] == "2024-01"
    assert client.get(path).json()["revision"] == "2026-01"
    refused = client.get(f"{path}&revision=1999")
    assert refused.status_code == 404
    assert "Revisions with it: 2026-01, 2024-01" in refused.json()["detail"]


def test_numbers_have_few_digits(client: TestClient) -> None:
    text = client.post("/v1/ask", json={"question": TWO_BOXES}).text
    assert re.search(r"\d\.\d", text)
    assert not re.search(r"\d\.\d{5}", text)
    assert "T" in client.get("/healthz").json()["released_at"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/boxes?form=1099-XX&key=1a",
        "/v1/lines?form=1099-XX&key=1a",
        "/v1/trace?form=1099-XX&key=1a",
        "/v1/evidence/nothing.png",
        "/v1/nothing",
    ],
)
def test_what_is_not_there_is_not_found(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("body", ['{"question": "\\ud800"}', '{"question": "a", "tag": "\\ud800"}', '{"\\ud800": NaN}'])
def test_half_a_letter_is_refused(client: TestClient, body: str) -> None:
    for path in ("/v1/search", "/v1/ask", "/v1/feedback"):
        assert client.post(path, content=body, headers={"content-type": "application/json"}).status_code == 422


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_the_tools_open_no_streams(client: TestClient, method: str) -> None:
    reply = client.request(method, "/mcp/", headers={"accept": "text/event-stream, application/json"})
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")


def test_a_body_without_a_length_is_counted(client: TestClient) -> None:
    reply = client.post("/v1/ask", content=(b"x" * 10_000 for _ in range(20)))
    assert reply.status_code == 413


def test_other_names_and_foreign_pages_are_turned_away(client: TestClient) -> None:
    assert client.get("/healthz", headers={"host": "rebound.example"}).status_code == 421
    assert client.get("/healthz", headers={"origin": "http://elsewhere.example"}).status_code == 403
    assert client.get("/healthz", headers={"origin": "http://["}).status_code == 403
    assert client.get("/healthz", headers={"origin": BASE}).status_code == 200


@pytest.mark.parametrize("path", ["/mcp/", "/v1/ask", "/v1/evidence/x.png", "/metrics", "/docs", "/"])
def test_host_and_origin_are_checked_before_every_path(client: TestClient, path: str) -> None:
    for method in ("GET", "POST"):
        assert client.request(method, path, headers={"host": "rebound.example"}).status_code == 421
        assert client.request(method, path, headers={"origin": "http://elsewhere.example"}).status_code == 403
        assert client.request(method, path, headers={"origin": "null"}).status_code == 403


def test_with_a_key_nothing_is_reported_without_it(built_samples: Path) -> None:
    settings = Settings(api_key="a secret")
    client = TestClient(create_app(Service(str(built_samples), settings=settings)), base_url=BASE)
    assert client.get("/v1/boxes?form=1099-DIV&key=2e").status_code == 401
    assert client.get("/v1/boxes?form=1099-DIV&key=2e", headers={"x-api-key": "another"}).status_code == 401
    assert client.get("/v1/boxes?form=1099-DIV&key=2e", headers={"x-api-key": "a secret"}).status_code == 200
    assert client.get("/healthz").status_code == 200


def test_questions_and_judgments_are_kept_where_the_log_is_on(sample_home: Path) -> None:
    service = Service(str(sample_home), settings=Settings(query_log=True))
    with TestClient(create_app(service), base_url=BASE) as client:
        reply = client.post("/v1/ask", json={"question": TWO_BOXES})
        client.post("/v1/search", json={"question": "box | 2e <script>"})
        judgment = {"query_id": reply.headers["x-query-id"], "is_helpful": False, "comment": "too long"}
        assert client.post("/v1/feedback", json=judgment).status_code == 204
    figures, text, uri = report_usage(str(sample_home))
    assert (figures["questions"], figures["questions for an answer"], figures["judged helpful"]) == (2, 1, 0)
    assert "too long" in text
    assert "<script>" not in text
    assert Path(uri).read_text(encoding="utf8") == text


def test_a_cell_is_read_by_its_headers(client: TestClient) -> None:
    rows = client.post("/v1/table", json={"question": "How many days are needed for common stock?"}).json()
    assert "61" in rows[0]["value"]
    assert rows[0]["row"] == "Common stock"
    assert client.post("/v1/table", json={"question": "Who painted the ceiling of the chapel?"}).json() == []


def test_revisions_are_compared_within_the_release(client: TestClient) -> None:
    rows = client.get("/v1/diff?name=1099-DIV").json()
    assert {row["kind"] for row in rows} & {"box added", "text changed"}
    assert client.get("/v1/diff?name=1099-DIV&older=1900&newer=1901").status_code == 404


def test_without_a_log_nothing_is_kept(client: TestClient, service: Service) -> None:
    reply = client.post("/v1/feedback", json={"query_id": "0" * 32, "is_helpful": True})
    assert reply.status_code == 409
    assert not service.current.store.exists("query_log")


def test_a_newer_release_takes_over(sample_home: Path) -> None:
    service = Service(str(sample_home))
    before = service.current.row["release_ix"]
    store = Store(sample_home)
    rows = store.read("release")
    newer = rows.with_columns(release_ix=rows["release_ix"] + 1)
    state = store.state("release")
    assert state is not None
    store.write("release", rows.vstack(newer), inputs=state.inputs)
    service._next_check = 0.0
    assert service.current.row["release_ix"] == before + 1
    withdraw(str(sample_home))
    service._next_check = 0.0
    assert service.current.row["release_ix"] == before
    with pytest.raises(NotReleasedError, match="no earlier release"):
        withdraw(str(sample_home))
    states = {table.table: table.state for table in table_statuses(store)}
    assert states["release"] == "current", "a build leaves it withdrawn"


def test_a_home_that_cannot_be_read_leaves_the_release_served(
    sample_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service(str(sample_home))
    client = TestClient(create_app(service), base_url=BASE)

    def look() -> dict[str, Any]:
        service._next_check = 0.0
        reply = client.get("/healthz")
        assert reply.status_code == 200
        return dict(reply.json())

    before = look()
    assert (before["status"], before["problem"]) == ("ok", "")
    away = (sample_home / "tables").rename(sample_home / "away")
    assert [look()["status"] for _ in range(2)] == ["stale", "stale"]
    assert str(sample_home) not in look()["problem"]
    assert client.post("/v1/search", json={"question": TWO_BOXES, "form": "1099-DIV"}).json()
    assert "taxkg_release_stale 1.0" in client.get("/metrics").text
    reply = client.get("/v1/diff?name=1099-DIV")
    assert (reply.status_code, "cannot be read" in reply.text) == (503, True)
    assert sum("still served" in line for line in caplog.messages) == 1
    away.rename(sample_home / "tables")
    assert look() == before


def test_figures_count_requests(client: TestClient) -> None:
    client.get("/healthz")
    assert 'taxkg_requests_total{path="/healthz",status="200"}' in client.get("/metrics").text
