"""The words of lines: which the document prints whole, and which with a hyphen inside."""

from __future__ import annotations

from taxkg_assets.extraction.layout.lines import Line, make_line
from taxkg_assets.extraction.layout.words import Words
from taxkg_assets.extraction.pdf.model import Span


def _line(text: str) -> Line:
    line = make_line(1, [Span(0, 0, 0, text, "Sans", 10.0, False, False, 0, 0.0, 0.0, 100.0, 10.0)])
    assert line is not None
    return line


def test_words_are_those_of_any_line_whatever_their_case() -> None:
    words = Words([_line("The harbor-Master rents"), _line("berths. HARBOR dues")])
    assert "harbor-master" in words
    assert "harbor" in words
    assert "berths" in words


def test_a_part_of_a_word_or_a_word_with_a_hyphen_is_no_word_by_itself() -> None:
    words = Words([_line("The harbor-Master rents"), _line("berthside")])
    assert "harbor" not in words
    assert "berth" not in words
    assert "harbor-rents" not in words


def test_nothing_but_text_is_a_word() -> None:
    assert 7 not in Words([_line("Section 7")])
