"""The inputs of pairs and negatives: passages as the index embeds them, and the nodes that contain them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import dataframely as dy
import polars as pl

from taxkg_assets.rules.models.training import load_training
from taxkg_assets.schemas import Chunks, Documents, Edges, Nodes, Registry
from taxkg_assets.training.near_duplicates import PassageText, group_near_duplicates

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """An accepted chunk.

    Attributes:
        indexed_text: Context and text, as the index embeds them.
        near_duplicate_group: Shared by all near-duplicates of the passage.
    """

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
    indexed_text: str
    near_duplicate_group: str


@dataclass(frozen=True, slots=True)
class Node:
    """The columns of a node that training pairs need."""

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
    """Passages, nodes and box labels of one home, the source of training pairs.

    Attributes:
        passages: Passages by chunk id, in reading order.
        nodes: Nodes by id.
        labels: Label of a box by its canonical id in the registry.
        families: Form family by document.
    """

    passages: Mapping[str, Passage]
    nodes: Mapping[str, Node]
    labels: Mapping[str, str]
    families: Mapping[str, str]
    same_fields: Mapping[str, tuple[str, ...]]
    """Other anchors of the same field, by anchor: for a box of the form itself, the headings of its instructions."""

    @cached_property
    def chunks_by_node(self) -> Mapping[str, tuple[str, ...]]:
        """Return the chunk ids that contain each paragraph or table, by node id."""
        chunk_ids_by_node: dict[str, list[str]] = {}
        for passage in self.passages.values():
            for node_id in passage.node_ids:
                chunk_ids_by_node.setdefault(node_id, []).append(passage.chunk_id)
        return {node_id: tuple(chunk_ids) for node_id, chunk_ids in chunk_ids_by_node.items()}

    @cached_property
    def chunks_by_anchor(self) -> Mapping[str, tuple[str, ...]]:
        """Return the chunk ids directly below each heading, by anchor id."""
        chunk_ids_by_anchor: dict[str, list[str]] = {}
        for passage in self.passages.values():
            if passage.anchor_id is not None:
                chunk_ids_by_anchor.setdefault(passage.anchor_id, []).append(passage.chunk_id)
        return {anchor_id: tuple(chunk_ids) for anchor_id, chunk_ids in chunk_ids_by_anchor.items()}

    @cached_property
    def near_duplicates(self) -> Mapping[str, tuple[str, ...]]:
        """Return the chunk ids of each group of near-duplicates, by group."""
        chunk_ids_by_group: dict[str, list[str]] = {}
        for passage in self.passages.values():
            chunk_ids_by_group.setdefault(passage.near_duplicate_group, []).append(passage.chunk_id)
        return {group: tuple(chunk_ids) for group, chunk_ids in chunk_ids_by_group.items()}

    def passages_of_node(self, node_id: str) -> tuple[str, ...]:
        """Return the chunk ids of a node: those with its text, or those below the headings of its field.

        Args:
            node_id: Any node; an unknown one has no passages.
        """
        node = self.nodes.get(node_id)
        if node is None:
            return ()
        if node.level == "sentence" and node.parent_id is not None:
            chunk_ids = self.chunks_by_node.get(node.parent_id, ())
            sentence = squeeze(node.text)
            containing = tuple(name for name in chunk_ids if sentence in squeeze(self.passages[name].text))
            return containing or chunk_ids[:1]
        if node.level != "anchor":
            return self.chunks_by_node.get(node_id, ())
        return self.chunks_by_anchor.get(node_id) or tuple(
            chunk_id
            for anchor_id in self.same_fields.get(node_id, ())
            for chunk_id in self.chunks_by_anchor.get(anchor_id, ())
        )

    def anchor_label(self, node_id: str) -> str:
        """Return an anchor's name: its heading without the key, or the printed label of its box.

        Args:
            node_id: Node of the anchor.

        Raises:
            KeyError: There is no such node.
        """
        node = self.nodes[node_id]
        heading = strip_key(node.text)
        return heading or self.labels.get(node.canonical_id or "", "") or node.text.strip(" .:")


def squeeze(text: str) -> str:
    """Collapse whitespace to single spaces.

    Args:
        text: The text.

    Returns:
        The text on one line.
    """
    return _SPACE.sub(" ", text).strip()


def strip_key(heading: str) -> str:
    """Return a heading without its leading key ("Box 1b.") and trailing punctuation.

    Args:
        heading: Heading as printed.

    Returns:
        The heading; empty if it is only a key.
    """
    for rule in load_training().heading_keys:
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
    """Collect the accepted passages with their families and near-duplicates, the nodes, and the box labels.

    Args:
        chunks: All chunks; only accepted ones become passages.
        documents: Documents of the chunks.
        nodes: Nodes of the graph.
        registry: Numbered fields with their labels.
        edges: Edges of the graph; `same_field` connects a box with the headings of its instructions.
        families: Form family by document, from `find_families`.

    Returns:
        Passages sorted by document and reading order, with all nodes.
    """
    revision_by_document = dict(documents.select("document_id", "revision").iter_rows())
    rows = chunks.filter(pl.col("status") == "accepted").sort("document_id", "chunk_ix", "chunk_id").to_dicts()
    group_by_chunk = group_near_duplicates(
        {row["chunk_id"]: PassageText(row["text"], row["anchor_key"] or "", row["document_id"]) for row in rows}
    )
    passages = {
        row["chunk_id"]: Passage(
            chunk_id=row["chunk_id"],
            document_id=row["document_id"],
            family=families[row["document_id"]],
            form=row["form"],
            revision=revision_by_document[row["document_id"]],
            perspective=row["perspective"],
            anchor_id=row["anchor_id"],
            anchor_key=row["anchor_key"],
            heading_path=row["heading_path"],
            level=row["level"],
            node_ids=tuple(row["node_ids"]),
            text=row["text"],
            indexed_text=f"{row['context']}\n{row['text']}",
            near_duplicate_group=group_by_chunk[row["chunk_id"]],
        )
        for row in rows
    }
    columns = list(Node.__slots__)
    nodes_by_id = {row["node_id"]: Node(**row) for row in nodes.select(columns).iter_rows(named=True)}
    labels = dict(registry.select("canonical_id", "label").iter_rows())
    same_fields: dict[str, list[str]] = {}
    for source, target in edges.filter(pl.col("relation") == "same_field").select("source_id", "target_id").iter_rows():
        same_fields.setdefault(source, []).append(target)
        same_fields.setdefault(target, []).append(source)
    return Corpus(
        passages=passages,
        nodes=nodes_by_id,
        labels=labels,
        families=families,
        same_fields={anchor_id: tuple(sorted(others)) for anchor_id, others in same_fields.items()},
    )
