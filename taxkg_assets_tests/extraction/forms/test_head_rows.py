"""Heads of the columns of a form's grid are one row, though each is centered in its cell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from taxkg_assets.extraction.forms.form_lines import FormLine
from taxkg_assets.extraction.forms.head_rows import find_tops, take_words_over


def _line(x0: float, y0: float, *, x1: float | None = None, height: float = 8.0) -> Any:
    return SimpleNamespace(x0=x0, x1=x0 + 40 if x1 is None else x1, y0=y0, y1=y0 + height, base=y0 + 6, size=8.0)


def _head(letter: str, x0: float, y0: float, height: float = 8.0) -> FormLine:
    return FormLine(f"column_{letter}", False, [cast(Any, _line(x0, y0, height=height))])


def test_heads_of_one_grid_have_one_height_below_what_is_over_them() -> None:
    heads = [_head("a", 60, 116), _head("b", 120, 110, height=30), _head("c", 180, 128), _head("d", 240, 128)]
    over = _line(180, 112, x1=280)
    assert find_tops(heads, []) == [110.0] * 4
    assert find_tops(heads, [over]) == [112.01] * 4
    assert find_tops(heads, [_line(180, 40, x1=280)]) == [110.0] * 4


def test_heads_below_each_other_are_no_row() -> None:
    assert find_tops([_head("a", 60, 100), _head("b", 60, 140)], []) == [100, 140]


def _words(x0: float, y0: float, *, x1: float, height: float = 8.0) -> Any:
    return _line(x0, y0, x1=x1, height=height)


def test_words_over_several_heads_are_one_unit_between_the_number_and_the_heads() -> None:
    heads = [_head("a", 60, 116), _head("b", 120, 110, height=30), _head("c", 180, 128), _head("d", 240, 128)]
    over = [_words(182, 104, x1=278), _words(184, 112, x1=276)]
    above = _words(40, 84, x1=400)
    (unit,), rest = take_words_over(heads, [above, *over])
    assert unit.lines == over
    assert rest == [above]
    number = FormLine("line_1", False, [_words(30, 108, x1=36)])
    tops = find_tops([number, unit, *heads], [])
    assert tops == sorted(tops)
    assert tops[0] < tops[1] < tops[2] == tops[-1]


def test_heads_without_words_over_them_leave_all_lines() -> None:
    heads = [_head("a", 60, 116), _head("b", 120, 116), _head("c", 180, 116)]
    lines = [_words(60, 90, x1=220)]
    assert take_words_over(heads, lines) == ([], lines)
