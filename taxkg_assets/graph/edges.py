"""Edges: the tree of each document, what its sentences state about other nodes, and alignment across documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.graph.alignment import Link, find_links
from taxkg_assets.graph.catalogue import Catalogue
from taxkg_assets.graph.concepts import find_entries
from taxkg_assets.graph.definitions import Definitions
from taxkg_assets.graph.explanations import find_explanations
from taxkg_assets.graph.line_edges import find_flow_edges
from taxkg_assets.graph.memory import Memory, NoMemory
from taxkg_assets.graph.resolution import Resolver, Target, face_node_id
from taxkg_assets.graph.revision_edges import find_revision_links
from taxkg_assets.graph.sentence_nodes import EvidenceNodes
from taxkg_assets.records import (
    AnchorRecord,
    BoxRecord,
    DocumentRecord,
    LineRecord,
    ReferenceRecord,
    iter_records,
)
from taxkg_assets.rules.sentences import find_sentences
from taxkg_assets.schemas import Anchors, Documents, Edges, Flows, Lines, Links, Nodes, References, Registry, Sections

_KEY = ["source_id", "target_id", "relation", "start"]
_DENIABLE = ("includes", "portion_of", "requires")


# arguments: one per upstream table, as the wiring reads their names
def build_edges(
    nodes: dy.DataFrame[Nodes],
    anchors: dy.DataFrame[Anchors],
    *,
    sections: dy.DataFrame[Sections],
    references: dy.DataFrame[References],
    registry: dy.DataFrame[Registry],
    documents: dy.DataFrame[Documents],
    lines: dy.DataFrame[Lines],
    flows: dy.DataFrame[Flows],
    links: dy.DataFrame[Links],
    memory: Memory | None = None,
) -> dy.DataFrame[Edges]:
    """Build the edges of the graph: one row per source, target, relation and citing sentence.

    Args:
        nodes: Nodes of the graph.
        anchors: Anchors of all documents.
        sections: Content elements; they decide which node an element's text belongs to.
        references: Mentions with relation, polarity and evidence.
        registry: Boxes of all faces.
        documents: Documents of the corpus.
        lines: Numbered fields of all forms.
        flows: Statements that an amount goes from one line to another.
        links: Links, among them the entries of indexes and contents.
        memory: Links of pairs of revisions from earlier runs; without it all are found.

    Returns:
        Structural edges without evidence, and semantic edges whose `start`, `end` (half-open characters, 0-based) slice
        the sentence out of the element's `sections.text`. Their source is the sentence where it is a node, else the
        paragraph. Edges between lines slice their evidence out of the source's own text where they name no element.

    Raises:
        KeyError: A reference comes from an element that `sections` lacks, or from an unknown document.

    Source:
        rules/relations.yaml.
    """
    document_rows = list(iter_records(documents, DocumentRecord))
    catalogue = Catalogue(document_rows)
    registry_rows = list(iter_records(registry.sort("document_id", "box_key"), BoxRecord))
    resolver = _make_resolver(catalogue, nodes, anchors=anchors, registry=registry_rows)
    texts = sections.select("anchor_id", "text").iter_rows()
    explained = find_explanations(iter_records(lines, LineRecord), resolver.anchors.values(), documents=document_rows)
    known_ids = frozenset(nodes["node_id"])
    memory = memory or NoMemory()
    continued = find_revision_links(
        documents, anchors, sections=sections, lines=lines, node_ids=known_ids, memory=memory
    )
    related = [*find_links(catalogue, resolver, registry=registry_rows), *explained, *continued]
    memory.keep()
    related += [Link(entry.node_id, entry.target_id, "indexed_at", 1.0) for entry in find_entries(links, known_ids)]
    edges = pl.concat(
        [
            _structural(_tree_edges(nodes)),
            _structural(_link_edges(related)),
            find_flow_edges(flows, lines, nodes),
            _semantic_edges(references, resolver=resolver, owners=EvidenceNodes(nodes, sections)),
            _definition_edges(Definitions(resolver, registry=registry_rows, texts=texts), sections),
        ]
    )
    if not set(documents["document_id"]) <= known_ids:  # nothing leads to a document whose nodes could not be built
        edges = edges.filter(pl.all_horizontal(pl.col("source_id", "target_id").is_in(nodes["node_id"].implode())))
    return Edges.validate(_choose_best(edges.filter(pl.col("source_id") != pl.col("target_id"))))


def _make_resolver(
    catalogue: Catalogue,
    nodes: dy.DataFrame[Nodes],
    *,
    anchors: dy.DataFrame[Anchors],
    registry: list[BoxRecord],
) -> Resolver:
    return Resolver(
        catalogue,
        anchors=iter_records(anchors.sort("anchor_id"), AnchorRecord),
        registry=registry,
        tables=nodes.filter(pl.col("level") == "table").select("document_id", "node_id", "text").iter_rows(),
        paragraphs=nodes.filter(pl.col("level") == "paragraph")["node_id"].to_list(),
    )


def _choose_best(found: pl.DataFrame) -> pl.DataFrame:
    """Keep one row per key, negative ones before the most confident.

    What a sentence excludes it does not also include.
    """
    order = [*_KEY, "polarity", "confidence", "rule_id"]
    best = found.sort(order, descending=[name == "confidence" for name in order])
    best = best.unique(_KEY, keep="first", maintain_order=True)
    denied = best.filter(pl.col("relation") == "excludes").select("source_id", "target_id", "start", is_denied=True)
    marked = best.join(denied, on=["source_id", "target_id", "start"], how="left", maintain_order="left")
    is_denied = pl.col("is_denied").fill_null(False) & pl.col("relation").is_in(_DENIABLE)
    return marked.filter(~is_denied).drop("is_denied")


def _tree_edges(nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Lead from parent to child, and from each node to the sibling before it."""
    inside = nodes.filter(pl.col("parent_id").is_not_null()).sort("parent_id", "ordinal", "node_id")
    before = pl.col("node_id").shift(1).over("parent_id")
    columns = {"relation": pl.lit("parent_of"), "confidence": pl.lit(1.0)}
    tree = inside.select(source_id="parent_id", target_id="node_id", **columns)
    follows = inside.select(source_id="node_id", target_id=before, **{**columns, "relation": pl.lit("follows")})
    return pl.concat([tree, follows.filter(pl.col("target_id").is_not_null())])


def _link_edges(found: Iterable[Link]) -> pl.DataFrame:
    rows = [(link.source_id, link.target_id, link.relation, link.confidence) for link in found]
    return pl.DataFrame(rows, schema=["source_id", "target_id", "relation", "confidence"], orient="row")


def _structural(edges: pl.DataFrame) -> pl.DataFrame:
    return edges.select(
        pl.col("source_id", "target_id", "relation").cast(pl.String),
        start=pl.lit(0, pl.Int32),
        end=pl.lit(0, pl.Int32),
        element_id=pl.lit(None, pl.String),
        polarity=pl.lit("positive"),
        confidence=pl.col("confidence").cast(pl.Float64),
        evidence=pl.lit(""),
        page=pl.lit(None, pl.Int32),
        created_by=pl.lit("structural"),
        rule_id=pl.col("relation").cast(pl.String),
    )


def _definition_edges(definitions: Definitions, sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Lead from a heading with a box's name to the box, with the first sentence below it as evidence."""
    below = sections.filter(pl.col("role").is_in(("BodyText", "ListBlock"))).sort("document_id", "paragraph_ix")
    columns = below.select("anchor_id", "element_id", "page", "text")
    first = {row["anchor_id"]: row for row in columns.unique("anchor_id", keep="first").iter_rows(named=True)}
    rows = []
    for definition in definitions.find_all():
        below_heading = first.get(definition.anchor_id)
        sentences = find_sentences(below_heading["text"]) if below_heading is not None else []
        if below_heading is None or not sentences:
            continue
        start, end = sentences[0]
        rows.append(
            {
                "source_id": definition.anchor_id,
                "target_id": face_node_id(definition.document_id, definition.box_key),
                "relation": "defines",
                "start": start,
                "end": end,
                "element_id": below_heading["element_id"],
                "polarity": "positive",
                "confidence": definition.confidence,
                "evidence": below_heading["text"][start:end],
                "page": below_heading["page"],
                "created_by": "rule",
                "rule_id": "headed_by_box_name",
            }
        )
    return pl.DataFrame(rows, schema=Edges.create_empty().schema, orient="row")


def _name_relation(row: ReferenceRecord, target: Target) -> str:
    """Return the relation of an edge: that of the sentence, else the kind of target of a plain mention."""
    if row["relation"] != "references":
        return str(row["relation"])
    return "external_ref" if target.is_external else f"references_{row['kind']}"


def _semantic_edges(references: dy.DataFrame[References], *, resolver: Resolver, owners: EvidenceNodes) -> pl.DataFrame:
    rows = _resolve(iter_records(references, ReferenceRecord), resolver=resolver, owners=owners)
    return pl.DataFrame(list(rows), schema=Edges.create_empty().schema, orient="row")


def _resolve(
    references: Iterable[ReferenceRecord], *, resolver: Resolver, owners: EvidenceNodes
) -> Iterator[dict[str, Any]]:
    for row in references:
        if row["is_self"] and row["relation"] == "references":
            continue
        target = resolver.resolve(row)
        if target is None:
            continue
        yield {
            "source_id": owners.find(row["element_id"], row["start"], row["end"]),
            "target_id": target.node_id,
            "relation": _name_relation(row, target),
            "start": row["start"],
            "end": row["end"],
            "element_id": row["element_id"],
            "polarity": row["polarity"],
            "confidence": row["confidence"] * target.confidence,
            "evidence": row["evidence"],
            "page": row["page"],
            "created_by": row["created_by"],
            "rule_id": row["rule_id"],
        }
