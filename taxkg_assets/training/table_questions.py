"""Questions whose answer is one cell of a table."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import dataframely as dy

from taxkg_assets.rules.models.training import load_training
from taxkg_assets.schemas import Tables
from taxkg_assets.training.corpus import Corpus, squeeze
from taxkg_assets.training.pair_candidates import PairCandidate

Cell = Mapping[str, Any]
_LETTER = re.compile(r"^[A-Z]$")


def find_table_questions(corpus: Corpus, tables: dy.DataFrame[Tables]) -> Iterator[PairCandidate]:
    """Yield questions about single cells and about columns of each table with headers.

    Args:
        corpus: Passages and nodes.
        tables: Extracted tables.
    """
    rules = load_training().tables
    for table in tables.filter(tables["has_headers"]).iter_rows(named=True):
        if len(_title_words(table["title"])) < rules.min_title_words:
            continue
        passages = corpus.chunks_by_node.get(table["table_id"], ())
        # A cell that is the header of its own row has no value.
        headers = {(cell["row_ix"], header) for cell in table["cells"] for header in cell["row_path"].split(" > ")}
        cells = [cell for cell in table["cells"] if (cell["row_ix"], cell["text"]) not in headers and _is_usable(cell)]
        lines_of = {
            chunk_id: read_lines(corpus.passages[chunk_id].indexed_text, max_offset=rules.max_offset)
            for chunk_id in passages
        }
        with_cell = [(cell, chunk_id) for cell in cells for chunk_id in passages if _has_cell(lines_of[chunk_id], cell)]
        with_column = [
            (cell, chunk_id) for cell in cells for chunk_id in passages[:1] if _has_column(lines_of[chunk_id], cell)
        ]
        for kind, find_key, candidates in (
            ("rows", _find_position, with_cell),
            ("columns", _name_column, with_column),
        ):
            for cell, chunk_id in _draw(table["table_id"], candidates, find_key, max_count=rules.max_cells):
                source = f"cell:{table['table_id']}:{cell['row_ix']},{cell['col_ix']}"
                question = _ask(table, cell, patterns=rules.questions[kind])
                yield PairCandidate("table", question, (chunk_id,), source, table["table_id"])


def _draw(
    table_id: str,
    candidates: Sequence[tuple[Cell, str]],
    find_key: Callable[[Cell], object],
    *,
    max_count: int,
) -> list[tuple[Cell, str]]:
    """Draw some cells, each with a passage that prints it, in the order of the table; the same ones each time.

    Args:
        table_id: Table.
        candidates: Cells with passages; of several passages with the same cell or column, the first counts.
        find_key: Function that returns what two equal cells or columns have in common.
        max_count: Maximum number of cells to ask about.
    """
    distinct = {find_key(cell): (cell, chunk_id) for cell, chunk_id in reversed(candidates)}.values()
    drawn = sorted(distinct, key=lambda candidate: _draw_order(table_id, candidate[0]))[:max_count]
    return sorted(drawn, key=lambda candidate: _find_position(candidate[0]))


def _find_position(cell: Cell) -> tuple[int, int]:
    """Return row and column of a cell, from 0."""
    return cell["row_ix"], cell["col_ix"]


def _ask(table: Mapping[str, Any], cell: Cell, *, patterns: Sequence[str]) -> str:
    """Return a question about a cell, its pattern chosen by a hash of the cell."""
    title = " ".join(_title_words(table["title"]))
    pattern = patterns[_draw_order(table["table_id"], cell)[0] % len(patterns)]
    question: str = pattern.format(row=_name_row(cell), column=_name_column(cell), table=title)
    return squeeze(question)


def _title_words(title: str) -> list[str]:
    """Return the words of a title without its number, truncated."""
    title = load_training().table_numbers.number.pattern.sub("", squeeze(title))
    return title.split()[: load_training().tables.max_title_words]


def _name_row(cell: Cell) -> str:
    """Return the last two headers of a cell's row; `$340 > $355` becomes `$340 to $355`, after the header above."""
    headers = [header.strip() for header in cell["row_path"].split(" > ") if header.strip()]
    amount = load_training().amounts.amount.pattern
    if len(headers) >= 2 and all(amount.search(header) for header in headers[-2:]):
        return " ".join([*headers[-3:-2], f"{headers[-2]} to {headers[-1]}"])
    return " ".join(headers[-2:])


def _name_column(cell: Cell) -> str:
    """Return the last two headers of a cell's column, without column letters."""
    headers = [header.strip(" :—–…") for header in cell["col_path"].split(" > ")]
    return " ".join([header for header in headers if header and not _LETTER.match(header)][-2:])


def _is_usable(cell: Cell) -> bool:
    """Return whether a cell has a value and short headers of row and column, and the row does not repeat the value."""
    rules = load_training().tables
    row = cell["row_path"].strip()
    column = cell["col_path"].strip()
    is_short = len(row.split()) <= rules.max_header_words and len(column.split()) <= rules.max_header_words
    return bool(row and column and cell["text"].strip()) and is_short and cell["text"].strip() not in row


def _has_cell(lines: Sequence[str], cell: Cell) -> bool:
    """Return whether a line contains the cell's row header and value."""
    header = cell["row_path"].split(" > ")[-1]
    return any(header in line and cell["text"] in line for line in lines)


def _has_column(lines: Sequence[str], cell: Cell) -> bool:
    """Return whether a line contains the header of the cell's column."""
    header = squeeze(cell["col_path"].split(" > ")[-1])
    return any(header in line for line in lines)


def read_lines(text: str, *, max_offset: int) -> list[str]:
    """Return the lines that end within the first characters of a text.

    Args:
        text: The text.
        max_offset: Largest offset at which a line may end.
    """
    lines = text.split("\n")
    ends = accumulate(len(line) + 1 for line in lines)
    return [squeeze(line) for line, end in zip(lines, ends, strict=True) if end - 1 <= max_offset]


def _draw_order(table_id: str, cell: Cell) -> bytes:
    """Return a pseudo-random sort key of a cell."""
    return hashlib.sha256(f"{table_id}:{cell['row_ix']}:{cell['col_ix']}".encode()).digest()
