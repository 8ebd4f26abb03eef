"""The rectangle of a line encloses all that it prints, in whichever direction it is read."""

from __future__ import annotations

import pymupdf
import pytest

from taxkg_assets.extraction.layout.lines import Line, make_line
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets_tests.extraction.typeset import Booklet, blocks_of


def _line(*runs: tuple[str, float, float]) -> Line:
    """Make a line of runs given as (text, left edge, right edge), in reading order."""
    spans = [
        Span(ix, 0, 0, text, "Sans", 10.0, False, False, 0, x0, 0.0, x1, 10.0) for ix, (text, x0, x1) in enumerate(runs)
    ]
    line = make_line(1, spans)
    assert line is not None
    return line


@pytest.mark.parametrize(
    "runs",
    [
        (("Harbor ", 40.0, 90.0), ("dues", 90.0, 120.0)),
        (("رسوم ", 90.0, 120.0), ("الميناء", 40.0, 90.0)),
        (("Pay ", 40.0, 60.0), ("דמי ", 90.0, 120.0), ("נמל", 60.0, 90.0)),
        ((" ", 0.0, 40.0), ("Harbor ", 40.0, 90.0), ("dues", 90.0, 120.0), (" ", 120.0, 150.0)),
    ],
)
def test_the_edges_of_a_line_are_those_of_its_outermost_spans(runs: tuple[tuple[str, float, float], ...]) -> None:
    line = _line(*runs)
    assert (line.x0, line.x1) == (40.0, 120.0)


def test_blanks_that_begin_a_line_are_outside_of_its_rectangle() -> None:
    line = _line(("    Harbor", 0.0, 100.0), ("dues", 100.0, 140.0))
    assert (line.x0, line.x1) == (40.0, 140.0)


@pytest.mark.parametrize(
    "sentence",
    [
        "كل قارب في الميناء يدفع رسوم الرصيف قبل نهاية شهر مارس، ثم يحتفظ القبطان بالإيصال رقم 2040 على متن القارب.",
        "כל סירה בנמל משלמת את דמי הרציף לפני סוף חודש מרץ, ורב החובל שומר את הקבלה 2040 על הסיפון של הסירה.",
    ],
)
def test_a_page_that_is_read_from_right_to_left_is_read(sentence: str) -> None:
    booklet = Booklet()
    paragraphs = f"<h1 dir=rtl>{sentence[:20]}</h1>" + f"<p dir=rtl>{sentence * 2}</p>" * 3
    booklet.page.insert_htmlbox(pymupdf.Rect(50, 50, 560, 740), paragraphs)
    blocks = blocks_of(booklet)
    assert any("2040" in block.text for block in blocks)
    assert all(line.x0 < line.x1 for block in blocks for line in block.lines)
