from __future__ import annotations

from taxkg_assets.training.table_questions import read_lines


def test_a_line_is_read_if_its_end_is_within_reach() -> None:
    text = "Fees\n1|  $40\n2| $55"
    assert read_lines(text, max_offset=len(text)) == ["Fees", "1| $40", "2| $55"]
    assert read_lines(text, max_offset=len(text) - 1) == ["Fees", "1| $40"]
    assert read_lines(text, max_offset=3) == []
