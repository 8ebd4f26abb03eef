"""Runs: the pieces of a printed line that stand in one cell."""

from __future__ import annotations

import pytest

from taxkg_assets.extraction.layout.ruling import Ruling
from taxkg_assets.extraction.layout.text_runs import find_runs
from taxkg_assets.extraction.pdf.model import Span


@pytest.mark.parametrize(
    ("x0", "y0", "texts"),
    [
        (102.0, 50.0, ["Fees if it is NOT checked"]),
        (108.0, 50.0, ["Fees if it is", "NOT checked"]),
        (102.0, 53.0, ["Fees if it is", "NOT checked"]),
    ],
)
def test_words_of_one_line_that_tags_divide_are_one_run(x0: float, y0: float, texts: list[str]) -> None:
    spans = [
        Span(0, 0, 0, "Fees if it is", "f", 10.0, False, False, 0, 40.0, 50.0, 100.0, 60.0),
        Span(1, 1, 0, "NOT checked", "f", 10.0, True, False, 0, x0, y0, x0 + 50.0, y0 + 10.0),
    ]
    assert [run.text for run in find_runs(spans, ruling=Ruling((), ()))] == texts
