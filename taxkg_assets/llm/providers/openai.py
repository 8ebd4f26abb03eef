"""Any endpoint that speaks OpenAI's chat completions: OpenAI, Azure, vLLM, Ollama, Groq and others."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

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
)

_STOPS = {"stop": COMPLETE, "length": TRUNCATED, "content_filter": REFUSED}
_LONGEST_ANSWER = 4_000_000


class OpenAIProvider:
    """Asks `<url>/chat/completions`; adapts to endpoints that lack structured output, once for each model."""

    name = "openai"

    def __init__(self, *, url: str, key: str, seconds: float, transport: httpx.BaseTransport | None = None) -> None:
        # Azure takes the key under a name of its own.
        is_azure = (httpx.URL(url).host or "").endswith(".azure.com")
        headers = {"api-key": key} if is_azure else {"authorization": f"Bearer {key}"}
        self._client = httpx.Client(
            base_url=url.rstrip("/"),
            headers=headers if key else {},
            timeout=seconds,
            transport=transport,
            trust_env=True,
        )
        self._seconds = seconds
        self._lessons: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        """Ask once, and again at once where the endpoint refuses a field that it can do without."""
        while True:
            known = self._lessons.get(request.model, ())
            status, body, wait = self._post(render_body(request, lessons=known))
            lesson = _find_lesson(body, known) if status in (400, 422) else None
            if lesson is None:
                return _read(status, body, wait, model=request.model)
            with self._lock:
                self._lessons[request.model] = (*known, lesson)

    def _post(self, body: dict[str, Any]) -> tuple[int, str, float | None]:
        """Status, text and the time to wait; a body that drips in longer than the limit is an outage."""
        deadline = time.monotonic() + self._seconds
        try:
            with self._client.stream("POST", "/chat/completions", json=body) as response:
                parts, size = [], 0
                for part in response.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if time.monotonic() > deadline or size > _LONGEST_ANSWER:
                        raise OutageError(f"the model's answer took longer than {self._seconds:g} s (llm_seconds)")
                text = b"".join(parts).decode("utf8", errors="replace")
                return response.status_code, text, _wait_of(response.headers)
        except httpx.TimeoutException as late:
            raise OutageError(f"no answer from {self._client.base_url} in {self._seconds:g} s (llm_seconds)") from late
        except httpx.HTTPError as broken:
            raise OutageError(
                f"no connection to {self._client.base_url}: {broken or type(broken).__name__}"
            ) from broken


def render_body(request: Request, *, lessons: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON of a request; `lessons` are what this model's endpoint was found not to take."""
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
    for lesson in lessons:
        _LESSONS[lesson](body)
    return body


def _rename_limit(body: dict[str, Any]) -> None:
    body["max_completion_tokens"] = body.pop("max_tokens")


_LESSONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "max_tokens": _rename_limit,
    "json_schema": lambda body: body.update(response_format={"type": "json_object"}),
    "response_format": lambda body: body.pop("response_format"),
}


def _find_lesson(text: str, known: tuple[str, ...]) -> str | None:
    """Which field a refusal complains of, if it is one that can be said in another way."""
    complaint = _message(text).lower()
    if "max_tokens" in complaint and "max_tokens" not in known:
        return "max_tokens"
    if any(word in complaint for word in ("response_format", "json_schema", "json_object", "structured output")):
        return next((lesson for lesson in ("json_schema", "response_format") if lesson not in known), None)
    return None


def _message(text: str) -> str:
    """The words of an error, however the endpoint wraps them."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return text[:300]
    error = found.get("error", found) if isinstance(found, dict) else found
    message = error.get("message", error) if isinstance(error, dict) else error
    return str(message)[:300]


def _wait_of(headers: httpx.Headers) -> float | None:
    value = headers.get("retry-after", "")
    return float(value) if value.replace(".", "", 1).isdigit() else None


def _read(status: int, text: str, wait: float | None, *, model: str) -> Reply:
    if status == 429:
        raise ThrottledError(f"{model}: too many requests: {_message(text)}", wait_seconds=wait)
    if status >= 500 or status == 408:
        raise OutageError(f"{model}: the endpoint failed with status {status}: {_message(text)}")
    if status in (401, 403):
        raise AccessError(f"{model}: no access (status {status}): {_message(text)} Check llm_key and llm_url.")
    if status >= 300:
        raise AccessError(f"{model}: the endpoint refuses the request (status {status}): {_message(text)}")
    try:
        found = json.loads(text)
        choice, usage = found["choices"][0], found.get("usage") or {}
        said = choice["message"]
        return Reply(
            text=said.get("content") or "",
            stop=REFUSED if said.get("refusal") else _STOPS.get(choice.get("finish_reason") or "stop", REFUSED),
            input_tokens=int(usage.get("prompt_tokens", 0)),
            output_tokens=int(usage.get("completion_tokens", 0)),
        )
    except (json.JSONDecodeError, KeyError, IndexError, TypeError, AttributeError) as broken:
        raise OutageError(f"{model}: what came back is no chat completion: {text[:200]!r}") from broken
