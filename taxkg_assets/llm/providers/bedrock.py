"""Amazon Bedrock through its Converse API: the answer is the input of a tool whose schema is the task's."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
)
from botocore.parsers import ResponseParserError

from taxkg_assets.llm.exchange import (
    COMPLETE,
    REFUSED,
    TEMPERATURE,
    TRUNCATED,
    AccessError,
    OutageError,
    Reply,
    Request,
    ThrottledError,
)

_STOPS = {"tool_use": COMPLETE, "end_turn": COMPLETE, "stop_sequence": COMPLETE, "max_tokens": TRUNCATED}
_THROTTLES = {"ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException"}
_BROKEN = (
    HTTPClientError,
    ConnectionError,
    IncompleteReadError,
    ResponseStreamingError,
    ResponseParserError,
)
"""How a connection that breaks off shows itself, on the way in or while the answer is read."""

_OUTAGES = {
    "ServiceUnavailableException",
    "InternalServerException",
    "ModelTimeoutException",
    "ModelNotReadyException",
    "ModelErrorException",
    "ModelStreamErrorException",
}


class BedrockProvider:
    """Asks Bedrock. A model that cannot be told to use a tool is asked for plain JSON from then on."""

    name = "bedrock"

    def __init__(
        self, *, region: str, seconds: float, url: str = "", cross_region: str = "", connections: int = 8
    ) -> None:
        """Args: cross_region: prefix of inference profiles (us, eu, apac, global) put before plain model ids."""
        self._seconds, self._prefix = seconds, f"{cross_region}." if cross_region else ""
        # We wait and ask again ourselves, so that budgets and the user see it.
        config = Config(
            connect_timeout=min(10.0, seconds),
            read_timeout=seconds,
            retries={"total_max_attempts": 1},
            max_pool_connections=connections,
        )
        place = {"region_name": region or None, "endpoint_url": url or None}
        try:
            self._client = boto3.client("bedrock-runtime", config=config, **place)
        except (BotoCoreError, ValueError) as error:
            raise AccessError(f"Bedrock: {error} Set llm_region, and check llm_url.") from error
        self._plain: set[str] = set()

    def complete(self, request: Request) -> Reply:
        """Ask once, or a second time without the tool where the model knows none."""
        try:
            return self._converse(request)
        except ClientError as error:
            message = str(error.response.get("Error", {}).get("Message", ""))
            if request.model in self._plain or not (
                "tool" in message.lower() and _code(error) == "ValidationException"
            ):
                raise _explained(error, model=request.model) from error
            self._plain.add(request.model)
        try:
            return self._converse(request)
        except ClientError as error:
            raise _explained(error, model=request.model) from error

    def _converse(self, request: Request) -> Reply:
        """One call with a deadline for the whole of it: a read timeout alone lets an answer drip in for ever."""
        done: dict[str, Any] = {}

        def call() -> None:
            try:
                done["response"] = self._client.converse(
                    **render_arguments(request, prefix=self._prefix, with_tool=request.model not in self._plain)
                )
            except Exception as error:
                done["error"] = error  # raised again below, in the thread that waits

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join(self._seconds)
        error = done.get("error")
        if isinstance(error, ClientError):
            raise error
        if isinstance(error, _BROKEN):
            raise OutageError(f"{request.model}: no answer from Bedrock: {error}") from error
        if isinstance(error, BotoCoreError):
            raise AccessError(f"{request.model}: {error}. Check the AWS credentials and llm_region.") from error
        if error is not None:
            raise error
        if "response" not in done:
            raise OutageError(f"{request.model}: no whole answer in {self._seconds:g} s (llm_seconds)")
        try:
            return _read(done["response"])
        except (KeyError, TypeError) as broken:
            raise OutageError(f"{request.model}: what came back is no answer of Converse") from broken


def render_arguments(request: Request, *, prefix: str = "", with_tool: bool = True) -> dict[str, Any]:
    """The arguments of Converse for a request. Ids that are a profile's or an ARN already stay as they are."""
    is_plain_id = request.model.count(".") == 1 and not request.model.startswith("arn:")
    arguments: dict[str, Any] = {
        "modelId": prefix + request.model if is_plain_id else request.model,
        "system": [{"text": request.system}],
        "messages": [{"role": "user", "content": [{"text": request.user}]}],
        "inferenceConfig": {"temperature": TEMPERATURE, "maxTokens": request.max_tokens},
    }
    if with_tool:
        described = "Hand over the proposals."
        tool = {"name": request.task, "description": described, "inputSchema": {"json": request.schema}}
        arguments["toolConfig"] = {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": request.task}}}
    return arguments


def _read(response: Mapping[str, Any]) -> Reply:
    content = response["output"]["message"]["content"]
    used = [part["toolUse"]["input"] for part in content if "toolUse" in part]
    said = "".join(part.get("text", "") for part in content)
    usage = response.get("usage", {})
    return Reply(
        text=json.dumps(used[0], ensure_ascii=False) if used else said,
        stop=_STOPS.get(response.get("stopReason", ""), REFUSED),
        input_tokens=int(usage.get("inputTokens", 0)),
        output_tokens=int(usage.get("outputTokens", 0)),
    )


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _explained(error: ClientError, *, model: str) -> Exception:
    """A client's error as one that says whether asking again may help."""
    code, message = _code(error), str(error.response.get("Error", {}).get("Message", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    if code in _THROTTLES or status == 429:
        wait = str(headers.get("retry-after", ""))
        return ThrottledError(f"{model}: {code}: {message}", wait_seconds=float(wait) if wait.isdigit() else None)
    if code in _OUTAGES or status >= 500:
        return OutageError(f"{model}: {code}: {message}")
    remedy = "Check the model id, its access in this account, and llm_region."
    if "on-demand throughput" in message:
        remedy = "Set llm_cross_region to the prefix of an inference profile (us, eu, apac or global)."
    return AccessError(f"{model}: {code}: {message} {remedy}")
