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
class NegativeCandidate:
    """A candidate negative: the passage's row, its source (`NEGATIVE_SOURCES`), and the edge or rule behind it."""

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
        _find_positive_groups(pairs, corpus),
    )
    rows: list[HardNegativeRecord] = []
    minable = [row for row in iter_records(pairs.sort("pair_id"), PairRecord) if row["chunk_id"] in miner.row_of]
    for pair, scores in zip(minable, score_passages(retrievers, [row["query"] for row in minable]), strict=True):
        rows += miner.mine(pair, lexical=scores.lexical, dense=scores.dense)
    frame = keep_nearest(
        pl.DataFrame(rows, schema=HardNegatives.create_empty().schema),
        max_reuse=load_training().negatives.max_reuse,
    )
    return HardNegatives.validate(judge_negatives(frame, proposer, pairs=pairs).sort("pair_id", "rank"))


def keep_nearest(negatives: pl.DataFrame, *, max_reuse: int) -> pl.DataFrame:
    """Limit how often a passage is a negative, keeping the pairs whose query is nearest to it.

    Args:
        negatives: Rows of `hard_negatives`.
        max_reuse: Maximum number of pairs for which one passage may be a negative.

    Returns:
        The remaining rows, ranks renumbered without gaps.
    """
    reuse_ix = pl.int_range(pl.len()).over("chunk_id")
    nearest = negatives.sort(["score", "pair_id"], descending=[True, False]).filter(reuse_ix < max_reuse)
    return nearest.sort("pair_id", "rank").with_columns(
        rank=pl.int_range(pl.len()).over("pair_id").cast(negatives.schema["rank"])
    )


def _find_positive_groups(pairs: pl.DataFrame, corpus: Corpus) -> dict[str, set[str]]:
    """Return the near-duplicate groups of all known positives of each normalized query."""
    groups_by_query: dict[str, set[str]] = {}
    for query, group, chunk_ids in pairs.select("query", "near_duplicate_group", "other_positive_ids").iter_rows():
        others = {corpus.passages[name].near_duplicate_group for name in chunk_ids if name in corpus.passages}
        groups_by_query.setdefault(normalize(query), set()).update({group, *others})
    return groups_by_query


class Miner:
    """Mines the negatives of training pairs, one pair at a time.

    Args:
        corpus: Passages and nodes.
        distances: Adjacency of the graph.
        structural: Finds negatives by the structure of documents.
        retrievers: BM25 and the encoder.
        positive_groups: Near-duplicate groups of the positives of each normalized query.
    """

    def __init__(
        self,
        corpus: Corpus,
        distances: Distances,
        structural: StructuralNegativeMiner,
        retrievers: Retrievers,
        positive_groups: Mapping[str, set[str]],
    ) -> None:
        self.row_of = {chunk_id: row for row, chunk_id in enumerate(retrievers.chunk_ids)}
        self._distances, self._structural, self._retrievers = distances, structural, retrievers
        self._positive_groups = positive_groups
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
        positive = self._passages[positive_row]
        distance_of = self._distances.find_near(positive.node_ids, within=self._limits.max_steps)
        positive_groups = self._positive_groups[normalize(pair["query"])]
        selected: dict[int, NegativeCandidate] = {}
        structural = (
            NegativeCandidate(self.row_of[negative.chunk_id], negative.source, negative.reason)
            for negative in self._structural.mine(positive, pair["query"])
        )
        self._select(
            selected,
            sorted(
                (candidate for candidate in structural if self._group(candidate.row) not in positive_groups),
                key=lambda candidate: (-float(dense[candidate.row]), candidate.row),
            ),
            self._limits.structural,
        )
        for source, scores in (("dense", dense), ("bm25", lexical)):
            searched = [
                NegativeCandidate(row, source)
                for row in find_top_rows(scores, self._limits.candidate_depth)
                if self._group(row) not in positive_groups
                and self._distance(self._passages[row], distance_of) is None
                and not self._is_too_similar(row, positive_row=positive_row, dense=dense)
            ]
            self._select(selected, searched, self._limits.count_of(source))
        ranked = sorted(selected.values(), key=lambda candidate: (-float(dense[candidate.row]), candidate.row))
        return [
            self._describe(pair, rank, candidate, distance_of=distance_of, dense=dense)
            for rank, candidate in enumerate(ranked)
        ]

    def _group(self, row: int) -> str:
        return self._passages[row].near_duplicate_group

    def _select(
        self, selected: dict[int, NegativeCandidate], candidates: Sequence[NegativeCandidate], count: int
    ) -> None:
        """Add the first `count` new candidates to those selected, at most one per group of near-duplicates."""
        groups = {self._group(row) for row in selected}
        for candidate in candidates:
            if count and self._group(candidate.row) not in groups:
                selected[candidate.row] = candidate
                groups.add(self._group(candidate.row))
                count -= 1

    def _distance(self, passage: Passage, distance_of: Mapping[str, int]) -> int | None:
        """Return the steps from the positive to a passage; None if it is farther than the distances reach."""
        paragraphs = [self._distances.paragraph_of.get(node_id, node_id) for node_id in passage.node_ids]
        return min((distance_of[paragraph] for paragraph in paragraphs if paragraph in distance_of), default=None)

    def _similarity(self, row: int, positive_row: int) -> float:
        return float(self._retrievers.vectors[row] @ self._retrievers.vectors[positive_row])

    def _is_too_similar(self, row: int, *, positive_row: int, dense: Floats) -> bool:
        """Return whether a passage may be a positive: similar to the positive, or nearly as similar to the query."""
        limits = self._limits
        is_near_query = bool(dense[row] >= limits.max_share_of_positive * dense[positive_row])
        return is_near_query or self._similarity(row, positive_row) >= limits.max_similarity

    def _describe(
        self,
        pair: PairRecord,
        rank: int,
        candidate: NegativeCandidate,
        *,
        distance_of: Mapping[str, int],
        dense: Floats,
    ) -> HardNegativeRecord:
        passage = self._passages[candidate.row]
        return {
            "pair_id": pair["pair_id"],
            "rank": rank,
            "node_id": passage.node_ids[0],
            "chunk_id": passage.chunk_id,
            "document_id": passage.document_id,
            "family": passage.family,
            "passage": passage.indexed_text,
            "source": candidate.source,
            "score": float(dense[candidate.row]),
            "positive_score": float(dense[self.row_of[pair["chunk_id"]]]),
            "similarity_to_positive": self._similarity(candidate.row, self.row_of[pair["chunk_id"]]),
            "distance": self._distance(passage, distance_of),
            "reason": candidate.reason,
            "is_false_negative": None,
            "judged_by": "",
            "judgment": "",
        }
