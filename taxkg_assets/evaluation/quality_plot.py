"""Number of documents that pass and fail each document check, as a table and as an image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dataframely as dy
import polars as pl

from taxkg_assets.schemas import CHECK_OUTCOMES, DocumentQuality

_COLORS = {"flagged": (0.85, 0.55, 0.12), "withheld": (0.75, 0.22, 0.17)}
"""Red, green and blue from 0 to 1."""
LEAST_DOCUMENTS = 5
"""Documents that the axis has room for, however few fail."""
MOST_TICKS = 6
_WIDTH, _BARS_AT, _RIGHT, _TOP, _ROW, _BOTTOM, _LETTER = 640.0, 290.0, 16.0, 10.0, 20.0, 38.0, 9.0
"""Sizes in points."""
_DOTS_PER_INCH = 96


@dataclass(frozen=True, slots=True)
class _Axis:
    """Numbers of documents from left to right."""

    most: int

    @property
    def step(self) -> int:
        """Return the documents between two numbers: 1, 2 or 5 times a power of ten."""
        steps: Iterator[int] = (digit * 10**power for power in range(9) for digit in (1, 2, 5))
        return next(step for step in steps if step * MOST_TICKS >= self.most)

    def place(self, number: int) -> float:
        """Return the horizontal position of a number of documents in points."""
        return _BARS_AT + number / self.most * (_WIDTH - _RIGHT - _BARS_AT)


def count_outcomes(quality: dy.DataFrame[DocumentQuality]) -> pl.DataFrame:
    """Count the documents by check and outcome.

    Args:
        quality: Outcome of each check for each document.

    Returns:
        `law`, `strength` and a column for each of `CHECK_OUTCOMES`, one row per check.
    """
    counted = [(pl.col("outcome") == outcome).sum().alias(outcome) for outcome in CHECK_OUTCOMES]
    return quality.group_by("law", "strength").agg(counted).sort("strength", "law")


def render_quality_table(counts: pl.DataFrame) -> str:
    """Render the counts as Markdown.

    Args:
        counts: Counts from `count_outcomes`.

    Returns:
        A table with one row per check.
    """
    lines = ["| check | severity | passed | flagged | withheld |", "|---|---|--:|--:|--:|"]
    for row in counts.iter_rows(named=True):
        cells = (row["law"].replace("_", " "), row["strength"], *(str(row[outcome]) for outcome in CHECK_OUTCOMES))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def render_quality_plot(counts: pl.DataFrame) -> bytes:
    """Draw one bar per check with the number of documents that fail it.

    PyMuPDF draws it, which a build has loaded: matplotlib took a tenth of the time to bring one document up to date.

    Args:
        counts: Counts from `count_outcomes`.

    Returns:
        PNG image.
    """
    import pymupdf  # loaded here: most runs draw nothing

    failed = counts.select(pl.sum_horizontal(CHECK_OUTCOMES[1:])).to_series()
    axis = _Axis(max(LEAST_DOCUMENTS, *failed) if counts.height else LEAST_DOCUMENTS)
    floor = _TOP + _ROW * counts.height
    with pymupdf.open() as document:
        shape = document.new_page(width=_WIDTH, height=floor + _BOTTOM).new_shape()
        for ix, row in enumerate(counts.iter_rows(named=True)):
            name, y = f"{row['law'].replace('_', ' ')} ({row['passed']} pass)", _TOP + _ROW * ix
            left = _BARS_AT - 6 - pymupdf.get_text_length(name, fontsize=_LETTER)
            shape.insert_text((left, y + 0.7 * _ROW), name, fontsize=_LETTER)
            before = 0
            for outcome in CHECK_OUTCOMES[1:]:
                bar = (axis.place(before), y + 0.1 * _ROW, axis.place(before + row[outcome]), y + 0.9 * _ROW)
                if row[outcome]:
                    shape.draw_rect(bar)
                    shape.finish(color=None, fill=_COLORS[outcome])
                before += row[outcome]
        _draw_axis(shape, axis, floor=floor)
        shape.commit()
        return bytes(shape.page.get_pixmap(dpi=_DOTS_PER_INCH).tobytes("png"))


def _draw_axis(shape: Any, axis: _Axis, *, floor: float) -> None:
    """Draw a frame around the bars, the numbers of documents below it, and the colors."""
    shape.draw_rect((_BARS_AT, _TOP, _WIDTH - _RIGHT, floor))
    for tick in range(0, axis.most + 1, axis.step):
        shape.draw_line((axis.place(tick), floor), (axis.place(tick), floor + 3))
        shape.insert_text((axis.place(tick) - 3, floor + 13), str(tick), fontsize=_LETTER)
    shape.finish(color=(0, 0, 0), width=0.6)
    shape.insert_text((_BARS_AT, floor + 27), "documents that fail the check", fontsize=_LETTER)
    for ix, outcome in enumerate(CHECK_OUTCOMES[1:]):
        x = _WIDTH - _RIGHT - 70 * (len(CHECK_OUTCOMES) - 1 - ix)
        shape.draw_rect((x, floor + 19, x + 14, floor + 28))
        shape.finish(color=None, fill=_COLORS[outcome])
        shape.insert_text((x + 18, floor + 27), outcome, fontsize=_LETTER)
