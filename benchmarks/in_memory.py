"""The index of a release with its rows and vectors in memory, and the same passages with other vectors."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.documents import CorpusError
from taxkg_assets.retrieval.encoding.encoder import Vectors
from taxkg_assets.retrieval.index.passage_index import SearchIndex
from taxkg_assets.retrieval.index.token_match import TokenIndex
from taxkg_assets.retrieval.ranking.search import Searcher


def index_in_memory(searcher: Searcher) -> SearchIndex:
    """Return the index of a search, which has rows and vectors only where it is in memory.

    Args:
        searcher: Opened search.

    Raises:
        CorpusError: The index is searched in LanceDB.
    """
    if not isinstance(searcher.index, SearchIndex):
        raise CorpusError(
            f"the index has {searcher.index.height:,} passages and is not in memory: "
            "raise TAXKG_INDEX_MEMORY_ROWS, and name a home on a disk"
        )
    return searcher.index


def replace_vectors(
    index: SearchIndex, vectors: Vectors, *, model_hash: str, tokens: TokenIndex | None = None
) -> SearchIndex:
    """Return the same passages with the vectors of another encoder, and without larger units.

    Args:
        index: Index.
        vectors: Vectors of its rows, shape (rows, dimension).
        model_hash: Encoder of these vectors.
        tokens: Tokens of the passages by the same encoder; None where no question is compared token by token.
    """
    return replace(
        index,
        vectors=vectors,
        model_hash=model_hash,
        units=None,
        unit_vectors=None,
        # The columns of the rows are the same for any encoder; directions and tokens are not.
        precomputed=replace(index.precomputed, document_vectors=None, section_means=None, tokens=tokens),
    )
