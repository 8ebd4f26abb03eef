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
"""Characters at the end of a header that are not part of its words."""
_TO_FILL_IN = re.compile(r"[\s$%.]*")
"""Text of a cell that is left blank for an amount."""
_MAX_VALUE_WORDS = 6
"""A longer cell without a column header is running text, not a value."""


@dataclass(frozen=True)
class Header:
    """A parsed row or column header.

    Attributes:
        words: Stems of all its words.
        facets: Attribute values that it names, e.g. {`filing_status`: {`single`}}.
        ranges: Ranges and single numbers, each with the words that say what the numbers count.
        innermost_words: Words of its innermost part: "Joint" in "Filing status > Joint".
        forms: Form numbers that it names.
        months: Months that it covers.
    """

    words: frozenset[str]
    facets: Mapping[str, frozenset[str]]
    ranges: tuple[tuple[Range, frozenset[str]], ...]
    innermost_words: frozenset[str] = frozenset()
    forms: frozenset[int] = frozenset()
    months: frozenset[str] = frozenset()

    @cached_property
    def years(self) -> tuple[Range, ...]:
        """Return the ranges of calendar years."""
        return tuple(header_range for header_range, _ in self.ranges if header_range.names_year)


def innermost_header(path: str) -> str:
    """Return the innermost header of a path, ignoring single letters that only name a column.

    Args:
        path: Headers separated by " > ".
    """
    pieces = [piece for piece in path.split(SEPARATOR) if len(piece) > 1]
    return re.sub(r"[\s—–…:.]+$", "", pieces[-1]) if pieces else ""


def continues_rule(header: str) -> bool:
    """Return whether a column header continues the text of the column before, such as "of the amount over".

    Args:
        header: Innermost header of a column.
    """
    return any(rule.pattern.search(header) for rule in load_table_lookup().continuations)


def is_value(cell: CellRecord, row: Sequence[CellRecord]) -> bool:
    """Return whether a cell can answer a question, and does not label its row.

    Args:
        cell: Cell of a table.
        row: Cells of its row.
    """
    if _TO_FILL_IN.fullmatch(cell["text"]):
        return False
    names_row = any(other is not cell and cell["text"] in other["row_path"].split(SEPARATOR) for other in row)
    if _is_condition(cell, row):
        return False
    if not (cell["col_path"] or _prints_figure(cell["text"])):  # may be the text of a line of a worksheet
        is_line_number = re.fullmatch(r"(?:.* > )?\d{0,2}[a-z]?\.?", cell["row_path"])
        return not (names_row or is_line_number) and len(cell["text"].split()) <= _MAX_VALUE_WORDS
    if not names_row:
        return bool(cell["row_path"] or len(row) > 1)
    return bool(cell["row_path"]) and len(cell["text"].split()) >= 4


def _is_condition(cell: CellRecord, row: Sequence[CellRecord]) -> bool:
    """Return whether a cell states a condition for cells to its right, as a column "AND you are" after "IF you are"."""

    def is_in_condition_column(other: CellRecord) -> bool:
        return any(rule.pattern.search(innermost_header(other["col_path"])) for rule in load_table_lookup().conditions)

    return is_in_condition_column(cell) and any(
        other["col_ix"] > cell["col_ix"] and not is_in_condition_column(other) for other in row
    )


def _prints_figure(text: str) -> bool:
    """Return whether the text of a cell is an amount, a percentage, a number or a date."""
    return load_answers().values.matches(text) and len(re.findall(r"[A-Za-z]{3,}", text)) <= 1


def read_column_header(path: str) -> Header:
    """Parse the header of a column into words, attribute values and ranges.

    Args:
        path: Headers separated by " > ".

    Returns:
        The header.
    """
    pieces = path.split(SEPARATOR)
    ranges = [(number_range, find_words(" ".join(pieces))) for piece in pieces for number_range in find_ranges(piece)]
    months, innermost_words = find_covered_months(path), find_words(pieces[-1])
    return Header(
        find_words(path) | months,
        find_facets(path),
        tuple(ranges),
        innermost_words,
        find_form_numbers(path),
        months=months,
    )


def read_row_header(cell: CellRecord, row: Sequence[CellRecord]) -> Header:
    """Parse a row's header together with the headers of the columns that label rows.

    The label "4" below the header "Family Size" counts a family. A row whose only label is an amount or a code is
    identified by the words of the cell that explains it: "5%" by "6 to 15 days late".

    Args:
        cell: Cell of a table.
        row: Cells of its row.

    Returns:
        The header.
    """
    if _names_by_figure(cell) or _explains_code(cell):
        cell_words = find_words(cell["text"])
        cell_ranges = tuple((number_range, cell_words) for number_range in find_ranges(cell["text"]))
        return Header(cell_words | find_words(cell["row_path"]), find_facets(cell["text"]), cell_ranges, cell_words)
    path = cell["row_path"]
    labels = path.split(SEPARATOR)
    naming_cells = [_naming_cell(label, cell, row) for label in labels]
    label_headers = [name["col_path"] if name else "" for name in naming_cells]
    months = find_covered_months(path)
    return Header(
        find_words(" ".join(labels)) | months | find_words(" ".join(label_headers)),
        find_facets(path),
        tuple(_find_label_ranges(labels, label_headers, row)),
        find_words(labels[-1]),
        find_form_numbers(path),
        months=months,
    )


def _find_label_ranges(
    labels: Sequence[str], label_headers: Sequence[str], row: Sequence[CellRecord]
) -> list[tuple[Range, frozenset[str]]]:
    """Find the ranges that label a row, each with the words for what it counts.

    Two labels may be the ends of one range: `1,000` below `At least`, `2,000` below `But less than`.

    Args:
        labels: Labels of the row.
        label_headers: Header of the column of each label; empty for none.
        row: Cells of the row.
    """
    ranges: list[tuple[Range, frozenset[str]]] = []
    bracket_ixs: set[int] = set()
    for ix, label in enumerate(labels):
        bracket = _bracket(labels, label_headers, ix, row)
        if bracket is not None:
            bracket_ixs |= {ix, ix + 1}
            ranges.append((bracket, find_words(SEPARATOR.join(label_headers[ix : ix + 2]))))
            continue
        if ix in bracket_ixs:
            continue
        continues_label_before = ix > 0 and not any(find_ranges(labels[ix - 1]))
        text = f"{labels[ix - 1]} {label}" if continues_label_before else label
        nouns = find_words(f"{label_headers[ix]} {label}")
        if "%" in label_headers[ix] and "%" not in label:
            nouns |= {"rate"}
        ranges += [(number_range, nouns) for number_range in find_ranges(text)]
    return ranges


def _names_by_figure(cell: CellRecord) -> bool:
    """Return whether a row's only label is an amount or a percentage, and the cell says in words when it applies."""
    is_figure = re.fullmatch(r"[$]?\s?[\d,.]+\s?%?", cell["row_path"]) and re.search("[$%]", cell["row_path"])
    return bool(is_figure) and len(re.findall(r"[A-Za-z]{2,}", cell["text"])) >= 3


def _explains_code(cell: CellRecord) -> bool:
    """Return whether a row's only label is a code, and the cell, without a column header, says what the code means."""
    is_code = re.fullmatch(r"(?:.* > )?(?:\d{2,6}|[A-Z]{1,2}\d{0,2})", cell["row_path"])
    return bool(is_code) and not cell["col_path"] and len(re.findall(r"[A-Za-z]{2,}", cell["text"])) >= 2


def _naming_cell(piece: str, cell: CellRecord, row: Sequence[CellRecord]) -> CellRecord | None:
    """Return the nearest cell to the left whose text is a piece of the row path."""
    return next((other for other in reversed(row) if other["col_ix"] < cell["col_ix"] and other["text"] == piece), None)


def _bracket(pieces: Sequence[str], label_headers: Sequence[str], ix: int, row: Sequence[CellRecord]) -> Range | None:
    """Return the bracket that begins at a piece of the row path: 605 to 615 below "At least" and "But less than"."""
    if not any(rule.pattern.search(label_headers[ix]) for rule in load_table_lookup().lower_ends):
        return None
    has_upper_end = ix + 1 < len(pieces) and any(
        rule.pattern.search(label_headers[ix + 1]) for rule in load_tables().second_stub
    )
    high = pieces[ix + 1] if has_upper_end else _upper_end(pieces[ix], row)
    includes_low = re.search(r"(?i)at\s+least", label_headers[ix]) is not None
    return join_ends(pieces[ix], high, includes_low=includes_low)


def _upper_end(low: str, row: Sequence[CellRecord]) -> str:
    """Return the cell right of a lower end if its column header means "but less than"; empty for none."""
    for left, right in pairwise(row):
        if left["text"] == low and any(
            rule.pattern.search(right["col_path"]) for rule in load_table_lookup().upper_ends
        ):
            return str(right["text"])
    return ""
