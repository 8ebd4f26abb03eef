"""Amazon Bedrock's Converse API: the reply is the input of a tool whose schema is the task's."""

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
    count_tokens,
    parse_retry_after,
    put_on_one_line,
)
from taxkg_assets.llm.providers.deadline import call_with_timeout

_STOPS = {"tool_use": COMPLETE, "end_turn": COMPLETE, "stop_sequence": COMPLETE, "max_tokens": TRUNCATED}
_THROTTLES = {"ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException"}
_CONNECTION_ERRORS = (
    HTTPClientError,
    ConnectionError,
    IncompleteReadError,
    ResponseStreamingError,
    ResponseParserError,
    RecursionError,
)
"""Errors of an interrupted connection, while it opens or while the answer is read."""

_PROFILES = {"us", "us-gov", "eu", "apac", "au", "ca", "jp", "global"}
"""Prefixes of ids of inference profiles; the id of a model may contain dots, too."""

_OPTIONAL_FIELDS = ("temperature", "tool")
"""Optional fields, by the words of a refusal: the service has one error code for all fields, and names them in its
message alone."""

_PROFILE_REMEDY = "Set TAXKG_LLM_CROSS_REGION to the prefix of an inference profile (us, eu, apac or global)."

_OUTAGES = {
    "ServiceUnavailableException",
    "InternalServerException",
    "ModelTimeoutException",
    "ModelNotReadyException",
    "ModelErrorException",
    "ModelStreamErrorException",
}


class BedrockProvider:
    """A provider that calls Amazon Bedrock, and remembers which models do not accept tools or a temperature."""

    name = "bedrock"

    def __init__(
        self, *, region: str, seconds: float, url: str = "", cross_region: str = "", connections: int = 8
    ) -> None:
        """Open a client.

        Args:
            region: AWS region.
            seconds: Time limit of a call, in seconds.
            url: Endpoint other than the region's.
            cross_region: Prefix of inference profiles (us, eu, apac, global) for plain model ids.
            connections: Maximum number of concurrent connections.
        """
        self._seconds, self._prefix = seconds, f"{cross_region}." if cross_region else ""
        # The caller retries instead of the client, so that budgets and the user see it.
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
            raise AccessError(
                f"Bedrock: {str(error).rstrip('.')}. Set TAXKG_LLM_REGION, and check TAXKG_LLM_URL."
            ) from error
        self._rejected_fields: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        """Send one request, and repeat it without each optional field that the model rejects.

        Args:
            request: The call.

        Returns:
            The reply.

        Raises:
            OutageError: A retry may help.
            ThrottledError: The service asks to wait.
            AccessError: A retry will not help.
        """
        while True:
            rejected = self._rejected_fields.get(request.model, frozenset())
            try:
                return self._converse(request, rejected_fields=rejected)
            except ClientError as error:
                field = _find_rejected_field(error, rejected)
                if field is None:
                    is_plain = not self._prefix and _is_plain_id(request.model)
                    raise _explain(error, model=request.model, is_plain_id=is_plain) from error
            with self._lock:
                self._rejected_fields[request.model] = self._rejected_fields.get(request.model, rejected) | {field}

    def _converse(self, request: Request, *, rejected_fields: frozenset[str]) -> Reply:
        arguments = render_arguments(request, prefix=self._prefix, rejected_fields=rejected_fields)
        try:
            response = call_with_timeout(self._seconds, lambda: self._client.converse(**arguments))
        except TimeoutError as error:
            raise OutageError(f"{request.model}: {error}") from error
        except _CONNECTION_ERRORS as error:
            raise OutageError(f"{request.model}: no answer from Bedrock: {put_on_one_line(error)}") from error
        except BotoCoreError as error:
            message = put_on_one_line(error)
            raise AccessError(f"{request.model}: {message} Check the AWS credentials and TAXKG_LLM_REGION.") from error
        try:
            return _read_reply(response, request=request)
        except (KeyError, TypeError, AttributeError) as error:
            raise OutageError(
                f"{request.model}: the response is not a Converse response. Check TAXKG_LLM_URL."
            ) from error


def render_arguments(
    request: Request, *, prefix: str = "", rejected_fields: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Build the arguments of Bedrock's Converse for a request.

    Args:
        request: The call.
        prefix: Prefix of inference profiles; ids that are profiles or ARNs stay as they are.
        rejected_fields: Optional fields known to be rejected by the model.
    """
    arguments: dict[str, Any] = {
        "modelId": prefix + request.model if _is_plain_id(request.model) else request.model,
        "system": [{"text": request.system}],
        "messages": [{"role": "user", "content": [{"text": request.user}]}],
        "inferenceConfig": {"temperature": TEMPERATURE, "maxTokens": request.max_tokens},
    }
    if "temperature" in rejected_fields:
        del arguments["inferenceConfig"]["temperature"]
    if "tool" not in rejected_fields:
        tool_description = "Hand over the proposals."
        tool = {"name": request.task, "description": tool_description, "inputSchema": {"json": request.schema}}
        arguments["toolConfig"] = {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": request.task}}}
    return arguments


def _is_plain_id(model: str) -> bool:
    """Return whether a model is named by its own id, and not by an inference profile or an ARN."""
    return model.partition(".")[0] not in _PROFILES and not model.startswith("arn:")


def _find_rejected_field(error: ClientError, rejected: frozenset[str]) -> str | None:
    """Return the optional field that an error complains about; None where it is another error."""
    complaint = str(error.response.get("Error", {}).get("Message", "")).lower()
    if _read_code(error) != "ValidationException":
        return None
    return next((field for field in _OPTIONAL_FIELDS if field in complaint and field not in rejected), None)


def _read_reply(response: Mapping[str, Any], *, request: Request) -> Reply:
    """Return the reply of a response: the input of the tool, or the text where the model used no tool."""
    content = response["output"]["message"]["content"]
    tool_inputs = [part["toolUse"]["input"] for part in content if "toolUse" in part]
    message = "".join(part.get("text", "") for part in content)
    answer = json.dumps(tool_inputs[0], ensure_ascii=False) if tool_inputs else message
    usage = response.get("usage") or {}
    return Reply(
        text=answer,
        stop=_STOPS.get(response.get("stopReason", ""), REFUSED),
        input_tokens=count_tokens(usage.get("inputTokens"), text=request.system + request.user),
        output_tokens=count_tokens(usage.get("outputTokens"), text=answer),
    )


def _read_code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _explain(error: ClientError, *, model: str, is_plain_id: bool) -> Exception:
    """Return a client's error as one that says whether a retry may help.

    `is_plain_id`: the call named no inference profile.
    """
    code = _read_code(error)
    message = put_on_one_line(error.response.get("Error", {}).get("Message", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    wait = parse_retry_after(str(headers.get("retry-after", "")))
    if code in _THROTTLES or status == 429:
        return ThrottledError(f"{model}: {code}: {message}", wait_seconds=wait)
    if code in _OUTAGES or status >= 500:
        return OutageError(f"{model}: {code}: {message}", wait_seconds=wait)
    remedy = "Check the model id, its access in this account, and TAXKG_LLM_REGION."
    if code == "ValidationException" and is_plain_id:  # some models are offered through inference profiles alone
        remedy = f"{_PROFILE_REMEDY} {remedy}"
    return AccessError(f"{model}: {code}: {message} {remedy}")
