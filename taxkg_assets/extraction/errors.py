"""Why a document is refused: one error type that names stage, reason and remedy."""

from __future__ import annotations


class StageError(Exception):
    """A document cannot pass a stage; it goes to `quarantine`, the rest of the corpus goes on."""

    def __init__(self, stage: str, reason: str, remedy: str) -> None:
        super().__init__(stage, reason, remedy)
        self.stage = stage
        self.reason = reason
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.stage}: {self.reason} {self.remedy}"
