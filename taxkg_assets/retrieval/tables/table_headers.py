"""Headers of rows and columns: their words, ranges and facets.

"4" under "Family Size" counts a family; "$605" and "$615" under "At least" and "But less than" are one bracket.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from taxkg_assets.records import CellRecord
from taxkg_assets.retrieval.tables.table_question import (
    find_covered_months,
    find_facets,
    find_form_numbers,
    find_words,
)
from taxkg_assets.retrieval.tables.table_ranges import Range, find_ranges, join_ends
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.models.table_lookup import load_table_lookup
from taxkg_assets.rules.models.tables import load_tables

SEPARATOR = " > "
HEADER_END = " :*"
"""What headers end in that is no word of theirs."""
_TO_FILL_IN = re.compile(r"[\s$%.]*")
"""A cell that is printed for an amount to be entered."""
_MOST_NAMELESS = 6
"""Words of a cell without a column header, above which it is a text."""


@dataclass(frozen=True)
class Header:
    """A parsed row or column header: its words, attribute values, numbers with their nouns, and months."""

    words: frozenset[str]
    facets: Mapping[str, frozenset[str]]
    ranges: tuple[tuple[Range, frozenset[str]], ...]
    own: frozenset[str] = frozenset()
    forms: frozenset[int] = frozenset()
    months: frozenset[str] = frozenset()

    @cached_property
    def years(self) -> tuple[Range, ...]:
        """Return the ranges of calendar years."""
        return tuple(found for found, _ in self.ranges if found.names_year)


def innermost_header(path: str) -> str:
    """Return the innermost header of a path that is more than a column's letter.

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
    return any(rule.pattern.search(leaf) for rule in load_table_lookup().continuations)


def is_value(cell: CellRecord, row: Sequence[CellRecord]) -> bool:
    """Return whether a cell can answer a question rather than label its row.

    Args:
        cell: Cell of a table.
        row: Cells of its row.
    """
    if _TO_FILL_IN.fullmatch(cell["text"]):
        return False
    is_name = any(other is not cell and cell["text"] in other["row_path"].split(SEPARATOR) for other in row)
    if _is_condition(cell, row):
        return False
    if not (cell["col_path"] or _prints_figure(cell["text"])):  # the text of a worksheet's line
        is_line = re.fullmatch(r"(?:.* > )?\d{0,2}[a-z]?\.?", cell["row_path"])
        return not (is_name or is_line) and len(cell["text"].split()) <= _MOST_NAMELESS
    if not is_name:
        return bool(cell["row_path"] or len(row) > 1)
    return bool(cell["row_path"]) and len(cell["text"].split()) >= 4


def _is_condition(cell: CellRecord, row: Sequence[CellRecord]) -> bool:
    """Return whether a cell is a further condition for other cells to its right: IF one thing, AND another."""

    def adds(other: CellRecord) -> bool:
        return any(rule.pattern.search(innermost_header(other["col_path"])) for rule in load_table_lookup().conditions)

    return adds(cell) and any(other["col_ix"] > cell["col_ix"] and not adds(other) for other in row)


def _prints_figure(text: str) -> bool:
    """Return whether a cell is an amount, a share, a number or a date."""
    return load_answers().values.matches(text) and len(re.findall(r"[A-Za-z]{3,}", text)) <= 1


def read_column_header(path: str) -> Header:
    """Parse the header of a column into words, attribute values and ranges.

    Args:
        path: Headers separated by " > ".

    Returns:
        The header.
    """
    pieces = path.split(SEPARATOR)
    ranges = [(found, find_words(" ".join(pieces))) for piece in pieces for found in find_ranges(piece)]
    months, own = find_covered_months(path), find_words(pieces[-1])
    return Header(
        find_words(path) | months, find_facets(path), tuple(ranges), own, find_form_numbers(path), months=months
    )


def read_row_header(cell: CellRecord, row: Sequence[CellRecord]) -> Header:
    """Parse a row's header together with the headers of its label columns.

    "4" under "Family Size" counts a family. A row labeled by a figure or a code is identified by the words that say
    when it applies: "5%" by "6 to 15 days late".

    Args:
        cell: Cell of a table.
        row: Cells of its row.

    Returns:
        The header.
    """
    if _names_by_figure(cell) or _explains_code(cell):
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
    months = find_covered_months(cell["row_path"])
    words = find_words(" ".join(pieces)) | months
    facets = find_facets(cell["row_path"])
    axis_words = find_words(" ".join(axes))
    forms = find_form_numbers(cell["row_path"])
    return Header(words | axis_words, facets, tuple(ranges), find_words(pieces[-1]), forms, months=months)


def _names_by_figure(cell: CellRecord) -> bool:
    """Return whether a row is named by an amount or a share only, and a cell says in words when that applies."""
    is_figure = re.fullmatch(r"[$]?\s?[\d,.]+\s?%?", cell["row_path"]) and re.search("[$%]", cell["row_path"])
    return bool(is_figure) and len(re.findall(r"[A-Za-z]{2,}", cell["text"])) >= 3


def _explains_code(cell: CellRecord) -> bool:
    """Return whether a row is named by a code only, and a cell without a header says what it means."""
    is_code = re.fullmatch(r"(?:.* > )?(?:\d{2,6}|[A-Z]{1,2}\d{0,2})", cell["row_path"])
    return bool(is_code) and not cell["col_path"] and len(re.findall(r"[A-Za-z]{2,}", cell["text"])) >= 2


def _naming_cell(piece: str, cell: CellRecord, row: Sequence[CellRecord]) -> CellRecord | None:
    """Return the nearest cell to the left that prints a piece of the row's path."""
    return next((other for other in reversed(row) if other["col_ix"] < cell["col_ix"] and other["text"] == piece), None)


def _bracket(pieces: Sequence[str], axes: Sequence[str], i: int, row: Sequence[CellRecord]) -> Range | None:
    """Return the bracket whose lower end is a piece of the path, and whose upper end is the next."""
    if not any(rule.pattern.search(axes[i]) for rule in load_table_lookup().lower_ends):
        return None
    is_upper = i + 1 < len(pieces) and any(rule.pattern.search(axes[i + 1]) for rule in load_tables().second_stub)
    high = pieces[i + 1] if is_upper else _upper_end(pieces[i], row)
    low_in = re.search(r"(?i)at\s+least", axes[i]) is not None
    return join_ends(pieces[i], high, low_in=low_in)


def _upper_end(low: str, row: Sequence[CellRecord]) -> str:
    """Return the cell right of a lower end where its header is "but less than", though it names no row."""
    for left, right in pairwise(row):
        if left["text"] == low and any(
            rule.pattern.search(right["col_path"]) for rule in load_table_lookup().upper_ends
        ):
            return str(right["text"])
    return ""
