"""Assets of the stage `graph` and their gates."""

import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs._table import Verdict, gate, table
from taxkg_assets.defs.extraction import measured
from taxkg_assets.defs.gold import open_labels
from taxkg_assets.defs.resources import Home
from taxkg_assets.evaluation.extraction_scores import score_boxes
from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.integrity import (
    count_relations,
    find_dangling_edges,
    find_parent_cycles,
    find_tree_faults,
    find_unplaced_nodes,
    find_unsupported_edges,
    score_connected,
    score_unresolved,
)
from taxkg_assets.graph.nodes import build_nodes
from taxkg_assets.graph.registry import build_registry, find_registry_faults
from taxkg_assets.rules.floors import load_floors

registry = table(schemas.Registry, build_registry, group="graph")
nodes = table(schemas.Nodes, build_nodes, group="graph")
edges = table(schemas.Edges, build_edges, group="graph")


@gate(on="registry", reads=("faces",))
def registry_equals_faces(registry: dy.DataFrame[schemas.Registry], faces: dy.DataFrame[schemas.Faces]) -> Verdict:
    """Keys are unique in a form revision, a label is empty only where the face prints none, rows equal the faces."""
    return Verdict(find_registry_faults(registry, faces), registry.height)


@gate(on="registry", reads=("documents",))
def boxes_on_labelled_documents(
    registry: dy.DataFrame[schemas.Registry], documents: dy.DataFrame[schemas.Documents], home: Home
) -> Verdict:
    """Labelled boxes are found as often as the floor says."""
    score = score_boxes(registry, open_labels(home), documents=documents)
    return measured(score, on="registry", checked=registry.height)


@gate(on="nodes")
def nodes_form_trees(nodes: dy.DataFrame[schemas.Nodes]) -> Verdict:
    """The nodes of a document are one tree under its document node."""
    return Verdict(find_tree_faults(nodes), nodes.height)


@gate(on="nodes")
def every_node_has_a_place(nodes: dy.DataFrame[schemas.Nodes]) -> Verdict:
    """Every node but an external one has a page and a rectangle."""
    return Verdict(find_unplaced_nodes(nodes), nodes.height)


@gate(on="edges", reads=("nodes",))
def no_edge_dangles(edges: dy.DataFrame[schemas.Edges], nodes: dy.DataFrame[schemas.Nodes]) -> Verdict:
    """Both ends of every edge are nodes."""
    return Verdict(find_dangling_edges(edges, nodes), edges.height)


@gate(on="edges")
def parents_make_no_circle(edges: dy.DataFrame[schemas.Edges]) -> Verdict:
    """`parent_of` has no circle and gives no node a second parent."""
    return Verdict(find_parent_cycles(edges), edges.height)


@gate(on="edges", reads=("sections",))
def edges_carry_evidence(edges: dy.DataFrame[schemas.Edges], sections: dy.DataFrame[schemas.Sections]) -> Verdict:
    """Every semantic edge carries evidence that slices back to the page."""
    counts = count_relations(edges).group_by("relation").agg(pl.col("edges").sum()).sort("relation")
    return Verdict(find_unsupported_edges(edges, sections), edges.height, figures=dict(counts.iter_rows()))


@gate(on="edges", reads=("nodes",))
def nodes_are_connected(edges: dy.DataFrame[schemas.Edges], nodes: dy.DataFrame[schemas.Nodes]) -> Verdict:
    """At least 95 % of the nodes inside the corpus are tied to another one."""
    return _against_floor("connected_share", score_connected(nodes, edges), checked=nodes.height)


@gate(on="edges", reads=("references",))
def references_resolve(edges: dy.DataFrame[schemas.Edges], references: dy.DataFrame[schemas.References]) -> Verdict:
    """References that reach no node stay below the floor's share."""
    return _against_floor("unresolved_share", score_unresolved(references, edges), checked=references.height)


def _against_floor(metric: str, value: float, *, checked: int) -> Verdict:
    floor = next(f for f in load_floors("edges") if f.metric == metric)
    figure = pl.DataFrame({"metric": [metric], "value": [value], "floor": [floor.floor]})
    is_broken = checked >= floor.least_n and not floor.holds(value)
    return Verdict(figure.filter(pl.lit(is_broken)), checked, note=floor.describe(), figures={metric: value})
