"""Catalogue of the corpus: the document that a form, booklet or publication means, seen from another document.

Continuous-use instructions apply to every later revision of the form until newer ones appear; annual products apply to
their year. Drafts are used only where nothing final exists.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from taxkg_assets.records import DocumentRecord
from taxkg_assets.rules.forms import find_perspective, split_forms

_MONTHS_A_YEAR = 12


def revision_months(revision: str) -> int:
    """Convert a revision to a number of months for comparison.

    An edition for a whole year counts as its last month: it covers forms revised during the year.

    Args:
        revision: `2024`, `2024-01` or any other text.

    Returns:
        Months since year 0; 0 where the revision does not begin with a year.
    """
    match = re.match(r"(\d{4})(?:-(\d\d))?", revision)
    return int(match[1]) * _MONTHS_A_YEAR + int(match[2] or _MONTHS_A_YEAR) if match else 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One document of the catalogue.

    Attributes:
        document_id: Document.
        forms: Forms that it is about.
        doc_type: Document type.
        revision: Revision as printed; may be empty.
        is_annual: Whether it covers one tax year.
        is_draft: Whether it is a draft.
        title: Title; may be empty.
    """

    document_id: str
    forms: tuple[str, ...]
    doc_type: str
    revision: str
    is_annual: bool
    is_draft: bool
    title: str = ""

    @property
    def perspective(self) -> str:
        """Return the audience of the document, unless its anchors name another one."""
        return find_perspective(self.doc_type)

    @property
    def months(self) -> int:
        """Return the revision as a number of months, 0 where none is stated."""
        return revision_months(self.revision)


class Catalogue:
    """The documents of a corpus, indexed by form and document type.

    Args:
        documents: Rows of `documents`.
    """

    def __init__(self, documents: Iterable[DocumentRecord]) -> None:
        """Index the documents by form and document type."""
        self.entries: dict[str, Entry] = {}
        self._by_form: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for row in documents:
            entry = Entry(
                document_id=row["document_id"],
                forms=split_forms(row["form"]),
                doc_type=row["doc_type"],
                revision=row["revision"],
                is_annual=row["tax_year"] is not None,
                is_draft=row["is_draft"],
                title=row["title"],
            )
            self.entries[entry.document_id] = entry
            for form in entry.forms:
                self._by_form[form, entry.doc_type].append(entry)
        for documents_of_form in self._by_form.values():
            documents_of_form.sort(key=lambda entry: (entry.months, entry.document_id))
        self._nearest: dict[tuple[str, str, str], tuple[Entry, bool] | None] = {}
        self._faces: dict[tuple[str, str], tuple[Entry, bool] | None] = {}

    def find_all(self, form: str, doc_type: str) -> list[Entry]:
        """Find all documents of one type about a form.

        Args:
            form: One form.
            doc_type: Document type.

        Returns:
            Documents, oldest revision first.
        """
        return self._by_form.get((form, doc_type), [])

    def find_newest_faces(self) -> list[Entry]:
        """Find the newest revision of every form; a draft only if the form has no final one.

        Returns:
            Entries of the forms.
        """
        newest = []
        for form in sorted({form for form, doc_type in self._by_form if doc_type == "form"}):
            faces = self.find_all(form, "form")
            newest.append(([face for face in faces if not face.is_draft] or faces)[-1])
        return newest

    def find_nearest(self, form: str, doc_type: str, *, citing: Entry) -> tuple[Entry, bool] | None:
        """Find the document that a reference in another document means, and whether it certainly applies.

        It certainly applies if it is the same document, the same revision, or continuous-use text that no newer text
        had replaced.

        Args:
            form: Form that the text names.
            doc_type: Document type that the text names.
            citing: Document that contains the reference.

        Returns:
            Document and whether it certainly applies; None if the corpus has none.
        """
        if (
            citing.doc_type == doc_type
            and form in citing.forms
            and (not citing.is_draft or not self._find_final(form, doc_type))
        ):
            return citing, True
        key = (form, doc_type, citing.revision)
        if key not in self._nearest:
            self._nearest[key] = self._choose_nearest(form, doc_type, citing=citing)
        return self._nearest[key]

    def _find_final(self, form: str, doc_type: str) -> list[Entry]:
        return [entry for entry in self.find_all(form, doc_type) if not entry.is_draft]

    def _choose_nearest(self, form: str, doc_type: str, *, citing: Entry) -> tuple[Entry, bool] | None:
        """Choose by the revision of the text alone, so that the answer holds for all texts of that revision."""
        candidates = self._find_final(form, doc_type) or self.find_all(form, doc_type)
        if not candidates:
            return None
        same_revision = [entry for entry in candidates if entry.revision == citing.revision]
        if same_revision:
            return same_revision[0], True
        earlier = [entry for entry in candidates if entry.months <= citing.months]
        if earlier and not earlier[-1].is_annual:
            return earlier[-1], True
        best = min(candidates, key=lambda entry: (abs(entry.months - citing.months), entry.months, entry.document_id))
        return best, False

    def find_face(self, form: str, *, booklet: Entry) -> tuple[Entry, bool] | None:
        """Find the form revision that a booklet explains: the newest that it certainly covers, or the nearest one.

        Args:
            form: One form.
            booklet: The booklet.

        Returns:
            Face and whether the booklet surely applies to it; None where the corpus has none.
        """
        key = (form, booklet.document_id)
        if key not in self._faces:
            self._faces[key] = self._choose_face(form, booklet=booklet)
        return self._faces[key]

    def _choose_face(self, form: str, *, booklet: Entry) -> tuple[Entry, bool] | None:
        applicable = [
            face
            for face in self.find_all(form, "form")
            if not face.is_draft and self.find_nearest(form, booklet.doc_type, citing=face) == (booklet, True)
        ]
        return (applicable[-1], True) if applicable else self.find_nearest(form, "form", citing=booklet)
