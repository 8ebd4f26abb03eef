"""Lines are found by their baselines, in the order in which they were given."""

from __future__ import annotations

from taxkg_assets.extraction.layout.lines import Line, make_line
from taxkg_assets.extraction.layout.rows import LinesByBase
from taxkg_assets.extraction.pdf.model import Span


def _line(text: str, base: float) -> Line:
    line = make_line(1, [Span(0, 0, 0, text, "Arial", 10.0, False, False, 0, 0.0, base - 10, 50.0, base)])
    assert line is not None
    return line


def test_lines_near_a_height_keep_their_order() -> None:
    lines = LinesByBase([_line("c", 30.0), _line("a", 10.5), _line("b", 10.0), _line("d", 11.0)])
    assert [line.text for line in lines.find_near(10.0, 0.5)] == ["a", "b"]
    assert [line.text for line in lines.find_near(10.5, 0.5)] == ["a", "b", "d"]
    assert lines.find_near(20.0, 5.0) == []
