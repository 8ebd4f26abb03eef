"""What a page paints, in order, and what its glyphs print: both are read from a display list of the page.

A display list records the result of a page's instructions; replaying it is much faster than rendering the page again.
MuPDF's own log also measures the rectangle of each path, which is not needed here.
"""

from __future__ import annotations

from typing import Any

from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.library import pymupdf

_MUPDF: Any = pymupdf.mupdf
_TEXT_PAGE: Any = pymupdf.TextPage
_PAINTERS = (
    *("fill_path", "stroke_path", "fill_text", "stroke_text", "ignore_text"),
    *("fill_shade", "fill_image", "fill_image_mask"),
)
# Paths and shadings are counted only; their rectangles are read with the drawings.
_UNMEASURED: Corners = (0.0, 0.0, 0.0, 0.0)


def read_paint_log(display_list: Any) -> list[tuple[str, Corners]]:
    """Record what a page paints, in order, with rectangles of text and images.

    Args:
        display_list: Display list of MuPDF.

    Returns:
        Kind and rectangle of each painted item.
    """
    device = _LogDevice()
    whole_plane = _MUPDF.FzRect(_MUPDF.FzRect.Fixed_INFINITE)
    _MUPDF.fz_run_display_list(display_list.this, device, _MUPDF.FzMatrix(), whole_plane, _MUPDF.FzCookie())
    _MUPDF.fz_close_device(device)
    return device.log


def read_printed_text(display_list: Any, *, flags: int) -> str:
    """Read the text of a display list as plain text.

    Args:
        display_list: Display list of MuPDF.
        flags: Flags of MuPDF for reading text.

    Returns:
        Plain text.
    """
    text: str = _TEXT_PAGE(display_list.get_textpage(flags)).extractText()
    return text


class _LogDevice(_MUPDF.FzDevice2):  # type: ignore[misc]
    """Records what is painted: MuPDF calls one of its methods for every operation, so that each must be fast."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[str, Corners]] = []
        for name in _PAINTERS:
            getattr(self, f"use_virtual_{name}")()

    def fill_path(self, *_: Any) -> None:
        self.log.append(("fill-path", _UNMEASURED))

    def stroke_path(self, *_: Any) -> None:
        self.log.append(("stroke-path", _UNMEASURED))

    def fill_shade(self, *_: Any) -> None:
        self.log.append(("fill-shade", _UNMEASURED))

    def fill_image_mask(self, *_: Any) -> None:
        self.log.append(("fill-imgmask", _UNMEASURED))

    def fill_image(self, _: Any, __: Any, matrix: Any, *___: Any) -> None:
        self._add("fill-image", _MUPDF.ll_fz_transform_rect(_MUPDF.fz_unit_rect, matrix))

    def fill_text(self, _: Any, text: Any, matrix: Any, *__: Any) -> None:
        self._add("fill-text", _MUPDF.ll_fz_bound_text(text, None, matrix))

    def stroke_text(self, _: Any, text: Any, pen: Any, matrix: Any, *__: Any) -> None:
        self._add("stroke-text", _MUPDF.ll_fz_bound_text(text, pen, matrix))

    def ignore_text(self, _: Any, text: Any, matrix: Any) -> None:
        self._add("ignore-text", _MUPDF.ll_fz_bound_text(text, None, matrix))

    def _add(self, kind: str, rect: Any) -> None:
        self.log.append((kind, (rect.x0, rect.y0, rect.x1, rect.y1)))
