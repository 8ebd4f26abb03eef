"""Candidates for pairs: queries from the graph, each with the passages that may answer it. Selected in `pairs.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.rules.models.training import load_training
from taxkg_assets.rules.sentences import find_sentence_parts
from taxkg_assets.schemas import PLAIN_RELATIONS, Edges, Registry, ScenarioQueries
from taxkg_assets.training.corpus import Corpus, Node, squeeze, strip_key
from taxkg_assets.training.naming import name_anchor, name_document
from taxkg_assets.training.phrasing import CorpusVocabulary, agree, is_subject

Row = Mapping[str, Any]
_WHOLE_DOCUMENTS = ("references_form", "references_publication")


@dataclass(frozen=True, slots=True)
class PairCandidate:
    """A query with the passages that may answer it and its source; the nearest passage is selected later.

    Attributes:
        kind: One of `PAIR_KINDS`.
        chunk_ids: Passages to select from.
        source: Edge, question or rule that the candidate is made from.
        query_node_id: Node whose text or heading the query is; None if it is from elsewhere.
        relation: Relation of the edge; empty where the source is no edge.
        polarity: Polarity of the edge.
        confidence: Confidence of the edge, 0 to 1.
        other_positive_ids: Further chunks that answer the query.
    """

    kind: str
    query: str
    chunk_ids: tuple[str, ...]
    source: str
    query_node_id: str | None = None
    relation: str = ""
    polarity: str = "positive"
    confidence: float = 1.0
    other_positive_ids: tuple[str, ...] = ()


def find_hierarchical(corpus: Corpus) -> Iterator[PairCandidate]:
    """Yield each heading, qualified by form or parent headings, with the first passage below it.

    Args:
        corpus: Passages and nodes.
    """
    for anchor_id, chunk_ids in corpus.chunks_by_anchor.items():
        name = name_anchor(corpus, anchor_id)
        if name:
            yield PairCandidate("hierarchical", name, chunk_ids[:1], f"heading:{anchor_id}", query_node_id=anchor_id)


def find_cross_references(corpus: Corpus, edges: dy.DataFrame[Edges]) -> Iterator[PairCandidate]:
    """Yield each sentence with a reference, with the passages of the referenced heading or table.

    Args:
        corpus: Passages and nodes.
        edges: Edges of the graph.
    """
    relations = set(PLAIN_RELATIONS) - set(_WHOLE_DOCUMENTS)
    for edge in _select_stated(edges).iter_rows(named=True):
        targets = _find_target_passages(corpus, edge)
        if edge["relation"] in relations and targets:
            yield _make_candidate("cross_reference", _clean_sentence(edge["evidence"]), targets, edge=edge)


def find_semantic(corpus: Corpus, edges: dy.DataFrame[Edges], *, wording: CorpusVocabulary) -> Iterator[PairCandidate]:
    """Yield a question for each semantic relation, with the passage that states it and its polarity.

    Args:
        corpus: Passages and nodes.
        edges: Edges of the graph.
        wording: Capitalization of the corpus.
    """
    templates = load_training().relation_questions
    for edge in _select_stated(edges).iter_rows(named=True):
        stating_passages = corpus.passages_of_node(edge["source_id"])
        if edge["relation"] not in templates or not stating_passages:
            continue
        subject = name_subject(corpus, edge["source_id"])
        target = wording.to_sentence_case(_name_target(corpus, corpus.nodes[edge["target_id"]]))
        is_contained = subject.lower() in target.lower() or target.lower() in subject.lower()
        if is_subject(subject) and target and not is_contained:
            subject = wording.to_sentence_case(subject)
            words = {"subject": subject, "thing": target, **agree(subject)}
            words |= {f"thing_{name}": verb for name, verb in agree(target).items()}
            question = _capitalize(templates[edge["relation"]].format(**words))
            yield _make_candidate("semantic", question, stating_passages, edge=edge)
        target_passages = _find_target_passages(corpus, edge)
        if edge["polarity"] == "positive" and target_passages:
            yield _make_candidate("semantic", _clean_sentence(edge["evidence"]), target_passages, edge=edge)


def find_same_fields(
    corpus: Corpus, edges: dy.DataFrame[Edges], *, registry: dy.DataFrame[Registry], wording: CorpusVocabulary
) -> Iterator[PairCandidate]:
    """Yield what instructions for one audience (filer, recipient) state about a field, with passages for the other.

    Also the printed label and the aliases of the field; an abbreviation only if documents use it.

    Args:
        corpus: Passages and nodes.
        edges: Edges of the graph.
        registry: Numbered fields with aliases.
        wording: Words of the corpus.
    """
    aliases = dict(registry.select("canonical_id", "aliases").iter_rows())
    for row in edges.filter(pl.col("relation") == "same_field").iter_rows(named=True):
        for source_id, target_id in ((row["source_id"], row["target_id"]), (row["target_id"], row["source_id"])):
            edge = {**row, "source_id": source_id, "target_id": target_id}
            source = corpus.nodes[source_id]
            targets = corpus.chunks_by_anchor.get(target_id, ())
            if source.perspective != "face" and targets:
                yield _make_candidate("same_field", _read_first_sentences(corpus, source_id), targets, edge=edge)
            elif targets:
                form = name_document(corpus, source.document_id or "")
                for name in (corpus.anchor_label(source_id), *aliases.get(source.canonical_id or "", ())):
                    if not name.isupper() or wording.contains(name):
                        yield _make_candidate("same_field", f"{form} {name}", targets[:1], edge=edge)


def find_definitions(corpus: Corpus) -> Iterator[PairCandidate]:
    """Yield each defined term, alone or in a question, with the passage that defines it.

    Args:
        corpus: Passages and nodes.
    """
    questions = load_training().definition_questions
    for passage in corpus.passages.values():
        for rule in load_training().definitions:
            for match in rule.pattern.finditer(passage.text):
                term = match["term"].strip(' ,;:“”"')
                question = questions[len(term) % len(questions)].format(term=term)
                yield PairCandidate(
                    "definition", question, (passage.chunk_id,), f"{rule.id}:{passage.chunk_id}@{match.start()}"
                )


def find_scenarios(corpus: Corpus, scenario_queries: dy.DataFrame[ScenarioQueries]) -> Iterator[PairCandidate]:
    """Yield each scenario question with its passage, except those that repeat an evaluation question.

    Args:
        corpus: Passages and nodes.
        scenario_queries: The questions.
    """
    for row in scenario_queries.iter_rows(named=True):
        if row["chunk_id"] in corpus.passages and not row["repeated_eval_query"]:
            chunk_ids = (row["chunk_id"],)
            others = tuple(row["other_positive_ids"])
            yield PairCandidate(
                "scenario", row["query"], chunk_ids, f"{row['created_by']}:{row['query_id']}", other_positive_ids=others
            )


def name_subject(corpus: Corpus, node_id: str) -> str:
    """Return what a node's text is about: the heading above it; empty if there is none.

    Args:
        corpus: Passages and nodes.
        node_id: Any node.
    """
    node: Node | None = corpus.nodes[node_id]
    while node is not None and node.level != "anchor":
        node = corpus.nodes.get(node.parent_id or "")
    return corpus.anchor_label(node.node_id) if node is not None else ""


def _name_target(corpus: Corpus, node: Node) -> str:
    if node.level == "document":
        return name_document(corpus, node.node_id)
    label = corpus.anchor_label(node.node_id) if node.level == "anchor" else squeeze(node.text)
    kind, _, number = (node.anchor_key or "").partition("_")
    prints_key = node.level == "anchor" and strip_key(node.text) != node.text.strip(" .:")
    if kind in ("box", "line") and prints_key:
        return f"{kind} {number} ({label})" if is_subject(label) else f"{kind} {number}"
    return label if is_subject(label) else ""


def _select_stated(edges: pl.DataFrame) -> pl.DataFrame:
    """Return the edges that a text states, sorted."""
    return edges.filter(pl.col("evidence") != "").sort("source_id", "target_id", "relation", "start")


def _find_target_passages(corpus: Corpus, edge: Row) -> tuple[str, ...]:
    """Return the chunk ids of an edge's target without those of its source."""
    of_source = set(corpus.passages_of_node(edge["source_id"]))
    return tuple(chunk_id for chunk_id in corpus.passages_of_node(edge["target_id"]) if chunk_id not in of_source)


def _make_candidate(kind: str, query: str, chunk_ids: Sequence[str], *, edge: Row) -> PairCandidate:
    return PairCandidate(
        kind=kind,
        query=query,
        chunk_ids=tuple(chunk_ids),
        source=f"{edge['source_id']}>{edge['relation']}>{edge['target_id']}@{edge['start']}",
        query_node_id=edge["source_id"],
        relation=edge["relation"],
        polarity=edge["polarity"],
        confidence=edge["confidence"],
    )


def _read_first_sentences(corpus: Corpus, anchor_id: str) -> str:
    """Return the first sentences below a heading, without the heading's own words."""
    chunk_ids = corpus.passages_of_node(anchor_id)
    if not chunk_ids:
        return ""
    text = corpus.passages[chunk_ids[0]].text.removeprefix(corpus.nodes[anchor_id].text).strip()
    words: list[str] = []
    for start, end in find_sentence_parts(text):
        words += text[start:end].split()
        if len(words) >= load_training().query.target_words:
            break
    return " ".join(words)


def _clean_sentence(evidence: str) -> str:
    """Return a sentence on one line without a leading label or list mark."""
    return re.sub(r"^(?:[•–—-]|\(?[a-z0-9]{1,3}[.)])\s+", "", squeeze(evidence))


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
