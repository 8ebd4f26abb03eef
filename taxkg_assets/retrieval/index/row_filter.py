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
    _full_mask: list[Mask] = field(default_factory=list, init=False, repr=False, compare=False)
    """Cache of the mask over all rows, which both retrievers need; empty until it is computed."""

    @property
    def is_open(self) -> bool:
        """Return whether every row passes."""
        return self.documents is None and self.forms is None and self.perspective is None and self.tag is None

    def narrow(
        self, *, documents: Mask | None = None, forms: Mask | None = None, perspective: str | None = None
    ) -> RowFilter:
        """Return this filter with further conditions: rows must pass both.

        Args:
            documents: Mask over documents.
            forms: Mask over forms.
            perspective: Perspective that rows must have.
        """
        return replace(
            self,
            documents=_combine(self.documents, documents),
            forms=_combine(self.forms, forms),
            perspective=perspective or self.perspective,
        )

    def mask(self, facts: PassageFacts, *, among: npt.NDArray[np.int64] | None = None) -> Mask:
        """Return which rows pass.

        Args:
            facts: Columns of the passages of one index.
            among: Numbers of the rows to filter; None for all rows.

        Returns:
            Booleans in the order of `among`, or of all rows.
        """
        if among is None and self._full_mask:
            return self._full_mask[0]
        starts, lengths = facts.uniform_runs
        passes = self._pass(facts, starts if among is None else among)
        if among is None:
            passes = np.repeat(passes, lengths)
        if self.tag is not None:
            is_tagged = facts.find_tagged(self.tag)
            passes &= is_tagged if among is None else is_tagged[among]
        if among is None:
            self._full_mask.append(passes)
        return passes

    def _pass(self, facts: PassageFacts, rows: npt.NDArray[np.int64]) -> Mask:
        """Return which of some rows pass by document, form and perspective."""
        passes = np.ones(len(rows), dtype=np.bool_)
        if self.documents is not None:
            passes &= self.documents[facts.document_number[rows]]
        if self.forms is not None:
            passes &= self.forms[facts.form_number[rows]]
        if self.perspective is not None:
            passes &= facts.perspective_number[rows] == facts.find_perspective(self.perspective)
        return passes


def _combine(one: Mask | None, other: Mask | None) -> Mask | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def build_filter(
    facts: DocumentFacts, *, document: str | None, year: int | None, forms: Mask | None, tag: str | None
) -> RowFilter:
    """Build a row filter from the parameters of a search, not from the words of its question.

    Args:
        facts: Columns of documents.
        document: Id of the only document whose rows pass; None for all.
        year: Year of the documents whose rows pass; None for all.
        forms: Whether rows pass, by form number; None for all forms.
        tag: Tag or entity of the rows that pass; None for all.

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
