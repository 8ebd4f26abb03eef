"""Writes transcript.md: what `taxkg serve` and `taxkg mcp` say over a home built from the bundled samples.

`python docs/transcript.py HOME` asks a server by curl and the official MCP client, over HTTP and over standard input
and output. A test asks the same again and fails where the page is no longer true.
"""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

HERE = Path(__file__).resolve().parent
CLI = [sys.executable, "-m", "taxkg_assets.serving.cli"]
WIDEST, MOST = 160, 2
"""Letters of a text, an answer's own aside, and items of a list that are shown."""

LEFT_OUT = ("bboxes", "via", "cell", "model", "created_by", "canonical_id", "source", "group_id", "chunk_id", "text")
"""Parts of an answer that would fill pages."""


@dataclass(frozen=True, slots=True)
class Call:
    """One question to the HTTP API and the tool that answers the same."""

    about: str
    method: str
    path: str
    body: dict[str, Any] | None
    tool: str
    arguments: dict[str, Any]

    def as_curl(self) -> str:
        """The command as one types it."""
        body = (
            f" -H 'content-type: application/json' \\\n     -d {shlex.quote(json.dumps(self.body))}"
            if self.body
            else ""
        )
        return f"curl -s {shlex.quote('localhost:8000' + self.path)}{body}"


def _ask(about: str, question: str) -> Call:
    return Call(about, "POST", "/v1/ask", {"question": question, "k": 3}, "ask", {"question": question, "k": 3})


_TABLE = "How many days must common stock be held?"
CALLS = (
    Call("A box", "GET", "/v1/boxes?form=1099-DIV&key=2e", None, "box", {"form": "1099-DIV", "key": "2e"}),
    _ask("A comparison", "Where is the FATCA check box on the 2024 form and where on the invented 2026 one?"),
    Call("A table", "POST", "/v1/table", {"question": _TABLE}, "table", {"question": _TABLE}),
    _ask("A question that the corpus does not answer", "What is the standard mileage rate for business driving?"),
)


def shorten(value: Any) -> Any:
    """An answer as it is shown: without what fills pages, long texts and lists cut where an ellipsis is."""
    if isinstance(value, dict):
        return {
            name: own if name == "answer" else shorten(own)
            for name, own in value.items()
            if name == "answer" or (name not in LEFT_OUT and own not in ([], "", None))
        }
    if isinstance(value, list):
        rest = [f"… {len(value) - MOST} more"] if len(value) > MOST else []
        return [*(shorten(own) for own in value[:MOST]), *rest]
    if isinstance(value, str) and len(value) > WIDEST:
        return value[:WIDEST].rsplit(" ", 1)[0] + " …"
    return value


def render(heading: str, command: str, answer: Any) -> list[str]:
    """One exchange as Markdown."""
    shown = json.dumps(shorten(answer), indent=2, ensure_ascii=False)
    return [f"## {heading}", "", "```console", f"$ {command}", shown, "```", ""]


def write_transcript(address: str, home: str) -> str:
    """Ask everything and tell what came back."""
    lines = [
        "# Transcript",
        "",
        "<!-- Written by docs/transcript.py; do not edit. -->",
        "",
        "A home built from the bundled samples (`taxkg build`), asked over HTTP (`taxkg serve`) and by the official",
        "client of the Model Context Protocol. Responses are abridged: lists end in …; rectangles and the text of",
        "passages are omitted.",
        "",
    ]
    for call in CALLS:
        command = call.as_curl().replace("localhost:8000", address)
        lines += render(call.about, call.as_curl(), json.loads(_shell(command)))
    lines += _show_evidence(address)
    lines += _show_refusals(address)
    for name, target in (
        ("streamable HTTP", f"http://{address}/mcp/"),
        ("standard input and output", StdioServerParameters(command=CLI[0], args=[*CLI[1:], "mcp", "--home", home])),
    ):
        lines += [f"## The MCP client over {name}", "", "```console", *anyio.run(use_tools, target), "```", ""]
    return "\n".join(lines)


def _show_evidence(address: str) -> list[str]:
    first = f'curl -s {address}/v1/search -H \'content-type: application/json\' -d \'{{"question": "box 2e", "k": 1}}\''
    node = json.loads(_shell(first))[0]["node_id"]
    command = f"curl -s -o page.png -w '%{{http_code}} %{{content_type}}' localhost:8000/v1/evidence/{node}.png"
    seen = _shell(command.replace("localhost:8000", address).replace("page.png", "/dev/null"))
    return ["## The page of a passage", "", "```console", f"$ {command}", seen, "```", ""]


def _show_refusals(address: str) -> list[str]:
    lines = ["## Errors", "", "```console"]
    for command in (
        "curl -s -w ' %{http_code}' 'localhost:8000/v1/boxes?form=1099-XX&key=1a'",
        "curl -s -w ' %{http_code}' localhost:8000/v1/ask -H 'content-type: application/json' -d '{not json'",
        "head -c 200000 /dev/zero | curl -s -w ' %{http_code}' localhost:8000/v1/ask --data-binary @-",
    ):
        said = _shell(command.replace("localhost:8000", address))
        lines += [f"$ {command}", said[: 2 * WIDEST] + (" …" if len(said) > 2 * WIDEST else "")]
    return [*lines, "```", ""]


async def use_tools(target: Any) -> list[str]:
    """What the official client sees: the tools, and the answers to the same questions in one line each."""
    async with Client(target) as client:
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        lines = [f"tools: {', '.join(tools)}"]
        for call in CALLS:
            said = read_tool(await client.call_tool(call.tool, call.arguments))
            lines += [f"> {call.tool} {json.dumps(call.arguments)}", summarize(said)]
        return lines


def read_tool(result: Any) -> Any:
    """What a tool gave, as data."""
    found = result.structured_content
    return found["cells"] if isinstance(found, dict) and set(found) == {"cells"} else found


def summarize(answer: Any) -> str:
    """The gist of a tool's answer: a box's label, a cell's value, an answer's first words, or silence."""
    rows: Sequence[Any] = answer if isinstance(answer, list) else [answer]
    keys = ("revision", "box_key", "label", "title", "row", "column", "value", "outcome", "abstained", "answer")
    gist = {name: rows[0][name] for name in keys if name in rows[0]} if rows else {}
    return json.dumps(shorten(gist), ensure_ascii=False)


def _shell(command: str) -> str:
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout


def main(home: str) -> None:
    """Serve a home, ask it and write the page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    with subprocess.Popen([*CLI, "serve", "--home", home, "--port", str(port)]) as server:
        try:
            while (
                server.poll() is None and subprocess.run(["curl", "-sf", f"{address}/healthz"], check=False).returncode
            ):
                time.sleep(0.5)
            (HERE / "transcript.md").write_text(write_transcript(address, home), encoding="utf8")
        finally:
            server.terminate()


if __name__ == "__main__":
    main(sys.argv[1])
