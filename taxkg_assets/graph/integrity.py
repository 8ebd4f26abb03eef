"""Laws of the graph: functions that return the offending rows, and the figures that a gate compares with its floor."""

from __future__ import annotations

import dataframely as dy
import networkx as nx
import polars as pl

from taxkg_assets.schemas import Edges, Nodes, References, Sections

_SEMANTIC = pl.col("created_by") != "structural"


def find_dangling_edges(edges: dy.DataFrame[Edges], nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Find edges of which one end is no node."""
    known = nodes.get_column("node_id").implode()
    return edges.filter(~pl.col("source_id").is_in(known) | ~pl.col("target_id").is_in(known))


def find_tree_faults(nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Find nodes that break the tree of their document: no single root, a parent elsewhere or missing, a cycle."""
    inside = nodes.filter(pl.col("level") != "external").select("node_id", "document_id", "parent_id", "level")
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
    """Collect the nodes from which parents lead to a root; what is left over runs in a circle."""
    reached = inside.filter(pl.col("parent_id").is_null()).select("node_id")
    frontier = reached
    while not frontier.is_empty():
        frontier = inside.join(frontier.rename({"node_id": "parent_id"}), on="parent_id").select("node_id")
        frontier = frontier.join(reached, on="node_id", how="anti")
        reached = pl.concat([reached, frontier])
    return reached


def find_parent_cycles(edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Find `parent_of` edges that lie on a circle or give a node a second parent."""
    tree = edges.filter(pl.col("relation") == "parent_of").select("source_id", "target_id", "relation")
    second = tree.filter(pl.col("target_id").is_duplicated()).with_columns(fault=pl.lit("second parent"))
    graph: nx.DiGraph[str] = nx.DiGraph(list(tree.select("source_id", "target_id").iter_rows()))
    loops = [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]
    looped = pl.Series("source_id", sorted({node for part in loops for node in part}), dtype=pl.String)
    circle = tree.filter(
        pl.col("source_id").is_in(looped.implode()) & pl.col("target_id").is_in(looped.implode())
    ).with_columns(fault=pl.lit("circle"))
    return pl.concat([second, circle]).sort("source_id", "target_id", "fault")


def find_unplaced_nodes(nodes: dy.DataFrame[Nodes]) -> pl.DataFrame:
    """Find nodes other than external ones without a page or a rectangle."""
    is_placed = pl.col("page").is_not_null() & (pl.col("bboxes").list.len() > 0)
    return nodes.filter((pl.col("level") != "external") & ~is_placed).select("node_id", "document_id", "level", "page")


def find_unsupported_edges(edges: dy.DataFrame[Edges], sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Find semantic edges whose evidence is not the slice of the element's text that they give."""
    semantic = edges.filter(_SEMANTIC)
    return _find_false_slices(semantic, sections).select("source_id", "target_id", "relation", "start", "evidence")


def find_reference_faults(references: dy.DataFrame[References], sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    """Find references whose element is gone, or whose evidence is not the slice of its text that they give."""
    columns = ["element_id", "start", "kind", "target", "evidence"]
    return _find_false_slices(references, sections).select(columns)


def _find_false_slices(rows: pl.DataFrame, sections: dy.DataFrame[Sections]) -> pl.DataFrame:
    joined = rows.join(sections.select("element_id", "text"), on="element_id", how="left")
    length = pl.col("end") - pl.col("start")
    is_true = pl.col("text").str.slice(pl.col("start"), length) == pl.col("evidence")
    return joined.filter(~(is_true.fill_null(False) & (length > 0))).drop("text")


def score_connected(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> float:
    """Share of the nodes inside the corpus that any edge ties to another node."""
    inside = nodes.filter(pl.col("level") != "external")
    if inside.is_empty():
        return 1.0
    ends = pl.concat([edges.get_column("source_id"), edges.get_column("target_id")]).unique().implode()
    return inside.filter(pl.col("node_id").is_in(ends)).height / inside.height


def score_largest_component(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> float:
    """Share of the nodes inside the corpus that hang together in one piece, by edges of any kind."""
    inside = nodes.filter(pl.col("level") != "external").get_column("node_id").to_list()
    if not inside:
        return 1.0
    graph: nx.Graph[str] = nx.Graph(list(edges.select("source_id", "target_id").iter_rows()))
    graph.add_nodes_from(inside)
    members = set(inside)
    return max(len(part & members) for part in nx.connected_components(graph)) / len(inside)


def score_unresolved(references: dy.DataFrame[References], edges: dy.DataFrame[Edges]) -> float:
    """Share of the references that reach no node at all: they mean their own document and fit nothing in it."""
    own = references.filter(~pl.col("is_self") | (pl.col("relation") != "references"))
    if own.is_empty():
        return 0.0
    key = ["element_id", "start", "rule_id"]
    reached = edges.filter(_SEMANTIC).select(key).unique()
    return own.join(reached, on=key, how="anti").height / own.height


def count_relations(edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Count the edges of each relation, polarity and origin."""
    return edges.group_by("relation", "polarity", "created_by").len("edges").sort("relation", "polarity", "created_by")
