"""Pairs as the graph offers them: a short text and the passages that may belong to it. Chosen from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.rules.loader import load_family, load_rules
from taxkg_assets.rules.sentences import find_sentence_parts
from taxkg_assets.schemas import PLAIN_RELATIONS, Edges, Registry, ScenarioQueries
from taxkg_assets.training.corpus import Corpus, Node, squeeze, strip_key
from taxkg_assets.training.naming import name_document, name_place
from taxkg_assets.training.phrasing import Wording, agree, is_subject

Row = Mapping[str, Any]
_BESIDE = ("references_form", "references_publication")


@dataclass(frozen=True, slots=True)
class Draft:
    """A short text, the passages that it may belong to (the best one is taken), and what made it."""

    kind: str
    query: str
    choices: tuple[str, ...]
    source: str
    query_node_id: str | None = None
    relation: str = ""
    polarity: str = "positive"
    confidence: float = 1.0
    also: tuple[str, ...] = ()


def find_hierarchical(corpus: Corpus) -> Iterator[Draft]:
    """A heading, with the form or headings that it needs to be understood, and the first passage that it owns."""
    for anchor_id, chunk_ids in corpus.below.items():
        place = name_place(corpus, anchor_id)
        if place:
            yield Draft("hierarchical", place, chunk_ids[:1], f"heading:{anchor_id}", query_node_id=anchor_id)


def find_cross_references(corpus: Corpus, edges: dy.DataFrame[Edges]) -> Iterator[Draft]:
    """A sentence that points, and the passages of the heading or table that it points at."""
    pointing = set(PLAIN_RELATIONS) - set(_BESIDE)
    for row in _semantic_rows(edges).iter_rows(named=True):
        choices = _other_passages(corpus, row)
        if row["relation"] in pointing and choices:
            yield _from_edge("cross_reference", _sentence(row["evidence"]), choices, row=row)


def find_semantic(corpus: Corpus, edges: dy.DataFrame[Edges], *, wording: Wording) -> Iterator[Draft]:
    """A question about how two fields or subjects relate, and the passage that says so; with the polarity it has."""
    templates = load_family("training")["relation_questions"]
    for row in _semantic_rows(edges).iter_rows(named=True):
        speaker = corpus.find_passages(row["source_id"])
        target = corpus.nodes[row["target_id"]]
        if row["relation"] not in templates or not speaker:
            continue
        subject = name_subject(corpus, row["source_id"])
        thing = wording.soften(_name_target(corpus, target))
        if (
            is_subject(subject)
            and thing
            and subject.lower() not in thing.lower()
            and thing.lower() not in subject.lower()
        ):
            names = {"subject": wording.soften(subject), "thing": thing, **agree(wording.soften(subject))}
            names |= {f"thing_{name}": verb for name, verb in agree(thing).items()}
            question = _capitalized(templates[row["relation"]].format(**names))
            yield _from_edge("semantic", question, speaker, row=row)
        choices = _other_passages(corpus, row)
        if row["polarity"] == "positive" and choices:
            yield _from_edge("semantic", _sentence(row["evidence"]), choices, row=row)


def find_same_fields(
    corpus: Corpus, edges: dy.DataFrame[Edges], *, registry: dy.DataFrame[Registry], wording: Wording
) -> Iterator[Draft]:
    """What one side of the paper says of a field in a sentence, and what the other side says.

    Also what the face calls the field, and other names of it; an abbreviation only if documents use it.
    """
    aliases = dict(registry.select("canonical_id", "aliases").iter_rows())
    for row in edges.filter(pl.col("relation") == "same_field").iter_rows(named=True):
        for source, target in ((row["source_id"], row["target_id"]), (row["target_id"], row["source_id"])):
            changed = {**row, "source_id": source, "target_id": target}
            speaker, choices = corpus.nodes[source], corpus.below.get(target, ())
            if speaker.perspective != "face" and choices:
                yield _from_edge("same_field", _first_words(corpus, source), choices, row=changed)
            elif choices:
                form = name_document(corpus, speaker.document_id or "")
                for name in (corpus.name_anchor(source), *aliases.get(speaker.canonical_id or "", ())):
                    if not name.isupper() or wording.knows(name):
                        yield _from_edge("same_field", f"{form} {name}", choices[:1], row=changed)


def find_definitions(corpus: Corpus) -> Iterator[Draft]:
    """A term, alone or in a question, and the passage that says what it means."""
    questions = load_family("training")["definition_questions"]
    for passage in corpus.passages.values():
        for rule in load_rules("training", "definitions"):
            for match in rule.pattern.finditer(passage.text):
                term = match["term"].strip(' ,;:“”"')
                question = questions[len(term) % len(questions)].format(term=term)
                yield Draft(
                    "definition", question, (passage.chunk_id,), f"{rule.id}:{passage.chunk_id}@{match.start()}"
                )


def find_scenarios(corpus: Corpus, scenario_queries: dy.DataFrame[ScenarioQueries]) -> Iterator[Draft]:
    """A question that somebody might ask, and the passage that answers it."""
    for row in scenario_queries.iter_rows(named=True):
        if row["chunk_id"] in corpus.passages and not row["overlaps"]:
            chunk_ids, also = (row["chunk_id"],), tuple(row["also"])
            yield Draft("scenario", row["query"], chunk_ids, f"{row['created_by']}:{row['query_id']}", also=also)


def name_subject(corpus: Corpus, node_id: str) -> str:
    """What a speaking sentence is about: the heading over it."""
    node: Node | None = corpus.nodes[node_id]
    while node is not None and node.level != "anchor":
        node = corpus.nodes.get(node.parent_id or "")
    return corpus.name_anchor(node.node_id) if node is not None else ""


def _name_target(corpus: Corpus, node: Node) -> str:
    if node.level == "document":
        return name_document(corpus, node.node_id)
    name = corpus.name_anchor(node.node_id) if node.level == "anchor" else squeeze(node.text)
    kind, _, number = (node.anchor_key or "").partition("_")
    is_named = node.level == "anchor" and kind in ("box", "line") and strip_key(node.text) != node.text.strip(" .:")
    if is_named:
        return f"{kind} {number} ({name})" if is_subject(name) else f"{kind} {number}"
    return name if is_subject(name) else ""


def _semantic_rows(edges: pl.DataFrame) -> pl.DataFrame:
    return edges.filter(pl.col("evidence") != "").sort("source_id", "target_id", "relation", "start")


def _other_passages(corpus: Corpus, row: Row) -> tuple[str, ...]:
    """The target's passages without those that speak themselves."""
    own = set(corpus.find_passages(row["source_id"]))
    return tuple(c for c in corpus.find_passages(row["target_id"]) if c not in own)


def _from_edge(kind: str, query: str, choices: Sequence[str], *, row: Row) -> Draft:
    return Draft(
        kind=kind,
        query=query,
        choices=tuple(choices),
        source=f"{row['source_id']}>{row['relation']}>{row['target_id']}@{row['start']}",
        query_node_id=row["source_id"],
        relation=row["relation"],
        polarity=row["polarity"],
        confidence=row["confidence"],
    )


def _first_words(corpus: Corpus, node_id: str) -> str:
    """The first sentence or two below a heading, without the heading's own words."""
    for chunk_id in corpus.find_passages(node_id)[:1]:
        passage = corpus.passages[chunk_id]
        heading = corpus.nodes[node_id].text
        text = passage.text.removeprefix(heading).strip()
        words: list[str] = []
        for start, end in find_sentence_parts(text):
            words += text[start:end].split()
            if len(words) >= load_family("training")["query"]["enough_words"]:
                break
        return " ".join(words)
    return ""


def _sentence(evidence: str) -> str:
    """A sentence on one line without a label or list mark before it."""
    return re.sub(r"^(?:[•–—-]|\(?[a-z0-9]{1,3}[.)])\s+", "", squeeze(evidence))


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]
