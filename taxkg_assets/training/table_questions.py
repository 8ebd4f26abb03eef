"""Questions whose answer is one cell of a table."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import dataframely as dy

from taxkg_assets.rules.loader import load_family, load_rules
from taxkg_assets.schemas import Tables
from taxkg_assets.training.corpus import Corpus, squeeze
from taxkg_assets.training.drafts import Draft

Cell = Mapping[str, Any]
_LETTER = re.compile(r"^[A-Z]$")


def find_table_questions(corpus: Corpus, tables: dy.DataFrame[Tables]) -> Iterator[Draft]:
    """Ask for some cells of each table by row, column and table, as people who look something up do."""
    rules = load_family("training")["tables"]
    for table in tables.filter(tables["has_headers"]).iter_rows(named=True):
        passages = corpus.holding.get(table["table_id"], ())
        heads = {(c["row_ix"], part) for c in table["cells"] for part in c["row_path"].split(" > ")}
        cells = [c for c in table["cells"] if (c["row_ix"], c["text"]) not in heads and _can_be_asked(c)]
        if len(_title_words(table["title"])) < rules["title_words"]:
            continue
        chosen = sorted(cells, key=lambda cell: _draw(table["table_id"], cell))[: rules["cells"]]
        for cell in sorted(chosen, key=lambda cell: (cell["row_ix"], cell["col_ix"])):
            holding = tuple(c for c in passages if _holds(corpus.passages[c].text, cell))
            if holding:
                place = f"{table['table_id']}:{cell['row_ix']},{cell['col_ix']}"
                yield Draft("table", _ask(table, cell), holding[:1], f"cell:{place}", table["table_id"])


def _ask(table: Mapping[str, Any], cell: Cell) -> str:
    rules = load_family("training")["tables"]
    title = " ".join(_title_words(table["title"]))
    patterns = rules["questions"]
    pattern = patterns[_draw(table["table_id"], cell)[0] % len(patterns)]
    asked: str = pattern.format(row=_row_words(cell["row_path"]), column=_column_words(cell["col_path"]), table=title)
    return squeeze(asked)


def _title_words(title: str) -> list[str]:
    """A title without its number, and no longer than people would say it."""
    title = load_rules("training", "table_numbers")[0].pattern.sub("", squeeze(title))
    return title.split()[: load_family("training")["tables"]["most_title_words"]]


def _row_words(path: str) -> str:
    """`$340 > $355` is a range of amounts; of other paths the last two headers."""
    parts = [part.strip() for part in path.split(" > ") if part.strip()]
    amount = load_rules("training", "amounts")[0].pattern
    if len(parts) >= 2 and all(amount.search(part) for part in parts[-2:]):
        return " ".join([*parts[-3:-2], f"{parts[-2]} to {parts[-1]}"])
    return " ".join(parts[-2:])


def _column_words(path: str) -> str:
    parts = [part.strip(" :—–…") for part in path.split(" > ")]
    return " ".join([part for part in parts if part and not _LETTER.match(part)][-2:])


def _can_be_asked(cell: Cell) -> bool:
    rules = load_family("training")["tables"]
    row, column = cell["row_path"].strip(), cell["col_path"].strip()
    is_short = len(row.split()) <= rules["most_words"] and len(column.split()) <= rules["most_words"]
    return bool(row and column and cell["text"].strip()) and is_short and cell["text"].strip() not in row


def _holds(text: str, cell: Cell) -> bool:
    """Whether a part of the table holds the cell's row: its headers and its value on one line."""
    head = cell["row_path"].split(" > ")[-1]
    return any(head in line and cell["text"] in line for line in squeeze_lines(text))


def squeeze_lines(text: str) -> list[str]:
    """The lines of a text, each with single spaces."""
    return [squeeze(line) for line in text.split("\n")]


def _draw(table_id: str, cell: Cell) -> bytes:
    return hashlib.sha256(f"{table_id}:{cell['row_ix']}:{cell['col_ix']}".encode()).digest()
