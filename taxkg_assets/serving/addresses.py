"""Official addresses of sections: each section has its own, or that of the nearest section above it."""

from __future__ import annotations

import polars as pl


class SectionAddresses:
    """Official addresses by anchor. Each is looked up on demand: a question needs a few of many.

    Args:
        anchors: Rows of `anchors` with `anchor_id`, `parent_anchor_id` and `official_url`.
    """

    def __init__(self, anchors: pl.DataFrame) -> None:
        names = anchors["anchor_id"].to_list()
        self._rows = dict(zip(names, range(len(names)), strict=True))
        self._parents = anchors["parent_anchor_id"]
        self._own = anchors["official_url"]

    def get(self, anchor_id: str | None) -> str | None:
        """Return the address of a section.

        Args:
            anchor_id: Anchor of the section; None for a passage outside every section.

        Returns:
            The address of the section, or else of the nearest section above it that has one; None if there is none,
            or if the anchor is unknown.
        """
        seen_ids: set[str] = set()
        while anchor_id is not None and anchor_id not in seen_ids and (row := self._rows.get(anchor_id)) is not None:
            if (own_url := self._own[row]) is not None:
                return str(own_url)
            seen_ids.add(anchor_id)
            anchor_id = self._parents[row]
        return None
