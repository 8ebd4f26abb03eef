"""The stress test: which systems tell a box's passage from its near miss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.training.corpus import Corpus
from benchmarks.training.late_interaction import encode_tokens, score_late_interaction
from taxkg_assets.evaluation.near_misses import NearMiss, find_near_misses, sample_near_misses
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.encoding.sentence_encoder import SentenceEncoder
from taxkg_assets.retrieval.ranking.search import Searcher

MOST = 60
"""Near misses of one kind and wording."""
Margins = list[float]


def open_near_misses(corpus: Corpus, *, most: int = MOST, seed: int = 0) -> list[NearMiss]:
    """The near misses of a home, at most `most` of each kind and wording."""
    return sample_near_misses(find_near_misses(corpus.table("registry"), corpus.rows), max_count=most, seed=seed)


def find_texts(corpus: Corpus, near_misses: Sequence[NearMiss]) -> list[tuple[str, str]]:
    """The right and the near passage of each as they are encoded."""
    return [(corpus.passages[corpus.row_of[m.right]], corpus.passages[corpus.row_of[m.near]]) for m in near_misses]


def weight_terms(corpus: Corpus, near_misses: Sequence[NearMiss]) -> Margins:
    """BM25."""
    margins = []
    for item in near_misses:
        scores = corpus.searcher.index.lexical.score_rows(find_terms(item.query))
        margins.append(float(scores[corpus.row_of[item.right]] - scores[corpus.row_of[item.near]]))
    return margins


def weight_vectors(
    encoder: SentenceEncoder, near_misses: Sequence[NearMiss], texts: Sequence[tuple[str, str]]
) -> Margins:
    """Cosine of whole texts."""
    distinct = sorted({text for pair in texts for text in pair})
    number = {text: ix for ix, text in enumerate(distinct)}
    vectors = encoder.encode_passages(distinct)
    questions = sorted({item.query for item in near_misses})
    queried = dict(zip(questions, encoder.encode_passages(questions), strict=True))
    return [
        float(queried[item.query] @ (vectors[number[right]] - vectors[number[near]]))
        for item, (right, near) in zip(near_misses, texts, strict=True)
    ]


def weight_tokens(model: Any, near_misses: Sequence[NearMiss], texts: Sequence[tuple[str, str]]) -> Margins:
    """Late interaction with the same encoder's token vectors."""
    distinct = sorted({text for pair in texts for text in pair})
    held_out = dict(zip(distinct, encode_tokens(model, distinct), strict=True))
    questions = sorted({item.query for item in near_misses})
    queried = dict(zip(questions, encode_tokens(model, questions), strict=True))
    return [
        score_late_interaction(queried[item.query], held_out[right])
        - score_late_interaction(queried[item.query], held_out[near])
        for item, (right, near) in zip(near_misses, texts, strict=True)
    ]


def weight_ranks(searcher: Searcher, corpus: Corpus, near_misses: Sequence[NearMiss]) -> Margins:
    """The whole search: which of the two comes first; where it finds neither, that is a miss."""
    margins = []
    lost = len(corpus.passages)
    for item in near_misses:
        place = {candidate.row: rank for rank, candidate in enumerate(searcher.rank(item.query).candidates)}
        right, near = corpus.row_of[item.right], corpus.row_of[item.near]
        margins.append(float(place.get(near, lost) - place.get(right, lost)))
    return margins
