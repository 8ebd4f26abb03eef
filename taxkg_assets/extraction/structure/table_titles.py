"""Titles of tables that stand apart from them: a worksheet's heading, with a paragraph on its use in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from taxkg_assets.extraction.structure.blocks import HEADER_ROLES, Block
from taxkg_assets.rules.models.roles import load_roles

_TEXT_ROLES = ("BodyText", "ListBlock", "Callout", "PageArtifact")


def find_distant_titles(blocks: Iterable[Block], *, titles: Mapping[str, str]) -> dict[str, str]:
    """Find titles for tables without an adjacent one, from the worksheet or chart that contains them.

    Args:
        blocks: Blocks of the document, in reading order.
        titles: Title of each table by its id, empty for none.

    Returns:
        Title by table id.
    """
    found: dict[str, str] = {}
    heading, page = "", 0
    for block in blocks:
        if block.page != page:
            heading, page = "", block.page
        if block.role in HEADER_ROLES and not block.is_run_in:
            heading = block.text if load_roles().table_headings.matches(block.text) else ""
        elif block.table_id is not None and block.table_id in titles:
            if titles[block.table_id]:
                heading = ""
            elif heading:
                found[block.table_id] = heading
        elif block.role not in _TEXT_ROLES and not block.is_run_in:
            heading = ""
    return found
