"""Rows of cells, as tags tell them or as print shows them, before it is known what kind of table they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from taxkg_assets.extraction.layout.text_runs import Run, is_line_number, join_text
from taxkg_assets.extraction.pdf.model import Span
from taxkg_assets.extraction.tables.grid import Rectangle


@dataclass(slots=True)
class RowCell:
    """One cell of a row.

    Attributes:
        number: 0-based number of the cell in its row.
        is_header: Whether tags mark it as a header.
        spans: Spans of the page that tags put into it.
        runs: Text runs of the cell.
    """

    number: int
    is_header: bool
    spans: list[Span] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the text of the cell, its runs joined in order."""
        return join_text(self.runs)

    @property
    def is_bold(self) -> bool:
        """Return whether all text of the cell is bold; true for an empty cell."""
        return all(run.is_bold for run in self.runs)

    @property
    def is_numbered(self) -> bool:
        """Return whether the cell contains the number of a worksheet line and nothing else."""
        return len(self.runs) <= 2 and is_line_number(self.text)


CellRow = list[RowCell]


def bounding_box_of(runs: Sequence[Run]) -> Rectangle:
    """Compute the bounding box of runs.

    Args:
        runs: At least one run.

    Returns:
        Rectangle in points.
    """
    if len(runs) == 1:
        return Rectangle(runs[0].x0, runs[0].y0, runs[0].x1, runs[0].y1)
    return Rectangle(
        min([run.x0 for run in runs]),
        min([run.y0 for run in runs]),
        max([run.x1 for run in runs]),
        max([run.y1 for run in runs]),
    )
