"""Assemble ranked rows into results: add the text around each row, drop repeats, add page rectangles and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.index.levels import Level, list_top_children
from taxkg_assets.retrieval.index.passage_context import add_lead_ins
from taxkg_assets.retrieval.query.route_explanation import RouteExplanation
from taxkg_assets.retrieval.ranking import rerank
from taxkg_assets.retrieval.ranking.windows import SHOWN_COLUMNS, Window, Windows
from taxkg_assets.retrieval.results import Candidate, Explanation, Ranking, RerankerPenalty, Result
from taxkg_assets.rules.models.ranking import load_ranking

_BLOCK = 32
"""Candidates whose vectors are read at once."""


@dataclass(frozen=True)
class Assembly:
    """Assembles ranked candidates into results.

    Attributes:
        index_context: Context of the index.
        ranking: Ranked candidates.
        has_parents: Whether a hit is extended by the rows around it.
        reranker: Name of the reranker, if any.
        find_address: Returns the official address of a section by its anchor id; None where no address is known.
    """

    index_context: IndexContext
    ranking: Ranking
    has_parents: bool = True
    reranker: str | None = None
    find_address: Callable[[str | None], str | None] | None = None

    def assemble_passages(self, *, k: int, level: str) -> list[Result]:
        """Return the best candidates, each extended to a passage of the requested size.

        Args:
            k: Maximum number of passages.
            level: Size of a passage, as `Windows` explains it.
        """
        ranked = [candidate.row for candidate in self.ranking.candidates]
        windows = Windows(
            self.index_context.passages, level=level if self.has_parents else "paragraph", ranked_rows=ranked
        )
        chosen: list[tuple[Candidate, list[int]]] = []
        for candidate in self._demote_duplicates():
            if len(chosen) == k:
                break
            if rows := windows.choose(candidate.row):
                chosen.append((candidate, rows))
        self._prefetch(chosen)
        if level == "auto":
            rows_with_intros = add_lead_ins([rows for _, rows in chosen], self.index_context.passages)
            chosen = [(candidate, rows) for (candidate, _), rows in zip(chosen, rows_with_intros, strict=True)]
            self._prefetch(chosen)
        return [
            self._show(candidate, windows.open(rows, hit=candidate.row), rank=rank)
            for rank, (candidate, rows) in enumerate(chosen, 1)
        ]

    def assemble_units(self, unit_index: Level, *, k: int) -> list[Result]:
        """Return the best documents, pages or sections, each with its best passage and further passages.

        Args:
            unit_index: Index of the documents, pages or sections to rank.
            k: Maximum number of units.
        """
        passages, ranking = self.index_context.passages, self.ranking
        rows = np.array([candidate.row for candidate in ranking.candidates], dtype=np.int64)
        scores = np.array([candidate.score for candidate in ranking.candidates])
        passages.prefetch(rows.tolist(), ("chunk_id",))
        ranked = [(row, passages.columns["chunk_id"][row]) for row in rows.tolist()]
        terms = list(ranking.query_term_idf)
        ranked_units = unit_index.rank(terms, ranking.query_vector, rows=rows, scores=scores)
        results: list[Result] = []
        for unit_number, score in ranked_units[:k]:
            best_passage = next(
                candidate for candidate in ranking.candidates if unit_index.number_by_row[candidate.row] == unit_number
            )
            unit = unit_index.units.row(unit_number, named=True)
            window = self._open_unit_window(unit, best_passage.row)
            result = self._show(best_passage, window, rank=len(results) + 1)
            children = list_top_children(unit_index, unit_number, ranked=ranked)
            via = result.via.model_copy(update={"unit": unit["chunk_id"], "drill_down": children})
            results.append(result.model_copy(update={"score": round(score, 4), "via": via}))
        return results

    def _open_unit_window(self, unit: Mapping[str, Any], row: int) -> Window:
        """Return the text to show of a unit: its section, or the summary of a larger unit with its best passage."""
        passages = self.index_context.passages
        passage_window = Windows(passages, level="paragraph").expand_hit(row)
        assert passage_window is not None
        section_window = Windows(passages, level="section").expand_hit(row) if unit["level"] == "section" else None
        text = f"{unit['text']}\n{passage_window.text}".strip()
        hit_start = len(text) - len(passage_window.text.strip())
        return section_window or Window(text, passage_window.bboxes, passage_window.chunk_ids, hit_start)

    def _prefetch(self, chosen: Sequence[tuple[Candidate, Sequence[int]]]) -> None:
        """Load the columns that results show, in one read."""
        self.index_context.passages.prefetch([row for _, rows in chosen for row in rows], SHOWN_COLUMNS)

    def _demote_duplicates(self) -> Iterator[Candidate]:
        """Yield candidates in order, but near-duplicates of better candidates (another revision or copy) last."""
        limits, ranked = load_ranking().duplicates, self.ranking.candidates
        kept_rows: list[int] = []
        kept_vectors = np.zeros((0, 0), dtype=np.float32)
        demoted: list[Candidate] = []
        for start in range(0, len(ranked), _BLOCK):
            block = ranked[start : start + _BLOCK]
            vectors = self.index_context.index.read_vectors([candidate.row for candidate in block])
            if not start:
                kept_vectors = np.empty((len(ranked), vectors.shape[1]), dtype=vectors.dtype)
            for candidate, vector in zip(block, vectors, strict=True):
                similar_ixs = np.flatnonzero(kept_vectors[: len(kept_rows)] @ vector >= limits.cosine)
                if any(
                    self._overlap(candidate.row, kept_rows[kept_ix]) >= limits.overlap
                    for kept_ix in similar_ixs.tolist()
                ):
                    demoted.append(candidate)
                else:
                    kept_vectors[len(kept_rows)] = vector
                    kept_rows.append(candidate.row)
                    yield candidate
        yield from demoted

    def _overlap(self, row: int, other_row: int) -> float:
        """Return the number of terms that two rows share, divided by the number that either has."""
        column: Sequence[str] = self.index_context.passages.columns["terms"]
        terms, other_terms = frozenset(column[row].split(" ")), frozenset(column[other_row].split(" "))
        return len(terms & other_terms) / max(1, len(terms | other_terms))

    def _show(self, candidate: Candidate, window: Window, *, rank: int) -> Result:
        facts, row = self.index_context.passages, candidate.row
        document = self.index_context.documents.documents[facts.document_number[row]]
        cells = {name: facts.columns[name][row] for name in SHOWN_COLUMNS}
        return Result(
            rank=rank,
            score=round(candidate.score, 4),
            document=document["document_id"],
            form=facts.forms[facts.form_number[row]],
            revision=document["revision"],
            doc_type=document["doc_type"],
            page=int(facts.pages[row]),  # the hit's, as `node_id` is: the passage may begin on the page before
            bboxes=[BoundingBox.of_row(box) for box in window.bboxes],
            heading_path=cells["heading_path"],
            anchor_key=cells["anchor_key"],
            text=window.text,
            node_id=cells["node_ids"][0],
            chunk_id=cells["chunk_id"],
            official_url=self.find_address(cells["anchor_id"]) if self.find_address is not None else None,
            via=self._explain(candidate, window, terms=cells["terms"]),
        )

    @cached_property
    def _route(self) -> RouteExplanation:
        """Return the explanation of the route, which all results share."""
        return self.ranking.route.describe()

    def _explain(self, candidate: Candidate, window: Window, *, terms: str) -> Explanation:
        """Return how a passage was found; `terms` are the search terms of the hit, separated by blanks."""
        is_reranked = self.reranker is not None and candidate.rerank_penalty is not None
        coverage = rerank.score_overlap(self.ranking.query_term_idf, frozenset(terms.split(" ")))
        return Explanation(
            lexical_rank=candidate.lexical_rank,
            vector_rank=candidate.vector_rank,
            rerank_score=round(candidate.score, 4),
            reranker=RerankerPenalty(name=self.reranker or "", penalty=round(candidate.rerank_penalty or 0.0, 4))
            if is_reranked
            else None,
            cosine=round(candidate.cosine, 4),
            coverage=round(coverage, 4),
            route=self._route,
            chunk_ids=list(window.chunk_ids),
            hit_start=window.hit_start,
        )
