"""A table parsed for lookups, with what is said around it, and all tables of a corpus.

Here: what a table knows of itself. Not here: how a header is read (`table_headers`).
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
_REMEMBERED = 400
"""Pairs of table and question that are remembered: a question is scored on twenty tables or so."""
_EXAMPLE = re.compile(r"(?i)\bexample\b|\billustrat(?:ed|ion)\b")
_CONDITION = re.compile(r"(?i)\bif (?:you|your|the)\b([^,.;]*)")
"""Who a table is for."""


@dataclass(frozen=True, slots=True)
class TableContext:
    """Text around a table: its document's names, its headings, and sentences that mention its number."""

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
        row: The table's row of `tables`.
        context: Text around it.
        known_words: Its `words`, where an index has stored them.
    """

    row: Mapping[str, Any]
    context: TableContext = field(default_factory=TableContext)
    known_words: frozenset[str] | None = None

    @cached_property
    def title_words(self) -> frozenset[str]:
        """Return the words of the table's title."""
        return find_words(self.row["title"])

    @cached_property
    def denied_words(self) -> frozenset[str]:
        """Return the title words that are negated, as in tables for people who are not covered."""
        return find_negated_words(self.row["title"])

    @cached_property
    def affirmed_words(self) -> frozenset[str]:
        """Return the title words of a condition that is not negated, as in tables for people who are covered."""
        condition = _CONDITION.search(self.row["title"])
        return find_words(condition[1]) - self.denied_words if condition else frozenset()

    @cached_property
    def is_example(self) -> bool:
        """Return whether the table is filled in for a fictitious example, so that its figures apply to no one."""
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
        return tuple((found, self.title_words) for found in find_ranges(self.row["title"]))

    @cached_property
    def outer_years(self) -> tuple[Range, ...]:
        """Return the ranges of calendar years in the title."""
        return tuple(found for found, _ in self.outer_ranges if found.names_year)

    @cached_property
    def mentioned_years(self) -> tuple[tuple[Range, ...], ...]:
        """Return the ranges of years in each sentence that mentions the table; negated parts are left out."""
        texts = (remove_negated(text) for text in self.context.mentions)
        ranges = (tuple(found for found in find_ranges(text) if found.names_year) for text in texts)
        return tuple(found for found in ranges if found)

    @cached_property
    def cells(self) -> tuple[CellRecord, ...]:
        """Return the data cells, without cells that only label rows."""
        return tuple(cell for cell in self.row["cells"] if cell["col_ix"] >= 0)

    @cached_property
    def by_row(self) -> dict[int, list[CellRecord]]:
        """Return the cells of each row, from left to right."""
        rows: dict[int, list[CellRecord]] = {}
        for cell in self.cells:
            rows.setdefault(cell["row_ix"], []).append(cell)
        return {row_ix: sorted(cells, key=lambda cell: cell["col_ix"]) for row_ix, cells in rows.items()}

    @cached_property
    def rows_of_path(self) -> dict[tuple[str, str], frozenset[int]]:
        """Return row numbers by the row and column headers of their cells."""
        found: dict[tuple[str, str], set[int]] = {}
        for cell in self.cells:
            found.setdefault((cell["row_path"], cell["col_path"]), set()).add(cell["row_ix"])
        return {path: frozenset(rows) for path, rows in found.items()}

    @cached_property
    def answers(self) -> tuple[CellRecord, ...]:
        """Return the cells that can answer a question."""
        return tuple(cell for cells in self.by_row.values() for cell in cells if is_value(cell, cells))

    @cached_property
    def continued(self) -> frozenset[str]:
        """Return the column paths that continue the rule of the column before, as "of the amount over" does."""
        return frozenset(path for path in self.headers if continues_rule(innermost_header(path)))

    @cached_property
    def share_columns(self) -> frozenset[str]:
        """Return the column paths whose first cell prints a percent sign, which tables leave out below it."""
        first: dict[str, str] = {}
        for row_ix in sorted(self.by_row):
            for cell in self.by_row[row_ix]:
                first.setdefault(cell["col_path"], cell["text"])
        return frozenset(path for path, text in first.items() if text.rstrip().endswith("%"))

    def is_nearby(self, word: str, cell: CellRecord) -> bool:
        """Return whether another cell in the same row contains a word.

        Args:
            word: Word of a question.
            cell: Cell of the table.
        """
        printing = self._row_words[cell["row_ix"]].get(word, 0)
        return printing > 1 or (printing == 1 and word not in find_words(cell["text"]))

    @cached_property
    def _row_words(self) -> dict[int, Counter[str]]:
        """Return the number of cells of each row that print a word."""
        return {
            row_ix: Counter(word for cell in cells for word in find_words(cell["text"]))
            for row_ix, cells in self.by_row.items()
        }

    @cached_property
    def singles(self) -> dict[int, tuple[Range, ...]]:
        """Return the single numbers in the cells of each row."""
        return {
            row_ix: tuple(found for cell in cells for found in find_ranges(cell["text"]) if found.is_single)
            for row_ix, cells in self.by_row.items()
        }

    @cached_property
    def words(self) -> frozenset[str]:
        """Return all words of headers, title, headings and sentences that mention the table."""
        if self.known_words is not None:
            return self.known_words
        paths = {cell["row_path"] for cell in self.cells} | {cell["col_path"] for cell in self.cells}
        inside = frozenset(word for path in paths for word in find_words(path))
        return inside | self.title_words | self.heading_words | self.mention_words

    @cached_property
    def headers(self) -> dict[str, Header]:
        """Return the header of each column path."""
        return {path: read_column_header(path) for path in {cell["col_path"] for cell in self.cells}}

    @cached_property
    def bounds(self) -> tuple[tuple[Range, frozenset[str]], ...]:
        """Return the column header ranges with one end only: "50 or older"."""
        return tuple(pair for header in self.headers.values() for pair in header.ranges if pair[0].is_open)

    def row_header(self, cell: CellRecord) -> Header:
        """Return the parsed row header of a cell.

        It depends on `row_path`, so that cells of one row can have different headers below a spanning header.

        Args:
            cell: Cell of the table.
        """
        key = (cell["row_ix"], cell["row_path"])
        if key not in self._row_headers:
            header = read_row_header(cell, self.by_row[cell["row_ix"]])
            if period := self._periods.get(cell["row_path"]):
                header = replace(header, words=header.words | period, months=header.months | period, ranges=())
            self._row_headers[key] = header
        return self._row_headers[key]

    @cached_property
    def _row_headers(self) -> dict[tuple[int, str], Header]:
        return {}

    @cached_property
    def _periods(self) -> dict[str, frozenset[str]]:
        """Return "third quarter" for the third of four rows that divide a year into periods of months."""
        paths = dict.fromkeys(cell["row_path"] for cell in self.answers)
        months = {path: covered for path in paths if (covered := find_covered_months(path))}
        is_year = len(frozenset[str]().union(*months.values())) == sum(map(len, months.values())) == len(MONTHS)
        if not is_year or len(months) != QUARTERS:
            return {}
        quarter = find_words("quarter")
        return {path: find_ordinal_words(number) | quarter for number, path in enumerate(months, 1)}

    @cached_property
    def header_forms(self) -> frozenset[int]:
        """Return the form numbers in row and column headers, which limit rows and columns to a form."""
        paths = {cell["row_path"] for cell in self.cells} | {cell["col_path"] for cell in self.cells}
        return frozenset[int]().union(*map(find_form_numbers, paths))

    @cached_property
    def outer_forms(self) -> frozenset[int]:
        """Return the form numbers in the title, the headings and the text around the table."""
        texts = (self.row["title"], self.context.headings, *self.context.mentions)
        return frozenset[int]().union(*map(find_form_numbers, texts))

    @cached_property
    def common_words(self) -> frozenset[str]:
        """Return the words in more than half of the rows, which distinguish no row."""
        counts = Counter(w for path in {cell["row_path"] for cell in self.cells} for w in find_words(path))
        paths = len({cell["row_path"] for cell in self.cells})
        return frozenset(word for word, count in counts.items() if count > 0.5 * paths)


@dataclass(frozen=True)
class TableCatalogue:
    """All tables of a corpus, with the inverse document frequency of their words.

    Attributes:
        entries: Parsed tables.
        word_counts: Tables that contain each word, where an index has stored the words; None to count them.
        scored: Cached results of recent questions, as compared searches repeat them.
    """

    entries: tuple[TableEntry, ...]
    word_counts: Mapping[str, int] | None = None
    scored: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False)

    def remember(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the cached result for a key, computing it on first use.

        Args:
            key: Key of the result.
            compute: Function that computes the result.
        """
        known: Value | None = self.scored.get(key)
        if known is None:
            if len(self.scored) >= _REMEMBERED:
                self.scored.clear()
            known = self.scored[key] = compute()
        return known

    @cached_property
    def by_id(self) -> dict[str, TableEntry]:
        """Return the tables by their ids."""
        return {entry.row["table_id"]: entry for entry in self.entries}

    @cached_property
    def form_numbers(self) -> frozenset[int]:
        """Return all form numbers in document names and table titles of the corpus."""
        forms = {form for entry in self.entries for form in entry.context.forms}
        titles = {str(entry.row["title"]) for entry in self.entries}
        found = (find_form_numbers(f"Form {form}") for form in forms)
        return frozenset[int]().union(*found, *map(find_form_numbers, titles))

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Return the rarity of each word, from 0.25 if all tables contain it to 1 if a single table does."""
        counts = self.word_counts or Counter(word for entry in self.entries for word in entry.words)
        top = math.log(1 + len(self.entries))
        return {word: 0.25 + 0.75 * math.log((1 + len(self.entries)) / count) / top for word, count in counts.items()}


def build_table_catalogue(
    tables: Iterable[TableRecord], contexts: Mapping[str, TableContext] | None = None
) -> TableCatalogue:
    """Parse tables with their context.

    Args:
        tables: Rows of `tables`.
        contexts: Contexts by table id; None for none.

    Returns:
        The catalogue.
    """
    known = contexts or {}
    return TableCatalogue(tuple(TableEntry(row, known.get(row["table_id"], TableContext())) for row in tables))
