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


def draw_gray(display_list: Any, *, zoom: float, clip: Corners | None) -> tuple[bytes, int]:
    """Render a page, or a rectangle of it, in gray.

    Args:
        display_list: Display list of PyMuPDF.
        zoom: Pixels per point.
        clip: Rectangle in points; None for the whole page.

    Returns:
        One byte of brightness per pixel, row by row, and the number of pixels in a row.
    """
    scale = max(1, round(72 * zoom)) / 72
    pixmap = display_list.get_pixmap(
        matrix=_MUPDF.Matrix(scale, scale), clip=clip, colorspace=_MUPDF.csGRAY, alpha=False
    )
    return bytes(pixmap.samples), int(pixmap.width)


def count_pixels_near(pixels: bytes, brightness: float, *, max_difference: float) -> int:
    """Count the pixels with about the given brightness.

    Args:
        pixels: One byte of brightness per pixel.
        brightness: Brightness to look for, 0 to 255.
        max_difference: Largest difference of brightness.

    Returns:
        Number of pixels.
    """
    return int(np.count_nonzero(_find_near_levels(brightness, max_difference)[np.frombuffer(pixels, dtype=np.uint8)]))


# Words of one page have a few colors.
@lru_cache(maxsize=64)
def _find_near_levels(brightness: float, max_difference: float) -> npt.NDArray[np.bool_]:
    """Return for each of the 256 levels whether its brightness is near the given one."""
    are_near: npt.NDArray[np.bool_] = np.abs(_LEVELS - brightness) <= max_difference
    return are_near


def find_brightness(color: int) -> float:
    """Return the brightness of a color, 0 to 255.

    Args:
        color: The color as 0xRRGGBB.
    """
    return (299 * (color >> 16) + 587 * (color >> 8 & 255) + 114 * (color & 255)) / 1000
