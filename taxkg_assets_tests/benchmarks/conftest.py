"""The invented forms of the tests of retrieval, here as a home that the training benchmarks read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchmarks.training.corpus import Corpus
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets_tests.retrieval.conftest import anchors, chunks, documents, index_rows, searcher, sections

__all__ = ["anchors", "chunks", "corpus", "documents", "index_rows", "searcher", "sections"]


@dataclass(frozen=True)
class ReleasedIndex:
    """A release that holds a search and nothing else."""

    searcher: Searcher
    row: dict[str, Any] = field(default_factory=lambda: {"table_versions": "{}"})


@pytest.fixture(scope="session")
def corpus(searcher: Searcher) -> Corpus:
    return Corpus(Path("nowhere"), ReleasedIndex(searcher))  # type: ignore[arg-type]
