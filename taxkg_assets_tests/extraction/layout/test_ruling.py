"""Strokes to lines: what continues is one line, what is dashed apart is not, and check boxes are no borders."""

from __future__ import annotations

from taxkg_assets.extraction.layout.ruling import RuledLine, merge_rules
from taxkg_assets.extraction.pdf.model import Rule


def test_strokes_that_continue_each_other_are_one_line() -> None:
    ruling = merge_rules([Rule(10, 50, 22, 50), Rule(22.5, 50.2, 40, 50.2), Rule(60, 50, 90, 50)])
    assert sorted((line.start, line.end) for line in ruling.horizontals) == [(10, 40), (60, 90)]


def test_sides_of_a_check_box_are_dropped() -> None:
    box = [Rule(100, 100, 110, 100), Rule(100, 110, 110, 110), Rule(100, 100, 100, 110), Rule(110, 100, 110, 110)]
    wall = Rule(50, 20, 50, 200)
    ruling = merge_rules([*box, wall])
    assert (ruling.horizontals, ruling.verticals) == ((), (RuledLine(50, 20, 200),))


def test_the_nearest_line_that_passes_a_point_is_found() -> None:
    ruling = merge_rules([Rule(0, 10, 100, 10), Rule(0, 30, 100, 30), Rule(60, 20, 100, 20), Rule(70, 0, 70, 15)])
    above, below = ruling.above(50, 25), ruling.below(50, 12)
    assert above is not None
    assert below is not None
    assert (above.at, below.at) == (10, 30)
    assert ruling.right(10, 12) == RuledLine(70, 0, 15)
    assert ruling.left(60, 12) is None
