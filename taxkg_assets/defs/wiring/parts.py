"""Tables that are made in parts: a part is made from the rows of a few documents, and kept while those stand.

A library of hundreds of documents changes by one at a time; what was made from the others stays as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from taxkg_assets.defs.home.store import digest
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.digests import frame_digest

Part = tuple[str, ...]
"""The ids of the documents that a part is made from."""

_JOINED_BY = " → "


@dataclass(frozen=True, slots=True)
class Parts:
    """How a table is built in parts."""

    columns: Sequence[str]
    """Its columns that name the documents of a part."""
    find: Callable[[pl.DataFrame], Sequence[Part]]
    """The parts of a library, from `documents`."""
    argument: str = ""
    """The builder's parameter that is given the parts to make; without one, it makes what its rows belong to."""
    digest_each: Callable[..., Mapping[str, str]] | None = None
    """Digests of what the part of each document is made from, for a table whose parts read other documents, too: a
    function of tables by their names. The builder is then given those tables whole, and the parts to make."""


BY_DOCUMENT = Parts(("document_id",), lambda documents: [(name,) for name in documents["document_id"]])


def digest_parts(
    parts: Sequence[Part], documents: pl.DataFrame, *, states: Mapping[str, TableState], code: str
) -> dict[Part, str]:
    """Compute the digest of what each part is made from.

    That is the code, the rows of the part's documents, and all rows of tables that are not stored per document.

    Args:
        parts: Parts of the table.
        documents: Rows of `documents`.
        states: States of all tables that the builder reads.
        code: Digest of the builder's code and settings.

    Returns:
        Digest by part.
    """
    document_tables = [name for name in sorted(states) if name != "documents" and states[name].documents]
    shared_digest = digest(
        code,
        *(f"{n}={state.content}" for n, state in sorted(states.items()) if n not in {*document_tables, "documents"}),
    )
    document_digests = {row["document_id"].item(): frame_digest(row) for row in documents.iter_slices(1)}

    def digest_document(document_id: str) -> str:
        contents = (states[name].documents.get(document_id, {}).get("content", "") for name in document_tables)
        return digest(document_digests[document_id], *contents)

    return {part: digest(shared_digest, *map(digest_document, part)) for part in parts}


def digest_sources(parts: Parts, frames: Mapping[str, pl.DataFrame], *, code: str) -> dict[Part, str]:
    """Compute for each part the digest of its inputs and of the builder's code; requires `parts.digest_each`.

    Args:
        parts: How the table is built in parts.
        frames: Upstream tables by name.
        code: Digest of the builder's code and settings.

    Returns:
        Digest by part.
    """
    assert parts.digest_each is not None
    digests = parts.digest_each(**{name: frames[name] for name in inspect.signature(parts.digest_each).parameters})
    return {(document_id,): digest(code, made_from) for document_id, made_from in digests.items()}


def find_current_parts(digests: Mapping[Part, str], state: TableState | None) -> set[Part]:
    """List the parts whose rows are current.

    Args:
        digests: Current input digest by part.
        state: Newest state of the table; None if it does not exist.

    Returns:
        Parts that need not be rebuilt.
    """
    recorded_parts = state.documents if state is not None else {}
    return {
        part for part, made_from in digests.items() if recorded_parts.get(_name(part), {}).get("inputs") == made_from
    }


def record_parts(digests: Mapping[Part, str]) -> dict[str, dict[str, str]]:
    """Return what a commit records of the parts of its table.

    Args:
        digests: Digest by part.

    Returns:
        By name of the part, its digest under the key `inputs`.
    """
    return {_name(part): {"inputs": made_from} for part, made_from in digests.items()}


def select_parts(frame: pl.DataFrame, parts: Collection[Part], *, columns: Sequence[str]) -> pl.DataFrame:
    """Keep the rows of some parts.

    Args:
        frame: Rows of the table.
        parts: Parts to keep.
        columns: Columns that name the part of a row.

    Returns:
        Rows of these parts, in their order.
    """
    part_rows = pl.DataFrame(sorted(parts), schema=dict.fromkeys(columns, pl.String), orient="row")
    return frame.join(part_rows, on=list(columns), how="semi", maintain_order="left")


def _name(part: Part) -> str:
    return _JOINED_BY.join(part)
