"""Which node of the graph is a numbered line: the heading that prints it, or the box of a face."""

from __future__ import annotations

from taxkg_assets.graph.resolution import face_node_id
from taxkg_assets.records import LineRecord


def node_of(line: LineRecord) -> str:
    """Return the id of the node of a line.

    Args:
        line: Row of `lines`.
    """
    return line["anchor_id"] or face_node_id(line["document_id"], line["key"])
