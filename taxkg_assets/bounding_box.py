"""A rectangle on a page, as replies and reports write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

CORNERS = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")
"""Columns of a rectangle in tables."""


class BoundingBox(BaseModel):
    """A rectangle on a page, in points from the top left.

    Attributes:
        page: Page of the PDF, from 1.
        x0: Left edge, in points from the left of the page.
        y0: Upper edge, in points from the top of the page.
        x1: Right edge.
        y1: Lower edge.
    """

    model_config = ConfigDict(frozen=True)
    page: int
    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def of_row(cls, row: Mapping[str, Any], *, page: int | None = None) -> Self:
        """Return the rectangle that a table states.

        Args:
            row: Cell or row with the columns `CORNERS`.
            page: Page of the PDF, from 1; that of the row by default.
        """
        page = row["page"] if page is None else page
        return cls(page=page, x0=row["x0_pt"], y0=row["y0_pt"], x1=row["x1_pt"], y1=row["y1_pt"])
