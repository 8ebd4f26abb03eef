"""The figures that a document prints: one that lacks an amount or a rate of a claim states it in no passage."""

from __future__ import annotations

import re
from collections.abc import Iterable

from taxkg_assets.records import NodeRecord, TableRecord
from taxkg_assets.verification.cells import find_ranges, is_within
from taxkg_assets.verification.claims import Claim
from taxkg_assets.verification.values import MONEY, Value

_PERCENT, _HALF = "percent", "50"
_THOUSANDS = "000"
_SCALES = ("thousand", "illion")


class Figures:
    """The digits of a document, and the ranges of amounts in its tables."""

    def __init__(self, nodes: Iterable[NodeRecord], tables: Iterable[TableRecord]) -> None:
        """Read what the document prints.

        Args:
            nodes: Rows of `nodes` of the document.
            tables: Rows of `tables` of the document.
        """
        texts = dict.fromkeys(text for row in nodes for text in (row["text"], row["heading_path"]))
        paths: dict[str, None] = {}
        for table in tables:
            texts[table["title"] or ""] = None
            for cell in table["cells"] or ():
                texts[cell["text"]] = None
                paths |= dict.fromkeys((cell["row_path"], cell["col_path"]))
        self._text = "\n".join((*texts, *paths)).replace(",", "").casefold()
        self._ranges = [own for path in paths for own in find_ranges(tuple(path.split(" > ")))]

    def may_state(self, claim: Claim) -> bool:
        """Return whether a passage of the document may state all amounts and rates of a claim.

        Args:
            claim: The claim.
        """
        return all(self._may_state(value) for value in claim.values)

    def _may_state(self, value: Value) -> bool:
        if value.kind not in MONEY and value.kind != _PERCENT:
            return True
        end = r"0*(?!\d)" if "." in value.figure else r"(?!\d)"
        is_printed = re.search(rf"(?<![\d.]){re.escape(value.figure)}{end}", self._text) is not None
        if is_printed or (value.kind == _PERCENT and value.figure == _HALF):  # `half of it`
            return True
        is_scaled = value.figure.endswith(_THOUSANDS) and any(word in self._text for word in _SCALES)
        return is_scaled or (value.kind in MONEY and is_within(value.figure, self._ranges))
