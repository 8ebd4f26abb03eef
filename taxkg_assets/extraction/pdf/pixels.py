"""Pixels of a page, as drawn: how bright they are."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.library import pymupdf

_MUPDF: Any = pymupdf
# Brightness of a pixel.
_LEVELS = np.arange(256)


def draw_gray(drawing: Any, *, zoom: float, clip: Corners | None) -> tuple[bytes, int]:
    """Render a page, or a rectangle of it, in gray.

    Args:
        drawing: Display list of PyMuPDF.
        zoom: Pixels a point.
        clip: Rectangle in points; None for the page.

    Returns:
        One byte of brightness a pixel, row by row, and the number of pixels of a row.
    """
    scale = max(1, round(72 * zoom)) / 72
    drawn = drawing.get_pixmap(matrix=_MUPDF.Matrix(scale, scale), clip=clip, colorspace=_MUPDF.csGRAY, alpha=False)
    return bytes(drawn.samples), int(drawn.width)


def count_pixels_near(pixels: bytes, light: float, *, most: float) -> int:
    """Count the pixels with about the given brightness.

    Args:
        pixels: One byte of brightness a pixel.
        light: Brightness, 0 to 255.
        most: Largest difference of brightness.

    Returns:
        Number of pixels.
    """
    return int(np.count_nonzero(_find_like(light, most)[np.frombuffer(pixels, dtype=np.uint8)]))


# Words of one page have a few colors.
@lru_cache(maxsize=64)
def _find_like(light: float, most: float) -> npt.NDArray[np.bool_]:
    """Which of the 256 levels are about as bright as a value."""
    is_like: npt.NDArray[np.bool_] = np.abs(_LEVELS - light) <= most
    return is_like


def find_brightness(color: int) -> float:
    """Return the brightness of a color, 0 to 255.

    Args:
        color: The color as 0xRRGGBB.
    """
    return (299 * (color >> 16) + 587 * (color >> 8 & 255) + 114 * (color & 255)) / 1000
