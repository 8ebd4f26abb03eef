"""Assets of the stage `graph` and their gates."""

import logging

import dagster as dg
import dataframely as dy
import polars as pl

from taxkg_assets import schemas
from taxkg_assets.defs.extraction import compare_with_floors
from taxkg_assets.defs.home.result_cache import ResultCache
from taxkg_assets.defs.home.store import Store
from taxkg_assets.defs.wiring.gates import gate
from taxkg_assets.defs.wiring.gold import open_labels
from taxkg_assets.defs.wiring.parts import Parts
from taxkg_assets.defs.wiring.resources import Home
from taxkg_assets.defs.wiring.table_asset import table
from taxkg_assets.defs.wiring.verdicts import Verdict, shortened, table_metadata
from taxkg_assets.digests import digest
from taxkg_assets.evaluation.extraction_scores import score_boxes
from taxkg_assets.graph.change_page import render_change_page
from taxkg_assets.graph.change_report import (
    build_change_reports,
    render_change_markdown,
    render_changes_overview,
)
from taxkg_assets.graph.edges import build_edges
from taxkg_assets.graph.flows import build_flows, find_flow_faults
from taxkg_assets.graph.formulas import build_formulas, find_formula_faults
from taxkg_assets.graph.integrity import (
    count_relations,
    find_dangling_edges,
    find_misused_relations,
    find_parent_cycles,
    find_tree_faults,
    find_unplaced_nodes,
    find_unprovenanced_edges,
    find_unsupported_edges,
    score_connected,
    score_related,
    share_connected_across_documents,
)
from taxkg_assets.graph.lines import build_lines, find_doubled_lines
from taxkg_assets.graph.nodes import build_nodes
from taxkg_assets.graph.registry import build_registry, find_invented_names, find_registry_faults
from taxkg_assets.graph.revision_checks import find_invalid_changes
from taxkg_assets.graph.revision_edges import find_revision_links
from taxkg_assets.graph.revisions import build_revisions, find_consecutive

CHANGES = "reports/changes"
_MOST_BYTES = 230
"""Length of a report's name without its suffix. File systems allow 255, which must hold a temporary name as well."""
_LOG = logging.getLogger(__name__)

registry = table(schemas.Registry, build_registry, group="graph", row_checks=(find_registry_faults,), isolated=True)
lines = table(schemas.Lines, build_lines, group="graph", row_checks=(find_doubled_lines,), isolated=True)
formulas = table(schemas.Formulas, build_formulas, group="graph", row_checks=(find_formula_faults,), isolated=True)
flows = table(
    schemas.Flows,
    build_flows,
    group="graph",
    resources={"memory": lambda home: ResultCache(home.store, "flows", build_flows)},
    row_checks=(find_flow_faults,),
    isolated=True,
)
nodes = table(
    schemas.Nodes, build_nodes, group="graph", isolated=True, requires=(find_unplaced_nodes, find_tree_faults)
)


def show_relations(store: Store) -> dict[str, dg.MetadataValue]:
    """Return, for the UI, the number of edges of each relation and an example of each.

    Args:
        store: Tables of the home.
    """
    edges = store.scan("edges")
    counts = edges.group_by("relation", "polarity", "created_by").len("edges").collect()
    examples = edges.group_by("relation").first().collect()
    return {
        "relations": table_metadata(counts.sort("relation", "polarity", "created_by")),
        "one edge of each relation": table_metadata(shortened(examples.sort("relation"))),
    }


edges = table(
    schemas.Edges,
    build_edges,
    group="graph",
    resources={"memory": lambda home: ResultCache(home.store, "edges", find_revision_links)},
    row_checks=(find_unsupported_edges, find_misused_relations, find_unprovenanced_edges),
    show=show_relations,
    isolated=True,
)


def write_change_reports(home: Home, revisions: pl.DataFrame) -> None:
    """Write a change report for each pair of revisions into the home, and remove reports of removed pairs.

    Args:
        home: Home that gets the reports.
        revisions: Rows of `revisions`.
    """
    storage, written_names = home.store.storage, set()
    documents = schemas.Documents.cast(home.store.read("documents"))
    for report in build_change_reports(schemas.Revisions.cast(revisions), documents):
        older, newer = report.documents
        for suffix, text in (("md", render_change_markdown(report)), ("html", render_change_page(report))):
            name = f"{_name_report(older, newer)}.{suffix}"
            try:
                storage.write(f"{CHANGES}/{name}", text.encode())
                written_names.add(name)
            except OSError as error:  # the table is complete without it
                _LOG.warning("The change report %s was not written: %s", name, error)
    for name in storage.children(CHANGES):
        if name not in written_names and "--to--" in name:
            storage.remove(f"{CHANGES}/{name}")


def _name_report(older: str, newer: str) -> str:
    """Return the name of a pair's reports without suffix: the ids of the documents, shortened where they are too long.

    A digest of both ids keeps shortened names apart.
    """
    name = f"{older}--to--{newer}"
    if len(name.encode()) <= _MOST_BYTES:
        return name
    ending = f"--{digest(older, newer)[:12]}"
    most_bytes = (_MOST_BYTES - len(f"--to--{ending}")) // 2
    beginnings = (document_id.encode()[:most_bytes].decode(errors="ignore") for document_id in (older, newer))
    return f"{'--to--'.join(beginnings)}{ending}"


def show_changes(store: Store) -> dict[str, dg.MetadataValue]:
    """Return the changes of all pairs for the UI, with the location of their reports.

    Args:
        store: Tables of the home.
    """
    reports = build_change_reports(
        schemas.Revisions.cast(store.read("revisions")), schemas.Documents.cast(store.read("documents"))
    )
    return {
        "what changed": dg.MetadataValue.md(render_changes_overview(reports)),
        "reports": dg.MetadataValue.path(store.storage.uri_of(CHANGES)),
    }


revisions = table(
    schemas.Revisions,
    build_revisions,
    group="graph",
    row_checks=(find_invalid_changes,),
    publish=write_change_reports,
    show=show_changes,
    parts=Parts(("from_document_id", "to_document_id"), find_consecutive, argument="pairs"),
    isolated=True,
)


@gate(on="registry", reads=("faces",))
def registry_equals_faces(registry: dy.DataFrame[schemas.Registry], faces: dy.DataFrame[schemas.Faces]) -> Verdict:
    """Every row matches a box of `faces`, and labels are empty only where none is printed."""
    return Verdict(find_registry_faults(registry, faces), registry.height)


@gate(on="registry", reads=("sections", "anchors"))
def abbreviations_are_printed(
    registry: dy.DataFrame[schemas.Registry],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
) -> Verdict:
    """Every abbreviation among the aliases is printed in a document of the home."""
    return Verdict(find_invented_names(registry, sections, anchors=anchors), int(registry["aliases"].list.len().sum()))


@gate(on="registry", reads=("documents",), measures=True)
def boxes_on_labeled_documents(
    registry: dy.DataFrame[schemas.Registry], documents: dy.DataFrame[schemas.Documents], home: Home
) -> Verdict:
    """The share of labeled boxes that are in the registry reaches the floor."""
    score = score_boxes(registry, open_labels(home), documents=documents)
    return compare_with_floors(score, on="registry", checked=registry.height)


@gate(on="lines")
def lines_have_their_own_identities(lines: dy.DataFrame[schemas.Lines]) -> Verdict:
    """No two lines of a revision have the same identity."""
    figures = dict(lines.group_by("kind").len().sort("kind").iter_rows())
    unlabeled = lines.filter(pl.col("label") == "").height
    return Verdict(find_doubled_lines(lines), lines.height, figures={**figures, "without a label": unlabeled})


@gate(on="formulas", reads=("lines",))
def formulas_name_lines_of_their_form(
    formulas: dy.DataFrame[schemas.Formulas], lines: dy.DataFrame[schemas.Lines]
) -> Verdict:
    """Every operand is a line of the form, and no line is computed from itself."""
    figures = dict(formulas.group_by("operation").len().sort("operation").iter_rows())
    return Verdict(find_formula_faults(formulas, lines), formulas.height, figures=figures)


@gate(on="flows", reads=("lines",))
def flows_join_lines(flows: dy.DataFrame[schemas.Flows], lines: dy.DataFrame[schemas.Lines]) -> Verdict:
    """Both ends of every resolved flow are different lines, and every unresolved flow has a reason."""
    figures = dict(flows.group_by("agreement").len().sort("agreement").iter_rows())
    return Verdict(find_flow_faults(flows, lines), flows.height, figures=figures)


@gate(on="nodes")
def nodes_form_trees(nodes: dy.DataFrame[schemas.Nodes]) -> Verdict:
    """The nodes of each document form one tree under its document node."""
    return Verdict(find_tree_faults(nodes), nodes.height)


@gate(on="nodes")
def every_node_has_a_location(nodes: dy.DataFrame[schemas.Nodes]) -> Verdict:
    """Every node except external ones has a page and a rectangle."""
    return Verdict(find_unplaced_nodes(nodes), nodes.height)


@gate(on="edges", reads=("nodes",))
def no_dangling_edges(edges: dy.DataFrame[schemas.Edges], nodes: dy.DataFrame[schemas.Nodes]) -> Verdict:
    """Both ends of every edge are nodes."""
    return Verdict(find_dangling_edges(edges, nodes), edges.height)


@gate(on="edges")
def parent_of_is_acyclic(edges: dy.DataFrame[schemas.Edges]) -> Verdict:
    """`parent_of` has no cycle and gives no node two parents."""
    return Verdict(find_parent_cycles(edges), edges.height)


@gate(on="edges", reads=("sections", "nodes"))
def edges_carry_evidence(
    edges: dy.DataFrame[schemas.Edges],
    sections: dy.DataFrame[schemas.Sections],
    nodes: dy.DataFrame[schemas.Nodes],
) -> Verdict:
    """The evidence of every semantic edge equals the text at its recorded position on the page."""
    counts = count_relations(edges).group_by("relation").agg(pl.col("edges").sum()).sort("relation")
    return Verdict(find_unsupported_edges(edges, sections, nodes=nodes), edges.height, figures=dict(counts.iter_rows()))


@gate(on="edges", reads=("nodes",))
def relations_are_consistent(edges: dy.DataFrame[schemas.Edges], nodes: dy.DataFrame[schemas.Nodes]) -> Verdict:
    """Polarity, kinds of nodes, and `created_by` of every edge fit its relation.

    Also shows the share of each relation, the shares of nodes that are related to something beyond their outline and to
    another document, and the shares of headings, paragraphs and tables that have a relation of their own.
    """
    counts = count_relations(edges).group_by("relation").agg(pl.col("edges").sum()).sort("relation")
    figures = {
        **{f"{name} share": count / max(edges.height, 1) for name, count in counts.iter_rows()},
        "related_share": score_connected(nodes, edges),
        "related_across_documents_share": share_connected_across_documents(nodes, edges),
        **score_related(nodes, edges),
    }
    return Verdict(find_misused_relations(edges, nodes), edges.height, figures=figures)


@gate(on="edges", reads=("sections", "nodes"))
def edges_have_provenance(
    edges: dy.DataFrame[schemas.Edges], sections: dy.DataFrame[schemas.Sections], nodes: dy.DataFrame[schemas.Nodes]
) -> Verdict:
    """Every edge names its rule, and evidence from a sentence is in the document of that sentence."""
    return Verdict(find_unprovenanced_edges(edges, sections, nodes=nodes), edges.height)


@gate(on="revisions", reads=("documents", "sections", "anchors", "tables", "faces", "elements"))
def changes_match_documents(
    revisions: dy.DataFrame[schemas.Revisions],
    documents: dy.DataFrame[schemas.Documents],
    sections: dy.DataFrame[schemas.Sections],
    anchors: dy.DataFrame[schemas.Anchors],
    tables: dy.DataFrame[schemas.Tables],
    faces: dy.DataFrame[schemas.Faces],
    elements: dy.DataFrame[schemas.Elements],
) -> Verdict:
    """The text before and after each change is at its recorded position, its key exists, and the texts differ."""
    faults = find_invalid_changes(
        revisions, documents, sections=sections, anchors=anchors, tables=tables, faces=faces, elements=elements
    )
    substantial_changes = revisions.filter(~pl.col("is_routine"))
    pairs = revisions.select("from_document_id", "to_document_id").n_unique()
    return Verdict(
        faults, revisions.height, figures={"pairs with changes": pairs, "not routine": substantial_changes.height}
    )
