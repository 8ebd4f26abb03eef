"""Why a document is refused: one error type that names stage, reason and remedy."""

from __future__ import annotations


class StageError(Exception):
    """A document cannot pass a stage; it goes to `quarantine`, the rest of the corpus continues.

    `is_law` distinguishes a document that was read but breaks a law of the tables from one that could not be read.
    """

    def __init__(self, stage: str, reason: str, remedy: str, *, is_law: bool = False) -> None:
        super().__init__(stage, reason, remedy)
        self.stage = stage
        self.reason = reason
        self.remedy = remedy
        self.is_law = is_law

    def __str__(self) -> str:
        return f"{self.stage}: {self.reason} {self.remedy}"
