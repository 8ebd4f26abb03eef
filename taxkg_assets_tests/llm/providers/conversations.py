"""What the two wire protocols carry: answers as each server would wrap them, and the parts of a request."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taxkg_assets.llm.exchange import Provider
from taxkg_assets.llm.providers.bedrock import BedrockProvider
from taxkg_assets.llm.providers.openai import OpenAIProvider
from taxkg_assets.llm.rule_proposer import RULES
from taxkg_assets.prompts.tasks import TASKS
from taxkg_assets_tests.llm.providers.loopback import Answer, Sent
from taxkg_assets_tests.llm.scripted import items_of


@dataclass(frozen=True, slots=True)
class Protocol:
    """One wire protocol, as the tests need to speak it from the server's side."""

    open: Callable[[str, float], Provider]
    wrap: Callable[[Any, str], Answer]
    said: Callable[[Sent], tuple[str, str]]
    model: Callable[[Sent], str]
    temperature: Callable[[Sent], Any]
    limit: Callable[[Sent], Any]
    schema: Callable[[Sent], Any]
    throttled: Answer
    failed: Answer
    denied: Answer
    stops: dict[str, str]


def _chat(value: Any, stop: str) -> Answer:
    text = value if isinstance(value, str) else json.dumps(value)
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": stop or "stop"}
    usage = {"prompt_tokens": 321, "completion_tokens": 45, "total_tokens": 366}
    return Answer({"id": "c1", "object": "chat.completion", "choices": [choice], "usage": usage})


def _converse(value: Any, stop: str) -> Answer:
    tool = {"toolUse": {"toolUseId": "t1", "name": "hand_over", "input": value}}
    part = {"text": value} if isinstance(value, str) else tool
    return Answer(
        {
            "output": {"message": {"role": "assistant", "content": [part]}},
            "stopReason": stop or ("end_turn" if isinstance(value, str) else "tool_use"),
            "usage": {"inputTokens": 321, "outputTokens": 45, "totalTokens": 366},
            "metrics": {"latencyMs": 12},
        }
    )


def _aws_error(code: str, message: str, status: int, **headers: str) -> Answer:
    return Answer({"message": message}, status, {"x-amzn-errortype": code, **headers})


PROTOCOLS = {
    "openai": Protocol(
        open=lambda url, seconds: OpenAIProvider(url=f"{url}/v1", key="secret-key", seconds=seconds),
        wrap=_chat,
        said=lambda sent: (sent.body["messages"][0]["content"], sent.body["messages"][1]["content"]),
        model=lambda sent: str(sent.body["model"]),
        temperature=lambda sent: sent.body["temperature"],
        limit=lambda sent: sent.body["max_tokens"],
        schema=lambda sent: sent.body["response_format"]["json_schema"]["schema"],
        throttled=Answer({"error": {"message": "slow down", "code": "rate_limit"}}, 429, {"retry-after": "3"}),
        failed=Answer({"error": {"message": "upstream"}}, 503),
        denied=Answer({"error": {"message": "Incorrect API key provided."}}, 401),
        stops={"truncated": "length", "refused": "content_filter"},
    ),
    "bedrock": Protocol(
        open=lambda url, seconds: BedrockProvider(region="us-east-1", seconds=seconds, url=url),
        wrap=_converse,
        said=lambda sent: (sent.body["system"][0]["text"], sent.body["messages"][0]["content"][0]["text"]),
        model=lambda sent: sent.path.split("/")[2],
        temperature=lambda sent: sent.body["inferenceConfig"]["temperature"],
        limit=lambda sent: sent.body["inferenceConfig"]["maxTokens"],
        schema=lambda sent: sent.body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"],
        throttled=_aws_error("ThrottlingException", "Too many requests", 429, **{"retry-after": "3"}),
        failed=_aws_error("ServiceUnavailableException", "Try later", 503),
        denied=_aws_error("AccessDeniedException", "You don't have access to the model.", 403),
        stops={"truncated": "max_tokens", "refused": "guardrail_intervened"},
    ),
}


def task_of(sent: Sent) -> str:
    """The task of a request to an OpenAI-compatible server."""
    return str(sent.body["response_format"]["json_schema"]["name"])


def answer_like_the_rules(sent: Sent, number: int = 0) -> Answer:
    """An OpenAI-compatible model that says what the rules would say."""
    protocol, name = PROTOCOLS["openai"], task_of(sent)
    items = [TASKS[name].item.model_validate(raw) for raw in items_of(protocol.said(sent)[1])]
    return protocol.wrap({"proposals": [RULES[name](item).model_dump(mode="json") for item in items]}, "")
