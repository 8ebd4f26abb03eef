"""What readers see: the current release, its index, and the versions of the tables that it pins."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import polars as pl

from taxkg_assets.defs.home.access import HomeFolder
from taxkg_assets.defs.home.index_files import (
    IndexFilesError,
    has_catalogue,
    has_index_files,
    open_catalogue,
    open_search_index,
    open_tables,
)
from taxkg_assets.defs.home.indexes import has_index, open_index
from taxkg_assets.defs.home.models import open_encoder, open_encoder_by_hash
from taxkg_assets.defs.home.question_models import open_question_encoder, why_not_exported
from taxkg_assets.defs.home.rerankers import open_served_reranker
from taxkg_assets.defs.home.store import Store
from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.retrieval.encoding.encoder import Encoder
from taxkg_assets.retrieval.index.current import find_current
from taxkg_assets.retrieval.index.passage_index import PassageIndex
from taxkg_assets.retrieval.query.components import DEFAULT_COMPONENTS
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Flag
from taxkg_assets.retrieval.tables.table_context import build_catalogue, read_catalogue
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue
from taxkg_assets.serving.addresses import SectionAddresses

_log = logging.getLogger("taxkg.serving")


class NotReleasedError(Exception):
    """The home has no release to serve."""


@dataclass(frozen=True)
class Released:
    """One release of a home, opened for reading; it stays the same when a newer one is published."""

    store: Store
    row: dict[str, Any]
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table in the version of the release; cached after the first read.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        if name not in self._frames:
            self._frames[name] = self.store.read(name, version=json.loads(self.row["table_versions"])[name])
        return self._frames[name]

    def read_as_written(self, name: str, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return a table in the version of the release, unsorted and unvalidated: the fastest way to read it.

        Args:
            name: Name of the table, e.g. `sections`.
            columns: Columns to read; all by default.
        """
        version = json.loads(self.row["table_versions"])[name]
        return self.store.read_as_written(name, version=version, columns=columns)

    def holds(self, name: str) -> bool:
        """Return whether the release records a version of a table; older releases record fewer tables.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        return name in json.loads(self.row["table_versions"])

    def read(self, name: str) -> pl.DataFrame:
        """Return a table in the version of the release; the same as `table`, under the name that `Readable` requires.

        Args:
            name: Name of the table, e.g. `sections`.
        """
        return self.table(name)

    def read_documents(self, name: str, document_ids: Collection[str]) -> pl.DataFrame:
        """Return the rows of some documents in the version of the release.

        Args:
            name: Name of the table, e.g. `sections`.
            document_ids: Documents whose rows are read.
        """
        return self.store.read_documents(name, document_ids, version=json.loads(self.row["table_versions"])[name])

    def read_sections(self, element_ids: Collection[str]) -> pl.DataFrame:
        """Return some paragraphs with the rectangles of their lines, in the version of the release.

        Args:
            element_ids: Elements whose rows are read.
        """
        return self.store.read_elements(
            "sections", element_ids, version=json.loads(self.row["table_versions"])["sections"]
        )

    @cached_property
    def addresses(self) -> SectionAddresses:
        """Return the official URLs of sections, to look up by anchor."""
        columns = ("anchor_id", "parent_anchor_id", "official_url")
        return SectionAddresses(self.read_as_written("anchors", columns=columns))

    @cached_property
    def flags(self) -> dict[str, list[Flag]]:
        """Return the quality flags of each flagged document; empty for releases without flags."""
        version = json.loads(self.row["table_versions"]).get("document_quality")
        if version is None:
            return {}
        quality = self.store.read_as_written("document_quality", version=version)  # every question reads it
        failed_checks = quality.filter(pl.col("outcome") != "passed").sort("document_id", "law")
        flags: dict[str, list[Flag]] = {}
        for document, law, message, remedy in failed_checks.select(
            "document_id", "law", "message", "remedy"
        ).iter_rows():
            flags.setdefault(document, []).append(Flag(document=document, law=law, message=message, remedy=remedy))
        return flags

    def flags_of(self, *documents: str) -> list[Flag]:
        """Return the quality flags of some documents.

        Args:
            documents: Ids of documents.
        """
        return [flag for name in dict.fromkeys(documents) for flag in self.flags.get(name, ())]

    @cached_property
    def searcher(self) -> Searcher:
        """Return the search pipeline over the released index and graph, with the configured language model."""
        home = HomeFolder(home=str(self.store.home))
        index = self._open_index(home)
        versions = json.loads(self.row["table_versions"])
        return Searcher(
            index=index,
            encoder=self.question_encoder,
            parts=replace(DEFAULT_COMPONENTS, hyde=home.settings.llm_hyde),
            proposer=_open_proposer(home),
            open_tables=self._open_tables,
            reranker=open_served_reranker(
                home, version=versions.get("reranker", -1), index_encoder=self.row["model_hash"]
            ),
            flags=self.flags,
            read_sections=self.read_sections,
            find_address=lambda anchor: self.addresses.get(anchor),
            open_boxes=cache(lambda: self.store.read_as_written("registry", version=versions["registry"])),
            open_lines=cache(lambda: self.read_as_written("lines")) if "lines" in versions else None,
            open_flows=cache(lambda: self.read_as_written("flows")) if "flows" in versions else None,
            open_changes=(lambda: self.table("revisions")) if "revisions" in versions else None,
        )

    def _open_index(self, home: HomeFolder) -> PassageIndex:
        """Open the released index from its files; one of an older version from LanceDB, all of it."""
        path, model_hash = self.row["index_path"], self.row["model_hash"]
        if has_index_files(self.store, path):
            max_rows = home.settings.index_memory_rows
            return open_search_index(self.store, path, model_hash=model_hash, most_rows=max_rows)
        if not has_index(self.store, path):
            raise IndexFilesError(f"The index of the release, {path}, is missing. Run `taxkg build`.")
        from taxkg_assets.retrieval.index.index import (
            read_index,  # loaded here: an index of this version needs no LanceDB
        )

        return read_index(open_index(self.store, path), model_hash=model_hash)

    def _open_tables(self) -> TableCatalogue:
        """Open the catalog of all tables; an index of an older version has none."""
        path = self.row["index_path"]
        if has_catalogue(self.store, path):
            tables = open_tables(self.store, path)
            if tables is None:
                tables = self.store.read_as_written("tables", version=json.loads(self.row["table_versions"])["tables"])
            return read_catalogue(open_catalogue(self.store, path), tables=tables)
        nodes = self.table("nodes").filter(pl.col("level") == "table")
        return build_catalogue(
            tables=self.table("tables"),
            documents=self.table("documents"),
            headings=dict(nodes.select("node_id", "heading_path").iter_rows()),
            sections=self.table("sections"),
        )

    @cached_property
    def question_encoder(self) -> Encoder:
        """Return the exported encoder of the index; without an export, load it with PyTorch and log a warning.

        Raises:
            NotReleasedError: The settings name a different encoder from the one that the release was built with.
        """
        home = HomeFolder(home=str(self.store.home))
        encoder_hash = self.row["model_hash"]
        exported = open_question_encoder(home, encoder_hash)
        if exported is not None:
            return exported
        _log.warning(
            "Questions are encoded with PyTorch, which takes seconds to load, because the encoder has no "
            "ONNX export: %s",
            why_not_exported(self.store, encoder_hash),
        )
        encoder = open_encoder_by_hash(home, encoder_hash)
        if encoder is None:
            configured = open_encoder(home)
            raise NotReleasedError(
                f"The release was built with the encoder {self.row['model_name']} ({encoder_hash}), but "
                f"TAXKG_MODEL and TAXKG_MODEL_RUNTIME now select {configured.model_name} ({configured.model_hash}). "
                "Restore these settings to keep the release, or run `taxkg build` to use the other encoder."
            )
        return encoder


def _open_proposer(home: HomeFolder) -> Proposer | None:
    """Return the model for readers; None if rules propose."""
    if home.settings.llm_provider == "rules":
        return None
    from taxkg_assets.defs.home.proposers import open_reader  # loaded here: few homes ask a model

    return open_reader(home)


def open_release(home: str) -> Released:
    """Open the current release of a home.

    Args:
        home: Folder or bucket address of the home.

    Returns:
        The release with its tables and its search, each opened on first use.

    Raises:
        NotReleasedError: The home does not exist, or nothing has been released there.
    """
    store = Store(home)
    row = find_current(store.read_as_written("release")) if store.exists("release") else None
    if row is None:
        raise NotReleasedError(f"{store.uri} has no release yet. Run `taxkg build`, and check that its gates pass.")
    return Released(store, row)
