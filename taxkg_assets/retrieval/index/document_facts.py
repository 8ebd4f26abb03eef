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
    """A document of an index: columns of its passages, and what follows from those of all documents."""

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
        records = self.rows.select(columns).unique("document_id").sort("document_id").rows(named=True)
        newest: dict[str, str] = {}
        for row in records:
            row["family"] = row["irs_name"] or row["document_id"]
            if not row["is_draft"]:
                newest[row["family"]] = max(newest.get(row["family"], ""), row["revision"])
        for row in records:
            row["is_stale"] = row["revision"] < newest.get(row["family"], "")
            row["years"] = {int(year) for year in re.findall(r"(?:19|20)\d\d", row["revision"])} | (
                {row["tax_year"]} if row["tax_year"] else set()
            )
        return cast(list[IndexedDocument], records)

    @cached_property
    def number_of(self) -> Ints:
        """Return the document number of each row."""
        numbers = {row["document_id"]: number for number, row in enumerate(self.documents)}
        return np.array([numbers[document_id] for document_id in self.rows["document_id"]], dtype=np.int64)

    @cached_property
    def places(self) -> list[str]:
        """Return the state or city whose tax law each document states, by its passages; empty for federal law."""
        least = load_ranking().place_frac
        best = [("", 0.0)] * len(self.documents)
        is_other = np.array([not row["irs_name"] for row in self.documents], dtype=bool)
        # Federal documents state the law of no place, and are nearly all of a library: their text is not searched.
        rows, owners = self.rows.filter(pl.Series(is_other[self.number_of])), self.number_of[is_other[self.number_of]]
        counts = np.maximum(np.bincount(owners, minlength=len(best)), 1)
        for rule in load_router().places if rows.height else ():
            named = rows["text"].str.contains(rule.source_pattern) | rows["heading_path"].str.contains(
                rule.source_pattern
            )
            shares = np.bincount(owners, weights=named.to_numpy(), minlength=len(best)) / counts
            for number in np.flatnonzero(is_other).tolist():
                if shares[number] >= max(least, best[number][1]):
                    best[number] = (rule.id, float(shares[number]))
        return [place for place, _ in best]

    def find_foreign_places(self, route: Route, document_id: str) -> tuple[str, ...]:
        """Return the states and cities in a question if a document states the law of none of them.

        Args:
            route: Route of the question.
            document_id: Document.
        """
        place_of_document = next(
            place for place, row in zip(self.places, self.documents, strict=True) if row["document_id"] == document_id
        )
        return () if place_of_document in route.places else tuple(place.replace("_", " ") for place in route.places)

    def score_documents(self, route: Route) -> dict[str, Floats]:
        """Compute the ranking features that depend only on the document.

        Args:
            route: Route of the question.

        Returns:
            `year` (-1 to 1), `stale`, `draft`, `instructions` and `other_filer` (0 or 1), and `place` (-0.5 to 1),
            each of shape (documents,).
        """
        is_stale, is_draft = self._flags
        names, numbers = self._place_numbers
        return {
            "year": self._score_years(route),
            "stale": is_stale * float(not route.years),
            "draft": is_draft * float(not route.wants_draft),
            "instructions": self._is_instructions,
            "other_filer": self._score_filers(route),
            "place": np.array([_score_place(place, route) for place in names])[numbers],
        }

    def _score_years(self, route: Route) -> Floats:
        """Return 1 for a requested year, -1 for another year of its family, -0.5 for a stale document, else 0."""
        scores = np.zeros(len(self.documents))
        if not route.years:
            return scores
        by_edition: Mapping[Any, list[int]] = self._revisions if route.revisions else self._years
        matching = [number for one in route.revisions or route.years for number in by_edition.get(one, ())]
        numbers = np.array(matching, dtype=np.int64)
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
        """Return which documents have a newer revision, and which are drafts."""
        draft = [float(row["is_draft"]) for row in self.documents]
        return np.array([float(row["is_stale"] or self.is_dated(row)) for row in self.documents]), np.array(draft)

    @cached_property
    def _is_instructions(self) -> Floats:
        """Return which documents are instructions for filers."""
        return np.array([float(row["doc_type"] == "filer_instructions") for row in self.documents])

    @cached_property
    def _filers(self) -> list[str]:
        """Return the kind of filer that each document is for; empty for everyone and for individuals."""
        rules = load_filers().titles
        titles = [row["title"] for row in self.documents]
        found = {
            title: next((rule.id for rule in rules.find_usable(title) if rule.pattern.search(title)), "")
            for title in set(titles)
        }
        return [found[title] for title in titles]

    @cached_property
    def _filer_numbers(self) -> tuple[list[str], Ints]:
        """Return the kinds of filers that documents are for, and the number of each document's."""
        names = sorted(set(self._filers))
        return names, np.array([names.index(filer) for filer in self._filers], dtype=np.int64)

    @cached_property
    def _documents_of_form(self) -> Mapping[str, list[int]]:
        """Return the documents about each form."""
        return group_rows(
            (number, form) for number, row in enumerate(self.documents) for form in split_forms(row["document_form"])
        )

    def _score_filers(self, route: Route) -> Floats:
        """Return 1 for a document for filers that the question names neither in words nor by their form.

        A form that the library lacks may be of any filer.
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
        after: int = load_ranking().dated_years
        return row["tax_year"] is not None and self._newest_year - row["tax_year"] >= after

    @cached_property
    def _newest_year(self) -> int:
        return max((row["tax_year"] for row in self.documents if row["tax_year"] is not None), default=0)

    @cached_property
    def _place_numbers(self) -> tuple[list[str], Ints]:
        """Return the places whose law documents state, and the number of each document's."""
        names = sorted(set(self.places))
        return names, np.array([names.index(place) for place in self.places], dtype=np.int64)


def _score_place(place: str, route: Route) -> float:
    if place and route.wants_city and not route.places:
        return 1.0
    if route.places:
        return 1.0 if place in route.places else -0.5
    return -0.3 if place else 0.0
