"""Columns of the documents of an index, and the features of a question that depend on the document alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, cast

import numpy as np
import polars as pl

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.index.cell_columns import group_rows
from taxkg_assets.retrieval.query.router import Route
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.filers import load_filers
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets.rules.models.router import load_router


class IndexedDocument(TypedDict):
    """A document of an index: columns that its passages repeat, and values derived from all documents."""

    document_id: str
    irs_name: str
    document_form: str
    doc_type: str
    revision: str
    tax_year: int | None
    is_draft: bool
    title: str
    family: str
    """Its IRS name, the same over its revisions; its own id where it has none."""
    is_stale: bool
    """Whether the family has a newer final revision."""
    years: set[int]
    """Its tax year and the years of its revision."""


@dataclass(frozen=True)
class DocumentFacts:
    """Columns of each document of an index for the ranker. Documents are numbered in the order of their ids."""

    rows: pl.DataFrame

    @cached_property
    def documents(self) -> list[IndexedDocument]:
        """Return the documents of the index in the order of their ids."""
        columns = ["document_id", "irs_name", "document_form", "doc_type", "revision", "tax_year", "is_draft", "title"]
        documents = self.rows.select(columns).unique("document_id").sort("document_id").rows(named=True)
        newest_revision: dict[str, str] = {}
        for row in documents:
            row["family"] = row["irs_name"] or row["document_id"]
            if not row["is_draft"]:
                newest_revision[row["family"]] = max(newest_revision.get(row["family"], ""), row["revision"])
        for row in documents:
            row["is_stale"] = row["revision"] < newest_revision.get(row["family"], "")
            row["years"] = {int(year) for year in re.findall(r"(?:19|20)\d\d", row["revision"])} | (
                {row["tax_year"]} if row["tax_year"] else set()
            )
        return cast(list[IndexedDocument], documents)

    @cached_property
    def number_by_row(self) -> Ints:
        """Return the number of each row's document, shape (rows,)."""
        numbers = {row["document_id"]: number for number, row in enumerate(self.documents)}
        return np.array([numbers[document_id] for document_id in self.rows["document_id"]], dtype=np.int64)

    @cached_property
    def jurisdictions(self) -> list[str]:
        """Return the state or city whose tax law each document states; empty for federal law.

        It is the one that the largest share of the document's passages names.
        """
        min_share = load_ranking().place_frac
        best_match = [("", 0.0)] * len(self.documents)
        is_local = np.array([not row["irs_name"] for row in self.documents], dtype=bool)
        # Nearly all documents of a library are federal: their text is not searched.
        rows = self.rows.filter(pl.Series(is_local[self.number_by_row]))
        document_ixs = self.number_by_row[is_local[self.number_by_row]]
        row_counts = np.maximum(np.bincount(document_ixs, minlength=len(best_match)), 1)
        for rule in load_router().places if rows.height else ():
            pattern = rule.source_pattern
            has_name = rows["text"].str.contains(pattern) | rows["heading_path"].str.contains(pattern)
            counts = np.bincount(document_ixs, weights=has_name.to_numpy(), minlength=len(best_match))
            shares = counts / row_counts
            for document_ix in np.flatnonzero(is_local).tolist():
                if shares[document_ix] >= max(min_share, best_match[document_ix][1]):
                    best_match[document_ix] = (rule.id, float(shares[document_ix]))
        return [jurisdiction for jurisdiction, _ in best_match]

    def list_foreign_jurisdictions(self, route: Route, document_id: str) -> tuple[str, ...]:
        """Return the states and cities that a question names, unless a document states the law of one of them.

        Args:
            route: Route of the question.
            document_id: Id of the document.
        """
        document_ix = next(ix for ix, row in enumerate(self.documents) if row["document_id"] == document_id)
        if self.jurisdictions[document_ix] in route.places:
            return ()
        return tuple(jurisdiction.replace("_", " ") for jurisdiction in route.places)

    def score_documents(self, route: Route) -> dict[str, Floats]:
        """Compute the ranking features that depend only on the document.

        Args:
            route: Route of the question.

        Returns:
            `year` (-1 to 1), `stale`, `draft`, `instructions` and `other_filer` (0 or 1), and `place` (-0.5 to 1),
            each of shape (documents,).
        """
        is_stale, is_draft = self._flags
        names, numbers = self._jurisdiction_numbers
        return {
            "year": self._score_years(route),
            "stale": is_stale * float(not route.years),
            "draft": is_draft * float(not route.wants_draft),
            "instructions": self._is_instructions,
            "other_filer": self._score_filers(route),
            "place": np.array([_score_place(name, route) for name in names])[numbers],
        }

    def _score_years(self, route: Route) -> Floats:
        """Return 1 for a requested year, -1 for another year of its family, -0.5 for a stale document, else 0."""
        scores = np.zeros(len(self.documents))
        if not route.years:
            return scores
        documents_by_edition: Mapping[Any, list[int]] = self._revisions if route.revisions else self._years
        matching_documents = [
            number for edition in route.revisions or route.years for number in documents_by_edition.get(edition, ())
        ]
        numbers = np.array(matching_documents, dtype=np.int64)
        scores[self._flags[0] > 0] = -0.5
        scores[np.isin(self._families, self._families[numbers])] = -1.0
        scores[numbers] = 1.0
        return scores

    @cached_property
    def _families(self) -> Ints:
        """Return the number of the family of each document."""
        return pl.Series([row["family"] for row in self.documents]).rank("dense").to_numpy().astype(np.int64)

    @cached_property
    def _years(self) -> Mapping[int, list[int]]:
        """Return the documents of each year."""
        return group_rows((number, year) for number, row in enumerate(self.documents) for year in row["years"])

    @cached_property
    def _revisions(self) -> Mapping[str, list[int]]:
        """Return the documents of each revision."""
        return group_rows((number, row["revision"]) for number, row in enumerate(self.documents))

    @cached_property
    def _flags(self) -> tuple[Floats, Floats]:
        """Return which documents are stale (a newer revision exists, or they are dated), and which are drafts."""
        stale = [float(row["is_stale"] or self.is_dated(row)) for row in self.documents]
        draft = [float(row["is_draft"]) for row in self.documents]
        return np.array(stale), np.array(draft)

    @cached_property
    def _is_instructions(self) -> Floats:
        """Return which documents are instructions for filers."""
        return np.array([float(row["doc_type"] == "filer_instructions") for row in self.documents])

    @cached_property
    def _filers(self) -> list[str]:
        """Return the kind of filer that each document's title names; empty for everyone and for individuals."""
        rules = load_filers().titles
        titles = [row["title"] for row in self.documents]
        filer_by_title = {
            title: next((rule.id for rule in rules.find_usable(title) if rule.pattern.search(title)), "")
            for title in set(titles)
        }
        return [filer_by_title[title] for title in titles]

    @cached_property
    def _filer_numbers(self) -> tuple[list[str], Ints]:
        """Return the distinct kinds of filers, sorted, and each document's index among these."""
        names = sorted(set(self._filers))
        return names, np.array([names.index(filer) for filer in self._filers], dtype=np.int64)

    @cached_property
    def _documents_of_form(self) -> Mapping[str, list[int]]:
        """Return the documents about each form."""
        return group_rows(
            (number, form) for number, row in enumerate(self.documents) for form in split_forms(row["document_form"])
        )

    def _score_filers(self, route: Route) -> Floats:
        """Return 1 for each document for filers that the question names neither in words nor by their form.

        All are 0 where the question names a form that the library lacks: it may be of any filer.
        """
        if route.unknown_forms:
            return np.zeros(len(self.documents))
        names, numbers = self._filer_numbers
        scores: Floats = np.array([float(bool(name) and name not in route.filers) for name in names])[numbers]
        for form in route.forms:
            scores[self._documents_of_form.get(form, [])] = 0.0
        return scores

    def is_dated(self, row: IndexedDocument) -> bool:
        """Return whether a yearly document is so old that its lines and amounts no longer apply.

        Args:
            row: One of `documents`.
        """
        max_age: int = load_ranking().dated_years
        return self.count_years_behind(row) >= max_age

    def count_years_behind(self, row: IndexedDocument) -> int:
        """Return how many years a yearly document is older than the newest one of the library; 0 for other documents.

        Args:
            row: One of `documents`.
        """
        return 0 if row["tax_year"] is None else self._newest_year - row["tax_year"]

    @cached_property
    def _newest_year(self) -> int:
        return max((row["tax_year"] for row in self.documents if row["tax_year"] is not None), default=0)

    @cached_property
    def _jurisdiction_numbers(self) -> tuple[list[str], Ints]:
        """Return the distinct jurisdictions, sorted, and each document's index among these."""
        names = sorted(set(self.jurisdictions))
        return names, np.array([names.index(name) for name in self.jurisdictions], dtype=np.int64)


def _score_place(jurisdiction: str, route: Route) -> float:
    """Return 1 for the document's jurisdiction if the question asks for its law, less than 0 for another one."""
    if jurisdiction and route.wants_city and not route.places:
        return 1.0
    if route.places:
        return 1.0 if jurisdiction in route.places else -0.5
    return -0.3 if jurisdiction else 0.0
