"""A document check: its severity, its message where it fails, and the function that returns the offending rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

Severity = Literal["corrupt", "incomplete"]
CORRUPT: Severity = "corrupt"
"""The document is held back: its old rows stay, and `quarantine` gives the reason."""
INCOMPLETE: Severity = "incomplete"
"""The document is served and flagged in `document_quality`."""

REPORT = (
    "This is a defect of taxkg: report the id and the sha256 of the document (`taxkg status --json`). "
    "Until it is fixed, the document keeps its old rows, if any."
)
"""Remedy where the document is at no fault."""

EXAMPLES = 3
_CELL_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class DocumentCheck:
    """A quality check of documents.

    Attributes:
        name: Name of the check.
        severity: `CORRUPT` or `INCOMPLETE`.
        on: Table that the check is about.
        broken: What is wrong with offending rows, as the end of a message: `spans are outside their page`.
        remedy: What a reader can do.
        find: Function that returns the offending rows with their `document_id`; its parameters name the tables that it
            reads. None for a check that runs while a document is read.
        show: Columns of the examples.
        tables: Tables that `find` reads, if its parameters do not name them.
    """

    name: str
    severity: Severity
    on: str
    broken: str
    remedy: str
    find: Callable[..., pl.DataFrame] | None = None
    show: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the tables that the check reads."""
        return self.tables or (() if self.find is None else tuple(inspect.signature(self.find).parameters))

    @property
    def title(self) -> str:
        """Return the name of the check in words."""
        return self.name.replace("_", " ")

    def find_offending(self, frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
        """Return the rows of these tables that fail the check.

        Args:
            frames: Tables by name.

        Raises:
            ValueError: The check is made while a document is read.
        """
        if self.find is None:
            raise ValueError(f"{self.name} is checked only while a document is read, not on stored tables.")
        return self.find(**{name: frames[name] for name in self.reads})

    def describe(self, count: int) -> str:
        """Return the quality warning for a document, with the number of its offending rows.

        Args:
            count: Number of offending rows.
        """
        return f"{self.broken[:1].upper()}{self.broken[1:]}: {count}."

    def refuse(self, offending: pl.DataFrame) -> str:
        """Return the reason why a document is withheld, as `quarantine` shows it.

        Args:
            offending: Offending rows.
        """
        return f"{offending.height} {self.broken} ({render_examples(offending, self.show)[0]})."


def column_check(
    name: str, *, on: str, where: pl.Expr, broken: str, remedy: str, show: Iterable[str] = ()
) -> DocumentCheck:
    """Declare an incomplete check that an expression over one table decides.

    Args:
        name: Name of the check.
        on: Table, which needs a `document_id`.
        where: Expression that is true for rows to flag.
        broken: What is wrong with these rows, as the end of a message: `spans are outside their page`.
        remedy: What a reader can do.
        show: Columns of the examples.

    Returns:
        The check.
    """

    def find(**frames: pl.DataFrame) -> pl.DataFrame:
        return frames[on].filter(where).select("document_id", *show)

    return DocumentCheck(name, INCOMPLETE, on, broken, remedy, find, show=tuple(show), tables=(on,))


def render_examples(offending: pl.DataFrame, show: Iterable[str] = ()) -> list[str]:
    """Render the first offending rows of a document in words.

    Args:
        offending: Rows that fail the check.
        show: Columns to show; all but ids by default.

    Returns:
        One text per row.
    """
    columns = list(show) or [name for name in offending.columns if name != "document_id"]
    return [
        ", ".join(f"{name} {str(value)[:_CELL_CHARACTERS]}" for name, value in row.items() if value not in (None, ""))
        for row in offending.head(EXAMPLES).select(columns).iter_rows(named=True)
    ]


def find_failed_check(
    frames: Mapping[str, pl.DataFrame], checks: Iterable[DocumentCheck]
) -> tuple[DocumentCheck, pl.DataFrame] | None:
    """Find the first corrupt check that the tables of a document fail.

    Args:
        frames: Tables of the document by name.
        checks: Checks in the order of their importance.

    Returns:
        The check and the offending rows; None if all pass.
    """
    for check in checks:
        if check.severity == CORRUPT and check.find is not None:
            offending = check.find_offending(frames)
            if offending.height:
                return check, offending
    return None
