"""Columns that several tables share: text, keys, pages, points, rectangles."""

from __future__ import annotations

import dataframely as dy

from taxkg_assets.schemas.values import READING_SOURCES


def one_of(values: tuple[str, ...]) -> str:
    """Return a pattern that matches exactly these values.

    A pattern, because dataframely can generate sample rows for a pattern, but not for a function.

    Args:
        values: Allowed values, without special characters of patterns.
    """
    return f"^({'|'.join(values)})$"


def text_column(description: str, *, nullable: bool = False) -> dy.String:
    """Return a column of text.

    Args:
        description: Meaning of the column.
        nullable: Whether a value may be missing.
    """
    return dy.String(nullable=nullable, description=description)


def key_column(description: str) -> dy.String:
    """Return a column that is part of the primary key and never empty.

    Args:
        description: Meaning of the column.
    """
    return dy.String(primary_key=True, min_length=1, description=description)


def page_column(description: str = "1-based PDF page", *, nullable: bool = False) -> dy.Int32:
    """Return a column of 1-based page numbers.

    Args:
        description: Meaning of the column.
        nullable: Whether a value may be missing.
    """
    return dy.Int32(min=1, nullable=nullable, description=description)


def points_column(description: str) -> dy.Float64:
    """Return a column of lengths in PDF points.

    Args:
        description: Meaning of the column.
    """
    return dy.Float64(description=description)


def fraction_column(description: str) -> dy.Float64:
    """Return a column of shares between 0 and 1.

    Args:
        description: Meaning of the column.
    """
    return dy.Float64(min=0.0, max=1.0, description=description)


def corner_columns() -> dict[str, dy.Column]:
    """Return the four corners of a rectangle, in points from the top left of the page."""
    return {"x0_pt": dy.Float64(), "y0_pt": dy.Float64(), "x1_pt": dy.Float64(), "y1_pt": dy.Float64()}


def bbox_column(description: str = "rectangle on the page, points from the top left") -> dy.Struct:
    """Return a column with one rectangle per row.

    Args:
        description: Meaning of the column.
    """
    return dy.Struct(corner_columns(), description=description)


def placed_boxes_column(description: str) -> dy.List:
    """Return a column with a list of rectangles per row, each with its page.

    Args:
        description: Meaning of the column.
    """
    return dy.List(dy.Struct({"page": dy.Int32(), **corner_columns()}), description=description)


def extraction_source_column() -> dy.String:
    """Return the column `source`: structure tags, layout, or both."""
    text = "source of the row: the publisher's structure tags, the page layout, or both in agreement"
    return dy.String(regex=one_of(READING_SOURCES), description=text)


def strings_column(description: str) -> dy.List:
    """Return a column with a list of strings per row.

    Args:
        description: Meaning of the column.
    """
    return dy.List(dy.String(), description=description)
