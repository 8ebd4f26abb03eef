"""The row of a table that a cell is in."""

from __future__ import annotations

import pytest

from taxkg_assets.retrieval.answering.table_rows import find_row
from taxkg_assets.retrieval.index.passage_context import open_contexts
from taxkg_assets_tests.retrieval.answering.conftest import make_facts

SQUARE = ["Fees", "Berth| small| large| huge", "small| $30| $40| $50", "large| $40| $90| $95"]
"""A table whose rows and columns have the same names, and the same value twice."""


@pytest.mark.parametrize(
    ("cell", "row"),
    [
        ("Fees | small | Berth > large: $40", "small| $30| $40| $50"),
        ("Fees | large | Berth > small: $40", "large| $40| $90| $95"),
        ("Fees | barn | Berth > yard: $7", None),
    ],
)
def test_a_column_with_the_name_of_another_row_does_not_hide_the_row(cell: str, row: str | None) -> None:
    lines = open_contexts([0], make_facts(("Fees", SQUARE), level="table"))[0].lines_by_row[0]
    found = find_row(lines, cell)
    assert (found.text if found else None) == row
