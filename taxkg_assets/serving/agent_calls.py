"""How a tool for agents is run: in a thread of its own, with errors in words, and a reply without what is empty."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

from taxkg_assets.serving.problems import NOT_FOUND

P = ParamSpec("P")
T = TypeVar("T")


def explained(work: Callable[P, T]) -> Callable[P, Any]:
    """Wrap a tool so that it runs in its own thread, where it delays no other, and reports expected errors in words.

    Args:
        work: The tool; what it returns is packed for an agent.

    Returns:
        The tool as a coroutine, which raises an expected error as a `ToolError` with the same message.
    """

    @wraps(work)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T | CallToolResult:
        try:
            reply = await anyio.to_thread.run_sync(lambda: work(*args, **kwargs))
        except NOT_FOUND as expected:
            raise ToolError(str(expected)) from expected
        return pack_reply(reply) if isinstance(reply, BaseModel) else reply

    return run


def pack_reply(reply: BaseModel) -> CallToolResult:
    """Pack a reply as data and as text, which leaves out empty values because a model pays for each word.

    Args:
        reply: The reply.

    Returns:
        The reply as data and as text.
    """
    data = reply.model_dump(mode="json")
    # A list of its own stays when it is empty: it says that nothing was found.
    short_data = {name: _prune(value) for name, value in data.items() if value is not None and value != ""}
    text = json.dumps(short_data, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data)


def _prune(value: Any) -> Any:
    """Return data without empty texts, lists and objects in its objects."""
    if isinstance(value, dict):
        return {
            name: _prune(inner_value)
            for name, inner_value in value.items()
            if inner_value is not None and inner_value not in ("", [], {})
        }
    if isinstance(value, list):
        return [_prune(inner_value) for inner_value in value]
    return value
