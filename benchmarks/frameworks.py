"""Other people's hybrid retrievers over the same texts and vectors as ours; each an optional import (extra `bench`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from benchmarks.in_memory import index_in_memory
from taxkg_assets.retrieval.ranking.baselines import DEPTH, RESULTS
from taxkg_assets.retrieval.ranking.search import Searcher

Row = dict[str, Any]
MOST_CHUNKS = 100_000
"""Haystack holds a Python object a number and scores every document in Python: more take minutes a question."""


def open_haystack(searcher: Searcher) -> Callable[[str], list[Row]]:
    """Haystack's in-memory store, its BM25 and embedding retrievers joined by reciprocal rank fusion, as documented.

    The texts are what our encoder was given, the vectors those that it gave.
    Raises: ImportError where haystack-ai is not installed; CorpusError where the index is not in memory.
    """
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")  # read when it is imported
    from haystack import Document
    from haystack.components.joiners import DocumentJoiner
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    index = index_in_memory(searcher)
    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Document(
                id=row["chunk_id"],
                content=f"{row['context']}\n{row['text']}",
                meta={"document_id": row["document_id"], "page": row["page"], "text": row["text"]},
                embedding=vector.tolist(),
            )
            for row, vector in zip(index.rows.iter_rows(named=True), index.vectors, strict=True)
        ]
    )
    by_term = InMemoryBM25Retriever(store, top_k=DEPTH)
    by_vector = InMemoryEmbeddingRetriever(store, top_k=DEPTH)
    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=RESULTS)

    def find(question: str) -> list[Row]:
        queried = searcher.encoder.encode_query(question).tolist()
        found = [by_term.run(query=question)["documents"], by_vector.run(query_embedding=queried)["documents"]]
        return [
            {**hit.meta, "chunk_id": hit.id, "score": hit.score} for hit in joiner.run(documents=found)["documents"]
        ]

    return find
