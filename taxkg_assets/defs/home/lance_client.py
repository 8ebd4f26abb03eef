"""Loads LanceDB without what its client of remote catalogs does when it is loaded, which takes half of the time.

That client describes each argument of each request to pydantic; here it does so at the first request. No home sends
one. This module itself loads the client alone, which starts no thread, so that a server of processes can load it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial, wraps
from typing import Any

import pydantic

_validate_call: Any = pydantic.validate_call


def validate_late(function: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """Wrap a function as `pydantic.validate_call` does, but prepare the validation at the first call.

    Args:
        function: Function with typed arguments; None to return a decorator.
        options: Options of `pydantic.validate_call`.

    Returns:
        The wrapped function.
    """
    if function is None:
        return partial(validate_late, **options)

    @cache
    def prepare() -> Any:
        return _validate_call(function, **options)

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        return prepare()(*arguments, **named)

    return call


@contextmanager
def _validating_late() -> Iterator[None]:
    """Give modules that are loaded meanwhile `validate_late` as `pydantic.validate_call`."""
    pydantic.validate_call = validate_late  # type: ignore[assignment]
    try:
        yield
    finally:
        pydantic.validate_call = _validate_call


# A LanceDB without this client needs none of this.
with _validating_late(), suppress(ImportError):
    import lance_namespace  # noqa: F401


def load_lancedb() -> Any:
    """Return the module `lancedb`; most commands do not need it."""
    import lancedb

    return lancedb
