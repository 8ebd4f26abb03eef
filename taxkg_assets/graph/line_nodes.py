"""Which node of the graph is a numbered line: the heading that prints it, or the box of a face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taxkg_assets.graph.resolution import face_node_id


def node_of(line: Mapping[str, Any]) -> str:
    """Return the id of the node of a line.

    Args:
        line: Row with document_id, key and anchor_id.
    """
    return line["anchor_id"] or face_node_id(line["document_id"], line["key"])
