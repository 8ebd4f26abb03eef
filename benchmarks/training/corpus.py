"""A built home as the training benchmarks see it: its chunks, its questions with gold, and whose document is whose."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.documents import CorpusError
from benchmarks.in_memory import index_in_memory
from taxkg_assets.defs.home.access import HomeFolder
from taxkg_assets.defs.home.models import open_encoder_by_hash
from taxkg_assets.defs.home.store import Store
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.index.embeddings import embedded_text
from taxkg_assets.retrieval.index.passage_index import SearchIndex
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.schemas import Documents, Edges, Nodes
from taxkg_assets.serving.released import NotReleasedError, Released, open_release
from taxkg_assets.training.families import find_families


@dataclass(frozen=True)
class Corpus:
    """The release of a home, opened once."""

    home: Path
    released: Released

    @cached_property
    def searcher(self) -> Searcher:
        """The pipeline with the encoder that the release was made with."""
        return self.released.searcher

    @property
    def index(self) -> SearchIndex:
        """The index of the pipeline, in memory.

        Raises: CorpusError where it is searched in LanceDB.
        """
        return index_in_memory(self.searcher)

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """The encoder of the index as a build opens it; that of the searcher may be an export for questions.

        Raises: CorpusError where the home does not have its model.
        """
        hashed = self.searcher.index.model_hash
        encoder = open_encoder_by_hash(HomeFolder(home=str(self.home)), hashed)
        if encoder is None:
            raise CorpusError(f"{self.home} has no model {hashed}, which its release was made with.")
        return encoder

    @cached_property
    def families(self) -> dict[str, str]:
        """Form family of each document."""
        return find_families(
            Documents.cast(self.table("documents")),
            Nodes.cast(self.table("nodes")),
            edges=Edges.cast(self.table("edges")),
        )

    @cached_property
    def rows(self) -> pl.DataFrame:
        """Chunks of the index in its order, with the text that is encoded as `passage`."""
        return self.index.rows.with_columns(passage=embedded_text())

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row of each chunk."""
        return {chunk_id: row for row, chunk_id in enumerate(self.rows["chunk_id"])}

    @cached_property
    def passages(self) -> list[str]:
        """The text of each row as it is encoded."""
        return self.rows["passage"].to_list()

    def table(self, name: str) -> pl.DataFrame:
        """A table of the release, or of training, which releases do not pin."""
        store = Store(str(self.home))
        if name in json.loads(self.released.row["table_versions"]):
            return self.released.table(name)
        if not store.exists(name):
            raise CorpusError(f"{self.home} has no table {name}: run `taxkg train` there first.")
        return store.read(name)


def open_corpus(home: str) -> Corpus:
    """Open the release of a home."""
    try:
        return Corpus(Path(home), open_release(home))
    except NotReleasedError as missing:
        raise CorpusError(str(missing)) from missing


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Read a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines() if line.strip()]
