"""The chart of failed checks: bars as long as the counts say, whatever the counts are."""

from __future__ import annotations

import polars as pl
import pymupdf
import pytest

from taxkg_assets.evaluation.quality_plot import render_quality_plot

WITHHELD = (191, 56, 43)


def _count(withheld: list[int], *, flagged: int = 0) -> pl.DataFrame:
    rows = [
        {"law": f"dues_{ix}_are_paid", "strength": "corrupt", "passed": 7, "flagged": flagged, "withheld": number}
        for ix, number in enumerate(withheld)
    ]
    schema = {"law": pl.String, "strength": pl.String, "passed": pl.Int64, "flagged": pl.Int64, "withheld": pl.Int64}
    return pl.DataFrame(rows, schema=schema)


def _longest_red(png: bytes) -> int:
    """The number of dots of the longest row of one color."""
    picture = pymupdf.Pixmap(png)
    red = bytes(WITHHELD)
    rows = (picture.samples[y * picture.stride : (y + 1) * picture.stride] for y in range(picture.height))
    return max(sum(row[x : x + 3] == red for x in range(0, len(row), picture.n)) for row in rows)


@pytest.mark.parametrize("withheld", [[], [0], [0, 3, 0], [1, 40_000]])
def test_the_chart_is_a_png_that_says_the_same_each_time(withheld: list[int]) -> None:
    counts = _count(withheld)
    png = render_quality_plot(counts)
    assert png.startswith(b"\x89PNG")
    assert png == render_quality_plot(counts)


def test_a_bar_is_as_long_as_its_count() -> None:
    two, four = (_longest_red(render_quality_plot(_count([number, 5]).head(1))) for number in (2, 4))
    assert abs(four - 2 * two) <= 2
    assert two > 100


def test_more_checks_make_a_higher_chart() -> None:
    few, many = (pymupdf.Pixmap(render_quality_plot(_count([1] * number))) for number in (2, 30))
    assert many.height > few.height
    assert many.width == few.width
