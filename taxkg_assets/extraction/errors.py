"""Why a document is refused: one error type that names stage, reason and remedy; and warnings that flag a document."""

from __future__ import annotations

UNREADABLE_PAGES = "Text that cannot be read on page(s) "
DAMAGED_PAGES = "Damaged page(s) "
LEFT_OUT = "Left out: "
TABLES_AS_TEXT = "Tables kept as text"
"""First words of the warnings of `documents` that flag a document."""


class StageError(Exception):
    """A document failed a stage; it goes to `quarantine`, and the rest of the corpus continues.

    `is_check_failure` distinguishes a document that was read but fails a document check from one that could not be
    read.
    """

    def __init__(self, stage: str, reason: str, remedy: str, *, is_check_failure: bool = False) -> None:
        super().__init__(stage, reason, remedy)
        self.stage = stage
        self.reason = reason
        self.remedy = remedy
        self.is_check_failure = is_check_failure

    def __str__(self) -> str:
        return f"{self.stage}: {self.reason} {self.remedy}"
