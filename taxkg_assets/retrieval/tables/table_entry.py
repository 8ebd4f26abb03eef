"""A table parsed for lookups, with the text around it, and the catalog of all tables of a corpus.

Not here: how a header is parsed (`table_headers`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from taxkg_assets.records import CellRecord, TableRecord
from taxkg_assets.retrieval.tables.table_headers import (
    Header,
    continues_rule,
    innermost_header,
    is_value,
    read_column_header,
    read_row_header,
)
from taxkg_assets.retrieval.tables.table_question import (
    QUARTERS,
    find_covered_months,
    find_facets,
    find_form_numbers,
    find_negated_words,
    find_ordinal_words,
    find_words,
    remove_negated,
)
from taxkg_assets.retrieval.tables.table_ranges import Range, find_ranges
from taxkg_assets.rules.months import MONTHS

Value = TypeVar("Value")
_CACHE_SIZE = 400
"""Cached pairs of a table and a question: a question is scored on about twenty tables."""
_EXAMPLE = re.compile(r"(?i)\bexample\b|\billustrat(?:ed|ion)\b")
_CONDITION = re.compile(r"(?i)\bif (?:you|your|the)\b([^,.;]*)")
"""Condition in a title that names the readers of a table."""


@dataclass(frozen=True, slots=True)
class TableContext:
    """Text around a table, and columns of its document.

    Attributes:
        document: Id, form and title of the document.
        headings: Heading path above the table.
        mentions: Sentences that mention the table's number, and the sentence before the table.
        forms: Forms of the document.
        is_federal: Whether the document is of federal tax law.
        years: Years that the document covers.
    """

    document: str = ""
    headings: str = ""
    mentions: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    is_federal: bool = False
    years: tuple[int, ...] = ()


@dataclass(frozen=True)
class TableEntry:
    """One table, parsed once for all questions.

    Attributes:
        row: Row of the table in `tables`.
        context: Text around the table.
        stored_words: Value of `words` that the index stored; None to compute it.
    """

    row: Mapping[str, Any]
    context: TableContext = field(default_factory=TableContext)
    stored_words: frozenset[str] | None = None

    @cached_property
    def title_words(self) -> frozenset[str]:
        """Return the words of the table's title."""
        return find_words(self.row["title"])

    @cached_property
    def denied_words(self) -> frozenset[str]:
        """Return the title words of a negated condition: "covered" in "if you are not covered by a plan"."""
        return find_negated_words(self.row["title"])

    @cached_property
    def affirmed_words(self) -> frozenset[str]:
        """Return the title words of a condition that is not negated: "covered" in "if you are covered by a plan"."""
        condition = _CONDITION.search(self.row["title"])
        return find_words(condition[1]) - self.denied_words if condition else frozenset()

    @cached_property
    def is_example(self) -> bool:
        """Return whether the table is an example, so that its figures apply to no one."""
        return _EXAMPLE.search(self.row["title"]) is not None

    @cached_property
    def heading_words(self) -> frozenset[str]:
        """Return the words of the document's names and of the headings above the table."""
        return find_words(f"{self.context.document} {self.context.headings}")

    @cached_property
    def mention_words(self) -> frozenset[str]:
        """Return the words of sentences that mention the table."""
        return frozenset(word for text in self.context.mentions for word in find_words(text))

    @cached_property
    def title_facets(self) -> Mapping[str, frozenset[str]]:
        """Return the attribute values that the title names, by attribute, e.g. {`filing_status`: {`single`}}."""
        return find_facets(self.row["title"])

    @cached_property
    def outer_ranges(self) -> tuple[tuple[Range, frozenset[str]], ...]:
        """Return the number ranges in the title, each with the title's words."""
        return tuple((title_range, self.title_words) for title_range in find_ranges(self.row["title"]))

    @cached_property
    def outer_years(self) -> tuple[Range, ...]:
        """Return the ranges of calendar years in the title."""
        return tuple(title_range for title_range, _ in self.outer_ranges if title_range.names_year)

    @cached_property
    def mentioned_years(self) -> tuple[tuple[Range, ...], ...]:
        """Return the ranges of years in each sentence that mentions the table, without negated parts of sentences."""
        texts = (remove_negated(text) for text in self.context.mentions)
        ranges = (tuple(year_ranges for year_ranges in find_ranges(text) if year_ranges.names_year) for text in texts)
        return tuple(year_ranges for year_ranges in ranges if year_ranges)

    @cached_property
    def cells(self) -> tuple[CellRecord, ...]:
        """Return the data cells, without cells that only label rows."""
        return tuple(cell for cell in self.row["cells"] if cell["col_ix"] >= 0)

    @cached_property
    def cells_by_row(self) -> dict[int, list[CellRecord]]:
        """Return the cells of each row, from left to right."""
        rows: dict[int, list[CellRecord]] = {}
        for cell in self.cells:
            rows.setdefault(cell["row_ix"], []).append(cell)
        return {row_ix: sorted(cells, key=lambda cell: cell["col_ix"]) for row_ix, cells in rows.items()}

    @cached_property
    def rows_by_path(self) -> dict[tuple[str, str], frozenset[int]]:
        """Return the row numbers of the cells with each pair of row path and column path."""
        row_ixs: dict[tuple[str, str], set[int]] = {}
        for cell in self.cells:
            row_ixs.setdefault((cell["row_path"], cell["col_path"]), set()).add(cell["row_ix"])
        return {path: frozenset(rows) for path, rows in row_ixs.items()}

    @cached_property
    def answer_cells(self) -> tuple[CellRecord, ...]:
        """Return the cells that can answer a question."""
        return tuple(cell for cells in self.cells_by_row.values() for cell in cells if is_value(cell, cells))

    @cached_property
    def continuing_columns(self) -> frozenset[str]:
        """Return the paths of columns that continue the text of the column before, such as "of the amount over"."""
        return frozenset(path for path in self.headers if continues_rule(innermost_header(path)))

    @cached_property
    def percent_columns(self) -> frozenset[str]:
        """Return the paths of columns of percentages: tables often print the sign in the first cell only."""
        first_texts: dict[str, str] = {}
        for row_ix in sorted(self.cells_by_row):
            for cell in self.cells_by_row[row_ix]:
                first_texts.setdefault(cell["col_path"], cell["text"])
        return frozenset(path for path, text in first_texts.items() if text.rstrip().endswith("%"))

    def is_in_other_cell(self, word: str, cell: CellRecord) -> bool:
        """Return whether another cell of a cell's row contains a word.

        Args:
            word: Word of a question.
            cell: Cell of the table.
        """
        cell_count = self._row_words[cell["row_ix"]].get(word, 0)
        return cell_count > 1 or (cell_count == 1 and word not in find_words(cell["text"]))

    @cached_property
    def _row_words(self) -> dict[int, Counter[str]]:
        """Return for each row how many of its cells contain each word."""
        return {
            row_ix: Counter(word for cell in cells for word in find_words(cell["text"]))
            for row_ix, cells in self.cells_by_row.items()
        }

    @cached_property
    def single_numbers(self) -> dict[int, tuple[Range, ...]]:
        """Return the single numbers in the cells of each row."""
        return {
            row_ix: tuple(
                number_range for cell in cells for number_range in find_ranges(cell["text"]) if number_range.is_single
            )
            for row_ix, cells in self.cells_by_row.items()
        }

    @cached_property
    def words(self) -> frozenset[str]:
        """Return all words of headers, title, headings and sentences that mention the table."""
        if self.stored_words is not None:
            return self.stored_words
        paths = {cell["row_path"] for cell in self.cells} | {cell["col_path"] for cell in self.cells}
        header_words = frozenset(word for path in paths for word in find_words(path))
        return header_words | self.title_words | self.heading_words | self.mention_words

    @cached_property
    def headers(self) -> dict[str, Header]:
        """Return the header of each column path."""
        return {path: read_column_header(path) for path in {cell["col_path"] for cell in self.cells}}

    @cached_property
    def one_sided_ranges(self) -> tuple[tuple[Range, frozenset[str]], ...]:
        """Return the ranges in column headers that have one end only, such as "50 or older"."""
        return tuple(
            range_and_words
            for header in self.headers.values()
            for range_and_words in header.ranges
            if range_and_words[0].is_open
        )

    def row_header(self, cell: CellRecord) -> Header:
        """Return the parsed row header of a cell; cells of one row may have different headers.

        Args:
            cell: Cell of the table.
        """
        key = (cell["row_ix"], cell["row_path"])
        if key not in self._row_headers:
            header = read_row_header(cell, self.cells_by_row[cell["row_ix"]])
            if period := self._periods.get(cell["row_path"]):
                header = replace(header, words=header.words | period, months=header.months | period, ranges=())
            self._row_headers[key] = header
        return self._row_headers[key]

    @cached_property
    def _row_headers(self) -> dict[tuple[int, str], Header]:
        return {}

    @cached_property
    def _periods(self) -> dict[str, frozenset[str]]:
        """Return words of quarters by row path if four rows divide a year: "third quarter" for "July to September"."""
        paths = dict.fromkeys(cell["row_path"] for cell in self.answer_cells)
        months_by_path = {path: covered_months for path in paths if (covered_months := find_covered_months(path))}
        covers_year = (
            len(frozenset[str]().union(*months_by_path.values()))
            == sum(map(len, months_by_path.values()))
            == len(MONTHS)
        )
        if not covers_year or len(months_by_path) != QUARTERS:
            return {}
        quarter_words = find_words("quarter")
        return {path: find_ordinal_words(quarter) | quarter_words for quarter, path in enumerate(months_by_path, 1)}

    @cached_property
    def header_forms(self) -> frozenset[int]:
        """Return the form numbers in row and column headers: such a row or column is for that form only."""
        paths = {cell["row_path"] for cell in self.cells} | {cell["col_path"] for cell in self.cells}
        return frozenset[int]().union(*map(find_form_numbers, paths))

    @cached_property
    def outer_forms(self) -> frozenset[int]:
        """Return the form numbers in the title, the headings and the text around the table."""
        texts = (self.row["title"], self.context.headings, *self.context.mentions)
        return frozenset[int]().union(*map(find_form_numbers, texts))

    @cached_property
    def common_words(self) -> frozenset[str]:
        """Return the words in more than half of the row headers, which tell no row from another."""
        counts = Counter(word for path in {cell["row_path"] for cell in self.cells} for word in find_words(path))
        path_count = len({cell["row_path"] for cell in self.cells})
        return frozenset(word for word, count in counts.items() if count > 0.5 * path_count)


@dataclass(frozen=True)
class TableCatalogue:
    """All tables of a corpus, with the inverse document frequency of their words.

    Attributes:
        entries: All tables.
        word_counts: Number of tables that contain each word, as the index stored it; None to count.
        cached_results: Cached results of recent questions, as comparisons of searches repeat questions.
    """

    entries: tuple[TableEntry, ...]
    word_counts: Mapping[str, int] | None = None
    cached_results: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False)

    def remember(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the cached result for a key, computing it on first use.

        Args:
            key: Key of the result.
            compute: Function that computes the result.
        """
        result: Value | None = self.cached_results.get(key)
        if result is None:
            if len(self.cached_results) >= _CACHE_SIZE:
                self.cached_results.clear()
            result = self.cached_results[key] = compute()
        return result

    @cached_property
    def by_id(self) -> dict[str, TableEntry]:
        """Return the tables by their ids."""
        return {entry.row["table_id"]: entry for entry in self.entries}

    @cached_property
    def form_numbers(self) -> frozenset[int]:
        """Return all form numbers in document names and table titles of the corpus."""
        forms = {form for entry in self.entries for form in entry.context.forms}
        titles = {str(entry.row["title"]) for entry in self.entries}
        form_numbers_of_documents = (find_form_numbers(f"Form {form}") for form in forms)
        return frozenset[int]().union(*form_numbers_of_documents, *map(find_form_numbers, titles))

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Return the rarity of each word: 0.25 if all tables contain the word, up to 1 if a single table does."""
        counts = self.word_counts or Counter(word for entry in self.entries for word in entry.words)
        max_idf = math.log(1 + len(self.entries))
        return {
            word: 0.25 + 0.75 * math.log((1 + len(self.entries)) / count) / max_idf for word, count in counts.items()
        }


def build_table_catalogue(
    tables: Iterable[TableRecord], contexts: Mapping[str, TableContext] | None = None
) -> TableCatalogue:
    """Build a catalog of tables with their contexts; a table is parsed when it is first used.

    Args:
        tables: Rows of `tables`.
        contexts: Contexts by table id; None for none.

    Returns:
        The catalog.
    """
    context_by_table = contexts or {}
    return TableCatalogue(
        tuple(TableEntry(row, context_by_table.get(row["table_id"], TableContext())) for row in tables)
    )
