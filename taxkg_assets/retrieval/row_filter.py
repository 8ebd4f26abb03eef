"""Which rows a question may be answered from: the same filter as a mask over rows in memory and as SQL for LanceDB."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.facts import PassageFacts

Mask = npt.NDArray[np.bool_]
_NOTHING = "false"


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Rows of some documents, forms, one side and one tag; None filters nothing.

    Attributes: documents: by document number, whether its rows pass. forms: the same by form number.
    """

    documents: Mask | None = None
    forms: Mask | None = None
    perspective: str | None = None
    tag: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether every row passes."""
        return self.documents is None and self.forms is None and self.perspective is None and self.tag is None

    def narrow(
        self, *, documents: Mask | None = None, forms: Mask | None = None, perspective: str | None = None
    ) -> RowFilter:
        """The rows that pass this filter and a further one."""
        return replace(
            self,
            documents=_both(self.documents, documents),
            forms=_both(self.forms, forms),
            perspective=perspective or self.perspective,
        )

    def mask(self, facts: PassageFacts) -> Mask:
        """Whether each row passes."""
        keep = np.ones(len(facts.document_number), dtype=np.bool_)
        if self.documents is not None:
            keep &= self.documents[facts.document_number]
        if self.forms is not None:
            keep &= self.forms[facts.form_number]
        if self.perspective is not None:
            keep &= facts.perspectives == self.perspective
        if self.tag is not None:
            keep &= facts.find_tagged(self.tag)
        return keep

    def sql(self, tagged: Iterable[int] = ()) -> str:
        """The condition on the columns of the LanceDB table; empty where every row passes.

        Args: tagged: the rows that carry the tag, if one is asked for: capitals do not count there.
        """
        parts = [
            _listed("document_number", self.documents),
            _listed("form_number", self.forms),
            "" if self.perspective is None else f"perspective = '{_quoted(self.perspective)}'",
            "" if self.tag is None else _among("row", list(tagged)),
        ]
        return " AND ".join(part for part in parts if part)


def _both(one: Mask | None, other: Mask | None) -> Mask | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _listed(column: str, passes: Mask | None) -> str:
    """The shorter of the two lists: what passes, or what does not."""
    if passes is None or bool(passes.all()):
        return ""
    kept, dropped = np.flatnonzero(passes).tolist(), np.flatnonzero(~passes).tolist()
    return _among(column, kept) if len(kept) <= len(dropped) else f"NOT ({_among(column, dropped)})"


def _among(column: str, numbers: list[int]) -> str:
    return f"{column} IN ({', '.join(map(str, numbers))})" if numbers else _NOTHING


def _quoted(text: str) -> str:
    return text.replace("'", "''")
