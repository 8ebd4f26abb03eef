"""What the builder of a table found in each document, kept in the home from build to build.

The file is named after the builder's code, so that other rules find nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taxkg_assets.defs.home.fingerprint import code_fingerprint
from taxkg_assets.defs.home.storage import atomic_write
from taxkg_assets.defs.home.store import Store

FINDINGS = "findings"


@dataclass(slots=True)
class ResultCache:
    """Cached results of one builder in one home; an implementation of `Memory`."""

    store: Store
    name: str
    """Name of the table."""
    code: Callable[..., Any]
    """Function that finds them."""
    _known: dict[str, Any] | None = None
    _used: dict[str, Any] = field(default_factory=dict)

    def recall(self, key: str) -> Any:
        """Return the cached result under a key; None if it is missing or the file is damaged.

        Args:
            key: Digest of the result's inputs.
        """
        if self._known is None:
            self._known = self._read()
        result = self._known.get(key)
        if result is not None:
            self._used[key] = result
        return result

    def remember(self, key: str, result: Any) -> None:
        """Add a result to the cache; `keep` writes it to disk.

        Args:
            key: Digest of the result's inputs.
            result: Any value that JSON can represent except None.
        """
        self._used[key] = result

    def keep(self) -> None:
        """Write the results that this run recalled or added, replacing those of earlier runs."""
        path = self._path()
        if self._used != self._known or not path.is_file():
            content = json.dumps(self._used, separators=(",", ":")).encode()
            atomic_write(path, hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        for former in path.parent.glob(f"{self.name}-*.json"):
            if former != path:
                former.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        try:
            digest, _, content = self._path().read_bytes().partition(b"\n")
            if hashlib.sha256(content).hexdigest().encode() != digest:
                return {}
            results: dict[str, Any] = json.loads(content)
        except (OSError, ValueError):
            return {}
        return results

    def _path(self) -> Path:
        return self.store.folder("cache", FINDINGS) / f"{self.name}-{code_fingerprint(self.code)}.json"
