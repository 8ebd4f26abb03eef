"""The transcript of the servers states what they say today; `python docs/transcript.py HOME` writes it again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import anyio
import pytest
from fastapi.testclient import TestClient
from mcp import Client

from taxkg_assets.serving.http_api import create_app
from taxkg_assets.serving.service import Service
from taxkg_assets.serving.tools import create_tools

pytestmark = pytest.mark.slow

DOCS = Path(__file__).resolve().parents[2] / "docs"


def load_transcript() -> ModuleType:
    spec = importlib.util.spec_from_file_location("transcript", DOCS / "transcript.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["transcript"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def service(built_samples: Path) -> Service:
    return Service(str(built_samples))


def test_the_page_states_what_both_servers_say(service: Service) -> None:
    transcript, page = load_transcript(), (DOCS / "transcript.md").read_text(encoding="utf8")

    async def ask_tools() -> list[str]:
        async with Client(create_tools(service)) as client:
            return [
                transcript.summarize(transcript.read_tool(await client.call_tool(call.tool, call.arguments)))
                for call in transcript.CALLS
            ]

    with TestClient(create_app(service), base_url="http://127.0.0.1:8000") as client:
        for call, by_tool in zip(transcript.CALLS, anyio.run(ask_tools), strict=True):
            assert call.as_curl() in page
            by_http = transcript.summarize(client.request(call.method, call.path, json=call.body).json())
            assert by_http == by_tool, "both doors lead to the same answer"
            assert page.count(by_tool) == 2, "once over HTTP, once over standard input and output"


def test_what_is_shown_is_cut_where_an_ellipsis_is() -> None:
    shorten = load_transcript().shorten
    assert shorten([1, 2, 3, 4]) == [1, 2, "… 2 more"]
    assert shorten({"via": 1, "answer": None, "label": "word " * 40}) == {
        "answer": None,
        "label": "word " * 31 + "word …",
    }
