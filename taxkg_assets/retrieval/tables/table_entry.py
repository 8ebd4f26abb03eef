"""A table parsed for lookups: the words, ranges and facets of every row and column header, found once.

"4" under "Family Size" counts a family; "$605" and "$615" under "At least" and "But less than" are one bracket.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

from taxkg_assets.retrieval.tables.table_question import find_facets, find_form_numbers, find_words
from taxkg_assets.retrieval.tables.table_ranges import Range, find_ranges, join_ends
from taxkg_assets.rules.anchored_search import matches_any
from taxkg_assets.rules.loader import load_rules

SEPARATOR = " > "
Value = TypeVar("Value")
_REMEMBERED = 400
"""Pairs of table and question that are remembered: a question is scored on twenty tables or so."""
_MOST_NAMELESS = 6
"""Words of a cell without a column header, above which it is a text."""
_DENIED = re.compile(r"(?i)\b(?:not|never|\w+n['’]t)\b[^,.;]*")


@dataclass(frozen=True, slots=True)
class TableContext:
    """Text about a table outside of it: its document, its headings, sentences that mention its number."""

    document: str = ""
    headings: str = ""
    mentions: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    is_federal: bool = False
    years: tuple[int, ...] = ()


@dataclass(frozen=True)
class Header:
    """A row's or a column's header: its words, facets, and numbers with the words that name what they count."""

    words: frozenset[str]
    facets: Mapping[str, frozenset[str]]
    ranges: tuple[tuple[Range, frozenset[str]], ...]
    own: frozenset[str] = frozenset()
    forms: frozenset[int] = frozenset()

    @cached_property
    def years(self) -> tuple[Range, ...]:
        """Return the ranges of calendar years."""
        return tuple(found for found, _ in self.ranges if found.names_year)


@dataclass(frozen=True)
class TableEntry:
    """One table, parsed once for all questions.

    Attributes:
        row: The table's row of `tables`.
        context: What is said around it.
        known_words: Its `words`, where an index has stored them.
    """

    row: Mapping[str, Any]
    context: TableContext = field(default_factory=TableContext)
    known_words: frozenset[str] | None = None

    @cached_property
    def title_words(self) -> frozenset[str]:
        """Return the words of the title."""
        return find_words(self.row["title"])

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
        """Return the ranges in the title, each with the words of the title."""
        return tuple((found, self.title_words) for found in find_ranges(self.row["title"]))

    @cached_property
    def outer_years(self) -> tuple[Range, ...]:
        """Return the ranges of calendar years in the title."""
        return tuple(found for found, _ in self.outer_ranges if found.names_year)

    @cached_property
    def mentioned_years(self) -> tuple[tuple[Range, ...], ...]:
        """Return the ranges of years in each sentence that mentions the table; negated parts are left out."""
        texts = (_DENIED.sub(" ", text) for text in self.context.mentions)
        ranges = (tuple(found for found in find_ranges(text) if found.names_year) for text in texts)
        return tuple(found for found in ranges if found)

    @cached_property
    def cells(self) -> tuple[Mapping[str, Any], ...]:
        """Return the cells of columns, without those that only name rows."""
        return tuple(cell for cell in self.row["cells"] if cell["col_ix"] >= 0)

    @cached_property
    def by_row(self) -> dict[int, list[Mapping[str, Any]]]:
        """Return the cells of each row, from left to right."""
        rows: dict[int, list[Mapping[str, Any]]] = {}
        for cell in self.cells:
            rows.setdefault(cell["row_ix"], []).append(cell)
        return {row_ix: sorted(cells, key=lambda cell: cell["col_ix"]) for row_ix, cells in rows.items()}

    @cached_property
    def rows_of_path(self) -> dict[tuple[str, str], frozenset[int]]:
        """Return the rows of the cells with the same row and column headers."""
        found: dict[tuple[str, str], set[int]] = {}
        for cell in self.cells:
            found.setdefault((cell["row_path"], cell["col_path"]), set()).add(cell["row_ix"])
        return {path: frozenset(rows) for path, rows in found.items()}

    @cached_property
    def answers(self) -> tuple[Mapping[str, Any], ...]:
        """Return the cells that can be an answer."""
        return tuple(cell for cells in self.by_row.values() for cell in cells if _is_value(cell, cells))

    @cached_property
    def continued(self) -> frozenset[str]:
        """Return the column paths that continue the rule of the column before."""
        return frozenset(path for path in self.headers if continues_rule(leaf_of(path)))

    def nearby_words(self, cell: Mapping[str, Any]) -> frozenset[str]:
        """Return the words of the other cells of a cell's row.

        Args:
            cell: Cell of the table.
        """
        key = (cell["row_ix"], cell["col_ix"])
        if key not in self._nearby_words:
            others = (find_words(other["text"]) for other in self.by_row[cell["row_ix"]] if other is not cell)
            self._nearby_words[key] = frozenset().union(*others)
        return self._nearby_words[key]

    @cached_property
    def _nearby_words(self) -> dict[tuple[int, int], frozenset[str]]:
        return {}

    @cached_property
    def singles(self) -> dict[int, tuple[Range, ...]]:
        """Return the single numbers in the cells of each row."""
        return {
            row_ix: tuple(found for cell in cells for found in find_ranges(cell["text"]) if found.is_single)
            for row_ix, cells in self.by_row.items()
        }

    @cached_property
    def words(self) -> frozenset[str]:
        """Return all words of headers, title, headings and mentions."""
        if self.known_words is not None:
            return self.known_words
        paths = {cell["row_path"] for cell in self.cells} | {cell["col_path"] for cell in self.cells}
        inside = frozenset(word for path in paths for word in find_words(path))
        return inside | self.title_words | self.heading_words | self.mention_words

    @cached_property
    def headers(self) -> dict[str, Header]:
        """Return the header of each column path."""
        return {path: _column_header(path) for path in {cell["col_path"] for cell in self.cells}}

    def row_header(self, cell: Mapping[str, Any]) -> Header:
        """Return the parsed header of the row of a cell.

        It depends on `row_path`, so that cells of one row can have different headers below a spanning header.

        Args:
            cell: Cell of the table.
        """
        key = (cell["row_ix"], cell["row_path"])
        if key not in self._row_headers:
            self._row_headers[key] = _row_header(cell, self.by_row[cell["row_ix"]])
        return self._row_headers[key]

    @cached_property
    def _row_headers(self) -> dict[tuple[int, str], Header]:
        return {}

    @cached_property
    def header_forms(self) -> frozenset[int]:
        """Return the numbers of the forms that headers name: rows and columns are for one of them."""
        paths = {cell["row_path"] for cell in self.cells} | {cell["col_path"] for cell in self.cells}
        return frozenset[int]().union(*map(find_form_numbers, paths))

    @cached_property
    def outer_forms(self) -> frozenset[int]:
        """Return the numbers of the forms that the title and the text about it name."""
        texts = (self.row["title"], self.context.headings, *self.context.mentions)
        return frozenset[int]().union(*map(find_form_numbers, texts))

    @cached_property
    def common_words(self) -> frozenset[str]:
        """Return the words of more than half of the rows: they distinguish none."""
        counts = Counter(w for path in {cell["row_path"] for cell in self.cells} for w in find_words(path))
        paths = len({cell["row_path"] for cell in self.cells})
        return frozenset(word for word, count in counts.items() if count > 0.5 * paths)


@dataclass(frozen=True)
class TableCatalogue:
    """All tables of a corpus with the rarity of their words.

    Attributes:
        entries: Parsed tables.
        scored: Results of the last questions and tables; compared searches repeat them.
    """

    entries: tuple[TableEntry, ...]
    scored: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False)

    def remember(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the result for a key, computed once; results are dropped after some hundred others.

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
        """Return the numbers of the forms that documents are about, or that tables name in their titles."""
        forms = {form for entry in self.entries for form in entry.context.forms}
        titles = {str(entry.row["title"]) for entry in self.entries}
        found = (find_form_numbers(f"Form {form}") for form in forms)
        return frozenset[int]().union(*found, *map(find_form_numbers, titles))

    @cached_property
    def rarity(self) -> dict[str, float]:
        """Return the rarity of each word, from 0.25 for one in all tables to 1 for one in a single table."""
        counts = Counter(word for entry in self.entries for word in entry.words)
        top = math.log(1 + len(self.entries))
        return {word: 0.25 + 0.75 * math.log((1 + len(self.entries)) / count) / top for word, count in counts.items()}


def build_table_catalogue(
    tables: Iterable[Mapping[str, Any]], contexts: Mapping[str, TableContext] | None = None
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


def leaf_of(path: str) -> str:
    """Return the last header of a path that is more than a column's letter.

    Args:
        path: Headers separated by " > ".
    """
    pieces = [piece for piece in path.split(SEPARATOR) if len(piece) > 1]
    return re.sub(r"[\s—–…:.]+$", "", pieces[-1]) if pieces else ""


def continues_rule(leaf: str) -> bool:
    """Return whether a column header continues the rule of the column before, such as "of the amount over".

    Args:
        leaf: Last header of a column.
    """
    return any(rule.pattern.search(leaf) for rule in load_rules("table_lookup", "continuations"))


def _is_value(cell: Mapping[str, Any], row: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a cell can be an answer: not the name of its row, unless it is a condition in words."""
    is_name = any(other is not cell and cell["text"] in other["row_path"].split(SEPARATOR) for other in row)
    if _is_condition(cell, row):
        return False
    if not (cell["col_path"] or _prints_figure(cell["text"])):  # the text of a worksheet's line
        is_line = re.fullmatch(r"(?:.* > )?\d{0,2}[a-z]?\.?", cell["row_path"])
        return not (is_name or is_line) and len(cell["text"].split()) <= _MOST_NAMELESS
    if not is_name:
        return bool(cell["row_path"] or len(row) > 1)
    return bool(cell["row_path"]) and len(cell["text"].split()) >= 4


def _is_condition(cell: Mapping[str, Any], row: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a cell is a further condition for other cells to its right: IF one thing, AND another."""

    def adds(other: Mapping[str, Any]) -> bool:
        return any(rule.pattern.search(leaf_of(other["col_path"])) for rule in load_rules("table_lookup", "conditions"))

    return adds(cell) and any(other["col_ix"] > cell["col_ix"] and not adds(other) for other in row)


def _prints_figure(text: str) -> bool:
    """Return whether a cell is an amount, a share, a number or a date."""
    return matches_any("answers", "values", text) and len(re.findall(r"[A-Za-z]{3,}", text)) <= 1


def _column_header(path: str) -> Header:
    pieces = path.split(SEPARATOR)
    ranges = [(found, find_words(" ".join(pieces))) for piece in pieces for found in find_ranges(piece)]
    return Header(find_words(path), find_facets(path), tuple(ranges), find_words(pieces[-1]), find_form_numbers(path))


def _row_header(cell: Mapping[str, Any], row: Sequence[Mapping[str, Any]]) -> Header:
    """Return a row's header with the headers of the columns that name it: "4" under "Family Size" counts a family.

    A row that is named by a figure and says in words when it applies is found by these words: "5%" is for "6 to 15 days
    late".
    """
    if _names_by_figure(cell):
        own = find_words(cell["text"])
        said = tuple((found, own) for found in find_ranges(cell["text"]))
        return Header(own | find_words(cell["row_path"]), find_facets(cell["text"]), said, own)
    pieces = cell["row_path"].split(SEPARATOR)
    names = [_naming_cell(piece, cell, row) for piece in pieces]
    axes = [name["col_path"] if name else "" for name in names]
    ranges: list[tuple[Range, frozenset[str]]] = []
    taken: set[int] = set()
    for i, piece in enumerate(pieces):
        bracket = _bracket(pieces, axes, i, row)
        if bracket is not None:
            taken |= {i, i + 1}
            nouns = find_words(SEPARATOR.join(axes[i : i + 2]))
            ranges.append((bracket, nouns))
        elif i not in taken:
            text = piece if i == 0 or any(find_ranges(pieces[i - 1])) else f"{pieces[i - 1]} {piece}"
            nouns = find_words(f"{axes[i]} {piece}")
            is_share = "%" in axes[i] and "%" not in piece
            ranges += [(found, nouns | ({"rate"} if is_share else frozenset())) for found in find_ranges(text)]
    words = find_words(" ".join(pieces))
    facets = find_facets(cell["row_path"])
    axis_words = find_words(" ".join(axes))
    forms = find_form_numbers(cell["row_path"])
    return Header(words | axis_words, facets, tuple(ranges), find_words(pieces[-1]), forms)


def _names_by_figure(cell: Mapping[str, Any]) -> bool:
    """Return whether a row is named by an amount or a share only, and a cell says in words when that applies."""
    is_figure = re.fullmatch(r"[$]?\s?[\d,.]+\s?%?", cell["row_path"]) and re.search("[$%]", cell["row_path"])
    return bool(is_figure) and len(re.findall(r"[A-Za-z]{2,}", cell["text"])) >= 3


def _naming_cell(piece: str, cell: Mapping[str, Any], row: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the nearest cell to the left that prints a piece of the row's path."""
    return next((other for other in reversed(row) if other["col_ix"] < cell["col_ix"] and other["text"] == piece), None)


def _bracket(pieces: Sequence[str], axes: Sequence[str], i: int, row: Sequence[Mapping[str, Any]]) -> Range | None:
    """Return the bracket whose lower end is a piece of the path, and whose upper end is the next."""
    if not any(rule.pattern.search(axes[i]) for rule in load_rules("table_lookup", "lower_ends")):
        return None
    is_upper = i + 1 < len(pieces) and any(
        rule.pattern.search(axes[i + 1]) for rule in load_rules("tables", "second_stub")
    )
    high = pieces[i + 1] if is_upper else _upper_end(pieces[i], row)
    low_in = re.search(r"(?i)at\s+least", axes[i]) is not None
    return join_ends(pieces[i], high, low_in=low_in)


def _upper_end(low: str, row: Sequence[Mapping[str, Any]]) -> str:
    """Return the cell right of a lower end where its header is "but less than", though it names no row."""
    for left, right in pairwise(row):
        if left["text"] == low and any(
            rule.pattern.search(right["col_path"]) for rule in load_rules("table_lookup", "upper_ends")
        ):
            return str(right["text"])
    return ""
