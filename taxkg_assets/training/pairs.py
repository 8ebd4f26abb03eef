"""Pairs: a short text and the passage that belongs to it, from the graph and from questions, chosen and weighed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.prompts.contract import Proposer
from taxkg_assets.rules.loader import load_family
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
from taxkg_assets.training import drafts
from taxkg_assets.training.corpus import Corpus, read_corpus
from taxkg_assets.training.drafts import Draft
from taxkg_assets.training.families import find_families, find_splits
from taxkg_assets.training.judge import judge_pairs
from taxkg_assets.training.leakage import find_overlaps, normalize
from taxkg_assets.training.legs import Legs
from taxkg_assets.training.table_questions import find_table_questions

Row = dict[str, Any]


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
    legs: Legs,
    proposer: Proposer,
) -> dy.DataFrame[Pairs]:
    """Make pairs of every kind, so many of each that no kind and no family drowns the others.

    Args:     legs: choose among the passages of a heading that a sentence points at. proposer: judges a sample.
    Returns:  one row per distinct short text of a kind. Left out are texts that overlap an evaluation question, pairs
              whose two sides lie on different sides of the split, and those of the development side whose passage says
              the same as one that is trained on.
    """
    families = find_families(documents, nodes, edges=edges)
    splits = find_splits(families.values(), **load_family("training")["split"])
    corpus = read_corpus(chunks, documents, nodes=nodes, registry=registry, families=families, edges=edges)
    found = chain(
        drafts.find_hierarchical(corpus),
        drafts.find_cross_references(corpus, edges),
        drafts.find_same_fields(corpus, edges, registry),
        drafts.find_semantic(corpus, edges),
        drafts.find_definitions(corpus),
        find_table_questions(corpus, tables),
        drafts.find_scenarios(corpus, scenario_queries),
    )
    asked = eval_queries["query"].unique().sort().to_list()
    rows = _describe(corpus, _choose(corpus, _clean(found), legs=legs), splits=splits)
    leaks = find_overlaps([row["query"] for row in rows], asked, encode=legs.encode)
    kept = [row for place, row in enumerate(rows) if place not in leaks]
    capped = _cap(_drop_echoes(kept))
    return Pairs.validate(
        judge_pairs(pl.DataFrame(capped, schema=Pairs.create_empty().schema), proposer).sort("pair_id")
    )


def _clean(found: Iterable[Draft]) -> list[Draft]:
    """Texts of a usable length, each once a kind: of several makers the surest, then the first by its source."""
    limits = load_family("training")["query"]
    best: dict[tuple[str, str], Draft] = {}
    for draft in found:
        is_usable = limits["least_words"] <= len(draft.query.split()) <= limits["most_words"]
        key = (draft.kind, normalize(draft.query))
        if is_usable and draft.choices and (key not in best or _order(draft) < _order(best[key])):
            best[key] = draft
    return [best[key] for key in sorted(best)]


def _order(draft: Draft) -> tuple[float, str]:
    return -draft.confidence, draft.source


def _choose(corpus: Corpus, found: Sequence[Draft], *, legs: Legs) -> list[tuple[Draft, str]]:
    """For each text the passage that is nearest to it; none where even that one has nothing in common with it."""
    limits = load_family("training")["query"]
    place = {chunk_id: row for row, chunk_id in enumerate(legs.chunk_ids)}
    vectors = legs.encode([draft.query for draft in found])
    chosen = []
    for draft, vector in zip(found, vectors, strict=True):
        choices = [c for c in draft.choices if c in place][: limits["choices"]]
        cosines = {c: float(legs.vectors[place[c]] @ vector) for c in choices}
        best = max(choices, key=lambda c: (cosines[c], -place[c]), default=None)
        if best is not None and (draft.kind == "scenario" or cosines[best] >= limits["least_cosine"]):
            chosen.append((draft, best))
    return chosen


def _describe(corpus: Corpus, chosen: Sequence[tuple[Draft, str]], *, splits: Mapping[str, str]) -> list[Row]:
    rows = []
    for draft, chunk_id in chosen:
        passage = corpus.passages[chunk_id]
        speaker = corpus.nodes.get(draft.query_node_id or "")
        family = passage.family if speaker is None else corpus.families.get(speaker.document_id or "", passage.family)
        if splits[family] != splits[passage.family]:
            continue
        digest = hashlib.sha256(f"{draft.query}\0{passage.full}".encode()).hexdigest()[:16]
        rows.append(
            {
                "pair_id": f"{draft.kind}:{digest}",
                "kind": draft.kind,
                "query": draft.query,
                "passage": passage.full,
                "query_node_id": draft.query_node_id,
                "passage_node_id": passage.node_ids[0],
                "chunk_id": chunk_id,
                "also": list(draft.also),
                "document_id": passage.document_id,
                "query_family": family,
                "family": passage.family,
                "split": splits[passage.family],
                "relation": draft.relation,
                "polarity": draft.polarity,
                "weight": draft.confidence,
                "source": draft.source,
                "twin_group": passage.twin_group,
                "is_sound": None,
                "judged_by": "",
                "judgement": "",
            }
        )
    return rows


def _drop_echoes(rows: Sequence[Row]) -> list[Row]:
    """Leave out of development what training has in other words of the same passage, or of one that says the same."""
    trained = {row["twin_group"] for row in rows if row["split"] == "train"}
    return [row for row in rows if row["split"] == "train" or row["twin_group"] not in trained]


def _cap(rows: Sequence[Row]) -> list[Row]:
    """So many of each kind as the rules allow: every family gives as many as the others, as far as it has them."""
    caps = load_family("training")["caps"]
    kept: list[Row] = []
    for kind in PAIR_KINDS:
        by_family: dict[str, list[Row]] = {}
        for row in sorted((row for row in rows if row["kind"] == kind), key=_draw):
            by_family.setdefault(row["family"], []).append(row)
        left = caps[kind]
        for place, family in enumerate(sorted(by_family, key=lambda name: (len(by_family[name]), name))):
            share = left // (len(by_family) - place)
            kept += by_family[family][:share]
            left -= min(share, len(by_family[family]))
    return list({row["pair_id"]: row for row in kept}.values())


def _draw(row: Row) -> tuple[int, str]:
    """Written questions before made ones, then by chance: the id is a hash."""
    return int(not row["source"].startswith("written")), row["pair_id"].partition(":")[2]
