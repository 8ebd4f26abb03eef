"""Refinement of the rows of an extraction table between reading and commit, by a model.

Documents are read in child processes that know no model. Where the settings name one, the references that the rules
are not sure of are put to it when `references` is published; with rules alone the rows pass as they were read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.home.proposers import open_proposer, proposer_fingerprint
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.extraction.references.ambiguous import resolve_ambiguous_references
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.records import DocumentRecord, iter_records

REFINED_TABLE = "references"

RefineRows = Callable[[Path], pl.DataFrame]


def refinement_fingerprint(home: Home, name: str) -> str:
    """Return the digest of the language model that refines a table's rows; a new digest makes these rows stale.

    Args:
        home: Tables, files and settings of the home.
        name: Extraction table.

    Returns:
        The digest; empty if no model refines this table.
    """
    return proposer_fingerprint(home) if name == REFINED_TABLE and home.settings.llm_provider != "rules" else ""


def open_refinement(home: Home, name: str) -> RefineRows:
    """Open the function that builds a document's rows from its cached reading, refined by a model if configured.

    Args:
        home: Tables, files and settings of the home.
        name: Extraction table.

    Returns:
        Function that takes the folder of a cached reading and returns the rows of the table.
    """
    if not refinement_fingerprint(home, name):
        return lambda folder: pl.read_ipc(folder / f"{name}.arrow")
    proposer = open_proposer(home)
    return lambda folder: resolve_cached_references(folder, proposer)


def resolve_cached_references(folder: Path, proposer: Proposer) -> pl.DataFrame:
    """Resolve the ambiguous references of one document from its cached tables.

    Args:
        folder: Folder of the document's cached tables.
        proposer: Model that decides ambiguous references.
    """
    return resolve_ambiguous_references(
        schemas.References.cast(pl.read_ipc(folder / "references.arrow")),
        schemas.Sections.cast(pl.read_ipc(folder / "sections.arrow")),
        anchors=schemas.Anchors.cast(pl.read_ipc(folder / "anchors.arrow")),
        proposer=proposer,
    )


def build_resolved_references(
    documents: dy.DataFrame[schemas.Documents], *, folder_of: Callable[[DocumentRecord], Path], proposer: Proposer
) -> dy.DataFrame[schemas.References]:
    """Build the rows of `references` that the next publication would contain, from cached readings.

    Args:
        documents: Documents with their readings.
        folder_of: Function that returns the folder of a document's cached tables.
        proposer: Model that decides ambiguous references.

    Returns:
        Rows of `references`.
    """
    folders = [folder_of(row) for row in iter_records(documents, DocumentRecord)]
    frames = [resolve_cached_references(folder, proposer) for folder in folders if folder.is_dir()]
    return schemas.References.validate(pl.concat([schemas.References.create_empty(), *frames]))
