"""What a home holds: tables, whether each is current, what its gates last said, what had to stay out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dagster as dg
import polars as pl

from taxkg_assets.defs.home.store import Store, TableState
from taxkg_assets.defs.ingest.intake import PER_DOCUMENT, inspect_sources, tier_of
from taxkg_assets.defs.ingest.llm_refinement import refinement_fingerprint
from taxkg_assets.defs.ingest.reading import reading_version
from taxkg_assets.defs.wiring.gates import find_ungated
from taxkg_assets.defs.wiring.registry import PIPELINE
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.serving.instance import open_instance
from taxkg_assets.sources.documents import find_hidden_texts


@dataclass(frozen=True, slots=True)
class TableStatus:
    """One table of the home."""

    table: str
    state: str
    rows: int | None
    version: int | None
    gates: int
    failing: dict[str, str]


def table_statuses(store: Store) -> list[TableStatus]:
    """Report the state of each table.

    Args:
        store: Tables of the home.

    Returns:
        One row per table, in pipeline order: missing, current or stale, and gates that have not passed on this version.
    """
    import taxkg_assets.definitions  # noqa: F401 - registers the tables and their gates

    with open_instance(store) as instance:
        return _statuses(store, instance)


def list_hidden_texts(store: Store) -> list[dict[str, Any]]:
    """List text that was left out of the tables because it is invisible, and suspected prompt injections.

    Args:
        store: Tables of the home.

    Returns:
        One row per text with document, page and reason.
    """
    documents = store.read_or_empty("documents")
    # A home of an older version does not say; its next build will.
    return find_hidden_texts(documents).to_dicts() if "hidden_texts" in documents.columns else []


def list_flagged(store: Store) -> list[dict[str, Any]]:
    """List the documents that are served with a quality flag.

    Args:
        store: Tables of the home.

    Returns:
        One row per document and check that it failed, with message and remedy.
    """
    quality = store.read_or_empty("document_quality").filter(pl.col("outcome") == "flagged")
    return quality.select("document_id", "law", "rows", "message", "examples", "remedy").to_dicts()


def _statuses(store: Store, instance: dg.DagsterInstance) -> list[TableStatus]:
    home = Home(home=str(store.home))
    states = {name: store.state(name) for name in PIPELINE.order()}
    faults = find_ungated(instance, store, PIPELINE)
    stale = find_stale(home, states)
    rows: list[TableStatus] = []
    for name, state in states.items():
        word = "missing" if state is None else "stale" if name in stale else "current"
        mine = {g.split(":", 1)[1]: why for g, why in faults.items() if g.startswith(f"{name}:")}
        count = None if state is None else store.count(name)
        version = None if state is None else state.version
        rows.append(TableStatus(name, word, count, version, len(PIPELINE.gates(name)), {} if state is None else mine))
    return rows


def find_stale(home: Home, states: dict[str, TableState | None]) -> set[str]:
    """Find the tables that the next build would write again.

    Args:
        home: The home.
        states: Last recorded state of each table, in pipeline order; None for a missing one.

    Returns:
        Names of the tables with other inputs, code or settings than recorded, and of those downstream.
    """
    stale = {"documents"} if _documents_changed(home) else set()
    admitted = states["documents"].documents if states["documents"] is not None else {}
    wanted = {d: s["content"] for d, s in admitted.items()}
    for name in states:
        state, upstream = states[name], PIPELINE.upstream(name)
        if (
            state is None
            or any(u in stale or states[u] is None for u in upstream)
            or (
                name in PER_DOCUMENT
                and _stored_rows(state) != {d: (r, refinement_fingerprint(home, name)) for d, r in wanted.items()}
            )
        ):
            stale.add(name)
        elif fingerprint := PIPELINE[name].fingerprint:
            above = {u: s for u in upstream if (s := states[u]) is not None}
            if fingerprint(home, above) != state.inputs:
                stale.add(name)
    return stale


def _stored_rows(state: TableState) -> dict[str, tuple[str, str]]:
    """The reading of each document's rows, and the model that refined them."""
    return {d: (s["reading"], s.get("settler", "")) for d, s in state.documents.items()}


def _documents_changed(home: Home) -> bool:
    files = home.store.read_manifest().files
    settings = home.settings
    version = reading_version(settings)
    seen: set[str] = set()
    rows = {name: home.store.read_or_empty(name).to_dicts() for name in ("documents", "quarantine")}
    known = {row["document_id"]: row for row in rows["documents"]}
    looks = inspect_sources(home, files.keys(), files=files, known=known)
    for name in rows:
        for row in rows[name]:
            look = looks.get(row["document_id"])
            is_same = look is not None and look.sha256 == row["sha256"] and row["code_version"] == version
            is_same = is_same and (name == "quarantine" or row.get("tier") == tier_of(settings, row))
            if is_same:
                seen.add(row["document_id"])
            elif look is None or name == "quarantine":  # gone, or no longer refused for that
                return True
    return seen != set(files)
