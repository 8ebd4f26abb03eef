"""Both retrievers over the accepted passages, which find passages similar to a text for training.

No router, no lay terms, no features: a model has to learn to distinguish what the retrievers alone return.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoding.encoder import Progress, Vectors
from taxkg_assets.retrieval.encoding.lexical import Scores, find_terms
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.index.bm25 import LexicalRetriever, build_lexical
from taxkg_assets.retrieval.index.embeddings import align_vectors, build_embeddings, embedded_text
from taxkg_assets.schemas import Chunks, Embeddings


@dataclass(frozen=True, slots=True)
class PassageRetrievers:
    """Passage ids, their vectors and BM25 postings over the same rows, for training and evaluation."""

    chunk_ids: tuple[str, ...]
    vectors: Vectors
    lexical: LexicalRetriever
    encoder: SentenceEncoder
    encoded: dict[str, Vectors] = field(default_factory=dict)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode questions or other short texts; each text is encoded once.

        Args:
            texts: Questions or short texts.

        Returns:
            Unit vectors of shape (texts, dimension).
        """
        new = sorted({text for text in texts if text not in self.encoded})
        self.encoded.update(zip(new, self.encoder.encode_questions(new), strict=True))
        if not texts:
            return np.zeros((0, self.encoder.dimension), dtype=np.float32)
        return np.stack([self.encoded[text] for text in texts])

    def score_lexical(self, text: str) -> Scores:
        """Return BM25 of every passage.

        Args:
            text: Question.

        Returns:
            Scores of shape (passages,).
        """
        return self.lexical.score_rows(find_terms(text))


def build_passage_retrievers(
    chunks: dy.DataFrame[Chunks],
    old: dy.DataFrame[Embeddings] | None,
    *,
    encoder: SentenceEncoder,
    progress: Progress | None = None,
) -> PassageRetrievers:
    """Build retrievers over the accepted passages, for training and evaluation.

    Args:
        chunks: Chunks; only accepted ones are indexed.
        old: Vectors that were made before; None for none.
        encoder: Encoder of passages and questions.
        progress: Receives the number of encoded texts, and of all.

    Returns:
        Retrievers over the passages in order of their ids.
    """
    accepted = chunks.filter(pl.col("status") == "accepted").sort("chunk_id")
    embeddings = build_embeddings(chunks, old, encoder=encoder, progress=progress)
    texts = accepted.select(embedded_text().alias("text"))["text"]
    return PassageRetrievers(
        chunk_ids=tuple(accepted["chunk_id"]),
        vectors=align_vectors(accepted, embeddings, model_hash=encoder.model_hash),
        lexical=build_lexical([find_terms(text) for text in texts]),
        encoder=encoder,
    )
