"""Filter of the rows that may answer a question."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from taxkg_assets.retrieval.index.document_facts import DocumentFacts
from taxkg_assets.retrieval.index.facts import PassageFacts

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A filter of index rows by document, form, perspective and tag; None does not filter.

    Attributes:
        documents: Whether rows pass, by document number.
        forms: Whether rows pass, by form number.
        perspective: Perspective of the rows.
        tag: Tag or entity of the rows.
    """

    documents: Mask | None = None
    forms: Mask | None = None
    perspective: str | None = None
    tag: str | None = None
    _whole: list[Mask] = field(default_factory=list, init=False, repr=False, compare=False)
    """The mask over all rows, once it was computed: both retrievers need it."""

    @property
    def is_open(self) -> bool:
        """Return whether every row passes."""
        return self.documents is None and self.forms is None and self.perspective is None and self.tag is None

    def narrow(
        self, *, documents: Mask | None = None, forms: Mask | None = None, perspective: str | None = None
    ) -> RowFilter:
        """Return the conjunction of this filter and another one.

        Args:
            documents: Mask over documents.
            forms: Mask over forms.
            perspective: Perspective that rows must have.
        """
        return replace(
            self,
            documents=_both(self.documents, documents),
            forms=_both(self.forms, forms),
            perspective=perspective or self.perspective,
        )

    def mask(self, facts: PassageFacts, *, among: npt.NDArray[np.int64] | None = None) -> Mask:
        """Return a boolean mask of the rows that pass, over all rows or the given ones.

        Args:
            facts: Columns of the passages of one index.
            among: Row numbers; all rows by default.
        """
        if among is None and self._whole:
            return self._whole[0]
        starts, lengths = facts.uniform_runs
        keep = self._pass(facts, starts if among is None else among)
        if among is None:
            keep = np.repeat(keep, lengths)
        if self.tag is not None:
            is_tagged = facts.find_tagged(self.tag)
            keep &= is_tagged if among is None else is_tagged[among]
        if among is None:
            self._whole.append(keep)
        return keep

    def _pass(self, facts: PassageFacts, rows: npt.NDArray[np.int64]) -> Mask:
        """Return which of some rows pass by document, form and perspective."""
        keep = np.ones(len(rows), dtype=np.bool_)
        if self.documents is not None:
            keep &= self.documents[facts.document_number[rows]]
        if self.forms is not None:
            keep &= self.forms[facts.form_number[rows]]
        if self.perspective is not None:
            keep &= facts.perspective_number[rows] == facts.find_perspective(self.perspective)
        return keep


def _both(one: Mask | None, other: Mask | None) -> Mask | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def build_filter(
    facts: DocumentFacts, *, document: str | None, year: int | None, forms: Mask | None, tag: str | None
) -> RowFilter:
    """Build a row filter from the caller's parameters, not from the words of a question.

    Args:
        facts: Columns of documents.
        document: Rows of this document only.
        year: Rows of documents of this year only.
        forms: Whether rows pass, by form number; None for all forms.
        tag: Rows with this tag or entity only.

    Returns:
        The filter.
    """
    documents = None
    if document or year:
        documents = np.array(
            [
                (not document or row["document_id"] == document) and (not year or year in row["years"])
                for row in facts.documents
            ],
            dtype=np.bool_,
        )
    return RowFilter(documents, forms, tag=tag or None)
