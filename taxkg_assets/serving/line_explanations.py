"""What instructions say of a line: the headings that explain it, with the passages below them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from taxkg_assets.graph.line_nodes import node_of
from taxkg_assets.serving.released import Released

EXPLAINS = ("same_field", "same_field_other_revision")
_MOST_PASSAGES = 20
_HEADING = ("document_id", "page", "heading", "official_url", "bbox", "perspective")


def find_explanations(lines: Sequence[Mapping[str, Any]], released: Released) -> dict[str, list[dict[str, Any]]]:
    """Find the headings that explain lines, those of the line's own revision first.

    Args:
        lines: Lines with document_id, key and anchor_id.
        released: The release to read.

    Returns:
        For each line's node the headings: document, page, heading, official address, relation, reader (`perspective`),
        and `passages` below.
    """
    if not released.holds("edges"):
        return {}
    nodes = pl.Series([node_of(line) for line in lines], dtype=pl.String)
    joined = released.table("edges").filter(
        pl.col("source_id").is_in(nodes.implode()) & pl.col("relation").is_in(EXPLAINS)
    )
    pairs = joined.select("relation", "source_id", "target_id").sort("relation", "source_id", "target_id").rows()
    documents = sorted({target.partition("#")[0] for _, _, target in pairs})
    anchors = {row["anchor_id"]: row for row in released.read_documents("anchors", documents).iter_rows(named=True)}
    below = _find_passages({target for _, _, target in pairs}, anchors, released=released, documents=documents)
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for relation, source, target in pairs:
        place = anchors.get(target)
        if place is not None and place["perspective"] != "face":  # a line of an older form explains nothing
            own = {name: place[name] for name in _HEADING}
            found[source].append({"node_id": target, "relation": relation, **own, "passages": below[target]})
    return found


def _find_passages(
    targets: set[str], anchors: Mapping[str, Mapping[str, Any]], *, released: Released, documents: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Collect the first passages under each of some headings, lower headings included."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    sections = released.read_documents("sections", list(documents)).sort("document_id", "element_id")
    for row in sections.select("element_id", "anchor_id", "page", "text").iter_rows(named=True):
        above = row["anchor_id"]
        while above in anchors:
            if above in targets and len(found[above]) < _MOST_PASSAGES:
                found[above].append({name: row[name] for name in ("element_id", "page", "text")})
            above = anchors[above]["parent_anchor_id"]
    return found
