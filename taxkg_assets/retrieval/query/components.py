"""Components of the search that can be turned off."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchComponents:
    """Components of the search, each on or off; an ablation measures what each contributes."""

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
