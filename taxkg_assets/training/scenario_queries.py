"""Questions that people would ask, each with its passage: written by people or a model, or made by rule."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import numpy as np
import polars as pl

from taxkg_assets.prompts.contract import Block, Proposer
from taxkg_assets.prompts.tasks import SCENARIO_QUERIES, PassageItem
from taxkg_assets.rules.loader import load_family
from taxkg_assets.schemas import REGISTERS, Chunks, Documents, Edges, EvalQueries, Nodes, Registry, ScenarioQueries
from taxkg_assets.training.corpus import Corpus, Passage, read_corpus
from taxkg_assets.training.families import find_families
from taxkg_assets.training.leakage import find_overlaps, normalize
from taxkg_assets.training.legs import Floats, Legs, find_rank, score_passages
from taxkg_assets.training.phrasing import Wording
from taxkg_assets.training.questions import find_questions

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its passage before the search. `also`: other passages that answer it as well."""

    query_id: str
    query: str
    chunk_id: str
    node_id: str
    register: str
    generator: str
    evidence: str
    created_by: str
    also: tuple[str, ...] = ()


def build_scenario_queries(
    chunks: dy.DataFrame[Chunks],
    documents: dy.DataFrame[Documents],
    *,
    nodes: dy.DataFrame[Nodes],
    edges: dy.DataFrame[Edges],
    registry: dy.DataFrame[Registry],
    eval_queries: dy.DataFrame[EvalQueries],
    written: Sequence[Mapping[str, Any]],
    legs: Legs,
    proposer: Proposer,
) -> dy.DataFrame[ScenarioQueries]:
    """Gather questions and keep those that find their own passage again.

    Args:     written: questions by people, with the ids of the elements that answer them; those whose element is not
              here are left out. proposer: a model that writes questions; rules propose none here, they have their own.
    Returns:  one row per distinct question. A written one is kept whatever the search says. Of a question that overlaps
              an evaluation question the row tells which; no pair is made of it.
    """
    families = find_families(documents, nodes, edges=edges)
    corpus = read_corpus(chunks, documents, nodes=nodes, registry=registry, edges=edges, families=families)
    asked = _unique([*_take_written(corpus, written), *_propose(corpus, proposer), *_make(corpus)])
    rows = _search(corpus, asked, legs=legs)
    leaks = find_overlaps(
        [row["query"] for row in rows], eval_queries["query"].unique().sort().to_list(), encode=legs.encode
    )
    for place, question in leaks.items():
        rows[place]["overlaps"] = question
    return ScenarioQueries.validate(pl.DataFrame(rows, schema=ScenarioQueries.create_empty().schema).sort("query_id"))


def _take_written(corpus: Corpus, written: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    """The first of a question's elements that is here answers it; the others that are here answer it as well."""
    for row in sorted(written, key=lambda row: str(row["id"])):
        elements = [e for e in (row["element"], *row.get("elements", ())) if e is not None]
        held = [(e, chunk_id) for e in elements for chunk_id in _holding(corpus, e)]
        if held:
            (node_id, chunk_id), *others = held
            register = row.get("register", "plain")
            yield Asked(
                query_id=str(row["id"]),
                query=row["query"],
                chunk_id=chunk_id,
                node_id=node_id,
                register=register if register in REGISTERS else "plain",
                generator="written",
                evidence="",
                created_by="written",
                also=tuple(sorted({c for _, c in others} - {chunk_id})),
            )


def _holding(corpus: Corpus, element_id: str) -> tuple[str, ...]:
    return corpus.holding.get(element_id, ())


def _propose(corpus: Corpus, proposer: Proposer) -> Iterator[Asked]:
    """What a model would ask of some passages; a rule's proposal is left to the generators here."""
    count = load_family("scenarios")["limits"]["model_passages"]
    passages = sorted(
        (p for p in corpus.passages.values() if p.level == "paragraph" and p.chunk_id == corpus.twins[p.twin_group][0]),
        key=lambda p: hashlib.sha256(p.chunk_id.encode()).digest(),
    )[:count]
    items = [
        PassageItem(
            item_id=p.chunk_id, heading_path=p.heading_path, blocks=(Block(element_id=p.chunk_id, text=p.text),)
        )
        for p in passages
    ]
    for judged in proposer.propose(SCENARIO_QUERIES, items):
        if judged.created_by == "llm" and judged.proposal is not None:
            passage = corpus.passages[judged.item_id]
            evidence = " … ".join(e.quote for e in judged.proposal.evidence)
            for question in judged.proposal.questions:
                yield _made(passage, question, register="plain", generator="model", evidence=evidence, created_by="llm")


def _make(corpus: Corpus) -> Iterator[Asked]:
    """What the rules ask of passages; of those that say the same of the last one, and of one passage so many by lot."""
    wording, limits = Wording(corpus), load_family("scenarios")["limits"]
    drawn: list[Asked] = []
    newest = {group: chunk_ids[-1] for group, chunk_ids in corpus.twins.items()}
    for passage in corpus.passages.values():
        if newest[passage.twin_group] != passage.chunk_id:
            continue
        made = [
            _made(
                passage,
                question.text,
                register=question.register,
                generator=question.rule_id,
                evidence=question.evidence,
                created_by="rule",
            )
            for question in find_questions(corpus, passage, wording=wording)
        ]
        drawn += sorted(made, key=_draw)[: limits["of_passage"]]
    taken: Counter[tuple[str, str]] = Counter()
    for question in sorted(drawn, key=_draw):
        taken[question.generator, question.register] += 1
        if taken[question.generator, question.register] <= limits["of_rule"]:
            yield question


def _draw(asked: Asked) -> str:
    """By lot: the id ends with a hash."""
    return asked.query_id.partition(":")[2]


def _made(passage: Passage, query: str, *, register: str, generator: str, evidence: str, created_by: str) -> Asked:
    digest = hashlib.sha256(f"{query}\0{passage.full}".encode()).hexdigest()[:16]
    return Asked(
        query_id=f"{generator}:{digest}",
        query=query,
        chunk_id=passage.chunk_id,
        node_id=passage.node_ids[0],
        register=register,
        generator=generator,
        evidence=evidence,
        created_by=created_by,
    )


def _unique(asked: Sequence[Asked]) -> list[Asked]:
    """Each wording once; a made question that fits several passages fits none well enough."""
    by_words: dict[str, list[Asked]] = {}
    for question in asked:
        by_words.setdefault(normalize(question.query), []).append(question)
    kept = [q[0] for q in by_words.values() if q[0].created_by != "rule" or len({a.chunk_id for a in q}) == 1]
    return sorted(kept, key=lambda question: question.query_id)


def _search(corpus: Corpus, asked: Sequence[Asked], *, legs: Legs) -> list[Row]:
    """Search for each question and keep those that find their own passage, or one that says the same, far enough up."""
    place = {chunk_id: row for row, chunk_id in enumerate(legs.chunk_ids)}
    limits = load_family("scenarios")["limits"]
    rows = []
    for question, scored in zip(asked, score_passages(legs, [q.query for q in asked]), strict=True):
        passage = corpus.passages[question.chunk_id]
        right = [place[c] for c in (*corpus.twins[passage.twin_group], *question.also)]
        lexical, dense = _best_rank(scored.lexical, right), _best_rank(scored.dense, right)
        is_found = min(lexical, dense) <= limits["most_rank"] and max(lexical, dense) <= limits["worst_rank"]
        if question.created_by == "written" or is_found:
            rows.append(_describe(question, passage, lexical=lexical, dense=dense))
    return rows


def _best_rank(scores: Floats, right: Sequence[int]) -> int:
    best = right[int(np.argmax(scores[right]))]
    return find_rank(scores, best)


def _describe(question: Asked, passage: Passage, *, lexical: int, dense: int) -> Row:
    return {
        "query_id": question.query_id,
        "query": question.query,
        "node_id": question.node_id,
        "chunk_id": question.chunk_id,
        "also": list(question.also),
        "document_id": passage.document_id,
        "family": passage.family,
        "register": question.register,
        "generator": question.generator,
        "evidence": question.evidence,
        "round_trip_rank": min(lexical, dense),
        "lexical_rank": lexical,
        "dense_rank": dense,
        "overlaps": "",
        "created_by": question.created_by,
    }
