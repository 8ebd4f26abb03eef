"""What readers see: the current release, its index and the tables as they stood when it was made."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from taxkg_assets.defs.indexes import open_index
from taxkg_assets.defs.models import open_encoder, open_encoder_of
from taxkg_assets.defs.proposers import open_reader
from taxkg_assets.defs.rerankers import open_reranker
from taxkg_assets.defs.resources import Home
from taxkg_assets.defs.store import Store
from taxkg_assets.retrieval.index import read_index
from taxkg_assets.retrieval.parts import DEFAULT_PARTS
from taxkg_assets.retrieval.release import find_current
from taxkg_assets.retrieval.results import Flag
from taxkg_assets.retrieval.search import Searcher
from taxkg_assets.retrieval.table_context import build_catalogue
from taxkg_assets.schemas import Edges


class NotReleasedError(Exception):
    """The home has nothing that may be served."""


@dataclass(frozen=True)
class Released:
    """One release of a home, opened for reading; a newer one does not change it."""

    store: Store
    row: dict[str, Any]
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)

    def table(self, name: str) -> pl.DataFrame:
        """A table as it stood when the release was made; read once."""
        if name not in self._frames:
            self._frames[name] = self.store.read(name, version=json.loads(self.row["table_versions"])[name])
        return self._frames[name]

    def read(self, name: str) -> pl.DataFrame:
        """As `table`: a release can be compared in like a store."""
        return self.table(name)

    def read_documents(self, name: str, document_ids: Collection[str]) -> pl.DataFrame:
        """The rows of some documents as they stood when the release was made."""
        return self.store.read_documents(name, document_ids, version=json.loads(self.row["table_versions"])[name])

    @cached_property
    def flags(self) -> dict[str, list[Flag]]:
        """What to doubt of each document that does not keep every law; releases of older homes do not say."""
        if "document_quality" not in json.loads(self.row["table_versions"]):
            return {}
        doubted = self.table("document_quality").filter(pl.col("outcome") != "passed")
        flags: dict[str, list[Flag]] = {}
        for document, law, message, remedy in doubted.select("document_id", "law", "message", "remedy").iter_rows():
            flags.setdefault(document, []).append(Flag(document=document, law=law, message=message, remedy=remedy))
        return flags

    def flags_of(self, *documents: str) -> list[dict[str, str]]:
        """The flags of some documents as plain data."""
        return [flag.model_dump() for name in dict.fromkeys(documents) for flag in self.flags.get(name, ())]

    @cached_property
    def searcher(self) -> Searcher:
        """The search pipeline over the released index and graph, with the model that readers may ask."""
        home = Home(home=str(self.store.home))
        encoder = open_encoder_of(home, self.row["model_hash"])
        if encoder is None:
            own = open_encoder(home)
            raise NotReleasedError(
                f"The release was made with the encoder {self.row['model_name']} ({self.row['model_hash']}), this "
                f"machine and its settings give {own.model_name} ({own.model_hash}): run `taxkg build`, "
                "or set TAXKG_MODEL and TAXKG_MODEL_RUNTIME back."
            )
        index = read_index(open_index(self.store, self.row["index_path"]), model_hash=self.row["model_hash"])
        versions = json.loads(self.row["table_versions"])
        return Searcher(
            index=index,
            encoder=encoder,
            edges=Edges.cast(self.table("edges")),
            parts=replace(DEFAULT_PARTS, hyde=home.settings.llm_hyde),
            proposer=open_reader(home),
            open_tables=lambda: build_catalogue(
                tables=self.table("tables"),
                documents=self.table("documents"),
                nodes=self.table("nodes"),
                sections=self.table("sections"),
            ),
            reranker=open_reranker(home, version=versions.get("reranker", -1)),
            flags=self.flags,
        )


def open_release(home: str) -> Released:
    """Open the current release of a home."""
    store = Store(home)
    row = find_current(store.read("release")) if store.exists("release") else None  # type: ignore[arg-type]
    if row is None:
        raise NotReleasedError(f"{store.uri} has no release yet: run `taxkg build` and mind its gates.")
    return Released(store, row)
