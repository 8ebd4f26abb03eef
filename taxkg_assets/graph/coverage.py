"""Alignment coverage: for how many boxes of each form the instructions have a heading, and of which revision."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from taxkg_assets.schemas import Edges, Nodes, Registry

_HOW = {"same_field": "this revision", "same_field_other_revision": "another revision"}


READERS = ("filer", "recipient")
"""Audiences of the instructions for the boxes of a face."""


def find_aligned(
    registry: dy.DataFrame[Registry], nodes: dy.DataFrame[Nodes], *, edges: dy.DataFrame[Edges]
) -> pl.DataFrame:
    """Determine whether instructions for the filer, and those for the recipient, cover each box of each form.

    Args:
        registry: Boxes of all faces.
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        One row per box and reader (filer, recipient): `document_id`, `form`, `revision`, `box_key`, `label`, `reader`
        and `how` (`this revision`, `another revision`, null where no instructions cover the box).
    """
    boxes = registry.select("document_id", "form", "revision", "box_key", "label")
    faces = nodes.filter(pl.col("perspective") == "face", pl.col("level") == "anchor")
    box_nodes = boxes.join(faces.select("document_id", "node_id", box_key="anchor_key"), on=["document_id", "box_key"])
    box_readers = box_nodes.join(pl.DataFrame({"reader": READERS}), how="cross")
    readers = nodes.select(target_id="node_id", reader="perspective")
    alignments = edges.filter(pl.col("relation").is_in(list(_HOW))).join(readers, on="target_id")
    covered = alignments.select("reader", how=pl.col("relation").replace(_HOW), node_id="source_id").unique()
    best = covered.group_by("node_id", "reader").agg(pl.col("how").sort_by(pl.col("how") != "this revision").first())
    return box_readers.join(best, on=["node_id", "reader"], how="left", maintain_order="left").drop("node_id")


def count_aligned(
    registry: dy.DataFrame[Registry], nodes: dy.DataFrame[Nodes], *, edges: dy.DataFrame[Edges]
) -> pl.DataFrame:
    """Count the boxes of every face and those that the instructions cover.

    Args:
        registry: Boxes of all faces.
        nodes: Nodes of the graph.
        edges: Edges of the graph.

    Returns:
        One row per face and reader (filer, recipient): `document_id`, `form`, `revision`, `reader`, `boxes`, `this
        revision`, `another revision`, and as `unaligned` the keys that no instructions cover.
    """
    return (
        find_aligned(registry, nodes, edges=edges)
        .group_by("document_id", "form", "revision", "reader")
        .agg(
            pl.len().alias("boxes"),
            *[(pl.col("how") == how).sum().alias(how) for how in _HOW.values()],
            pl.col("box_key").filter(pl.col("how").is_null()).sort().alias("unaligned"),
        )
        .sort("form", "revision", "document_id", "reader")
    )
