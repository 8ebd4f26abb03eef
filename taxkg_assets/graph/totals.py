"""Totals that use a line more than once: in the total and in a subtotal that it adds, or in several totals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets import schemas

Place = tuple[str, str]
"""Part and key."""
Totals = Mapping[Place, Sequence[Place]]


def list_repeated_lines(formulas: dy.DataFrame[schemas.Formulas]) -> pl.DataFrame:
    """List the lines that a total uses more than once; nothing says that a form may not do so.

    Args:
        formulas: How lines are computed.

    Returns:
        One row per document, total and line: document_id, part and key of the total, line_part, line, and `use`:
        `added_twice` where the total reaches the line in two ways, `in_several_totals` where another total adds the
        line, too; `others` are those totals.
    """
    by_document: dict[str, dict[Place, list[Place]]] = defaultdict(dict)
    sums = formulas.filter(pl.col("operation") == "sum")
    for row in sums.sort("document_id", "part", "key").iter_rows(named=True):
        operands = list(zip(row["operand_parts"], row["operands"], strict=True))
        by_document[row["document_id"]].setdefault((row["part"], row["key"]), operands)
    rows = [
        {"document_id": document_id, **row}
        for document_id, totals in by_document.items()
        for row in _repeated_in(totals)
    ]
    text = ("document_id", "part", "key", "line_part", "line", "use")
    columns: dict[str, Any] = {**dict.fromkeys(text, pl.String), "others": pl.List(pl.String)}
    return pl.DataFrame(rows, schema=columns).sort(*text)


def _repeated_in(totals: Totals) -> list[dict[str, object]]:
    """Give the rows of one document."""
    users: dict[Place, list[Place]] = defaultdict(list)
    for total, operands in totals.items():
        for operand in dict.fromkeys(operands):
            users[operand].append(total)
    rows: list[dict[str, object]] = []
    for total, operands in totals.items():
        counts = Counter[Place]()
        _count_lines(operands, totals, counts, trail=(total,))
        place = {"part": total[0], "key": total[1]}
        twice = [line for line, count in counts.items() if count > 1]
        rows += [{**place, "line_part": part, "line": key, "use": "added_twice", "others": []} for part, key in twice]
        for operand in dict.fromkeys(operands):
            others = [key for part, key in users[operand] if (part, key) != total]
            if others:
                ends = {"line_part": operand[0], "line": operand[1]}
                rows.append({**place, **ends, "use": "in_several_totals", "others": sorted(others)})
    return rows


def _count_lines(
    operands: Sequence[Place], totals: Totals, counts: Counter[Place], *, trail: tuple[Place, ...]
) -> None:
    """Count in how many ways a total reaches each line, through the subtotals that it adds."""
    for operand in operands:
        counts[operand] += 1
        if operand in totals and operand not in trail:
            _count_lines(totals[operand], totals, counts, trail=(*trail, operand))
