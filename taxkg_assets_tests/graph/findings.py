"""A memory for builders under test: what is remembered is written as JSON, as a home does."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Findings:
    """Findings of earlier runs, and how many of them this memory lacked and had."""

    known: dict[str, str] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    recalled: int = 0
    missed: int = 0

    def recall(self, key: str) -> Any:
        """What is remembered under a key, if anything."""
        if key not in self.known:
            self.missed += 1
            return None
        self.recalled += 1
        self.used[key] = self.known[key]
        return json.loads(self.known[key])

    def remember(self, key: str, found: Any) -> None:
        """Remember findings until `keep`."""
        self.used[key] = json.dumps(found)

    def keep(self) -> None:
        """Forget what this run did not use."""
        self.known, self.used = self.used, {}
