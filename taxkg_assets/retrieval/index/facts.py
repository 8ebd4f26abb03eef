"""Columns of an index's passages, computed once: searches read arrays, never single cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.lexical import find_terms
from taxkg_assets.retrieval.index.cell_columns import CellColumns, RowNumbers, group_rows
from taxkg_assets.retrieval.query.router import name_code
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets.rules.models.router import load_router

RANKED = ("terms", "heading_path", "anchor_key")
"""Columns that ranking reads of every candidate."""


def bare_wording() -> pl.Expr:
    """Return the expression for a text without numbers, form names and addresses, to detect shared boilerplate.

    It is the same where families of documents print the same text.

    Returns:
        Expression over `text`: a hash.
    """
    words = pl.col("text").str.replace_all(r"\S*\d\S*", "").str.to_lowercase()
    return words.str.replace_all(r"[^a-z]", "").hash()


@dataclass(frozen=True)
class PassageFacts:
    """Passage columns of the index as lists and arrays, aligned by row number."""

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

    def read_cells(self, rows: Sequence[int], name: str) -> list[Any]:
        """Return the cells of some rows in a column.

        Args:
            rows: Row numbers.
            name: Name of the column.
        """
        column = self.columns[name]
        return [column[row] for row in rows]

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
        """Return the number of the anchor that each row belongs to; before the first heading that of the document."""
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
        """Return a number for each row that is equal where the headings above the innermost one are equal."""
        paths = pl.Series([path.rpartition(" > ")[0] for path in self.rows["heading_path"]], dtype=pl.String)
        return paths.rank("dense").to_numpy().astype(np.int64) - 1

    @cached_property
    def opens_anchor(self) -> npt.NDArray[np.bool_]:
        """Return whether each row begins the text under a heading."""
        opens = np.ones(len(self.anchor_number), dtype=np.bool_)
        opens[1:] = self.anchor_number[1:] != self.anchor_number[:-1]
        return opens

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """Return the first row and the length of each run of rows of one document, form and perspective."""
        numbers = (self.document_number, self.form_number, self.side_number)
        changes = np.any([column[1:] != column[:-1] for column in numbers], axis=0)
        starts = np.concatenate([[0], np.flatnonzero(changes) + 1])[: len(self.document_number)]
        return starts, np.diff(starts, append=len(self.document_number))

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
        """Return for each form number whether the form has passages for its filer and others for its recipient."""
        filer, recipient = (
            {form for number in set(self.form_number[is_side].tolist()) for form in split_forms(self.forms[number])}
            for is_side in (self.side_number == self.find_side(name) for name in ("filer", "recipient"))
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
        """Return the id of the table that each row prints, by row number; most rows print no table."""
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
        return group_rows(self.tables.items())

    @cached_property
    def labeled(self) -> pl.DataFrame:
        """Return row number, tags and entities of each row that has any; only passages split by meaning do."""
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
        labels = [frozenset[str]()] * len(rows)
        labeled_rows = self._labeled_rows
        places = np.searchsorted(labeled_rows, rows)
        some = np.flatnonzero(np.append(labeled_rows, -1)[places] == rows)
        for place, text in zip(some.tolist(), self._label_texts.gather(places[some].tolist()), strict=True):
            labels[place] = frozenset(find_terms(text))
        return labels

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
        is_tagged = np.zeros(len(self.document_number), dtype=np.bool_)
        is_tagged[self._labeled_rows[carries.to_numpy()]] = bool(alike)
        return is_tagged

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
        """Return an array with 1 for rows of tables, else 0."""
        is_table: Floats = (self.rows["level"] == "table").to_numpy().astype(np.float64)
        return is_table

    @cached_property
    def is_boilerplate(self) -> Floats:
        """Return an array with 1 for texts that several form families print alike, which do not distinguish forms."""
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
        """Return an array with 1 for rows that contain an example, else 0."""
        pattern = load_ranking().examples.example.source_pattern
        contains_example: Floats = (
            (self.rows["text"].str.contains(pattern) | self.rows["heading_path"].str.contains(pattern + r"\W*\d*\W*$"))
            .to_numpy()
            .astype(np.float64)
        )
        return contains_example

    @cached_property
    def form_keys(self) -> Mapping[str, frozenset[str]]:
        """Return for each form the keys of its headings and the codes that its passages list."""
        keys_by_form: dict[str, set[str]] = {}
        for form, key in self.rows.select("form", "anchor_key").drop_nulls().unique().iter_rows():
            keys_by_form.setdefault(form, set()).add(key)
        listed = self.rows.select("form", code=pl.col("text").str.extract_all(_listed_code())).explode("code")
        for form, line in listed.drop_nulls().unique().iter_rows():
            keys_by_form.setdefault(form, set()).add(f"code_{name_code(line)}")
        return {form: frozenset(keys) for form, keys in keys_by_form.items()}


def _listed_code() -> str:
    return load_router().listed_codes.code_and_dash.source_pattern
