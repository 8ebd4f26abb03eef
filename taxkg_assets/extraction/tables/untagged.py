"""Tables that are drawn on a page with reliable tags, though no tag is around them."""

from __future__ import annotations

from collections.abc import Sequence

from taxkg_assets.extraction.pdf.model import Page
from taxkg_assets.extraction.tables.cells import FoundTable
from taxkg_assets.extraction.tables.tables import find_tables
from taxkg_assets.rules.models.tables import load_tables


def find_untagged_tables(page: Page) -> list[FoundTable]:
    """Find the headed grids that are drawn on a page whose tags contain no table.

    Args:
        page: Page whose tags can be relied on.

    Returns:
        Tables from top to bottom.
    """
    return keep_headed_grids(find_tables(page, is_face=False)) if has_tall_rules(page) else []


def has_tall_rules(page: Page) -> bool:
    """Return whether a page has enough long vertical rules to part columns.

    Args:
        page: The page.
    """
    limits = load_tables().tagged
    lengths = (rule.y1 - rule.y0 for rule in page.rules if not rule.is_horizontal)
    return sum(length >= limits.drawn_rule_pt for length in lengths) >= limits.drawn_columns - 1


def keep_headed_grids(tables: Sequence[FoundTable]) -> list[FoundTable]:
    """Keep the drawn grids of several columns, each with a header; the names of the rows may have none.

    Args:
        tables: Tables as layout finds them.

    Returns:
        Tables that need no tag.
    """
    least_columns = load_tables().tagged.drawn_columns
    return [
        table
        for table in tables
        if table.region.kind == "ruled" and len(table.headers) >= least_columns and all(table.headers[1:])
    ]
