"""A rectangle on a page, in the form in which replies and reports contain it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_serializer

CORNERS = ("x0_pt", "y0_pt", "x1_pt", "y1_pt")
"""Columns of a rectangle in tables."""
PRINTED_DIGITS = 2
"""Decimals of a corner in replies: a hundredth of a point is finer than any screen or printer."""


class BoundingBox(BaseModel):
    """A rectangle on a page, in points from the top left."""

    model_config = ConfigDict(frozen=True)
    page: int = Field(description="page of the PDF, from 1")
    x0: float = Field(description="left edge")
    y0: float = Field(description="upper edge")
    x1: float = Field(description="right edge")
    y1: float = Field(description="lower edge")

    @field_serializer("x0", "y0", "x1", "y1")
    def _round(self, value: float) -> float:
        return round(value, PRINTED_DIGITS)

    @classmethod
    def of_row(cls, row: Mapping[str, Any], *, page: int | None = None) -> Self:
        """Read a rectangle from a table cell or row.

        Args:
            row: Cell or row with the columns `CORNERS`.
            page: Page of the PDF, from 1; None for the column `page` of the row.

        Returns:
            The rectangle.
        """
        page = row["page"] if page is None else page
        return cls(page=page, x0=row["x0_pt"], y0=row["y0_pt"], x1=row["x1_pt"], y1=row["y1_pt"])
