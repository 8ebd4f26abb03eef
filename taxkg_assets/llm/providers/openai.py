"""OpenAI-compatible chat completions: OpenAI, Azure, vLLM, Ollama, Groq and others."""

from __future__ import annotations

import json
import re
import ssl
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx

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


@cache
def _load_certificates() -> ssl.SSLContext:
    """Load the certificates that servers are checked against, once per process."""
    return httpx.create_ssl_context()


_STOPS = {"stop": COMPLETE, "length": TRUNCATED, "content_filter": REFUSED}
_PATH = "/chat/completions"
_MAX_ANSWER_BYTES = 4_000_000
_SHORTEST_KEY = 12
"""A shorter key is a placeholder for a server that needs none."""


class OpenAIProvider:
    """A provider that calls `<url>/chat/completions`, and remembers which models lack structured output."""

    name = "openai"

    def __init__(self, *, url: str, key: str, seconds: float, transport: httpx.BaseTransport | None = None) -> None:
        self._url = _find_address(url)
        # User name, password and query may be secret, and are not shown.
        self._shown_url = f"{self._url.scheme}://{self._url.netloc.decode()}{self._url.path}"
        self._key = key.strip()
        if not self._key.isprintable() or not self._key.isascii():
            raise AccessError(
                "TAXKG_LLM_KEY contains characters that are not allowed in an HTTP header. Set it to the key only."
            )
        # Azure takes the key under a name of its own.
        is_azure = self._url.host.endswith(".azure.com")
        headers = {"api-key": self._key} if is_azure else {"authorization": f"Bearer {self._key}"}
        try:
            self._client = httpx.Client(
                headers=headers if self._key else {}, timeout=seconds, transport=transport, verify=_load_certificates()
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise AccessError(
                "The proxy in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY is invalid: "
                f"{put_on_one_line(error)} Correct the variable."
            ) from error
        self._seconds = seconds
        self._rejected_fields: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        """Send one request, and repeat it without each optional field that the endpoint rejects.

        Args:
            request: The call.

        Returns:
            The reply.

        Raises:
            OutageError: A retry may help.
            ThrottledError: The endpoint asks to wait.
            AccessError: A retry will not help.
        """
        while True:
            rejected = self._rejected_fields.get(request.model, ())
            status, body, wait = self._post(render_body(request, rejected_fields=rejected))
            field = _find_rejected_field(body, rejected) if status in (400, 422) else None
            if field is None:
                return _read_reply(status, body, wait, request=request)
            with self._lock:
                self._rejected_fields[request.model] = (*rejected, field)

    def _post(self, body: dict[str, Any]) -> tuple[int, str, float | None]:
        """Return the status, the text and the seconds to wait; a response slower than the limit is an outage."""
        timeout_message = f"no complete response from {self._shown_url} in {self._seconds:g} s (TAXKG_LLM_SECONDS)"
        try:
            return call_with_timeout(self._seconds, lambda: self._exchange(body))
        except (TimeoutError, httpx.TimeoutException) as error:
            raise OutageError(timeout_message) from error
        except httpx.HTTPError as error:
            message = put_on_one_line(error) or f"{type(error).__name__}."
            raise OutageError(f"no connection to {self._shown_url}: {message} Check TAXKG_LLM_URL.") from error

    def _exchange(self, body: dict[str, Any]) -> tuple[int, str, float | None]:
        deadline = time.monotonic() + self._seconds
        with self._client.stream("POST", self._url, json=body) as response:
            parts, size = [], 0
            for part in response.iter_bytes():
                parts.append(part)
                size += len(part)
                if size > _MAX_ANSWER_BYTES:
                    raise OutageError(f"the response of {self._shown_url} is longer than {_MAX_ANSWER_BYTES} bytes")
                if time.monotonic() > deadline:
                    raise TimeoutError
            text = b"".join(parts).decode("utf8", errors="replace")
            if response.status_code != httpx.codes.OK and len(self._key) >= _SHORTEST_KEY:
                text = text.replace(self._key, "…")  # some endpoints repeat the key that they refuse
            return response.status_code, text, parse_retry_after(response.headers.get("retry-after", ""))


def _find_address(url: str) -> httpx.URL:
    """Return the URL of completions; a query, such as Azure's version of the API, stays after the path."""
    message = (
        f"TAXKG_LLM_URL is not a web address: {url!r}. Name the server's, e.g. http://localhost:11434/v1 for Ollama."
    )
    try:
        # Each of the two functions rejects addresses that the other accepts.
        address = httpx.URL(url.strip())
        port = urlsplit(url.strip()).port
    except (httpx.InvalidURL, ValueError) as error:
        raise AccessError(message) from error
    if address.scheme not in ("http", "https") or not address.host or port == 0:
        raise AccessError(message)
    path = address.path.rstrip("/").removesuffix(_PATH) + _PATH
    return address.copy_with(path=path, fragment=None)


def render_body(request: Request, *, rejected_fields: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the JSON body of a request.

    Args:
        request: The call.
        rejected_fields: Optional fields that the endpoint does not accept for this model.
    """
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
        "temperature": TEMPERATURE,
        "max_tokens": request.max_tokens,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": request.task, "schema": request.schema, "strict": True},
        },
    }
    for field in rejected_fields:
        _OPTIONAL_FIELDS[field](body)
    return body


def _rename_limit(body: dict[str, Any]) -> None:
    body["max_completion_tokens"] = body.pop("max_tokens")


_OPTIONAL_FIELDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "max_tokens": _rename_limit,
    "json_schema": lambda body: body.update(response_format={"type": "json_object"}),
    "response_format": lambda body: body.pop("response_format"),
    "temperature": lambda body: body.pop("temperature"),
}


def _find_rejected_field(text: str, rejected: tuple[str, ...]) -> str | None:
    """Return the optional field that an error complains about; None where it is another error."""
    complaint = _read_error_message(text).lower()
    if "max_tokens" in complaint and "max_tokens" not in rejected:
        return "max_tokens"
    if "temperature" in complaint and "temperature" not in rejected:
        return "temperature"
    if any(word in complaint for word in ("response_format", "json_schema", "json_object", "structured output")):
        return next((field for field in ("json_schema", "response_format") if field not in rejected), None)
    return None


def _parse(text: str) -> Any:
    """Return the JSON of a response; None where it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_error_message(text: str) -> str:
    """Return the text of an error, however the endpoint wraps it."""
    parsed = _parse(text)
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    message = error.get("message", error) if isinstance(error, dict) else error
    return put_on_one_line(text if message is None else message)


def _find_status(status: int, text: str) -> int:
    """Return the status of a response; gateways report failures in the body of a response with status 200."""
    parsed = _parse(text) if status == httpx.codes.OK else None
    if not isinstance(parsed, dict) or parsed.get("choices") or not parsed.get("error"):
        return status
    code = str(parsed["error"].get("code")) if isinstance(parsed["error"], dict) else ""
    return int(code) if re.fullmatch("[45][0-9]{2}", code) else int(httpx.codes.BAD_GATEWAY)


def _read_reply(status: int, text: str, wait: float | None, *, request: Request) -> Reply:
    model, status = request.model, _find_status(status, text)
    if status == 429:
        raise ThrottledError(f"{model}: too many requests: {_read_error_message(text)}", wait_seconds=wait)
    if status >= 500 or status == 408:
        raise OutageError(
            f"{model}: the server failed with status {status}: {_read_error_message(text)}", wait_seconds=wait
        )
    if status in (401, 403):
        remedy = "Check TAXKG_LLM_KEY and TAXKG_LLM_URL."
        raise AccessError(f"{model}: no access (status {status}): {_read_error_message(text)} {remedy}")
    if status == 404:
        remedy = "Check TAXKG_LLM_MODEL and TAXKG_LLM_URL."
        raise AccessError(f"{model}: not found (status 404): {_read_error_message(text)} {remedy}")
    if status >= 300:
        remedy = "Check TAXKG_LLM_URL and TAXKG_LLM_MODEL, and the account of the key."
        raise AccessError(
            f"{model}: the server rejected the request (status {status}): {_read_error_message(text)} {remedy}"
        )
    try:
        parsed = json.loads(text)
        choice, usage = parsed["choices"][0], parsed.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        message = choice["message"]
        answer = _join_parts(message.get("content"))
        return Reply(
            text=answer,
            stop=REFUSED if message.get("refusal") else _STOPS.get(choice.get("finish_reason") or "stop", REFUSED),
            input_tokens=count_tokens(counts.get("prompt_tokens"), text=request.system + request.user),
            output_tokens=count_tokens(counts.get("completion_tokens"), text=answer),
        )
    except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError) as broken:
        raise OutageError(f"{model}: the response is not a chat completion: {put_on_one_line(text)}") from broken


def _join_parts(content: Any) -> str:
    """Return a message's text, given as one text or in parts; parts that are no text are left out."""
    if isinstance(content, list):
        return "".join(_join_parts(part.get("text")) for part in content)
    if not isinstance(content, str | None):
        raise TypeError("message content is neither text nor a list")
    return content or ""
