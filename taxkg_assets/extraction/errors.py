"""Why a document is refused: one error type that names stage, reason and remedy."""

from __future__ import annotations


class StageError(Exception):
    """A document cannot pass a stage; it goes to `quarantine`, the rest of the corpus continues.

    `is_law_violation` distinguishes a document that was read but breaks a law of the tables from one that could not be
    read.
    """

    def __init__(self, stage: str, reason: str, remedy: str, *, is_law_violation: bool = False) -> None:
        super().__init__(stage, reason, remedy)
        self.stage = stage
        self.reason = reason
        self.remedy = remedy
        self.is_law_violation = is_law_violation

    def __str__(self) -> str:
        return f"{self.stage}: {self.reason} {self.remedy}"
