"""Hard negatives: passages that a search brings up for a pair's short side, or that are next of kin, and are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.rules.loader import load_family
from taxkg_assets.schemas import Chunks, Documents, Edges, HardNegatives, Nodes, Pairs, Registry
from taxkg_assets.training.corpus import Corpus, Passage, read_corpus
from taxkg_assets.training.distances import Distances, read_distances
from taxkg_assets.training.families import find_families
from taxkg_assets.training.judge import judge_negatives
from taxkg_assets.training.kin import Kindred, read_kindred
from taxkg_assets.training.leakage import normalize
from taxkg_assets.training.legs import Floats, Legs, find_best, score_passages

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that a leg or a kinship named, before it is known whether it is wrong."""

    row: int
    source: str
    reason: str = ""


def build_hard_negatives(
    pairs: dy.DataFrame[Pairs],
    chunks: dy.DataFrame[Chunks],
    *,
    documents: dy.DataFrame[Documents],
    nodes: dy.DataFrame[Nodes],
    edges: dy.DataFrame[Edges],
    registry: dy.DataFrame[Registry],
    legs: Legs,
    proposer: Proposer,
) -> dy.DataFrame[HardNegatives]:
    """Find for each pair passages that look right and are not.

    What a leg brings up counts only if the graph does not join it with the pair's passage within three steps, if it is
    not too near to that passage or nearly as near to the question, and if it says something else than every passage
    known to be right. Next of kin need only lack a semantic relation with it. A passage that would be wrong for many
    pairs, as an index page is, is kept for those that it is nearest to: training would push it away from everything.
    """
    families = find_families(documents, nodes, edges=edges)
    corpus = read_corpus(chunks, documents, nodes=nodes, registry=registry, edges=edges, families=families)
    distances = read_distances(edges, nodes)
    miner = Miner(corpus, distances, read_kindred(corpus, distances, edges=edges), legs, _read_right(pairs, corpus))
    rows: list[Row] = []
    known = [row for row in pairs.sort("pair_id").iter_rows(named=True) if row["chunk_id"] in miner.place]
    for pair, scored in zip(known, score_passages(legs, [row["query"] for row in known]), strict=True):
        rows += miner.mine(pair, lexical=scored.lexical, dense=scored.dense)
    frame = keep_nearest(
        pl.DataFrame(rows, schema=HardNegatives.create_empty().schema),
        uses=load_family("training")["negatives"]["uses"],
    )
    return HardNegatives.validate(judge_negatives(frame, proposer, pairs=pairs).sort("pair_id", "rank"))


def keep_nearest(negatives: pl.DataFrame, *, uses: int) -> pl.DataFrame:
    """Each passage as a negative of the so many pairs whose short side is nearest to it; ranks of a pair closed up."""
    place = pl.int_range(pl.len()).over("chunk_id")
    kept = negatives.sort(["score", "pair_id"], descending=[True, False]).filter(place < uses)
    return kept.sort("pair_id", "rank").with_columns(
        rank=pl.int_range(pl.len()).over("pair_id").cast(negatives.schema["rank"])
    )


def _read_right(pairs: pl.DataFrame, corpus: Corpus) -> dict[str, set[str]]:
    """What is known to be right for each text: the groups of equal passages of all its pairs."""
    right: dict[str, set[str]] = {}
    for query, group, also in pairs.select("query", "twin_group", "also").iter_rows():
        groups = {corpus.passages[c].twin_group for c in also if c in corpus.passages}
        right.setdefault(normalize(query), set()).update({group, *groups})
    return right


class Miner:
    """Looks for the negatives of one pair after the other."""

    def __init__(
        self, corpus: Corpus, distances: Distances, kindred: Kindred, legs: Legs, right: Mapping[str, set[str]]
    ) -> None:
        self.place = {chunk_id: row for row, chunk_id in enumerate(legs.chunk_ids)}
        self._corpus, self._distances, self._kindred, self._legs, self._right = corpus, distances, kindred, legs, right
        self._passages = [corpus.passages[chunk_id] for chunk_id in legs.chunk_ids]
        self._limits = load_family("training")["negatives"]

    def mine(self, pair: Mapping[str, Any], *, lexical: Floats, dense: Floats) -> list[Row]:
        """The negatives of one pair, hardest first; so many of each source as the rules allow."""
        own = self.place[pair["chunk_id"]]
        near = self._find_near(self._passages[own])
        right = self._right[normalize(pair["query"])]
        chosen: dict[int, Found] = {}
        kin = [
            Found(self.place[k.chunk_id], k.source, k.reason)
            for k in self._kindred.find_kin(self._passages[own], pair["query"])
        ]
        kin.sort(key=lambda found: (-float(dense[found.row]), found.row))
        self._take(chosen, [f for f in kin if self._passages[f.row].twin_group not in right], self._limits["kin"])
        for source, scores in (("dense", dense), ("bm25", lexical)):
            found = [
                Found(row, source)
                for row in find_best(scores, self._limits["looked_at"])
                if self._is_far(row, near=near, right=right) and not self._is_too_close(row, own=own, dense=dense)
            ]
            self._take(chosen, found, self._limits[source])
        ranked = sorted(chosen.values(), key=lambda found: (-float(dense[found.row]), found.row))
        return [self._describe(pair, rank, found, near=near, dense=dense) for rank, found in enumerate(ranked)]

    def _take(self, chosen: dict[int, Found], found: Sequence[Found], count: int) -> None:
        """The first so many that are not there yet, of passages that say the same only one."""
        groups = {self._passages[row].twin_group for row in chosen}
        for candidate in found:
            group = self._passages[candidate.row].twin_group
            if count and group not in groups:
                chosen[candidate.row] = candidate
                groups.add(group)
                count -= 1

    def _find_near(self, passage: Passage) -> dict[str, int]:
        return self._distances.find_near(passage.node_ids, within=self._limits["steps"])

    def _distance(self, passage: Passage, near: Mapping[str, int]) -> int | None:
        steps = [near[n] for n in map(self._paragraph, passage.node_ids) if n in near]
        return min(steps) if steps else None

    def _paragraph(self, node_id: str) -> str:
        return self._distances.paragraph_of.get(node_id, node_id)

    def _is_far(self, row: int, *, near: Mapping[str, int], right: set[str]) -> bool:
        passage = self._passages[row]
        return passage.twin_group not in right and self._distance(passage, near) is None

    def _likeness(self, row: int, own: int) -> float:
        return float(self._legs.vectors[row] @ self._legs.vectors[own])

    def _is_too_close(self, row: int, *, own: int, dense: Floats) -> bool:
        """Whether a passage may be right after all: it is like the right one, or nearly as like the question."""
        limits = self._limits
        is_as_near = bool(dense[row] >= limits["of_positive"] * dense[own])
        return is_as_near or self._likeness(row, own) >= limits["most_likeness"]

    def _describe(
        self,
        pair: Mapping[str, Any],
        rank: int,
        found: Found,
        *,
        near: Mapping[str, int],
        dense: Floats,
    ) -> Row:
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
            "positive_score": float(dense[self.place[pair["chunk_id"]]]),
            "likeness": self._likeness(found.row, self.place[pair["chunk_id"]]),
            "distance": self._distance(passage, near),
            "reason": found.reason,
            "is_false": None,
            "judged_by": "",
            "judgement": "",
        }
