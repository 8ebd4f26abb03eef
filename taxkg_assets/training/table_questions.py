"""Questions whose answer is one cell of a table."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
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
    """Yield questions about cells and columns of each table with headers.

    Args:
        corpus: Passages and nodes.
        tables: Extracted tables.
    """
    rules = load_training().tables
    for table in tables.filter(tables["has_headers"]).iter_rows(named=True):
        passages = corpus.chunks_by_node.get(table["table_id"], ())
        if len(_title_words(table["title"])) < rules.min_title_words:
            continue
        names = {(cell["row_ix"], name) for cell in table["cells"] for name in cell["row_path"].split(" > ")}
        cells = [cell for cell in table["cells"] if (cell["row_ix"], cell["text"]) not in names and _is_usable(cell)]
        lines = {
            chunk_id: read_lines(corpus.passages[chunk_id].full, max_offset=rules.max_offset) for chunk_id in passages
        }
        by_row = [(cell, chunk_id) for cell in cells for chunk_id in passages if _holds(lines[chunk_id], cell)]
        by_column = [(cell, chunk_id) for cell in cells for chunk_id in passages[:1] if _heads(lines[chunk_id], cell)]
        for kind, key, candidates in (("rows", _place, by_row), ("columns", _column, by_column)):
            # Of several passages with the same cell or column, the first counts.
            first = {key(cell): (cell, chunk_id) for cell, chunk_id in reversed(candidates)}.values()
            chosen = sorted(first, key=lambda item: _draw(table["table_id"], item[0]))[: rules.max_cells]
            for cell, chunk_id in sorted(chosen, key=lambda item: _place(item[0])):
                source = f"cell:{table['table_id']}:{cell['row_ix']},{cell['col_ix']}"
                question = _ask(table, cell, patterns=rules.questions[kind])
                yield PairCandidate("table", question, (chunk_id,), source, table["table_id"])


def _place(cell: Cell) -> tuple[int, int]:
    return cell["row_ix"], cell["col_ix"]


def _column(cell: Cell) -> str:
    return _column_words(cell["col_path"])


def _ask(table: Mapping[str, Any], cell: Cell, *, patterns: Sequence[str]) -> str:
    title = " ".join(_title_words(table["title"]))
    pattern = patterns[_draw(table["table_id"], cell)[0] % len(patterns)]
    question: str = pattern.format(
        row=_row_words(cell["row_path"]), column=_column_words(cell["col_path"]), table=title
    )
    return squeeze(question)


def _title_words(title: str) -> list[str]:
    """Return the words of a title without its number, truncated."""
    title = load_training().table_numbers.number.pattern.sub("", squeeze(title))
    return title.split()[: load_training().tables.max_title_words]


def _row_words(path: str) -> str:
    """Return a row's headers in words: `$340 > $355` is a range of amounts; otherwise the last two headers."""
    parts = [part.strip() for part in path.split(" > ") if part.strip()]
    amount = load_training().amounts.amount.pattern
    if len(parts) >= 2 and all(amount.search(part) for part in parts[-2:]):
        return " ".join([*parts[-3:-2], f"{parts[-2]} to {parts[-1]}"])
    return " ".join(parts[-2:])


def _column_words(path: str) -> str:
    parts = [part.strip(" :—–…") for part in path.split(" > ")]
    return " ".join([part for part in parts if part and not _LETTER.match(part)][-2:])


def _is_usable(cell: Cell) -> bool:
    rules = load_training().tables
    row, column = cell["row_path"].strip(), cell["col_path"].strip()
    is_short = len(row.split()) <= rules.max_header_words and len(column.split()) <= rules.max_header_words
    return bool(row and column and cell["text"].strip()) and is_short and cell["text"].strip() not in row


def _holds(lines: Sequence[str], cell: Cell) -> bool:
    """Return whether a line contains the cell's row header and value."""
    head = cell["row_path"].split(" > ")[-1]
    return any(head in line and cell["text"] in line for line in lines)


def _heads(lines: Sequence[str], cell: Cell) -> bool:
    """Return whether a line contains the header of the cell's column."""
    head = squeeze(cell["col_path"].split(" > ")[-1])
    return any(head in line for line in lines)


def read_lines(text: str, *, max_offset: int) -> list[str]:
    """Return the lines within the first characters of a text.

    Args:
        text: The text.
        max_offset: Last character that counts.
    """
    lines = text.split("\n")
    ends = accumulate(len(line) + 1 for line in lines)
    return [squeeze(line) for line, end in zip(lines, ends, strict=True) if end - 1 <= max_offset]


def _draw(table_id: str, cell: Cell) -> bytes:
    return hashlib.sha256(f"{table_id}:{cell['row_ix']}:{cell['col_ix']}".encode()).digest()
