"""Components of the search that can be turned off."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchComponents:
    """Components of the search, each on or off; an ablation measures what each contributes.

    Attributes:
        lexical: Retrieval by BM25.
        vector: Retrieval by vectors.
        router: Detection of forms, years and boxes in the question.
        lay_terms: Document terms for everyday words.
        rerank: The feature ranker.
        reranker: A model that scores the best candidates again.
        parents: Extension of hits by the rows around them.
        hyde: A hypothetical passage by a language model.
        cells: Table cells at the top of a ranking and in answers.
        tokens: Comparison of tokens.
        typos: Correction of typing errors.
        openings: Openings of answers, such as definitions.
    """

    lexical: bool = True
    vector: bool = True
    router: bool = True
    lay_terms: bool = True
    rerank: bool = True
    reranker: bool = True
    parents: bool = True
    hyde: bool = False
    cells: bool = True
    tokens: bool = True
    typos: bool = True
    openings: bool = True


DEFAULT_COMPONENTS = SearchComponents()
