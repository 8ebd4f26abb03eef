"""Pairs of a query and the passage that answers it, its positive: selected and weighted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, TypeVar

import dataframely as dy
import polars as pl

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.rules.models.training import load_training
from taxkg_assets.schemas import (
    PAIR_KINDS,
    Chunks,
    Documents,
    Edges,
    EvalQueries,
    Nodes,
    Pairs,
    Registry,
    ScenarioQueries,
    Tables,
)
from taxkg_assets.training import pair_candidates
from taxkg_assets.training.corpus import Corpus, read_corpus
from taxkg_assets.training.families import find_families, find_splits
from taxkg_assets.training.judge import judge_pairs
from taxkg_assets.training.leakage import find_overlaps, normalize
from taxkg_assets.training.pair_candidates import PairCandidate
from taxkg_assets.training.phrasing import CorpusVocabulary
from taxkg_assets.training.retrievers import Retrievers
from taxkg_assets.training.table_questions import find_table_questions

Row = dict[str, Any]
Item = TypeVar("Item")
QUESTIONS = "scenario"
REPEATS = "repeats an evaluation question"
LEFT_OUT = ("across the split", REPEATS, "near-duplicate of training", "over the cap")
"""Why pairs are left out, in the order of the steps that leave them out."""
Steps = Mapping[str, Mapping[str, int]]
"""Number of pairs by kind: made, left out by reason, kept."""
_NAMING_KINDS = ("hierarchical", "definition", "same_field", "table")
"""Kinds whose query names a heading, term, field or cell; it must be the only one of that name."""


# arguments: one per upstream table, as the wiring reads their names
def build_pairs(
    scenario_queries: dy.DataFrame[ScenarioQueries],
    chunks: dy.DataFrame[Chunks],
    *,
    documents: dy.DataFrame[Documents],
    nodes: dy.DataFrame[Nodes],
    edges: dy.DataFrame[Edges],
    tables: dy.DataFrame[Tables],
    registry: dy.DataFrame[Registry],
    eval_queries: dy.DataFrame[EvalQueries],
    retrievers: Retrievers,
    proposer: Proposer,
    report: Callable[[Steps], None] = lambda steps: None,
) -> dy.DataFrame[Pairs]:
    """Build training pairs of every kind, capped so that no kind and no family dominates.

    Args:
        scenario_queries: Questions with their passages.
        chunks: Chunks of the home.
        documents: Documents of the home.
        nodes: Nodes of the graph.
        edges: Edges of the graph.
        tables: Extracted tables.
        registry: Numbered fields.
        eval_queries: Evaluation questions, which no query may repeat.
        retrievers: BM25 and the encoder; the encoder selects among the passages of a candidate.
        proposer: Judges a sample.
        report: Receives how many pairs of each kind were made, and how many each step left out.

    Returns:
        One row per distinct query of a kind.
    """
    families = find_families(documents, nodes, edges=edges)
    splits = find_splits(families.values(), **load_training().split.model_dump())
    corpus = read_corpus(chunks, documents, nodes=nodes, registry=registry, families=families, edges=edges)
    candidates = chain(
        _find_graph_candidates(corpus, edges, registry),
        find_table_questions(corpus, tables),
        pair_candidates.find_scenarios(corpus, scenario_queries),
    )
    eval_questions = eval_queries["query"].unique().sort().to_list()
    usable = _cap_candidates(corpus, _drop_unusable(corpus, candidates))
    positives = _choose_positives(corpus, usable, retrievers=retrievers)
    rows = _make_rows(corpus, positives, splits=splits)
    leaks = find_overlaps([row["query"] for row in rows], eval_questions, encode=retrievers.encode)
    unleaked = [row for ix, row in enumerate(rows) if ix not in leaks]
    distinct = _drop_trained_on(unleaked)
    capped = _cap(distinct)
    repeats = Counter({QUESTIONS: scenario_queries.filter(pl.col("repeated_eval_query") != "").height})
    report(
        _count_left_out([candidate for candidate, _ in positives], [rows, unleaked, distinct, capped], repeats=repeats)
    )
    return Pairs.validate(
        judge_pairs(pl.DataFrame(capped, schema=Pairs.create_empty().schema), proposer).sort("pair_id")
    )


def _find_graph_candidates(
    corpus: Corpus, edges: dy.DataFrame[Edges], registry: dy.DataFrame[Registry]
) -> Iterator[PairCandidate]:
    wording = CorpusVocabulary(corpus)
    yield from pair_candidates.find_hierarchical(corpus)
    yield from pair_candidates.find_cross_references(corpus, edges)
    yield from pair_candidates.find_same_fields(corpus, edges, registry=registry, wording=wording)
    yield from pair_candidates.find_semantic(corpus, edges, wording=wording)
    yield from pair_candidates.find_definitions(corpus)


def _count_left_out(
    candidates: Sequence[PairCandidate], steps: Sequence[Sequence[Row]], *, repeats: Counter[str]
) -> dict[str, dict[str, int]]:
    """Count by kind what was made, what each step left out, and what is kept.

    Args:
        candidates: Candidates with a passage.
        steps: Rows after each step.
        repeats: Scenario questions already known to repeat an evaluation question, by kind.
    """
    made_counts = Counter(candidate.kind for candidate in candidates) + repeats
    counts = [made_counts, *(Counter(row["kind"] for row in rows) for rows in steps)]
    report: dict[str, dict[str, int]] = {}
    for kind in PAIR_KINDS:
        dropped = [before[kind] - after[kind] for before, after in pairwise(counts)]
        # The known repeats have no row, so that the first step seems to drop them; they count as repeats instead.
        dropped[0], dropped[1] = dropped[0] - repeats[kind], dropped[1] + repeats[kind]
        report[kind] = {
            "made": made_counts[kind],
            **dict(zip(LEFT_OUT, dropped, strict=True)),
            "kept": counts[-1][kind],
        }
    return report


def _drop_unusable(corpus: Corpus, candidates: Iterable[PairCandidate]) -> list[PairCandidate]:
    """Keep queries of a usable length, one candidate per kind and query: the most confident, then the newest.

    A heading or term that occurs in several places with different content is ambiguous and left out.
    """
    limits = load_training().query
    best: dict[tuple[str, str], PairCandidate] = {}
    groups: dict[tuple[str, str], set[str]] = {}
    for candidate in candidates:
        has_length = limits.min_words <= len(candidate.query.split()) <= limits.max_words
        key = (candidate.kind, normalize(candidate.query))
        if has_length and candidate.chunk_ids:
            groups.setdefault(key, set()).add(corpus.passages[candidate.chunk_ids[0]].near_duplicate_group)
            if key not in best or _priority(corpus, candidate) > _priority(corpus, best[key]):
                best[key] = candidate
    return [best[key] for key in sorted(best) if key[0] not in _NAMING_KINDS or len(groups[key]) == 1]


def _priority(corpus: Corpus, candidate: PairCandidate) -> tuple[float, str, str]:
    return candidate.confidence, corpus.passages[candidate.chunk_ids[0]].revision, candidate.source


def _choose_positives(
    corpus: Corpus, candidates: Sequence[PairCandidate], *, retrievers: Retrievers
) -> list[tuple[PairCandidate, str]]:
    """Return each candidate with the nearest of its passages; those where even that one is unrelated are left out."""
    limits = load_training().query
    row_of = {chunk_id: row for row, chunk_id in enumerate(retrievers.chunk_ids)}
    vectors = retrievers.encode([candidate.query for candidate in candidates])
    positives = []
    for candidate, vector in zip(candidates, vectors, strict=True):
        chunk_ids = [name for name in candidate.chunk_ids if name in row_of][: limits.max_passages]
        cosines = {name: float(retrievers.vectors[row_of[name]] @ vector) for name in chunk_ids}
        nearest = max(chunk_ids, key=lambda name: (cosines[name], -row_of[name]), default=None)
        if nearest is not None and (
            candidate.kind == "scenario" or _is_related(corpus, candidate, nearest, cosine=cosines[nearest])
        ):
            positives.append((candidate, nearest))
    return positives


def _is_related(corpus: Corpus, candidate: PairCandidate, chunk_id: str, *, cosine: float) -> bool:
    """Return whether a query and its passage are similar enough, by cosine and for some kinds by words."""
    limits = load_training().query
    min_cosine = limits.min_cosine
    words = frozenset(normalize(candidate.query).split())
    passage_words = frozenset(normalize(corpus.passages[chunk_id].indexed_text).split())
    shared_share = len(words & passage_words) / max(1, len(words))
    is_near: bool = cosine >= min_cosine.get(candidate.kind, min_cosine["default"])
    return is_near and shared_share >= limits.min_shared_words.get(candidate.kind, 0.0)


def _make_rows(
    corpus: Corpus, positives: Sequence[tuple[PairCandidate, str]], *, splits: Mapping[str, str]
) -> list[Row]:
    """Return the rows of the pairs; those whose query and passage are in different splits are left out."""
    rows = []
    for candidate, chunk_id in positives:
        passage = corpus.passages[chunk_id]
        query_node = corpus.nodes.get(candidate.query_node_id or "")
        query_document = query_node.document_id if query_node is not None else None
        query_family = corpus.families.get(query_document or "", passage.family)
        if splits[query_family] != splits[passage.family]:
            continue
        digest = hashlib.sha256(f"{candidate.query}\0{passage.indexed_text}".encode()).hexdigest()[:16]
        rows.append(
            {
                "pair_id": f"{candidate.kind}:{digest}",
                "kind": candidate.kind,
                "query": candidate.query,
                "passage": passage.indexed_text,
                "query_node_id": candidate.query_node_id,
                "passage_node_id": passage.node_ids[0],
                "chunk_id": chunk_id,
                "other_positive_ids": list(candidate.other_positive_ids),
                "document_id": passage.document_id,
                "query_family": query_family,
                "family": passage.family,
                "split": splits[passage.family],
                "relation": candidate.relation,
                "polarity": candidate.polarity,
                "weight": candidate.confidence,
                "source": candidate.source,
                "near_duplicate_group": passage.near_duplicate_group,
                "is_valid_pair": None,
                "judged_by": "",
                "judgment": "",
            }
        )
    return rows


def _drop_trained_on(rows: Sequence[Row]) -> list[Row]:
    """Drop development rows whose positive, or a near-duplicate of it, is a training positive."""
    training_groups = {row["near_duplicate_group"] for row in rows if row["split"] == "train"}
    return [row for row in rows if row["split"] == "train" or row["near_duplicate_group"] not in training_groups]


def _cap_candidates(corpus: Corpus, candidates: Sequence[PairCandidate]) -> list[PairCandidate]:
    """Keep somewhat more candidates than pairs are wanted: examining all would take long and change little."""
    caps = load_training().caps
    kept_candidates: list[PairCandidate] = []
    for kind in PAIR_KINDS:
        of_kind = sorted((candidate for candidate in candidates if candidate.kind == kind), key=_draw_order)
        kept_candidates += balance_groups(
            of_kind,
            round(caps[kind] * caps["oversampling"]),
            read_group=lambda candidate: corpus.passages[candidate.chunk_ids[0]].family,
        )
    return kept_candidates


def _cap(rows: Sequence[Row]) -> list[Row]:
    """Keep as many rows of each kind as the rules allow: written questions first, then in hash order."""
    caps = load_training().caps
    kept_rows: list[Row] = []
    for kind in PAIR_KINDS:
        of_kind = sorted(
            (row for row in rows if row["kind"] == kind), key=lambda row: _draw_order_of(row["source"], row["query"])
        )
        kept_rows += balance_groups(of_kind, int(caps[kind]), read_group=lambda row: row["family"])
    return list({row["pair_id"]: row for row in kept_rows}.values())


def balance_groups(items: Sequence[Item], count: int, *, read_group: Callable[[Item], str]) -> list[Item]:
    """Select items so that groups contribute equally as far as they have enough.

    Args:
        items: Items in order of preference.
        count: Maximum number of items to keep in all.
        read_group: Returns the group of an item.
    """
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(read_group(item), []).append(item)
    kept_items: list[Item] = []
    for ix, name in enumerate(sorted(groups, key=lambda name: (len(groups[name]), name))):
        share = (count - len(kept_items)) // (len(groups) - ix)
        kept_items += groups[name][:share]
    return kept_items


def _draw_order(candidate: PairCandidate) -> tuple[bool, str]:
    return _draw_order_of(candidate.source, candidate.query)


def _draw_order_of(source: str, query: str) -> tuple[bool, str]:
    """Return the sort key of a pair: written questions first, the others in the order of a hash."""
    return not source.startswith("written"), hashlib.sha256(f"{source}\0{query}".encode()).hexdigest()
