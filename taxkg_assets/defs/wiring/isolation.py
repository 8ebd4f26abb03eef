"""Building a table without the documents on which its builder fails, so that one of them does not stop the library.

A builder gets the rows of all documents at once. Where it fails, halves of the documents are tried until those are
found that make it fail alone. The table is built without their rows, and the home records why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import polars as pl

from taxkg_assets.defects import DEFECTS, TooManyDefectsError, Unit, describe_defect, find_failing
from taxkg_assets.defs.home.storage import Storage
from taxkg_assets.defs.home.store import Store

Built = TypeVar("Built")
"""What a builder returns."""
FOLDER = "failures"
"""Folder of a home with a file for each table that lacks documents, because its builder failed on them."""
_SCHEMA = {"document_id": pl.String, "table": pl.String, "error": pl.String}
_CANNOT_BUILD = "The table {} cannot be built: {}. {}. This is a defect of taxkg: report this message."
_TOGETHER = "It fails on no document alone, only on several together"


class BuilderError(Exception):
    """A table cannot be built, and leaving out a few documents does not help; the message names table and remedy."""


def build_isolated(
    build: Callable[[Sequence[Unit]], Built], units: Sequence[Unit], *, table: str, most: int
) -> tuple[Built, dict[Unit, str]]:
    """Build a table; where the builder fails, leave out the documents, or pairs of documents, that cause it.

    Args:
        build: Builds the rows of some units, in any form.
        units: What the table is built from: single documents, or pairs of them.
        table: Name of the table that is built.
        most: Maximum number of units that may be left out.

    Returns:
        What the builder returns, and the error by unit that was left out.

    Raises:
        BuilderError: The builder fails on more units, or only on several of them together.
    """
    try:
        return build(units), {}
    except DEFECTS as defect:
        if _has_remedy(defect):
            raise
        failure = defect
    try:
        errors = find_failing(build, units, most=most)
        rows = build([unit for unit in units if unit not in errors]) if errors else None
    except TooManyDefectsError as reason:
        failing = f"It fails on {', '.join(sorted(reason.documents))}"
        raise BuilderError(_CANNOT_BUILD.format(table, describe_defect(failure), failing)) from failure
    except DEFECTS:
        rows = None
    if rows is None:
        raise BuilderError(_CANNOT_BUILD.format(table, describe_defect(failure), _TOGETHER)) from failure
    return rows, errors


def _has_remedy(error: Exception) -> bool:
    """Return whether an error is one of ours, such as that of a faulty label file: its message says what to do."""
    return type(error).__module__.startswith("taxkg_assets")


def find_documents(frames: Mapping[str, pl.DataFrame]) -> list[str]:
    """Return the ids of all documents with rows in the given tables, sorted.

    Args:
        frames: Tables by name.
    """
    columns = [frame["document_id"] for frame in frames.values() if "document_id" in frame.columns]
    return sorted({str(name) for column in columns for name in column.drop_nulls().unique()})


def names_of(units: Iterable[Unit]) -> set[str]:
    """Return the documents of some units.

    Args:
        units: Documents, or pairs of them.
    """
    return {name for unit in units for name in unit}


def record_failures(storage: Storage, table: str, errors: Mapping[str, str], *, kept: Collection[str] = ()) -> None:
    """Record the documents that a table lacks, or remove the record if it lacks none.

    Args:
        storage: Files of the home.
        table: Name of the table.
        errors: Error by document of this build.
        kept: Documents whose earlier record stays, as their rows were not built again.
    """
    former = _read_errors(storage, table)
    recorded = {name: former[name] for name in sorted(former.keys() & set(kept))} | dict(errors)
    if recorded:
        storage.write(f"{FOLDER}/{table}.json", json.dumps(recorded, indent=1, ensure_ascii=False).encode())
    elif former:
        storage.remove(f"{FOLDER}/{table}.json")


def read_failures(store: Store) -> pl.DataFrame:
    """Return the documents that tables lack, because their builders failed on them.

    Args:
        store: Tables of the home.

    Returns:
        `document_id`, `table` and `error`.
    """
    names = [name.removesuffix(".json") for name in store.storage.children(FOLDER) if name.endswith(".json")]
    rows = [
        (document_id, table, error)
        for table in names
        for document_id, error in sorted(_read_errors(store.storage, table).items())
    ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _read_errors(storage: Storage, table: str) -> dict[str, str]:
    data = storage.read(f"{FOLDER}/{table}.json")
    errors: dict[str, str] = json.loads(data) if data else {}
    return errors
