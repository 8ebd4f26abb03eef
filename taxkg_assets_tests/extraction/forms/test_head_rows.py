"""Heads of the columns of a form's grid are one row, though each is centered in its cell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from taxkg_assets.extraction.forms.form_lines import FormLine
from taxkg_assets.extraction.forms.head_rows import find_tops


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
