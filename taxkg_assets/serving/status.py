"""What a home holds: tables, whether each is current, what its gates last said, what had to stay out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import dagster as dg
import polars as pl

from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.home.stored_tables import TableState
from taxkg_assets.defs.ingest.intake import PER_DOCUMENT, inspect_sources, tier_of
from taxkg_assets.defs.ingest.llm_refinement import refinement_fingerprint
from taxkg_assets.defs.ingest.reading import reading_version
from taxkg_assets.defs.wiring.gates import find_ungated
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.records import DocumentRecord, QuarantineRecord, iter_records
from taxkg_assets.serving.instance import open_instance
from taxkg_assets.sources.documents import FoundTextRecord, find_hidden_texts


class FlagRecord(TypedDict):
    """A document that is served with a quality flag: columns of `document_quality`."""

    document_id: str
    law: str
    rows: int
    message: str
    examples: list[str]
    remedy: str


@dataclass(frozen=True, slots=True)
class TableStatus:
    """One table of the home.

    Attributes:
        table: Name of the table.
        state: `missing`, `stale` or `current`.
        rows: Number of rows; None for a missing table.
        version: Newest version; None for a missing table.
        gates: Number of its gates.
        failing: By gate that has not passed on this version, the reason.
        is_trained: Whether `taxkg train` builds it, and not `taxkg build`.
    """

    table: str
    state: str
    rows: int | None
    version: int | None
    gates: int
    failing: dict[str, str]
    is_trained: bool = False


def table_statuses(store: Store) -> list[TableStatus]:
    """Report the state of each table.

    Args:
        store: Tables of the home.

    Returns:
        One entry per table, in pipeline order.
    """
    import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates

    with open_instance(store) as instance:
        return _statuses(store, instance)


def list_hidden_texts(store: Store) -> list[FoundTextRecord]:
    """List invisible text that the tables exclude, and suspected prompt injections.

    Args:
        store: Tables of the home.

    Returns:
        One row per text: document, page, why it is hidden, and whether it looks like a prompt injection.
    """
    documents = store.read_or_empty("documents")
    # A home of an older version does not say; its next build will.
    if "hidden_texts" not in documents.columns:
        return []
    return list(iter_records(find_hidden_texts(documents), FoundTextRecord))


def list_flagged(store: Store) -> list[FlagRecord]:
    """List the documents that are served with a quality flag.

    Args:
        store: Tables of the home.

    Returns:
        One row per document and failed check, with message and remedy.
    """
    quality = store.read_or_empty("document_quality").filter(pl.col("outcome") == "flagged")
    return list(iter_records(quality.select(*FlagRecord.__annotations__), FlagRecord))


def _statuses(store: Store, instance: dg.DagsterInstance) -> list[TableStatus]:
    home = Home(home=str(store.home))
    states = {name: store.state(name) for name in PIPELINE.order()}
    unpassed_gates = find_ungated(instance, store, PIPELINE)
    stale = find_stale(home, states)
    rows: list[TableStatus] = []
    for name, state in states.items():
        state_name = "stale" if name in stale else "current"
        if state is None:
            state_name = "missing"
        table_faults = {
            gate.split(":", 1)[1]: reason for gate, reason in unpassed_gates.items() if gate.startswith(f"{name}:")
        }
        count = None if state is None else store.count(name)
        version = None if state is None else state.version
        failing = {} if state is None else table_faults
        is_trained = name in PIPELINE.trained()
        rows.append(TableStatus(name, state_name, count, version, len(PIPELINE.gates(name)), failing, is_trained))
    return rows


def find_stale(home: Home, states: dict[str, TableState | None]) -> set[str]:
    """Find the tables that the next build would rebuild.

    Args:
        home: Tables, files and settings of the home.
        states: Last recorded state of each table, in pipeline order; None for a missing one.

    Returns:
        Names of tables whose inputs, code or settings differ from the recorded ones, and of all tables built from them.
    """
    stale = {"documents"} if _documents_changed(home) else set()
    documents = states["documents"].documents if states["documents"] is not None else {}
    current_readings = {document: record["content"] for document, record in documents.items()}
    for name in states:
        state, upstream = states[name], PIPELINE.upstream(name)
        if (
            state is None
            or any(input_name in stale or states[input_name] is None for input_name in upstream)
            or (
                name in PER_DOCUMENT
                and _stored_rows(state)
                != {
                    document: (reading, refinement_fingerprint(home, name))
                    for document, reading in current_readings.items()
                }
            )
        ):
            stale.add(name)
        elif fingerprint := PIPELINE[name].fingerprint:
            input_states = {input_name: record for input_name in upstream if (record := states[input_name]) is not None}
            if fingerprint(home, input_states) != state.inputs:
                stale.add(name)
    return stale


def _stored_rows(state: TableState) -> dict[str, tuple[str, str]]:
    """Return the reading of each document's rows, and the model that refined them."""
    return {document_id: (s["reading"], s.get("settler", "")) for document_id, s in state.documents.items()}


def _documents_changed(home: Home) -> bool:
    files = home.store.read_manifest().files
    settings = home.settings
    version = reading_version(settings)
    unchanged_ids: set[str] = set()
    documents = list(iter_records(home.store.read_or_empty("documents"), DocumentRecord))
    statuses = inspect_sources(
        home, files.keys(), files=files, admitted_rows={row["document_id"]: row for row in documents}
    )
    for row in documents:
        status = statuses.get(row["document_id"])
        if status is None:  # gone
            return True
        is_same = status.sha256 == row["sha256"] and row["code_version"] == version
        if is_same and row.get("tier") == tier_of(settings, row):
            unchanged_ids.add(row["document_id"])
    for refused in iter_records(home.store.read_or_empty("quarantine"), QuarantineRecord):
        status = statuses.get(refused["document_id"])
        if status is None or status.sha256 != refused["sha256"] or refused["code_version"] != version:
            return True  # gone, or no longer refused for that
        unchanged_ids.add(refused["document_id"])
    return unchanged_ids != set(files)
