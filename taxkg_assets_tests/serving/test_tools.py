"""The tools as the protocol's own client sees them, over standard input and output and over HTTP."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx
import pymupdf
import pytest
from mcp import Client, StdioServerParameters

from taxkg_assets.serving.service import Service
from taxkg_assets.serving.tools import create_tools

pytestmark = pytest.mark.slow


async def use_every_tool(client: Client) -> None:
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert {"search", "ask", "box", "line", "trace", "table", "diff", "documents", "fields", "evidence"} <= tools
    answer = await client.call_tool("ask", {"question": "Is section 897 gain part of ordinary dividends?"})
    assert answer.structured_content is not None
    assert answer.structured_content["results"]
    found = await client.call_tool("search", {"question": "what is reported in box 2e", "k": 1})
    row = json.loads(found.content[0].text)[0] if found.structured_content is None else found.structured_content
    row = row["result"][0] if "result" in row else row
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


def test_an_agent_finds_a_form_its_fields_and_its_changes(built_samples: Path) -> None:
    async def run() -> None:
        async with Client(create_tools(Service(str(built_samples)))) as client:
            listed = await client.call_tool("documents", {"words": "form 1099-DIV 2026"})
            rows = listed.structured_content["result"]
            assert {row["form"] for row in rows} == {"1099-DIV"}
            form = next(row for row in rows if row["doc_type"] == "form")
            told = await client.call_tool("fields", {"document": form["document"], "k": 3})
            fields = told.structured_content["result"]
            assert fields[0]["key"] == "box_1a"
            assert len(fields) == 3
            changed = await client.call_tool("diff", {"name": "f1099div", "k": 2})
            changes = changed.structured_content["result"]
            assert len(changes) == 2
            assert not any(row["is_routine"] for row in changes)

    anyio.run(run)


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
    for _ in range(600):
        assert process.poll() is None, "the server stopped"
        try:
            if httpx.get(f"{address}/healthz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail("the server did not come up")


def test_tools_over_http(served: str) -> None:
    async def run() -> None:
        async with Client(f"{served}/mcp/") as client:
            await use_every_tool(client)

    anyio.run(run)


def test_an_open_address_needs_a_key(built_samples: Path) -> None:
    arguments = ["-m", "taxkg_assets.serving.cli", "serve", "--home", str(built_samples), "--host", "0.0.0.0"]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "TAXKG_API_KEY" in done.stderr
