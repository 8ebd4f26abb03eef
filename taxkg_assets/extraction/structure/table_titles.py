"""Titles of tables that stand apart from them: a worksheet's heading, with a paragraph on its use in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from taxkg_assets.extraction.structure.blocks import HEADER_ROLES, Block
from taxkg_assets.rules.models.roles import load_roles

_TEXT_ROLES = ("BodyText", "ListBlock", "Callout", "PageArtifact")


def find_distant_titles(blocks: Sequence[Block], *, titles: Mapping[str, str]) -> dict[str, str]:
    """Find titles for tables that have none right above them: the heading of the worksheet or chart that contains them.

    Args:
        blocks: Blocks of the document, in reading order.
        titles: Title by table id; empty for a table without one.

    Returns:
        Title by table id, for tables that had none.
    """
    new_titles: dict[str, str] = {}
    heading, page = "", 0
    later_headings = Counter((block.page, block.text) for block in blocks if _is_heading(block))
    # Titles of tables whose heading the publisher tagged after them.
    waiting_titles: set[str] = set()
    begun_ids: set[str] = set()
    for block in blocks:
        if block.page != page:
            heading, page = "", block.page
            waiting_titles.clear()
        if _is_heading(block):
            later_headings[block.page, block.text] -= 1
        if block.text in waiting_titles and _is_heading(block):
            waiting_titles.remove(block.text)
            continue
        if _is_heading(block):
            heading = block.text if load_roles().table_headings.matches(block.text) else ""
        elif block.table_id is not None and block.table_id in titles:
            title = titles[block.table_id]
            if title:
                is_first = block.table_id not in begun_ids
                if is_first and heading not in ("", title) and later_headings[block.page, title]:
                    waiting_titles.add(title)
                # A table with a heading of its own is not the one that the heading before it names.
                heading = heading if title in waiting_titles else ""
            elif heading:
                new_titles[block.table_id] = heading
            begun_ids.add(block.table_id)
        elif block.role not in _TEXT_ROLES and not block.is_run_in:
            heading = ""
    return new_titles


def _is_heading(block: Block) -> bool:
    return block.role in HEADER_ROLES and not block.is_run_in
