"""An agent's side of the Model Context Protocol: start `taxkg mcp`, list its tools, and ask a question.

`python docs/examples/mcp_agent.py HOME` prints the answer and where each part of it is printed.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

QUESTION = "Is section 897 gain part of ordinary dividends?"


async def ask(client: Client, question: str) -> dict[str, Any]:
    """Call the tool `ask`.

    Args:
        client: Connected client.
        question: Words of the user.

    Returns:
        The reply of the tool: `answer` (None where it abstains), `confidence`, and the passages in `sources`.

    Raises:
        RuntimeError: The tool reports an error.
    """
    reply = await client.call_tool("ask", {"question": question, "k": 3})
    if reply.is_error:
        raise RuntimeError(f"The tool `ask` failed: {reply.content}")
    text = next(block.text for block in reply.content if block.type == "text")
    found: dict[str, Any] = json.loads(text)
    return found


async def main(home: str) -> None:
    """Start the server on a home, and print its tools and one answer.

    Args:
        home: Home folder of a build.
    """
    command = [sys.executable, "-m", "taxkg_assets.serving.cli", "mcp", "--home", home]
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as client:
        print("tools:", ", ".join(sorted(tool.name for tool in (await client.list_tools()).tools)))
        found = await ask(client, QUESTION)
        print(found["answer"] or "No answer in these documents.")
        for row in found["sources"]:
            print(f"[{row['number']}] {row['document']}, page {row['page']}: {row['heading_path']}")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1] if len(sys.argv) > 1 else "data/store")
