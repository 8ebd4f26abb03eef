"""A decision chart in one tag: its boxes and answers are texts of their own; a text with few answers stays whole."""

from __future__ import annotations

from taxkg_assets.extraction.authored.structure_tree import TagPlace
from taxkg_assets.extraction.layout.printed_text import read_printed_text
from taxkg_assets.extraction.structure.decision_charts import split_charts
from taxkg_assets.extraction.structure.tagged_page import TagUnit
from taxkg_assets_tests.extraction.drawn import Canvas, source_of

_BOXES = {100: ("Is your boat", "older than you?"), 200: ("Does it float?",), 300: ("You owe", "no duty.")}


def _split(*, answers: int) -> list[str]:
    """Draw boxes below each other with answers between them, all in one tag; return the texts of the pieces."""
    canvas = Canvas()
    for top, words in _BOXES.items():
        canvas.cell(100, top, 200, top + 40)
        for row, text in enumerate(words):
            canvas.text(110, top + 6 + 11 * row, text)
    for ix in range(answers):
        canvas.text(240, 60 + 100 * ix, "No" if ix % 2 else "Yes")
    source = source_of(canvas)
    page = source.pages[0]
    lines = read_printed_text(source).lines[1]
    units = split_charts(page, [TagUnit(TagPlace(-1, ""), (1, 2), lines=lines)])
    return [" ".join(line.text for line in unit.lines) for unit in units]


def test_each_box_and_each_answer_is_a_text() -> None:
    texts = _split(answers=3)
    assert [text for text in texts if text not in ("Yes", "No")] == [
        "Is your boat older than you?",
        "Does it float?",
        "You owe no duty.",
    ]
    assert sum(text in ("Yes", "No") for text in texts) == 3


def test_text_with_few_answers_is_no_chart() -> None:
    assert len(_split(answers=2)) == 1
