"""Columns of an index's passages and documents, computed once: searches read arrays, never single cells."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict, TypeVar, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.cell_columns import CellColumns, RowNumbers
from taxkg_assets.retrieval.query.router import Route, name_code
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets.rules.models.router import load_router

RANKED = ("terms", "heading_path", "anchor_key")
"""Columns that ranking reads of every candidate."""
Key = TypeVar("Key", bound=Hashable)


def bare_wording() -> pl.Expr:
    """Return the expression for a text without numbers, names of forms and addresses.

    It is the same where families of documents print the same text.

    Returns:
        Expression over `text`: a hash.
    """
    words = pl.col("text").str.replace_all(r"\S*\d\S*", "").str.to_lowercase()
    return words.str.replace_all(r"[^a-z]", "").hash()


@dataclass(frozen=True)
class PassageFacts:
    """Columns of the index as lists and arrays; a row number means the same in all of them."""

    rows: pl.DataFrame

    @cached_property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return columns that are read cell by cell."""
        return CellColumns(self.rows)

    def prefetch(self, rows: Sequence[int], names: Sequence[str]) -> None:
        """Load some cells that will be read one by one; here they are in memory.

        Args:
            rows: Row numbers.
            names: Names of columns.
        """

    @cached_property
    def row_of_chunk(self) -> Mapping[str, int]:
        """Return the row number of each chunk."""
        return RowNumbers(self.rows["chunk_id"])

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """Return the forms of passages, sorted; `form_number` counts in this order."""
        return tuple(self.rows["form"].unique().sort())

    @cached_property
    def form_number(self) -> Ints:
        """Return the number of each row's form, shape (rows,)."""
        numbers = {form: number for number, form in enumerate(self.forms)}
        return np.array([numbers[form] for form in self.rows["form"]], dtype=np.int64)

    @cached_property
    def anchor_number(self) -> Ints:
        """Return the number of the anchor that owns each row; before the first heading that of the document."""
        owners = self.rows["anchor_id"].fill_null(self.rows["document_id"])
        return owners.rank("dense").to_numpy().astype(np.int64) - 1

    @cached_property
    def document_number(self) -> Ints:
        """Return the number of each row's document, in order of their ids."""
        return self.rows["document_id"].rank("dense").to_numpy().astype(np.int64) - 1

    @cached_property
    def pages(self) -> Ints:
        """Return the page of each row."""
        return self.rows["page"].to_numpy().astype(np.int64)

    @cached_property
    def parent_number(self) -> Ints:
        """Return equal numbers for rows under the same headings above their own."""
        paths = pl.Series([path.rpartition(" > ")[0] for path in self.rows["heading_path"]], dtype=pl.String)
        return paths.rank("dense").to_numpy().astype(np.int64) - 1

    @cached_property
    def opens_anchor(self) -> npt.NDArray[np.bool_]:
        """Return whether each row begins the text under a heading."""
        opens = np.ones(len(self.anchor_number), dtype=np.bool_)
        opens[1:] = self.anchor_number[1:] != self.anchor_number[:-1]
        return opens

    @cached_property
    def sides(self) -> tuple[str, ...]:
        """Return the perspectives of passages, sorted; `side_number` counts in this order."""
        return tuple(self.rows["perspective"].unique().sort())

    @cached_property
    def side_number(self) -> npt.NDArray[np.int8]:
        """Return the number of each row's perspective."""
        return (self.rows["perspective"].rank("dense") - 1).cast(pl.Int8).to_numpy()

    @cached_property
    def has_both_sides(self) -> npt.NDArray[np.bool_]:
        """Return by number of a form whether it has passages for its filer and others for its recipient."""
        filer, recipient = (
            {form for number in set(self.form_number[own].tolist()) for form in split_forms(self.forms[number])}
            for own in (self.side_number == self.find_side(name) for name in ("filer", "recipient"))
        )
        both = filer & recipient
        return np.array([not both.isdisjoint(split_forms(form)) for form in self.forms], dtype=np.bool_)

    def find_side(self, name: str) -> int:
        """Return the number of a perspective; -1 for one that no passage has.

        Args:
            name: A perspective, e.g. `filer`.
        """
        return self.sides.index(name) if name in self.sides else -1

    @cached_property
    def tables(self) -> Mapping[int, str]:
        """Return the table that a row prints, by row number; most rows print none."""
        prints = self.rows.with_row_index("row").filter(pl.col("level") == "table")
        return dict(prints.select("row", pl.col("node_ids").list.first()).iter_rows())

    def find_rows_of_table(self, table_id: str) -> list[int]:
        """Return the rows that print a table, in order.

        Args:
            table_id: Id of a table.
        """
        return self._rows_of_table.get(table_id, [])

    @cached_property
    def _rows_of_table(self) -> Mapping[str, list[int]]:
        return _invert(self.tables.items())

    @cached_property
    def labeled(self) -> pl.DataFrame:
        """Return row number, tags and entities of the rows that have some: those that were cut by meaning."""
        some = self.rows.select(pl.int_range(pl.len()).alias("row"), "tags", "entities")
        return some.filter(pl.col("tags").list.len() + pl.col("entities").list.len() > 0)

    @cached_property
    def _labeled_rows(self) -> Ints:
        return self.labeled["row"].to_numpy().astype(np.int64)

    def read_labels(self, rows: Ints) -> list[frozenset[str]]:
        """Return the terms of the tags and entities of some rows.

        Args:
            rows: Row numbers.

        Returns:
            Terms in the order of `rows`; empty for rows without labels.
        """
        found = [frozenset[str]()] * len(rows)
        own = self._labeled_rows
        places = np.searchsorted(own, rows)
        some = np.flatnonzero(np.append(own, -1)[places] == rows)
        for place, text in zip(some.tolist(), self._label_texts.gather(places[some].tolist()), strict=True):
            found[place] = frozenset(find_terms(text))
        return found

    @cached_property
    def _label_texts(self) -> pl.Series:
        """Return the tags and entities of each row that has some, as one text."""
        return self.labeled.select(pl.col("tags").list.concat("entities").list.join(" ")).to_series()

    def find_tagged(self, tag: str) -> npt.NDArray[np.bool_]:
        """Return whether rows have a tag or name an entity, in any case.

        Args:
            tag: Tag or entity.

        Returns:
            Booleans of shape (rows,).
        """
        wanted, both = tag.strip().casefold(), pl.col("tags").list.concat("entities")
        names = self.labeled.select(both.list.explode().unique()).to_series().drop_nulls()
        alike = [name for name in names if name.casefold() == wanted]
        carries = self.labeled.select(both.list.set_intersection(alike).list.len() > 0).to_series()
        found = np.zeros(len(self.document_number), dtype=np.bool_)
        found[self._labeled_rows[carries.to_numpy()]] = bool(alike)
        return found

    def list_tags(self) -> list[str]:
        """Return the tags of the index, most frequent first."""
        return self.labeled["tags"].explode().drop_nulls().value_counts(sort=True)["tags"].to_list()

    @cached_property
    def word_counts(self) -> Sequence[int]:
        """Return the number of words of each row."""
        counts: list[int] = self.rows["text"].str.count_matches(r"\S+").to_list()
        return counts

    @cached_property
    def is_table(self) -> Floats:
        """Return 1 for rows of tables, else 0."""
        is_table: Floats = (self.rows["level"] == "table").to_numpy().astype(np.float64)
        return is_table

    @cached_property
    def is_boilerplate(self) -> Floats:
        """Return 1 for texts that several families of documents print alike: they do not distinguish forms."""
        least = load_ranking().boilerplate_families
        texts = self.rows.select(
            family=pl.when(pl.col("irs_name") == "").then("document_id").otherwise("irs_name"),
            wording=bare_wording(),
        )
        families = texts.select(pl.col("family").n_unique().over("wording")).to_series()
        shared: Floats = (families >= least).to_numpy().astype(np.float64)
        return shared

    @cached_property
    def is_example(self) -> Floats:
        """Return 1 for rows that contain an example."""
        pattern = load_ranking().examples.example.source_pattern
        contains_example: Floats = (
            (self.rows["text"].str.contains(pattern) | self.rows["heading_path"].str.contains(pattern + r"\W*\d*\W*$"))
            .to_numpy()
            .astype(np.float64)
        )
        return contains_example

    @cached_property
    def form_keys(self) -> Mapping[str, frozenset[str]]:
        """Return by form the keys of the headings above its passages, and of the codes that they list."""
        found: dict[str, set[str]] = {}
        for form, key in self.rows.select("form", "anchor_key").drop_nulls().unique().iter_rows():
            found.setdefault(form, set()).add(key)
        listed = self.rows.select("form", code=pl.col("text").str.extract_all(_listed_code())).explode("code")
        for form, line in listed.drop_nulls().unique().iter_rows():
            found.setdefault(form, set()).add(f"code_{name_code(line)}")
        return {form: frozenset(keys) for form, keys in found.items()}


def _listed_code() -> str:
    return load_router().listed_codes.code_and_dash.source_pattern


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
    """Columns of each document of an index for the ranker; documents are numbered in order of their ids."""

    rows: pl.DataFrame

    @cached_property
    def documents(self) -> list[IndexedDocument]:
        """Return the documents of the index in order of their ids."""
        columns = ["document_id", "irs_name", "document_form", "doc_type", "revision", "tax_year", "is_draft", "title"]
        found = self.rows.select(columns).unique("document_id").sort("document_id").rows(named=True)
        newest: dict[str, str] = {}
        for row in found:
            row["family"] = row["irs_name"] or row["document_id"]
            if not row["is_draft"]:
                newest[row["family"]] = max(newest.get(row["family"], ""), row["revision"])
        for row in found:
            row["is_stale"] = row["revision"] < newest.get(row["family"], "")
            row["years"] = {int(year) for year in re.findall(r"(?:19|20)\d\d", row["revision"])} | (
                {row["tax_year"]} if row["tax_year"] else set()
            )
        return cast(list[IndexedDocument], found)

    @cached_property
    def number_of(self) -> Ints:
        """Return the document number of each row."""
        numbers = {row["document_id"]: number for number, row in enumerate(self.documents)}
        return np.array([numbers[document_id] for document_id in self.rows["document_id"]], dtype=np.int64)

    @cached_property
    def places(self) -> list[str]:
        """Return the place whose tax law a document states, which most of its passages name; empty for federal ones."""
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
        """Return the places that a question names, where a document states the law of none of them.

        Args:
            route: Route of the question.
            document_id: Document.
        """
        own = next(
            place for place, row in zip(self.places, self.documents, strict=True) if row["document_id"] == document_id
        )
        return () if own in route.places else tuple(place.replace("_", " ") for place in route.places)

    def score_documents(self, route: Route) -> dict[str, Floats]:
        """Compute the features that depend on the document alone.

        Args:
            route: Route of the question.

        Returns:
            `year` (-1 to 1), `stale`, `draft` and `instructions` (0 or 1), and `place` (-0.5 to 1), each of shape
            (documents,).
        """
        is_stale, is_draft = self._flags
        names, numbers = self._place_numbers
        return {
            "year": self._score_years(route),
            "stale": is_stale * float(not route.years),
            "draft": is_draft * float(not route.wants_draft),
            "instructions": self._is_instructions,
            "place": np.array([_score_place(place, route) for place in names])[numbers],
        }

    def _score_years(self, route: Route) -> Floats:
        """Return 1 for a requested year, -1 for another year of its family, -0.5 for a stale document, else 0."""
        scores = np.zeros(len(self.documents))
        if not route.years:
            return scores
        by_edition: Mapping[Any, list[int]] = self._revisions if route.revisions else self._years
        found = [number for one in route.revisions or route.years for number in by_edition.get(one, ())]
        numbers = np.array(found, dtype=np.int64)
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
        return _invert((number, year) for number, row in enumerate(self.documents) for year in row["years"])

    @cached_property
    def _revisions(self) -> Mapping[str, list[int]]:
        """Return the documents of each revision."""
        return _invert((number, row["revision"]) for number, row in enumerate(self.documents))

    @cached_property
    def _flags(self) -> tuple[Floats, Floats]:
        """Return which documents have a newer revision, and which are drafts."""
        draft = [float(row["is_draft"]) for row in self.documents]
        return np.array([float(row["is_stale"] or self.is_dated(row)) for row in self.documents]), np.array(draft)

    @cached_property
    def _is_instructions(self) -> Floats:
        """Return which documents are instructions for filers."""
        return np.array([float(row["doc_type"] == "filer_instructions") for row in self.documents])

    def is_dated(self, row: IndexedDocument) -> bool:
        """Return whether a yearly product is of a year long past: its lines and amounts are those of that year.

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


def _invert(pairs: Iterable[tuple[int, Key]]) -> Mapping[Key, list[int]]:
    """Return the numbers of each key."""
    found: dict[Key, list[int]] = {}
    for number, key in pairs:
        found.setdefault(key, []).append(number)
    return found


def _score_place(place: str, route: Route) -> float:
    if place and route.wants_city and not route.places:
        return 1.0
    if route.places:
        return 1.0 if place in route.places else -0.5
    return -0.3 if place else 0.0
