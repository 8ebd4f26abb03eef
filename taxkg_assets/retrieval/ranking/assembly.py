"""From ranked rows to returned passages: widened, without repeats, with place and provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from taxkg_assets.bounding_box import BoundingBox
from taxkg_assets.retrieval.index.index_context import IndexContext
from taxkg_assets.retrieval.index.levels import Level, list_top_children
from taxkg_assets.retrieval.index.passage_context import add_lead_ins
from taxkg_assets.retrieval.ranking import rerank
from taxkg_assets.retrieval.ranking.windows import SHOWN, Window, Windows
from taxkg_assets.retrieval.results import Candidate, Explanation, Ranking, RerankerPenalty, Result
from taxkg_assets.rules.models.ranking import load_ranking

_BLOCK = 32
"""Candidates whose vectors are read at once."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """Assembles ranked candidates into results.

    Attributes:
        index_context: Context of the index.
        ranking: Ranked candidates.
        has_parents: Whether hits are extended by their surroundings.
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
            k: Largest number of passages.
            level: Size of a passage.
        """
        ranked = [candidate.row for candidate in self.ranking.candidates]
        windows = Windows(self.index_context.passages, level=level if self.has_parents else "paragraph", ranked=ranked)
        chosen: list[tuple[Candidate, list[int]]] = []
        for candidate in self._demote_duplicates():
            if len(chosen) == k:
                break
            if rows := windows.choose(candidate.row):
                chosen.append((candidate, rows))
        self._prefetch(chosen)
        if level == "auto":
            whole = add_lead_ins([rows for _, rows in chosen], self.index_context.passages)
            chosen = [(candidate, rows) for (candidate, _), rows in zip(chosen, whole, strict=True)]
            self._prefetch(chosen)
        return [
            self._show(candidate, windows.open(rows, hit=candidate.row), rank=rank)
            for rank, (candidate, rows) in enumerate(chosen, 1)
        ]

    def assemble_units(self, level: Level, *, k: int) -> list[Result]:
        """Return the best documents, pages or sections, each with its best passage and further passages.

        Args:
            level: Opened level.
            k: Largest number of units.
        """
        passages, ranking = self.index_context.passages, self.ranking
        rows = np.array([candidate.row for candidate in ranking.candidates], dtype=np.int64)
        scores = np.array([candidate.score for candidate in ranking.candidates])
        passages.prefetch(rows.tolist(), ("chunk_id",))
        ranked = [(row, passages.columns["chunk_id"][row]) for row in rows.tolist()]
        results: list[Result] = []
        for number, score in level.rank(list(ranking.query_term_idf), ranking.query_vector, rows=rows, scores=scores)[
            :k
        ]:
            best = next(candidate for candidate in ranking.candidates if level.unit_index[candidate.row] == number)
            window = Windows(passages, level="paragraph").expand_hit(best.row)
            assert window is not None
            unit = level.units.row(number, named=True)
            own = Window(f"{unit['text']}\n{window.text}".strip(), window.bboxes, window.chunk_ids)
            if unit["level"] == "section":
                own = Windows(passages, level="section").expand_hit(best.row) or own
            result = self._show(best, own, rank=len(results) + 1)
            children = list_top_children(level, number, ranked=ranked)
            via = result.via.model_copy(update={"unit": unit["chunk_id"], "drill_down": children})
            results.append(result.model_copy(update={"score": round(score, 4), "via": via}))
        return results

    def _prefetch(self, chosen: Sequence[tuple[Candidate, Sequence[int]]]) -> None:
        """Load what passages show, in one read where the index is not in memory."""
        self.index_context.passages.prefetch([row for _, rows in chosen for row in rows], SHOWN)

    def _demote_duplicates(self) -> Iterator[Candidate]:
        """Yield candidates in order, near-duplicates of better ones (another revision or copy) after all others."""
        limits, ranked = load_ranking().duplicates, self.ranking.candidates
        kept: list[int] = []
        kept_vectors = np.zeros((0, 0), dtype=np.float32)
        demoted: list[Candidate] = []
        for first in range(0, len(ranked), _BLOCK):
            block = ranked[first : first + _BLOCK]
            vectors = self.index_context.index.read_vectors([candidate.row for candidate in block])
            if not first:
                kept_vectors = np.empty((len(ranked), vectors.shape[1]), dtype=vectors.dtype)
            for candidate, vector in zip(block, vectors, strict=True):
                close = np.flatnonzero(kept_vectors[: len(kept)] @ vector >= limits.cosine)
                if any(self._overlap(candidate.row, kept[other]) >= limits.overlap for other in close.tolist()):
                    demoted.append(candidate)
                else:
                    kept_vectors[len(kept)] = vector
                    kept.append(candidate.row)
                    yield candidate
        yield from demoted

    def _overlap(self, one: int, other: int) -> float:
        terms: Sequence[str] = self.index_context.passages.columns["terms"]
        own, others = frozenset(terms[one].split(" ")), frozenset(terms[other].split(" "))
        return len(own & others) / max(1, len(own | others))

    def _show(self, candidate: Candidate, window: Window, *, rank: int) -> Result:
        facts, row = self.index_context.passages, candidate.row
        document = self.index_context.documents.documents[facts.document_number[row]]
        cells = {name: facts.columns[name][row] for name in SHOWN}
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

    def _explain(self, candidate: Candidate, window: Window, *, terms: str) -> Explanation:
        """Return how a passage was found; `terms` are those of the hit."""
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
            route=self.ranking.route.describe(),
            chunk_ids=list(window.chunk_ids),
        )
