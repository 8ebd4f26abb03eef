"""The tools as the protocol's own client sees them, over standard input and output and over HTTP."""

from __future__ import annotations

import base64
import importlib.metadata
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import httpx
import pymupdf
import pytest
from mcp import Client, StdioServerParameters

from taxkg_assets.serving.service import Service
from taxkg_assets.serving.tools import create_tools
from taxkg_assets_tests.serving.homes import run_here

pytestmark = pytest.mark.slow

START_SECONDS = 240.0


async def use_every_tool(client: Client) -> None:
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert {"search", "ask", "box", "line", "trace", "table", "diff", "documents", "fields", "evidence"} <= tools
    answer = await client.call_tool("ask", {"question": "Is section 897 gain part of ordinary dividends?"})
    assert answer.structured_content is not None
    assert answer.structured_content["sources"]
    found = await client.call_tool("search", {"question": "what is reported in box 2e", "k": 1})
    row = found.structured_content["passages"][0]
    assert json.loads(found.content[0].text)["passages"][0]["node_id"] == row["node_id"]
    picture = (await client.call_tool("evidence", {"node_id": row["node_id"]})).content[0]
    assert pymupdf.Pixmap(base64.b64decode(picture.data)).width > 500
    wrong = await client.call_tool("box", {"form": "1099-XX", "key": "1a"})
    assert wrong.is_error
    assert "Forms:" in wrong.content[0].text


def test_tools_in_memory(built_samples: Path) -> None:
    async def run() -> None:
        async with Client(create_tools(Service(str(built_samples)))) as client:
            await use_every_tool(client)

    anyio.run(run)


def test_every_parameter_of_a_tool_is_described(built_samples: Path) -> None:
    async def run() -> None:
        async with Client(create_tools(Service(str(built_samples)))) as client:
            for tool in (await client.list_tools()).tools:
                assert tool.description
                for name, schema in tool.input_schema.get("properties", {}).items():
                    assert schema.get("description"), f"{tool.name}.{name}"

    anyio.run(run)


def call(service: Service, tool: str, **arguments: object) -> Any:
    """The result of a tool as its client sees it."""

    async def run() -> Any:
        async with Client(create_tools(service)) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(run)


@pytest.fixture(scope="module")
def service(built_samples: Path) -> Service:
    return Service(str(built_samples))


def test_every_field_of_a_reply_is_described(service: Service) -> None:
    async def run() -> None:
        async with Client(create_tools(service)) as client:
            for tool in (await client.list_tools()).tools:
                if tool.name == "evidence":
                    continue
                assert tool.output_schema is not None
                models = [tool.output_schema, *tool.output_schema.get("$defs", {}).values()]
                for model in models:
                    for name, schema in model["properties"].items():
                        assert schema.get("description"), f"{tool.name}: {model['title']}.{name}"

    anyio.run(run)


def test_an_agent_finds_a_form_its_fields_and_its_changes(service: Service) -> None:
    rows = call(service, "documents", words="form 1099-DIV 2026").structured_content["documents"]
    assert {row["form"] for row in rows} == {"1099-DIV"}
    form = next(row for row in rows if row["doc_type"] == "form")
    fields = call(service, "fields", document=form["document"], k=3).structured_content
    assert fields["fields"][0]["key"] == "box_1a"
    assert len(fields["fields"]) == 3 < fields["total"]
    keys = [row["key"] for row in call(service, "fields", document=form["document"]).structured_content["fields"]]
    assert len(keys) == len(set(keys)), "copies of a form are listed once"
    changes = call(service, "diff", name="f1099div", k=2).structured_content
    assert len(changes["changes"]) == 2 < changes["total"]
    assert not any(row["is_routine"] for row in changes["changes"])


def test_a_reply_is_sized_for_an_agent(service: Service) -> None:
    queried = {"question": "Is section 897 gain part of ordinary dividends?"}
    whole = len(service.ask(queried["question"], k=5).model_dump_json())
    for tool, arguments in (
        ("ask", queried),
        ("search", queried),
        ("diff", {"name": "f1099div"}),
        ("box", {"form": "1099-DIV", "key": "2e"}),
        ("line", {"form": "1099-DIV", "key": "2e"}),
    ):
        said = call(service, tool, **arguments)
        assert len(said.content) == 1, "one block of text"
        assert len(said.content[0].text) < min(8000, whole / 2), tool


def test_an_answer_names_the_passages_that_it_cites(service: Service) -> None:
    found = call(service, "ask", question="Is section 897 gain part of ordinary dividends?").structured_content
    cited = {int(number) for number in re.findall(r"\[(\d+)\]", found["answer"])}
    assert {source["number"] for source in found["sources"]} == cited
    node = call(service, "passage", node_id=found["sources"][0]["node_id"]).structured_content
    assert node["document"] == found["sources"][0]["document"]
    assert node["rectangles"][0][0] == node["page"]
    silent = call(service, "ask", question="How do I bake bread?", k=2).structured_content
    assert silent["abstained"]
    assert silent["answer"] is None
    assert len(silent["sources"]) == 2


def test_one_revision_of_a_box_or_line_is_returned_and_the_others_named(service: Service) -> None:
    for tool in ("box", "line"):
        newest = call(service, tool, form="1099-DIV", key="2e").structured_content
        older = call(service, tool, form="1099-DIV", key="2e", revision="2024").structured_content
        assert (newest["revision"], older["revision"]) == ("2026-01", "2024-01")
        assert newest["revisions"] == older["revisions"] == ["2026-01", "2024-01"]
    assert {own["reader"] for own in call(service, "box", form="1099-DIV", key="2e").structured_content["texts"]} >= {
        "filer",
        "recipient",
    }


def test_empty_fields_cost_an_agent_nothing(service: Service) -> None:
    form = call(service, "documents", words="form 1099-DIV 2026").structured_content["documents"][0]
    reply = call(service, "fields", document=form["document"])
    assert '""' not in reply.content[0].text
    assert any("" in row.values() for row in reply.structured_content["fields"])
    assert json.loads(call(service, "documents", words="nowhere").content[0].text) == {"total": 0, "documents": []}


def test_a_comparison_without_a_change_names_its_revisions(service: Service) -> None:
    reply = call(service, "diff", name="f1099div", key="box_99").structured_content
    assert (reply["total"], reply["older"], reply["newer"]) == (
        0,
        "sample-f1099div--2024-01",
        "sample-f1099div--2026-01",
    )


def test_a_comparison_of_equal_documents_names_both(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Service, "compare", lambda *_: [])
    reply = call(service, "diff", name="f1099div").structured_content
    assert (reply["older"], reply["newer"]) == ("sample-f1099div--2024-01", "sample-f1099div--2026-01")
    assert reply["changes"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("ask", {"question": ""}, "question must not be empty."),
        ("ask", {"question": "x", "k": 99}, "k must be at most 50."),
        ("search", {}, "question is required."),
        ("evidence", {"node_id": "nothing"}, "Use the `node_id` of a search result."),
        ("passage", {"node_id": "nothing"}, "no node 'nothing'"),
        ("diff", {"name": "f0"}, "Names: "),
        ("box", {"form": "1099-DIV", "key": "2e", "revision": "1999"}, "Revisions with it: 2026-01, 2024-01."),
        ("line", {"form": "1099-DIV", "key": "2e", "revision": "1999"}, "No revision '1999'"),
    ],
)
def test_what_is_wrong_is_one_sentence(service: Service, tool: str, arguments: dict[str, object], said: str) -> None:
    wrong = call(service, tool, **arguments)
    assert wrong.is_error
    assert said in wrong.content[0].text
    assert "\n" not in wrong.content[0].text
    assert not re.search("pydantic|Error executing|%23|taxkg diff", wrong.content[0].text)


def test_the_server_states_its_version(service: Service) -> None:
    assert create_tools(service)._lowlevel_server.version == importlib.metadata.version("taxkg")


def test_tools_over_standard_input_and_output(built_samples: Path) -> None:
    arguments = ["-m", "taxkg_assets.serving.cli", "mcp", "--home", str(built_samples)]

    async def run() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
            await use_every_tool(client)

    anyio.run(run)


@pytest.fixture(scope="module")
def served(built_samples: Path) -> Iterator[str]:
    """`taxkg serve` in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["-m", "taxkg_assets.serving.cli", "serve", "--home", str(built_samples), "--port", str(port)]
    with subprocess.Popen([sys.executable, *arguments]) as process:
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for(address, process)
            yield address
        finally:
            process.terminate()


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server stopped"
        with suppress(httpx.TransportError):
            if httpx.get(f"{address}/healthz").status_code == 200:
                return
        time.sleep(0.05)
    pytest.fail(f"the server did not answer within {START_SECONDS:.0f} s")


@pytest.mark.parametrize("path", ["/mcp/", "/mcp"])
def test_tools_over_http(served: str, path: str) -> None:
    async def run() -> None:
        async with Client(f"{served}{path}") as client:
            await use_every_tool(client)

    anyio.run(run)


def test_an_open_address_needs_a_key(built_samples: Path) -> None:
    done = run_here("serve", "--home", str(built_samples), "--host", "0.0.0.0")
    assert done.returncode == 2
    assert "TAXKG_API_KEY" in done.stderr
