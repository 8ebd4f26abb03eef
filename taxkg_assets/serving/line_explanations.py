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
        node_ids: Nodes of the lines, from `node_of`.
        released: The release to read.

    Returns:
        Headings by node of the line; a line that no heading explains is left out.
    """
    if not released.holds("edges"):
        return {}
    nodes = pl.Series(node_ids, dtype=pl.String)
    joined = released.table("edges").filter(
        pl.col("source_id").is_in(nodes.implode()) & pl.col("relation").is_in(EXPLAINS)
    )
    headings: dict[str, list[tuple[str, str]]] = defaultdict(list)
    ordered = joined.select("relation", "source_id", "target_id").sort("relation", "source_id", "target_id")
    for relation, source, target in ordered.iter_rows():
        headings[source].append((target, relation))
    return read_explanations(headings, released)


def read_explanations(
    headings: Mapping[str, Sequence[tuple[str, str]]], released: Released
) -> dict[str, list[LineExplanation]]:
    """Read headings with the passages below them.

    Args:
        headings: anchor_id and relation of the headings that explain each line, by any name of the line.
        released: The release to read.

    Returns:
        Headings by name of the line; a line that no heading explains is left out.
    """
    targets = {target for of_line in headings.values() for target, _ in of_line}
    if not targets:
        return {}
    documents = sorted({target.partition("#")[0] for target in targets})
    anchors = {row["anchor_id"]: row for row in released.read_documents("anchors", documents).iter_rows(named=True)}
    below = _find_passages(targets, anchors, released=released, documents=documents)
    explanations: dict[str, list[LineExplanation]] = defaultdict(list)
    for source, of_line in headings.items():
        for target, relation in of_line:
            place = anchors.get(target)
            if place is not None and place["perspective"] != "face":  # a line of an older form explains nothing
                columns = {name: place[name] for name in _HEADING}
                explanations[source].append(
                    LineExplanation(node_id=target, relation=relation, **columns, passages=below[target])
                )
    return explanations


def _find_passages(
    targets: set[str], anchors: Mapping[str, Mapping[str, Any]], *, released: Released, documents: Sequence[str]
) -> dict[str, list[ExplainedPassage]]:
    """Collect the first passages under each of some headings, lower headings included."""
    passages: dict[str, list[ExplainedPassage]] = defaultdict(list)
    sections = released.read_documents("sections", list(documents)).sort("document_id", "element_id")
    for row in sections.select("element_id", "anchor_id", "page", "text").iter_rows(named=True):
        above = row["anchor_id"]
        while above in anchors:
            if above in targets and len(passages[above]) < _MOST_PASSAGES:
                passages[above].append(ExplainedPassage(**{name: row[name] for name in _PASSAGE}))
            above = anchors[above]["parent_anchor_id"]
    return passages
