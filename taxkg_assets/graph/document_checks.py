"""Document checks on the graph: references lead to a place, and passages are related to something."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.graph.integrity import find_unconnected_nodes, find_unresolved_references
from taxkg_assets.rules.models.document_checks import load_document_checks
from taxkg_assets.schemas import Edges, Nodes, References


def find_lost_references(references: dy.DataFrame[References], edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Find references without a target, in documents where these are a large share.

    Args:
        references: References of all documents.
        edges: Edges of the graph.

    Returns:
        One row per reference: `document_id`, `page` and `evidence`.
    """
    limits = load_document_checks().references_lead_to_a_place
    counted = find_unresolved_references(references, edges)
    is_offending = (pl.col("is_unresolved").mean().over("document_id") > limits.unresolved_frac) & (
        pl.len().over("document_id") >= limits.least_references
    )
    lost = counted.filter(is_offending & pl.col("is_unresolved"))
    return lost.select("document_id", "page", "evidence").sort("document_id", "page", "evidence")


def find_unrelated_nodes(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Find nodes that are related to nothing but their outline, in documents where these are a large share.

    Args:
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        One row per node: `document_id`, `page` and `text`.
    """
    limits = load_document_checks().passages_are_related
    unrelated = find_unconnected_nodes(nodes, edges)
    of_documents = nodes.join(unrelated.select("node_id", is_unrelated=True), on="node_id", how="left").filter(
        pl.col("document_id").is_in(unrelated["document_id"].unique().implode())
    )
    is_unrelated = pl.col("is_unrelated").fill_null(False)
    is_offending = (is_unrelated.mean().over("document_id") > limits.unrelated_frac) & (
        pl.len().over("document_id") >= limits.least_nodes
    )
    return of_documents.filter(is_offending & is_unrelated).select("document_id", "page", "text").sort(pl.all())
