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
    marked = find_unresolved_references(references, edges).select(
        "document_id", "page", "evidence", is_offending="is_unresolved"
    )
    return _select_frequent(marked, most_frac=limits.unresolved_frac, least_rows=limits.least_references)


def find_unrelated_nodes(nodes: dy.DataFrame[Nodes], edges: dy.DataFrame[Edges]) -> pl.DataFrame:
    """Find nodes whose only relations are those of the outline, in documents where such nodes are a large share.

    Args:
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        One row per node: `document_id`, `page` and `text`.
    """
    limits = load_document_checks().passages_are_related
    unrelated_ids = find_unconnected_nodes(nodes, edges)["node_id"].implode()
    marked = nodes.select("document_id", "page", "text", is_offending=pl.col("node_id").is_in(unrelated_ids))
    return _select_frequent(marked, most_frac=limits.unrelated_frac, least_rows=limits.least_nodes)


def _select_frequent(marked_rows: pl.DataFrame, *, most_frac: float, least_rows: int) -> pl.DataFrame:
    """Return the offending rows of documents where they are a larger share than `most_frac` of `least_rows` or more."""
    is_frequent = pl.col("is_offending").mean().over("document_id") > most_frac
    is_judged = pl.len().over("document_id") >= least_rows
    return marked_rows.filter(is_frequent & is_judged & pl.col("is_offending")).drop("is_offending").sort(pl.all())
