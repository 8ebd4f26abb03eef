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
from taxkg_assets.training.naming import name_document, name_place
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
        place = name_place(corpus, anchor_id)
        if place:
            yield PairCandidate("hierarchical", place, chunk_ids[:1], f"heading:{anchor_id}", query_node_id=anchor_id)


def find_cross_references(corpus: Corpus, edges: dy.DataFrame[Edges]) -> Iterator[PairCandidate]:
    """Yield each sentence with a reference, with the passages of the referenced heading or table.

    Args:
        corpus: Passages and nodes.
        edges: Edges of the graph.
    """
    pointing = set(PLAIN_RELATIONS) - set(_WHOLE_DOCUMENTS)
    for row in _semantic_rows(edges).iter_rows(named=True):
        choices = _other_passages(corpus, row)
        if row["relation"] in pointing and choices:
            yield _from_edge("cross_reference", _sentence(row["evidence"]), choices, row=row)


def find_semantic(corpus: Corpus, edges: dy.DataFrame[Edges], *, wording: CorpusVocabulary) -> Iterator[PairCandidate]:
    """Yield a question for each semantic relation, with the passage that states it and its polarity.

    Args:
        corpus: Passages and nodes.
        edges: Edges of the graph.
        wording: Capitalization of the corpus.
    """
    templates = load_training().relation_questions
    for row in _semantic_rows(edges).iter_rows(named=True):
        speaker = corpus.passages_of_node(row["source_id"])
        target = corpus.nodes[row["target_id"]]
        if row["relation"] not in templates or not speaker:
            continue
        subject = name_subject(corpus, row["source_id"])
        thing = wording.to_sentence_case(_name_target(corpus, target))
        if (
            is_subject(subject)
            and thing
            and subject.lower() not in thing.lower()
            and thing.lower() not in subject.lower()
        ):
            names = {
                "subject": wording.to_sentence_case(subject),
                "thing": thing,
                **agree(wording.to_sentence_case(subject)),
            }
            names |= {f"thing_{name}": verb for name, verb in agree(thing).items()}
            question = _capitalized(templates[row["relation"]].format(**names))
            yield _from_edge("semantic", question, speaker, row=row)
        choices = _other_passages(corpus, row)
        if row["polarity"] == "positive" and choices:
            yield _from_edge("semantic", _sentence(row["evidence"]), choices, row=row)


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
        for source, target in ((row["source_id"], row["target_id"]), (row["target_id"], row["source_id"])):
            changed = {**row, "source_id": source, "target_id": target}
            speaker, choices = corpus.nodes[source], corpus.chunks_by_anchor.get(target, ())
            if speaker.perspective != "face" and choices:
                yield _from_edge("same_field", _first_sentences(corpus, source), choices, row=changed)
            elif choices:
                form = name_document(corpus, speaker.document_id or "")
                for name in (corpus.anchor_label(source), *aliases.get(speaker.canonical_id or "", ())):
                    if not name.isupper() or wording.contains(name):
                        yield _from_edge("same_field", f"{form} {name}", choices[:1], row=changed)


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
            chunk_ids, others = (row["chunk_id"],), tuple(row["other_positive_ids"])
            yield PairCandidate(
                "scenario", row["query"], chunk_ids, f"{row['created_by']}:{row['query_id']}", other_positive_ids=others
            )


def name_subject(corpus: Corpus, node_id: str) -> str:
    """Return the subject of a node's text: the heading above it; empty if there is none.

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
    name = corpus.anchor_label(node.node_id) if node.level == "anchor" else squeeze(node.text)
    kind, _, number = (node.anchor_key or "").partition("_")
    is_named = node.level == "anchor" and kind in ("box", "line") and strip_key(node.text) != node.text.strip(" .:")
    if is_named:
        return f"{kind} {number} ({name})" if is_subject(name) else f"{kind} {number}"
    return name if is_subject(name) else ""


def _semantic_rows(edges: pl.DataFrame) -> pl.DataFrame:
    return edges.filter(pl.col("evidence") != "").sort("source_id", "target_id", "relation", "start")


def _other_passages(corpus: Corpus, row: Row) -> tuple[str, ...]:
    """Return the target's passages without those of the source."""
    passages_of_source = set(corpus.passages_of_node(row["source_id"]))
    return tuple(c for c in corpus.passages_of_node(row["target_id"]) if c not in passages_of_source)


def _from_edge(kind: str, query: str, choices: Sequence[str], *, row: Row) -> PairCandidate:
    return PairCandidate(
        kind=kind,
        query=query,
        chunk_ids=tuple(choices),
        source=f"{row['source_id']}>{row['relation']}>{row['target_id']}@{row['start']}",
        query_node_id=row["source_id"],
        relation=row["relation"],
        polarity=row["polarity"],
        confidence=row["confidence"],
    )


def _first_sentences(corpus: Corpus, node_id: str) -> str:
    """Return the first sentences below a heading, without the heading's own words."""
    for chunk_id in corpus.passages_of_node(node_id)[:1]:
        passage = corpus.passages[chunk_id]
        heading = corpus.nodes[node_id].text
        text = passage.text.removeprefix(heading).strip()
        words: list[str] = []
        for start, end in find_sentence_parts(text):
            words += text[start:end].split()
            if len(words) >= load_training().query.target_words:
                break
        return " ".join(words)
    return ""


def _sentence(evidence: str) -> str:
    """Return a sentence on one line without a leading label or list mark."""
    return re.sub(r"^(?:[•–—-]|\(?[a-z0-9]{1,3}[.)])\s+", "", squeeze(evidence))


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]
