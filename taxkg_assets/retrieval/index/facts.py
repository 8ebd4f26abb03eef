"""Columns of an index's passages, computed once, so that searches read whole arrays and few single cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from taxkg_assets.retrieval.encoding.arrays import Floats, Ints
from taxkg_assets.retrieval.encoding.lexical import find_distinct_terms
from taxkg_assets.retrieval.index.cell_columns import CellColumns, RowNumbers, group_rows
from taxkg_assets.retrieval.query.router import name_code
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.ranking import load_ranking
from taxkg_assets.rules.models.router import load_router

RANKED_COLUMNS = ("terms", "heading_path")
"""Columns that ranking reads of every candidate."""


def hash_bare_wording() -> pl.Expr:
    """Return the expression that hashes the letters of a text, to detect boilerplate that several documents print.

    Words with digits are left out, such as amounts and form names: "Send Form 9 by May 1." and "Send Form 10 by
    May 15." have one hash.

    Returns:
        Expression over `text`.
    """
    words = pl.col("text").str.replace_all(r"\S*\d\S*", "").str.to_lowercase()
    return words.str.replace_all(r"[^a-z]", "").hash()


@dataclass(frozen=True)
class PassageFacts:
    """Passage columns of the index as lists and arrays, aligned by row number."""

    rows: pl.DataFrame

    @cached_property
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the columns by name, for reading cell by cell."""
        return CellColumns(self.rows)

    def prefetch(self, rows: Sequence[int], names: Sequence[str]) -> None:
        """Load cells that will be read one by one; here there is nothing to do, as all cells are in memory.

        Args:
            rows: Row numbers.
            names: Names of the columns.
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
        """Return the number of each row's anchor; all rows before a document's first heading share one number."""
        anchors = self.rows["anchor_id"].fill_null(self.rows["document_id"])
        return anchors.rank("dense").to_numpy().astype(np.int64) - 1

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
        """Return the number of each row's parent heading path: the path without its innermost heading."""
        paths = pl.Series([path.rpartition(" > ")[0] for path in self.rows["heading_path"]], dtype=pl.String)
        return paths.rank("dense").to_numpy().astype(np.int64) - 1

    @cached_property
    def opens_anchor(self) -> npt.NDArray[np.bool_]:
        """Return whether each row is the first under its heading, shape (rows,)."""
        is_first = np.ones(len(self.anchor_number), dtype=np.bool_)
        is_first[1:] = self.anchor_number[1:] != self.anchor_number[:-1]
        return is_first

    @cached_property
    def uniform_runs(self) -> tuple[Ints, Ints]:
        """Return the first row and the length of each run of rows of one document, form and perspective."""
        keys = (self.document_number, self.form_number, self.perspective_number)
        differs = np.any([column[1:] != column[:-1] for column in keys], axis=0)
        starts = np.concatenate([[0], np.flatnonzero(differs) + 1])[: len(self.document_number)]
        return starts, np.diff(starts, append=len(self.document_number))

    @cached_property
    def perspectives(self) -> tuple[str, ...]:
        """Return the perspectives of passages, sorted; `perspective_number` counts in this order."""
        return tuple(self.rows["perspective"].unique().sort())

    @cached_property
    def perspective_number(self) -> npt.NDArray[np.int8]:
        """Return the number of each row's perspective."""
        return (self.rows["perspective"].rank("dense") - 1).cast(pl.Int8).to_numpy()

    @cached_property
    def has_filer_and_recipient(self) -> npt.NDArray[np.bool_]:
        """Return, by form number, whether passages on the form address its filer, and others its recipient.

        A form number may stand for a booklet on several forms; one of these suffices.
        """
        forms_with_both = self._list_forms_for("filer") & self._list_forms_for("recipient")
        return np.array([not forms_with_both.isdisjoint(split_forms(form)) for form in self.forms], dtype=np.bool_)

    def _list_forms_for(self, perspective: str) -> set[str]:
        """Return the forms that have passages of a perspective."""
        has_perspective = self.perspective_number == self.find_perspective(perspective)
        numbers = set(self.form_number[has_perspective].tolist())
        return {form for number in numbers for form in split_forms(self.forms[number])}

    def find_perspective(self, name: str) -> int:
        """Return the number of a perspective; -1 for one that no passage has.

        Args:
            name: A perspective, e.g. `filer`.
        """
        return self.perspectives.index(name) if name in self.perspectives else -1

    @cached_property
    def tables(self) -> Mapping[int, str]:
        """Return the id of the table that each row prints, by row number; most rows print no table."""
        table_rows = self.rows.with_row_index("row").filter(pl.col("level") == "table")
        return dict(table_rows.select("row", pl.col("node_ids").list.first()).iter_rows())

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
    def row_labels(self) -> pl.DataFrame:
        """Return row number, tags and entities of the rows that have any; only passages split by meaning have some."""
        labels = self.rows.select(pl.int_range(pl.len()).alias("row"), "tags", "entities")
        return labels.filter(pl.col("tags").list.len() + pl.col("entities").list.len() > 0)

    @cached_property
    def _labeled_row_numbers(self) -> Ints:
        return self.row_labels["row"].to_numpy().astype(np.int64)

    def read_labels(self, rows: Ints) -> list[frozenset[str]]:
        """Return the terms of the tags and entities of some rows.

        Args:
            rows: Row numbers.

        Returns:
            Terms in the order of `rows`; empty for rows without labels.
        """
        label_terms = [frozenset[str]()] * len(rows)
        labeled_rows = self._labeled_row_numbers
        label_ixs = np.searchsorted(labeled_rows, rows)
        has_labels = np.flatnonzero(label_ixs < len(labeled_rows))
        has_labels = has_labels[labeled_rows[label_ixs[has_labels]] == rows[has_labels]]
        if not len(has_labels):
            return label_terms
        for ix, text in zip(has_labels.tolist(), self._label_texts.gather(label_ixs[has_labels].tolist()), strict=True):
            label_terms[ix] = find_distinct_terms(text)
        return label_terms

    @cached_property
    def _label_texts(self) -> pl.Series:
        """Return the tags and entities of each row that has some, as one text."""
        return self.row_labels.select(pl.col("tags").list.concat("entities").list.join(" ")).to_series()

    def find_tagged(self, tag: str) -> npt.NDArray[np.bool_]:
        """Return which rows have a tag or entity, whatever the case of its letters.

        Args:
            tag: Tag or entity.

        Returns:
            Booleans of shape (rows,).
        """
        folded_tag, labels = tag.strip().casefold(), pl.col("tags").list.concat("entities")
        distinct_labels = self.row_labels.select(labels.list.explode().unique()).to_series().drop_nulls()
        spellings = [name for name in distinct_labels if name.casefold() == folded_tag]
        has_label = self.row_labels.select(labels.list.set_intersection(spellings).list.len() > 0).to_series()
        is_tagged = np.zeros(len(self.document_number), dtype=np.bool_)
        is_tagged[self._labeled_row_numbers[has_label.to_numpy()]] = bool(spellings)
        return is_tagged

    def list_tags(self) -> list[str]:
        """Return the tags of the index, most frequent first."""
        return self.row_labels["tags"].explode().drop_nulls().value_counts(sort=True)["tags"].to_list()

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
        """Return an array with 1 for rows whose wording several form families print, else 0."""
        min_families = load_ranking().boilerplate_families
        texts = self.rows.select(
            family=pl.when(pl.col("irs_name") == "").then("document_id").otherwise("irs_name"),
            wording=hash_bare_wording(),
        )
        family_counts = texts.select(pl.col("family").n_unique().over("wording")).to_series()
        is_shared: Floats = (family_counts >= min_families).to_numpy().astype(np.float64)
        return is_shared

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
        listed_codes = self.rows.select("form", code=pl.col("text").str.extract_all(_listed_code())).explode("code")
        for form, code_line in listed_codes.drop_nulls().unique().iter_rows():
            keys_by_form.setdefault(form, set()).add(f"code_{name_code(code_line)}")
        return {form: frozenset(keys) for form, keys in keys_by_form.items()}


def _listed_code() -> str:
    return load_router().listed_codes.code_and_dash.source_pattern
