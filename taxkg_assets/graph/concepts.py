"""Concepts: the entries of the publishers' indexes and tables of contents, one node per term over all documents.

An entry is a term that an editor chose and the passages that it leads to. Terms that differ in case, punctuation or a
remark of continuation are one concept.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import polars as pl

from taxkg_assets.graph.names import fold_name
from taxkg_assets.rules.models.aliases import load_aliases

KINDS = ("index", "contents")
_TARGETS = ("target_table_id", "target_anchor_id", "target_element_id")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a printed index or table of contents, with the node that it leads to.

    Attributes:
        node_id: Concept: `concept:<words>`, with the words of its subterm after a stroke.
        text: Term as printed, with its subterm after a colon.
        target_id: Table, heading or paragraph that it leads to.
    """

    node_id: str
    text: str
    target_id: str


def find_entries(links: pl.DataFrame, node_ids: Container[str]) -> Iterator[Entry]:
    """Find the index and contents entries whose target is a node.

    Args:
        links: Rows of `links`.
        node_ids: Nodes of the documents.

    Returns:
        Entries by document, page and position, with duplicates.
    """
    entry_links = links.filter(pl.col("kind").is_in(KINDS) & pl.col("term").is_not_null())
    columns = entry_links.sort("document_id", "page", "link_ix").select("term", "subterm", *_TARGETS)
    for term, subterm, *targets in columns.iter_rows():
        target = next((target_id for target_id in targets if target_id is not None and target_id in node_ids), None)
        words = [_without_remark(part) for part in (term, subterm or "")]
        folded = [fold_name(part).replace(" ", "-") for part in words]
        if target is not None and folded[0]:
            name = "/".join(part for part in folded if part)
            yield Entry(f"concept:{name}", ": ".join(part for part in words if part), target)


def concept_rows(links: pl.DataFrame, node_ids: Container[str]) -> list[dict[str, Any]]:
    """Build one concept node per term of the printed indexes and tables of contents.

    Args:
        links: Rows of `links`.
        node_ids: Nodes of the documents.

    Returns:
        Rows of `nodes`.
    """
    texts: dict[str, str] = {}
    for entry in find_entries(links, node_ids):
        texts.setdefault(entry.node_id, entry.text)
    return [placeless_row(node_id, "concept", text) for node_id, text in texts.items()]


def placeless_row(node_id: str, level: str, text: str) -> dict[str, Any]:
    """Build a node that belongs to no document.

    Args:
        node_id: Node.
        level: `concept` or `external`.
        text: Its text.

    Returns:
        Row of `nodes`.
    """
    return {
        **dict.fromkeys(["document_id", "perspective", "parent_id", "anchor_key", "canonical_id", "page"]),
        "node_id": node_id,
        "level": level,
        "heading_path": "",
        "text": text,
        "concepts": [],
        "bboxes": [],
        "ordinal": 0,
    }


@lru_cache(maxsize=50_000)
def _without_remark(term: str) -> str:
    for rule in load_aliases().continued_terms:
        term = rule.pattern.sub("", term)
    return " ".join(term.split())
