"""Unexpected errors of our code: in words, and which documents cause them."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import dataframely as dy
import polars as pl

DEFECTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
    re.error,
    pl.exceptions.PolarsError,
    dy.exc.ValidationError,
)
"""Errors that unexpected rows of a document cause. Others, such as a full disk, are not blamed on documents."""
Unit = tuple[str, ...]
"""The documents that rows are built from: one, or the two of a pair."""
_PAIR = ("from_document_id", "to_document_id")
_MOST_CHARACTERS = 400


class TooManyDefectsError(Exception):
    """A function fails on more units than may be left out.

    Attributes:
        documents: Some of the documents of these units.
    """

    def __init__(self, documents: Collection[str]) -> None:
        """Store the documents.

        Args:
            documents: Some of the documents.
        """
        super().__init__(*sorted(documents))
        self.documents = documents


def describe_defect(error: Exception) -> str:
    """Describe an unexpected error in one line: its type, its message and where it was raised.

    Args:
        error: The error.

    Returns:
        One line, such as "IndexError: list index out of range (flow_words.py:144)".
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    message = " ".join(str(error).split())[:_MOST_CHARACTERS]
    return f"{type(error).__name__}: {message} ({Path(last.filename).name}:{last.lineno})"


def find_failing(call: Callable[[Sequence[Unit]], Any], units: Sequence[Unit], *, most: int) -> dict[Unit, str]:
    """Find the units on which a function fails alone, by trying halves of those on which it fails together.

    Args:
        call: The function; it raises one of `DEFECTS` for all units together.
        units: Single documents, or pairs of them.
        most: Maximum number of units that may be left out.

    Returns:
        The error by unit; empty if the function fails only on several units together.

    Raises:
        TooManyDefectsError: It fails on more than `most` units.
    """
    errors: dict[Unit, str] = {}
    waiting = [units]
    while waiting:
        chosen = waiting.pop()
        try:
            call(chosen)
        except DEFECTS as defect:
            if len(chosen) > 1:
                middle = len(chosen) // 2
                waiting += [chosen[middle:], chosen[:middle]]
            elif chosen:
                errors[chosen[0]] = describe_defect(defect)
                if len(errors) > most:
                    raise TooManyDefectsError({name for unit in errors for name in unit}) from defect
    return errors


def drop_documents(frames: Mapping[str, pl.DataFrame], names: Collection[str]) -> dict[str, pl.DataFrame]:
    """Drop the rows of some documents, and of pairs that contain one of them.

    Args:
        frames: Tables by name.
        names: Documents.

    Returns:
        The tables by name; those without a column of documents as they are.
    """
    dropped = pl.Series(list(names), dtype=pl.String).implode()

    def keep(frame: pl.DataFrame) -> pl.DataFrame:
        columns = [name for name in ("document_id", *_PAIR) if name in frame.columns]
        if not columns:
            return frame
        return frame.filter(~pl.any_horizontal(pl.col(name).is_in(dropped).fill_null(False) for name in columns))

    return {name: keep(frame) for name, frame in frames.items()}
