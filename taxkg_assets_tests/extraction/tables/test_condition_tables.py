"""Condition tables inside the lines of a form: the heads tell the columns, a brace next to the rows is in none."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.layout.text_runs import Run
from taxkg_assets.extraction.tables.condition_tables import find_condition_tables

_HEADS = ((60.0, "IF you sail"), (220.0, "AND your boat is under"), (330.0, "THEN enter"))
_ROWS = (
    ((60.0, "alone ."), (222.0, "$  30 ."), (332.0, "$ 5")),
    ((60.0, "with a crew"), (215.0, ".      60 ."), (340.0, "9")),
)


def _runs(rows: tuple[tuple[tuple[float, str], ...], ...], *, heads: tuple[tuple[float, str], ...]) -> list[Run]:
    lines = [(heads, True), *((row, False) for row in rows)]
    return [
        Run(text, x, 100.0 + 12 * ix, x + 4.5 * len(text), 110.0 + 12 * ix, 9.0, is_bold)
        for ix, (line, is_bold) in enumerate(lines)
        for x, text in line
    ]


def test_each_amount_is_below_its_head_without_the_dots_that_lead_to_it() -> None:
    brace = Run("}", 430.0, 118.0, 440.0, 119.0, 30.0, False)
    note = Run("If your boat is longer, ask.", 60.0, 136.0, 200.0, 146.0, 9.0, False)
    (rows,) = find_condition_tables([*_runs(_ROWS, heads=_HEADS), brace, note])
    assert [[(cell.number, cell.text) for cell in row] for row in rows] == [
        [(0, "IF you sail"), (1, "AND your boat is under"), (2, "THEN enter")],
        [(0, "alone"), (1, "$ 30"), (2, "$ 5")],
        [(0, "with a crew"), (1, "60"), (2, "9")],
    ]


def test_a_name_of_two_lines_has_its_amount_on_the_second() -> None:
    wrapped = (
        *_ROWS,
        ((60.0, "with the crew of"),),
        ((60.0, "another boat, Gull & Co."), (222.0, "90"), (332.0, "$ 7")),
    )
    (rows,) = find_condition_tables(_runs(wrapped, heads=_HEADS))
    assert [(cell.number, cell.text) for cell in rows[-1]] == [
        (0, "with the crew of another boat, Gull & Co."),
        (1, "90"),
        (2, "$ 7"),
    ]


@pytest.mark.parametrize(
    "heads",
    [
        ((60.0, "If you sail"), (220.0, "and your boat is under"), (330.0, "enter")),
        ((60.0, "IF you sail"), (220.0, "AND your boat is under"), (330.0, "enter")),
    ],
)
def test_words_without_both_heads_begin_no_table(heads: tuple[tuple[float, str], ...]) -> None:
    assert find_condition_tables(_runs(_ROWS, heads=heads)) == []


def test_one_row_is_no_table() -> None:
    assert find_condition_tables(_runs(_ROWS[:1], heads=_HEADS)) == []
