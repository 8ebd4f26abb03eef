"""What instructions state about a line: the headings that explain it, with the passages below them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from taxkg_assets.serving.released import Released
from taxkg_assets.serving.replies import ExplainedPassage, LineExplanation

EXPLAINS = ("same_field", "same_field_other_revision")
_MOST_PASSAGES = 20
_HEADING = ("document_id", "page", "heading", "official_url", "bbox", "perspective")
_PASSAGE = ("element_id", "page", "text")


def find_explanations(node_ids: Sequence[str], released: Released) -> dict[str, list[LineExplanation]]:
    """Find the instruction headings that explain lines, those of the line's own revision first.

    Args:
        node_ids: Ids of the lines' nodes, from `node_of`.
        released: The release to read.

    Returns:
        Headings by id of the line's node; a line that no heading explains is left out.
    """
    if not released.holds("edges"):
        return {}
    nodes = pl.Series(node_ids, dtype=pl.String)
    edges = released.table("edges").filter(
        pl.col("source_id").is_in(nodes.implode()) & pl.col("relation").is_in(EXPLAINS)
    )
    headings: dict[str, list[tuple[str, str]]] = defaultdict(list)
    sorted_edges = edges.select("relation", "source_id", "target_id").sort("relation", "source_id", "target_id")
    for relation, source, target in sorted_edges.iter_rows():
        headings[source].append((target, relation))
    return read_explanations(headings, released)


def read_explanations(
    headings: Mapping[str, Sequence[tuple[str, str]]], released: Released
) -> dict[str, list[LineExplanation]]:
    """Read the headings that explain lines, with the passages below them.

    Args:
        headings: By line, each heading's anchor_id and relation (`same_field`, …). A line may be named in any way.
        released: The release to read.

    Returns:
        Explanations by the same names of lines; a line without an explanation is left out.
    """
    targets = {target for headings_of_line in headings.values() for target, _ in headings_of_line}
    if not targets:
        return {}
    documents = sorted({target.rpartition("#")[0] for target in targets})
    anchors = {row["anchor_id"]: row for row in released.read_documents("anchors", documents).iter_rows(named=True)}
    passages = _find_passages(targets, anchors, released=released, documents=documents)
    explanations: dict[str, list[LineExplanation]] = defaultdict(list)
    for line, headings_of_line in headings.items():
        for target, relation in headings_of_line:
            heading = anchors.get(target)
            if heading is not None and heading["perspective"] != "face":  # a line of an older form explains nothing
                columns = {name: heading[name] for name in _HEADING}
                explanations[line].append(
                    LineExplanation(node_id=target, relation=relation, **columns, passages=passages[target])
                )
    return explanations


def _find_passages(
    targets: set[str], anchors: Mapping[str, Mapping[str, Any]], *, released: Released, documents: Sequence[str]
) -> dict[str, list[ExplainedPassage]]:
    """Collect the first passages under each of some headings, lower headings included."""
    passages: dict[str, list[ExplainedPassage]] = defaultdict(list)
    sections = released.read_documents("sections", list(documents)).sort("document_id", "element_id")
    for row in sections.select("element_id", "anchor_id", "page", "text").iter_rows(named=True):
        heading_id = row["anchor_id"]
        while heading_id in anchors:
            if heading_id in targets and len(passages[heading_id]) < _MOST_PASSAGES:
                passages[heading_id].append(ExplainedPassage(**{name: row[name] for name in _PASSAGE}))
            heading_id = anchors[heading_id]["parent_anchor_id"]
    return passages
