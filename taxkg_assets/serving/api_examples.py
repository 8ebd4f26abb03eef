"""Examples of the HTTP API in its OpenAPI document: a body for each POST, a value for each parameter, an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BODIES: Mapping[str, Mapping[str, Any]] = {
    "/v1/ask": {"question": "Is section 897 gain part of ordinary dividends?"},
    "/v1/query": {"question": "Is section 897 gain part of ordinary dividends?", "mode": "detailed"},
    "/v1/search": {"question": "exempt-interest dividends", "form": "1099-DIV", "k": 3},
    "/v1/table": {"question": "What is the holding period for common stock?"},
    "/v1/verify": {"text": "Box 2e of Form 1099-DIV (2024) shows the part of box 1a that is section 897 gain."},
    "/v1/feedback": {"query_id": "0123456789abcdef0123456789abcdef", "is_helpful": True},
}
"""Body of each operation that takes one."""

PARAMETERS: Mapping[str, str | int | float | bool] = {
    "form": "1099-DIV",
    "key": "2e",
    "name": "1099-DIV",
    "document": "f1099div--2024-01",
    "page": 1,
    "node_id": "f1099div--2024-01#face-box_2e",
    "revision": "2024",
    "older": "2024-01",
    "newer": "2026-01",
    "routine": False,
    "k": 20,
    "zoom": 2,
}
"""Value of each parameter of a path or a query."""

ERROR: Mapping[str, str] = {
    "detail": "The release has no form '1099-XX' with boxes. Forms: 1099-DIV.",
    "code": "not_found",
}


def add_examples(document: dict[str, Any]) -> None:
    """Add request and response examples to an OpenAPI document.

    Args:
        document: The document, which is changed.
    """
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path in BODIES:
                operation["requestBody"]["content"]["application/json"]["example"] = dict(BODIES[path])
            for parameter in operation.get("parameters", ()):
                parameter["example"] = PARAMETERS[parameter["name"]]
    document["components"]["schemas"]["Problem"]["example"] = dict(ERROR)
