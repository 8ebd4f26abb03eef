"""Errors of the servers: one sentence for a person, a code for a program, the same over HTTP and for agents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse

from taxkg_assets.serving.boxes import BoxNotFoundError
from taxkg_assets.serving.diff import RevisionNotFoundError
from taxkg_assets.serving.evidence import EvidenceNotFoundError
from taxkg_assets.serving.filters import FilterError
from taxkg_assets.serving.lines import LineNotFoundError
from taxkg_assets.serving.show import PageNotFoundError

NOT_FOUND = (
    BoxNotFoundError,
    EvidenceNotFoundError,
    FilterError,
    LineNotFoundError,
    PageNotFoundError,
    RevisionNotFoundError,
)
"""What a request names and the library does not have."""

CODES = {
    400: "bad_request",
    401: "no_key",
    403: "foreign_origin",
    404: "not_found",
    405: "wrong_method",
    408: "too_slow",
    409: "no_query_log",
    413: "too_long",
    421: "unknown_host",
    422: "invalid",
    503: "not_available",
}
"""Code of each status; it does not change between versions."""

MEANINGS = {
    401: "The server requires a key, and the request has none or a wrong one.",
    403: "The request comes from a web page of another origin.",
    408: "The body did not arrive in time.",
    413: "The body is too long.",
    421: "The host name is not in TAXKG_API_HOSTS.",
    422: "A parameter is missing or outside its limits.",
    503: "Too many requests are waiting, or the home cannot be read now.",
}
"""What each error means that any operation can return."""

PLAIN = (
    (r"String should match pattern '\\S'", "must not be blank"),
    (r"String should match pattern '\^\[0-9a-f\]\{32\}\$'", "must be 32 hexadecimal digits"),
    (r"Field required", "is required"),
    (r"Extra inputs are not permitted", "is not a parameter of this call"),
    (r"String should have at least 1 character", "must not be empty"),
    (r"String should have at (least|most) (\d+) characters", r"must have at \1 \2 characters"),
    (r"Input should be (greater|less) than or equal to (.+)", r"must be at {\1} \2"),
    (r"Input should be a valid (integer|number|boolean).*", r"must be a valid \1"),
    (r"Input should be a valid (string|list)", r"must be a \1"),
    (r"Input should be a valid dictionary.*", "must be a JSON object"),
    (r"Input should be ('.*)", r"must be \1"),
)
"""What pydantic says, as patterns, and the same in plain words."""


class Problem(BaseModel):
    """The reason why a request was refused, as a JSON problem."""

    detail: str = Field(description="the reason in one sentence; for an unknown name, it lists the existing names")
    code: str = Field(description="the kind of error: " + " | ".join(CODES.values()))


def describe_invalid(errors: Iterable[Mapping[str, Any]]) -> str:
    """Describe all errors of an invalid request in one sentence, without repeating the input.

    Args:
        errors: Errors of pydantic, each with `loc` and `msg`.

    Returns:
        For each error, the parameter and what is wrong with it: `K must be at least 1; form is required.`
    """
    sentences = []
    for error in errors:
        if error.get("type") == "json_invalid":
            sentences.append(f"The body is not valid JSON (character {error['loc'][-1]})")
            continue
        parameter = ".".join(str(part) for part in error["loc"] if part not in ("body", "query", "path"))
        sentences.append(_describe(parameter or "the body", str(error["msg"])))
    message = "; ".join(sentences) + "."
    return message[0].upper() + message[1:] if message.startswith("the body") else message


def _describe(parameter: str, message: str) -> str:
    for pattern, words in PLAIN:
        if match := re.fullmatch(pattern, message):
            return f"{parameter} {match.expand(words)}".replace("{greater}", "least").replace("{less}", "most")
    return f"{parameter}: {message.removeprefix('Value error, ')}"


def describe_unknown(error: StarletteHTTPException, *, method: str, path: str) -> str:
    """Describe a refusal of the web framework with what to do instead.

    Args:
        error: The refusal.
        method: HTTP method of the request.
        path: Path of the request.

    Returns:
        One sentence; for a status other than 404 and 405, the framework's own words.
    """
    if error.detail == "Not Found":
        return f"The path {path} does not exist. See /docs or /openapi.json for all calls."
    if error.detail == "Method Not Allowed":
        allowed = (error.headers or {}).get("Allow", "")
        return f"{path} does not accept {method}" + (f": use {allowed}." if allowed else ". See /docs.")
    return str(error.detail)


def refuse(status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Build the JSON response of a refused request.

    Args:
        status: HTTP status.
        detail: The reason in one sentence.
        headers: Additional response headers.

    Returns:
        The response.
    """
    return JSONResponse({"detail": detail, "code": code_of(status)}, status, headers=dict(headers or {}))


def code_of(status: int) -> str:
    """Return the error code of an HTTP status, or of its class for an unlisted status.

    Args:
        status: HTTP status.
    """
    return CODES.get(status, "bad_request" if status < 500 else "failed")


def describe_problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe error responses for OpenAPI.

    Args:
        statuses: HTTP statuses of this operation, besides those that every operation can return.

    Returns:
        Description and schema by HTTP status, as FastAPI's `responses` expects them.
    """
    meanings = {**MEANINGS, 404: "There is no such form, field, document or page.", 409: "No log of queries is kept."}
    return {status: {"model": Problem, "description": meanings[status]} for status in (*statuses, *MEANINGS)}
