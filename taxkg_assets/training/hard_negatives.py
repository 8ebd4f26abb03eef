"""Hard negatives: passages that a retriever ranks high for a pair's query, or that resemble its positive by structure,
and that do not answer it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import dataframely as dy
import polars as pl

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.records import HardNegativeRecord, PairRecord, iter_records
from taxkg_assets.rules.models.training import load_training
from taxkg_assets.schemas import Chunks, Documents, Edges, HardNegatives, Nodes, Pairs, Registry
from taxkg_assets.training.corpus import Corpus, Passage, read_corpus
from taxkg_assets.training.distances import Distances, read_distances
from taxkg_assets.training.families import find_families
from taxkg_assets.training.judge import judge_negatives
from taxkg_assets.training.leakage import normalize
from taxkg_assets.training.retrievers import Floats, Retrievers, find_top_rows, score_passages
from taxkg_assets.training.structural_negatives import StructuralNegativeMiner, build_structural_miner


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate negative: the passage's row, its source, and the edge or rule it comes from."""

    row: int
    source: str
    reason: str = ""


# arguments: one per upstream table, as the wiring reads their names
def build_hard_negatives(
    pairs: dy.DataFrame[Pairs],
    chunks: dy.DataFrame[Chunks],
    *,
    documents: dy.DataFrame[Documents],
    nodes: dy.DataFrame[Nodes],
    edges: dy.DataFrame[Edges],
    registry: dy.DataFrame[Registry],
    retrievers: Retrievers,
    proposer: Proposer,
) -> dy.DataFrame[HardNegatives]:
    """Mine hard negatives for each pair, from search results and from the structure of documents.

    Args:
        pairs: Pairs to mine for.
        chunks: Chunks of the home.
        documents: Documents of the home.
        nodes: Nodes of the graph.
        edges: Edges of the graph.
        registry: Numbered fields.
        retrievers: BM25 and the encoder, over the accepted chunks.
        proposer: Judges a sample.

    Returns:
        One row per pair and rank, hardest first.
    """
    families = find_families(documents, nodes, edges=edges)
    corpus = read_corpus(chunks, documents, nodes=nodes, registry=registry, edges=edges, families=families)
    distances = read_distances(edges, nodes)
    miner = Miner(
        corpus,
        distances,
        build_structural_miner(corpus, distances, edges=edges),
        retrievers,
        _read_right(pairs, corpus),
    )
    rows: list[HardNegativeRecord] = []
    known = [row for row in iter_records(pairs.sort("pair_id"), PairRecord) if row["chunk_id"] in miner.row_of]
    for pair, scored in zip(known, score_passages(retrievers, [row["query"] for row in known]), strict=True):
        rows += miner.mine(pair, lexical=scored.lexical, dense=scored.dense)
    frame = keep_nearest(
        pl.DataFrame(rows, schema=HardNegatives.create_empty().schema),
        max_reuse=load_training().negatives.max_reuse,
    )
    return HardNegatives.validate(judge_negatives(frame, proposer, pairs=pairs).sort("pair_id", "rank"))


def keep_nearest(negatives: pl.DataFrame, *, max_reuse: int) -> pl.DataFrame:
    """Limit how often a passage is a negative, keeping the pairs whose query is nearest to it.

    Args:
        negatives: Rows of `hard_negatives`.
        max_reuse: Pairs for which one passage may be a negative.
    """
    use_ix = pl.int_range(pl.len()).over("chunk_id")
    kept = negatives.sort(["score", "pair_id"], descending=[True, False]).filter(use_ix < max_reuse)
    return kept.sort("pair_id", "rank").with_columns(
        rank=pl.int_range(pl.len()).over("pair_id").cast(negatives.schema["rank"])
    )


def _read_right(pairs: pl.DataFrame, corpus: Corpus) -> dict[str, set[str]]:
    """Return the near-duplicate groups of all known positives of each normalized query."""
    right: dict[str, set[str]] = {}
    for query, group, others in pairs.select("query", "near_duplicate_group", "other_positive_ids").iter_rows():
        groups = {corpus.passages[c].near_duplicate_group for c in others if c in corpus.passages}
        right.setdefault(normalize(query), set()).update({group, *groups})
    return right


class Miner:
    """Mines the negatives of training pairs, one pair at a time."""

    def __init__(
        self,
        corpus: Corpus,
        distances: Distances,
        structural: StructuralNegativeMiner,
        retrievers: Retrievers,
        right: Mapping[str, set[str]],
    ) -> None:
        self.row_of = {chunk_id: row for row, chunk_id in enumerate(retrievers.chunk_ids)}
        self._corpus, self._distances, self._structural, self._retrievers, self._right = (
            corpus,
            distances,
            structural,
            retrievers,
            right,
        )
        self._passages = [corpus.passages[chunk_id] for chunk_id in retrievers.chunk_ids]
        self._limits = load_training().negatives

    def mine(self, pair: PairRecord, *, lexical: Floats, dense: Floats) -> list[HardNegativeRecord]:
        """Mine the negatives of one pair, hardest first, up to a limit per source.

        Args:
            pair: Row of `pairs`.
            lexical: BM25 score of each passage for the query.
            dense: Cosine of each passage with the query.

        Returns:
            Rows of `hard_negatives`.
        """
        positive_row = self.row_of[pair["chunk_id"]]
        near = self._find_near(self._passages[positive_row])
        right = self._right[normalize(pair["query"])]
        chosen: dict[int, Found] = {}
        structural = [
            Found(self.row_of[k.chunk_id], k.source, k.reason)
            for k in self._structural.mine(self._passages[positive_row], pair["query"])
        ]
        structural.sort(key=lambda found: (-float(dense[found.row]), found.row))
        self._take(
            chosen,
            [f for f in structural if self._passages[f.row].near_duplicate_group not in right],
            self._limits.structural,
        )
        for source, scores in (("dense", dense), ("bm25", lexical)):
            found = [
                Found(row, source)
                for row in find_top_rows(scores, self._limits.candidate_depth)
                if self._is_far(row, near=near, right=right)
                and not self._is_too_close(row, own=positive_row, dense=dense)
            ]
            self._take(chosen, found, self._limits.count_of(source))
        ranked = sorted(chosen.values(), key=lambda found: (-float(dense[found.row]), found.row))
        return [self._describe(pair, rank, found, near=near, dense=dense) for rank, found in enumerate(ranked)]

    def _take(self, chosen: dict[int, Found], found: Sequence[Found], count: int) -> None:
        """Add the first `count` candidates that are new, at most one per group of near-duplicates."""
        groups = {self._passages[row].near_duplicate_group for row in chosen}
        for candidate in found:
            group = self._passages[candidate.row].near_duplicate_group
            if count and group not in groups:
                chosen[candidate.row] = candidate
                groups.add(group)
                count -= 1

    def _find_near(self, passage: Passage) -> dict[str, int]:
        return self._distances.find_near(passage.node_ids, within=self._limits.max_steps)

    def _distance(self, passage: Passage, near: Mapping[str, int]) -> int | None:
        steps = [near[n] for n in map(self._paragraph, passage.node_ids) if n in near]
        return min(steps) if steps else None

    def _paragraph(self, node_id: str) -> str:
        return self._distances.paragraph_of.get(node_id, node_id)

    def _is_far(self, row: int, *, near: Mapping[str, int], right: set[str]) -> bool:
        passage = self._passages[row]
        return passage.near_duplicate_group not in right and self._distance(passage, near) is None

    def _similarity(self, row: int, own: int) -> float:
        return float(self._retrievers.vectors[row] @ self._retrievers.vectors[own])

    def _is_too_close(self, row: int, *, own: int, dense: Floats) -> bool:
        """Return whether a passage may be a positive: similar to the positive, or nearly as similar to the query."""
        limits = self._limits
        is_as_near = bool(dense[row] >= limits.max_share_of_positive * dense[own])
        return is_as_near or self._similarity(row, own) >= limits.max_similarity

    def _describe(
        self,
        pair: PairRecord,
        rank: int,
        found: Found,
        *,
        near: Mapping[str, int],
        dense: Floats,
    ) -> HardNegativeRecord:
        passage = self._passages[found.row]
        return {
            "pair_id": pair["pair_id"],
            "rank": rank,
            "node_id": passage.node_ids[0],
            "chunk_id": passage.chunk_id,
            "document_id": passage.document_id,
            "family": passage.family,
            "passage": passage.full,
            "source": found.source,
            "score": float(dense[found.row]),
            "positive_score": float(dense[self.row_of[pair["chunk_id"]]]),
            "similarity_to_positive": self._similarity(found.row, self.row_of[pair["chunk_id"]]),
            "distance": self._distance(passage, near),
            "reason": found.reason,
            "is_false_negative": None,
            "judged_by": "",
            "judgment": "",
        }
