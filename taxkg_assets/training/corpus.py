"""What pairs and negatives are made from: passages as the index embeds them, and the nodes that lead to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import dataframely as dy
import polars as pl

from taxkg_assets.rules.loader import load_rules
from taxkg_assets.schemas import Chunks, Documents, Edges, Nodes, Registry
from taxkg_assets.training.twins import Said, find_twins

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """An accepted chunk. `full` is what the index embeds; `twin_group` is shared by passages that say the same."""

    chunk_id: str
    document_id: str
    family: str
    form: str
    revision: str
    perspective: str
    anchor_id: str | None
    anchor_key: str | None
    heading_path: str
    level: str
    node_ids: tuple[str, ...]
    text: str
    full: str
    twin_group: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph as far as pairs need it."""

    node_id: str
    document_id: str | None
    level: str
    perspective: str | None
    parent_id: str | None
    anchor_key: str | None
    canonical_id: str | None
    heading_path: str
    text: str


@dataclass(frozen=True)
class Corpus:
    """All passages by id in reading order, the nodes by id, and the labels of boxes by their registry identity."""

    passages: Mapping[str, Passage]
    nodes: Mapping[str, Node]
    labels: Mapping[str, str]
    families: Mapping[str, str]
    aligned: Mapping[str, tuple[str, ...]]
    """The other places of a field: for a box of the face the headings of its instructions."""

    @cached_property
    def holding(self) -> Mapping[str, tuple[str, ...]]:
        """Passages that hold a paragraph or table, by its node."""
        found: dict[str, list[str]] = {}
        for passage in self.passages.values():
            for node_id in passage.node_ids:
                found.setdefault(node_id, []).append(passage.chunk_id)
        return {node_id: tuple(chunk_ids) for node_id, chunk_ids in found.items()}

    @cached_property
    def below(self) -> Mapping[str, tuple[str, ...]]:
        """Passages that an anchor owns itself, by the anchor."""
        found: dict[str, list[str]] = {}
        for passage in self.passages.values():
            if passage.anchor_id is not None:
                found.setdefault(passage.anchor_id, []).append(passage.chunk_id)
        return {anchor_id: tuple(chunk_ids) for anchor_id, chunk_ids in found.items()}

    @cached_property
    def twins(self) -> Mapping[str, tuple[str, ...]]:
        """Passages that say the same, by their group."""
        found: dict[str, list[str]] = {}
        for passage in self.passages.values():
            found.setdefault(passage.twin_group, []).append(passage.chunk_id)
        return {group: tuple(chunk_ids) for group, chunk_ids in found.items()}

    def find_passages(self, node_id: str) -> tuple[str, ...]:
        """The passages that a node stands for: a text's own, or what its field's headings own."""
        node = self.nodes.get(node_id)
        if node is None:
            return ()
        if node.level == "sentence" and node.parent_id is not None:
            held = self.holding.get(node.parent_id, ())
            words = squeeze(node.text)
            return tuple(c for c in held if words in squeeze(self.passages[c].text)) or held[:1]
        if node.level != "anchor":
            return self.holding.get(node_id, ())
        return self.below.get(node_id) or tuple(c for a in self.aligned.get(node_id, ()) for c in self.below.get(a, ()))

    def name_anchor(self, node_id: str) -> str:
        """What people call an anchor: its heading without the key, or the label that the face prints for its box."""
        node = self.nodes[node_id]
        heading = strip_key(node.text)
        return heading or self.labels.get(node.canonical_id or "", "") or node.text.strip(" .:")


def squeeze(text: str) -> str:
    """A text on one line."""
    return _SPACE.sub(" ", text).strip()


def strip_key(heading: str) -> str:
    """A heading without the key it begins with and without its final stop."""
    for rule in load_rules("training", "heading_keys"):
        heading = rule.pattern.sub("", heading)
    return heading.strip(" .:—–-")


def read_corpus(
    chunks: dy.DataFrame[Chunks],
    documents: dy.DataFrame[Documents],
    *,
    nodes: dy.DataFrame[Nodes],
    registry: dy.DataFrame[Registry],
    edges: dy.DataFrame[Edges],
    families: Mapping[str, str],
) -> Corpus:
    """Gather accepted passages with their families and twins, the nodes, and what faces call their boxes."""
    revisions = dict(documents.select("document_id", "revision").iter_rows())
    rows = chunks.filter(pl.col("status") == "accepted").sort("document_id", "chunk_ix", "chunk_id").to_dicts()
    groups = find_twins(
        {row["chunk_id"]: Said(row["text"], row["anchor_key"] or "", row["document_id"]) for row in rows}
    )
    passages = {
        row["chunk_id"]: Passage(
            chunk_id=row["chunk_id"],
            document_id=row["document_id"],
            family=families[row["document_id"]],
            form=row["form"],
            revision=revisions[row["document_id"]],
            perspective=row["perspective"],
            anchor_id=row["anchor_id"],
            anchor_key=row["anchor_key"],
            heading_path=row["heading_path"],
            level=row["level"],
            node_ids=tuple(row["node_ids"]),
            text=row["text"],
            full=f"{row['context']}\n{row['text']}",
            twin_group=groups[row["chunk_id"]],
        )
        for row in rows
    }
    columns = list(Node.__slots__)
    known = {row["node_id"]: Node(**row) for row in nodes.select(columns).iter_rows(named=True)}
    labels = dict(registry.select("canonical_id", "label").iter_rows())
    aligned: dict[str, list[str]] = {}
    for source, target in edges.filter(pl.col("relation") == "same_field").select("source_id", "target_id").iter_rows():
        aligned.setdefault(source, []).append(target)
        aligned.setdefault(target, []).append(source)
    return Corpus(
        passages=passages,
        nodes=known,
        labels=labels,
        families=families,
        aligned={name: tuple(sorted(others)) for name, others in aligned.items()},
    )
