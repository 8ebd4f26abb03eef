"""Invariants of the graph: functions that return offending rows, and figures that a gate compares with a floor."""

from __future__ import annotations

import dataframely as dy
import networkx as nx
import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.schemas import STRUCTURAL_RELATIONS, Edges, Nodes, References, Sections
from taxkg_assets.schemas.values import FLOW_RELATIONS, PLACELESS_LEVELS

Ints = npt.NDArray[np.int64]
_SEMANTIC = pl.col("created_by") != "structural"
_FLOWS = pl.col("relation").is_in(FLOW_RELATIONS)
_BARE = ("parent_of", "follows")


def find_dangling_edges(edges: dy.DataFrame[Edges], nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Find edges with an end that is not a node.

    Args:
        edges: Edges of the graph.
        nodes: Nodes of the graph.

    Returns:
        Rows of `edges`.
    """
    known_ids = nodes.get_column("node_id").implode()
    return edges.filter(~pl.col("source_id").is_in(known_ids) | ~pl.col("target_id").is_in(known_ids))


def find_tree_faults(nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Find nodes that violate their document's tree: several roots, a missing or foreign parent, a cycle.

    Args:
        nodes: Nodes of the graph; external ones and concepts are ignored.

    Returns:
        `node_id`, `document_id`, `parent_id`, `level` and `fault`, one row per fault.
    """
    inside = nodes.filter(~pl.col("level").is_in(PLACELESS_LEVELS)).select(
        "node_id", "document_id", "parent_id", "level"
    )
    above = inside.select(parent_id="node_id", parent_document_id="document_id")
    joined = inside.join(above, on="parent_id", how="left")
    is_root = pl.col("parent_id").is_null()
    faults = [
        joined.filter(is_root & (pl.col("level") != "document")).with_columns(fault=pl.lit("no parent")),
        joined.filter(~is_root & (pl.col("level") == "document")).with_columns(fault=pl.lit("document has a parent")),
        joined.filter(~is_root & pl.col("parent_document_id").is_null()).with_columns(fault=pl.lit("parent missing")),
        joined.filter(~is_root & (pl.col("parent_document_id") != pl.col("document_id"))).with_columns(
            fault=pl.lit("parent in another document")
        ),
        joined.join(_reach_root(inside), on="node_id", how="anti").with_columns(fault=pl.lit("no way to a root")),
    ]
    return pl.concat(faults).drop("parent_document_id").sort("node_id", "fault")


def _reach_root(inside: pl.DataFrame) -> pl.DataFrame:
    """Collect the nodes whose parents lead to a root; all others are in cycles or below them."""
    reached = inside.filter(pl.col("parent_id").is_null()).select("node_id")
    frontier = reached
    while not frontier.is_empty():
        frontier = inside.join(frontier.rename({"node_id": "parent_id"}), on="parent_id").select("node_id")
        frontier = frontier.join(reached, on="node_id", how="anti")
        reached = pl.concat([reached, frontier])
    return reached


def find_parent_cycles(edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Find `parent_of` edges that are part of a cycle or give a node a second parent.

    Args:
        edges: Edges of the graph.

    Returns:
        `source_id`, `target_id`, `relation` and `fault`, one row per fault.
    """
    tree = edges.filter(pl.col("relation") == "parent_of").select("source_id", "target_id", "relation")
    second = tree.filter(pl.col("target_id").is_duplicated()).with_columns(fault=pl.lit("second parent"))
    graph: nx.DiGraph[str] = nx.DiGraph(list(_drop_roots(tree).iter_rows()))
    loops = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    looped = pl.Series("source_id", sorted({node for part in loops for node in part}), dtype=pl.String)
    circle = tree.filter(
        pl.col("source_id").is_in(looped.implode()) & pl.col("target_id").is_in(looped.implode())
    ).with_columns(fault=pl.lit("circle"))
    return pl.concat([second, circle]).sort("source_id", "target_id", "fault")


def _drop_roots(tree: pl.DataFrame) -> pl.DataFrame:
    """Return `source_id` and `target_id` of the edges that are in a circle or below one: of trees nothing is left."""
    edges_left = tree.select("source_id", "target_id")
    height = -1
    while edges_left.height != height:
        height = edges_left.height
        edges_left = edges_left.join(edges_left.select(source_id="target_id"), on="source_id", how="semi")
    return edges_left


def find_unplaced_nodes(nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Find nodes that should have a page and a rectangle, but lack one.

    Args:
        nodes: Nodes of the graph.

    Returns:
        `node_id`, `document_id`, `level` and `page`.
    """
    is_placed = pl.col("page").is_not_null() & (pl.col("bboxes").list.len() > 0)
    return nodes.filter((~pl.col("level").is_in(PLACELESS_LEVELS)) & ~is_placed).select(
        "node_id", "document_id", "level", "page"
    )


def find_unsupported_edges(
    edges: dy.DataFrame[Edges], sections: dy.DataFrame[Sections], *, nodes: dy.DataFrame[Nodes]
) -> pl.DataFrame:
    """Find semantic edges whose evidence differs from the text at its offsets.

    Args:
        edges: Edges of the graph.
        sections: Content elements with their text.
        nodes: Nodes of the graph; the text of a line is the evidence of what its label states.

    Returns:
        `source_id`, `target_id`, `relation`, `start` and `evidence`.
    """
    semantic = edges.filter(_SEMANTIC)
    in_label = _FLOWS & pl.col("element_id").is_null()
    texts = nodes.select(source_id="node_id", text="text")
    unsupported_edges = [
        _find_false_slices(semantic.filter(~in_label), sections.select("element_id", "text"), on="element_id"),
        _find_false_slices(semantic.filter(in_label), texts, on="source_id"),
    ]
    return pl.concat(unsupported_edges).select("source_id", "target_id", "relation", "start", "evidence")


def find_misused_relations(edges: dy.DataFrame[Edges], nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Find edges whose polarity, ends or origin does not fit their relation.

    Args:
        edges: Edges of the graph.
        nodes: Nodes of the graph.

    Returns:
        `source_id`, `target_id`, `relation`, `polarity` and `fault`, one row per fault.
    """
    ends = nodes.select("node_id", "document_id", "level", "canonical_id")
    rows = edges.join(
        ends.rename({name: f"source_{name}" for name in ends.columns if name != "node_id"}),
        how="left",
        left_on="source_id",
        right_on="node_id",
    )
    rows = rows.join(
        ends.rename({name: f"target_{name}" for name in ends.columns if name != "node_id"}),
        how="left",
        left_on="target_id",
        right_on="node_id",
    )
    relation = pl.col("relation")
    is_negative = pl.col("polarity") == "negative"
    is_outside = pl.col("target_level") == "external"
    is_plain = relation.str.starts_with("references_")
    is_structural = relation.is_in(STRUCTURAL_RELATIONS)
    within = pl.col("source_document_id") == pl.col("target_document_id")
    faults = {
        "origin does not match the relation": is_structural == _SEMANTIC,
        "excludes with positive polarity": (relation == "excludes") & ~is_negative,
        "includes, portion_of or defines with negative polarity": relation.is_in(("includes", "portion_of", "defines"))
        & is_negative,
        "plain reference to an external node": is_plain & is_outside,
        "external_ref to a node of the corpus": (relation == "external_ref") & ~is_outside,
        "external node as source": pl.col("source_level") == "external",
        "indexed_at that does not lead from a concept": (relation == "indexed_at")
        != (pl.col("source_level") == "concept"),
        "concept as target": pl.col("target_level") == "concept",
        "parent_of or follows across documents": relation.is_in(("parent_of", "follows")) & ~within,
        "supersedes that does not join two documents": (relation == "supersedes")
        & ((pl.col("source_level") != "document") | (pl.col("target_level") != "document") | within),
        "same_concept within one form": (relation == "same_concept")
        & (_form_of("source_canonical_id") == _form_of("target_canonical_id")),
        "same_field across forms": (relation == "same_field")
        & _key_of("source_canonical_id").is_not_null()
        & _key_of("target_canonical_id").is_not_null()
        & (_form_of("source_canonical_id") != _form_of("target_canonical_id")),
    }
    columns = ["source_id", "target_id", "relation", "polarity", "fault"]
    misused_relations = [
        rows.filter(is_broken).with_columns(fault=pl.lit(name)).select(columns) for name, is_broken in faults.items()
    ]
    return pl.concat(misused_relations).sort("source_id", "target_id", "relation", "fault")


def _form_of(column: str) -> pl.Expr:
    return pl.col(column).str.extract(r"^(.+)/[^/]*/[^/]+$", 1)


def _key_of(column: str) -> pl.Expr:
    return pl.col(column).str.extract(r"/([^/]+)$", 1)


def find_unprovenanced_edges(
    edges: dy.DataFrame[Edges], sections: dy.DataFrame[Sections], *, nodes: dy.DataFrame[Nodes]
) -> pl.DataFrame:
    """Find edges without provenance: no rule, or a semantic edge without an element of the source's document.

    Args:
        edges: Edges of the graph.
        sections: Content elements with their pages.
        nodes: Nodes of the graph.

    Returns:
        `source_id`, `target_id`, `relation`, `element_id`, `page` and `rule_id`.
    """
    pages = pl.col("pieces").list.eval(pl.element().struct.field("page"))
    places = sections.select("element_id", element_document_id="document_id", pages=pages)
    sources = nodes.select(source_id="node_id", source_document_id="document_id")
    rows = edges.join(sources, on="source_id", how="left").join(places, on="element_id", how="left")
    is_own = (pl.col("element_document_id") == pl.col("source_document_id")) | _FLOWS
    is_placed = is_own & pl.col("page").is_in(pl.col("pages"))
    is_label = _FLOWS & pl.col("element_id").is_null() & pl.col("page").is_not_null()
    is_lost = _SEMANTIC & ~(is_placed.fill_null(False) | is_label)
    columns = ["source_id", "target_id", "relation", "element_id", "page", "rule_id"]
    return rows.filter((pl.col("rule_id") == "") | is_lost).select(columns).sort("source_id", "target_id", "relation")


def _find_false_slices(rows: pl.DataFrame, texts: pl.DataFrame, *, on: str) -> pl.DataFrame:
    joined = rows.join(texts, on=on, how="left")
    length = pl.col("end") - pl.col("start")
    is_true = pl.col("text").str.slice(pl.col("start"), length) == pl.col("evidence")
    return joined.filter(~(is_true.fill_null(False) & (length > 0))).drop("text")


def find_unconnected_nodes(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Find nodes that are not connected to their document, or only to nodes without any relation.

    `follows` and the bare tree do not count, as they connect everything printed in sequence.

    Args:
        nodes: Nodes of the graph; external ones and concepts are ignored.
        edges: Edges of the graph.

    Returns:
        `node_id`, `document_id` and `level`.
    """
    joined = _join_pieces(nodes, edges)
    is_tied = (pl.col("piece") == pl.col("own_piece")).fill_null(False) & pl.col("is_related")
    return joined.filter(~is_tied).select("node_id", "document_id", "level").sort("node_id")


def _join_pieces(nodes: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """Add to each node of the corpus its connected component, that of its document, and the component's properties."""
    inside = nodes.filter(~pl.col("level").is_in(PLACELESS_LEVELS)).select("node_id", "document_id", "level")
    pieces = _find_pieces(nodes, edges)
    placed = inside.join(pieces, on="node_id")
    of_document = placed.filter(pl.col("level") == "document").select("document_id", own_piece="piece")
    wide = pl.col("document_id").n_unique() > 1
    width = nodes.select("node_id", "document_id").join(pieces, on="node_id").group_by("piece").agg(is_wide=wide)
    citing = edges.filter(~pl.col("relation").is_in(_BARE)).select(node_id="source_id").unique()
    related = citing.join(pieces, on="node_id").select("piece").unique().with_columns(is_related=True)
    joined = (
        placed.join(of_document, on="document_id", how="left")
        .join(width, on="piece")
        .join(related, on="piece", how="left")
    )
    return joined.with_columns(pl.col("is_related").fill_null(False))


def _find_pieces(nodes: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """Number the connected components of edges other than `follows`, each by the first of its nodes."""
    tied = edges.filter(pl.col("relation") != "follows").select("source_id", "target_id")
    node_ids = pl.concat([nodes["node_id"], tied["source_id"], tied["target_id"]]).unique().sort()
    numbers = pl.DataFrame({"node_id": node_ids, "number": np.arange(len(node_ids))})
    ends = [
        tied.select(node_id=end).join(numbers, on="node_id", how="left", maintain_order="left")["number"].to_numpy()
        for end in ("source_id", "target_id")
    ]
    return pl.DataFrame({"node_id": node_ids, "piece": _join_ends(len(node_ids), *ends)})


def _join_ends(count: int, sources: Ints, targets: Ints) -> Ints:
    """Return for each of some numbered nodes the lowest number of its connected component.

    Source:
        Shiloach and Vishkin 1982, An O(log n) parallel connectivity algorithm: components hook onto a lower number, and
        then all nodes jump to the end of their chains.
    """
    lowest = np.arange(count)
    while not np.array_equal(one := lowest[sources], other := lowest[targets]):
        lower = np.minimum(one, other)
        np.minimum.at(lowest, one, lower)
        np.minimum.at(lowest, other, lower)
        while not np.array_equal(jumped := lowest[lowest], lowest):
            lowest = jumped
    return lowest


def score_connected(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> float:
    """Return the share of nodes in documents that are connected to their document and to a node with a relation.

    Args:
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        Share from 0 to 1; 1 if no node is in a document.
    """
    count = nodes.filter(~pl.col("level").is_in(PLACELESS_LEVELS)).height
    return 1 - find_unconnected_nodes(nodes, edges).height / count if count else 1.0


def share_connected_across_documents(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> float:
    """Return the share of nodes in documents that are connected to a node outside their own document.

    Args:
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        Share from 0 to 1; 1 if no node is in a document.
    """
    joined = _join_pieces(nodes, edges)
    return 1.0 if joined.is_empty() else float(joined.select(pl.col("is_wide").mean()).item())


def score_related(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> dict[str, float]:
    """Return the share of headings, paragraphs and tables with an edge beyond the tree and the order of the text.

    The edges of a dense paragraph's sentences count for the paragraph, too.

    Args:
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        Shares from 0 to 1 by `related anchor`, `related paragraph` and `related table`.
    """
    related = edges.filter(~pl.col("relation").is_in(_BARE))
    above = nodes.filter(pl.col("level") == "sentence").join(
        related, left_on="node_id", right_on="source_id", how="semi"
    )
    ends = pl.concat([related["source_id"], related["target_id"], above["parent_id"]]).unique().implode()
    levels = nodes.filter(pl.col("level").is_in(("anchor", "paragraph", "table")))
    shares = levels.group_by("level").agg(pl.col("node_id").is_in(ends).mean()).sort("level")
    return {f"related {level}": share for level, share in shares.iter_rows()}


def find_unresolved_references(references: dy.DataFrame[References], edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Mark the references that have no semantic edge.

    A reference to another document always has an edge, to an external node if the corpus lacks the document. So each
    unresolved reference is to its own document and matches nothing in it.

    Args:
        references: References of all documents.
        edges: Edges of the graph.

    Returns:
        Rows of `references` with `is_unresolved`, without plain mentions of the text's own box or form.
    """
    counted = references.filter(~pl.col("is_self") | (pl.col("relation") != "references"))
    key = ["element_id", "start", "rule_id"]
    reached = edges.filter(_SEMANTIC).select(*key, is_unresolved=False).unique()
    return counted.join(reached, on=key, how="left").with_columns(pl.col("is_unresolved").fill_null(True))


def count_relations(edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Count the edges of each relation, polarity and origin.

    Args:
        edges: Edges of the graph.

    Returns:
        `relation`, `polarity`, `created_by` and `edges`.
    """
    return edges.group_by("relation", "polarity", "created_by").len("edges").sort("relation", "polarity", "created_by")
