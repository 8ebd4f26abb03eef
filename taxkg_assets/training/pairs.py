"""Pairs: a short text and the passage that belongs to it, from the graph and from questions, chosen and weighed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, TypeVar

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
from taxkg_assets.training.phrasing import Wording
from taxkg_assets.training.table_questions import find_table_questions

Row = dict[str, Any]
Item = TypeVar("Item")
QUESTIONS = "scenario"
REPEATS = "repeats an evaluation question"
LEFT_OUT = ("across the split", REPEATS, "says what training says", "over the cap")
Steps = Mapping[str, Mapping[str, int]]
"""For each kind of pair what was made, what was left out and why, and what was kept."""
_OF_ONE_PLACE = ("hierarchical", "definition", "same_field", "table")


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
    tell: Callable[[Steps], None] = lambda steps: None,
) -> dy.DataFrame[Pairs]:
    """Make pairs of every kind, so many of each that no kind and no family drowns the others.

    Args:     legs: choose among the passages of a heading that a sentence points at. proposer: judges a sample.
              tell: is told how many of each kind were made, and how many each step left out.
    Returns:  one row per distinct short text of a kind. Left out are texts that overlap an evaluation question, pairs
              whose two sides lie on different sides of the split, and those of the development side whose passage says
              the same as one that is trained on.
    """
    families = find_families(documents, nodes, edges=edges)
    splits = find_splits(families.values(), **load_family("training")["split"])
    corpus = read_corpus(chunks, documents, nodes=nodes, registry=registry, families=families, edges=edges)
    wording = Wording(corpus)
    found = chain(
        drafts.find_hierarchical(corpus),
        drafts.find_cross_references(corpus, edges),
        drafts.find_same_fields(corpus, edges, registry=registry, wording=wording),
        drafts.find_semantic(corpus, edges, wording=wording),
        drafts.find_definitions(corpus),
        find_table_questions(corpus, tables),
        drafts.find_scenarios(corpus, scenario_queries),
    )
    asked = eval_queries["query"].unique().sort().to_list()
    drawn = _cap_drafts(corpus, _clean(corpus, found))
    chosen = _choose(corpus, drawn, legs=legs)
    rows = _describe(corpus, chosen, splits=splits)
    leaks = find_overlaps([row["query"] for row in rows], asked, encode=legs.encode)
    kept = [row for place, row in enumerate(rows) if place not in leaks]
    sharp = _drop_echoes(kept)
    capped = _cap(sharp)
    repeats = Counter({QUESTIONS: scenario_queries.filter(pl.col("overlaps") != "").height})
    tell(_count_left_out([draft for draft, _ in chosen], [rows, kept, sharp, capped], repeats=repeats))
    return Pairs.validate(
        judge_pairs(pl.DataFrame(capped, schema=Pairs.create_empty().schema), proposer).sort("pair_id")
    )


def _count_left_out(
    drafts: Sequence[Draft], steps: Sequence[Sequence[Row]], *, repeats: Counter[str]
) -> dict[str, dict[str, int]]:
    """For each kind: what was made, what each step left out and what is kept.

    Args: repeats: texts that were known to repeat an evaluation question before pairs were made of them.
    """
    made = Counter(draft.kind for draft in drafts) + repeats
    left = [Counter(row["kind"] for row in rows) for rows in steps]
    counts = [made, *left]
    found = {}
    for kind in PAIR_KINDS:
        lost = [before[kind] - after[kind] for before, after in pairwise(counts)]
        lost[0], lost[1] = lost[0] - repeats[kind], lost[1] + repeats[kind]
        found[kind] = {"made": made[kind], **dict(zip(LEFT_OUT, lost, strict=True)), "kept": left[-1][kind]}
    return found


def _clean(corpus: Corpus, found: Iterable[Draft]) -> list[Draft]:
    """Texts of a usable length, each once a kind: of several makers the surest, then the newest.

    A heading or term that stands in several places, which say different things, tells nothing and is left out.
    """
    limits = load_family("training")["query"]
    best: dict[tuple[str, str], Draft] = {}
    groups: dict[tuple[str, str], set[str]] = {}
    for draft in found:
        is_usable = limits["least_words"] <= len(draft.query.split()) <= limits["most_words"]
        key = (draft.kind, normalize(draft.query))
        if is_usable and draft.choices:
            groups.setdefault(key, set()).add(corpus.passages[draft.choices[0]].twin_group)
            if key not in best or _worth(corpus, draft) > _worth(corpus, best[key]):
                best[key] = draft
    return [best[key] for key in sorted(best) if key[0] not in _OF_ONE_PLACE or len(groups[key]) == 1]


def _worth(corpus: Corpus, draft: Draft) -> tuple[float, str, str]:
    return draft.confidence, corpus.passages[draft.choices[0]].revision, draft.source


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
        if best is not None and (draft.kind == "scenario" or _goes_with(corpus, draft, best, cosine=cosines[best])):
            chosen.append((draft, best))
    return chosen


def _goes_with(corpus: Corpus, draft: Draft, chunk_id: str, *, cosine: float) -> bool:
    """Whether a text has enough in common with its passage, by meaning and for some kinds by words."""
    limits = load_family("training")["query"]
    least = limits["least_cosine"]
    words = frozenset(normalize(draft.query).split())
    shared = len(words & frozenset(normalize(corpus.passages[chunk_id].full).split())) / max(1, len(words))
    is_near: bool = cosine >= least.get(draft.kind, least["default"])
    return is_near and shared >= limits["least_words_shared"].get(draft.kind, 0.0)


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


def _cap_drafts(corpus: Corpus, found: Sequence[Draft]) -> list[Draft]:
    """Some more drafts than pairs are wanted: to look at all of them would take long and change little."""
    caps = load_family("training")["caps"]
    kept: list[Draft] = []
    for kind in PAIR_KINDS:
        own = sorted((d for d in found if d.kind == kind), key=_lot)
        kept += share_out(own, round(caps[kind] * caps["spare"]), of=lambda d: corpus.passages[d.choices[0]].family)
    return kept


def _cap(rows: Sequence[Row]) -> list[Row]:
    """So many of each kind as the rules allow, written ones first, then by lot."""
    caps = load_family("training")["caps"]
    kept: list[Row] = []
    for kind in PAIR_KINDS:
        own = sorted((row for row in rows if row["kind"] == kind), key=lambda row: _lot_of(row["source"], row["query"]))
        kept += share_out(own, caps[kind], of=lambda row: row["family"])
    return list({row["pair_id"]: row for row in kept}.values())


def share_out(items: Sequence[Item], count: int, *, of: Callable[[Item], str]) -> list[Item]:
    """The first so many items in all: every group gives as many as the others, as far as it has them."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(of(item), []).append(item)
    kept: list[Item] = []
    for place, name in enumerate(sorted(groups, key=lambda name: (len(groups[name]), name))):
        share = (count - len(kept)) // (len(groups) - place)
        kept += groups[name][:share]
    return kept


def _lot(draft: Draft) -> tuple[bool, str]:
    return _lot_of(draft.source, draft.query)


def _lot_of(source: str, query: str) -> tuple[bool, str]:
    return not source.startswith("written"), hashlib.sha256(f"{source}\0{query}".encode()).hexdigest()
