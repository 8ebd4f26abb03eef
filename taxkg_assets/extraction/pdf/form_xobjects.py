"""Form XObjects of a page, such as icons with a word in them: they are read without the page's own text.

Most instructions of a page write its own text. Without them the page is rendered in a fraction of the time, which is
enough to read the XObjects: what they cover, and whether all their letters are visible.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from taxkg_assets.extraction.pdf.content_stream import with_content_stream
from taxkg_assets.extraction.pdf.geometry import Corners
from taxkg_assets.extraction.pdf.occluders import Occluder
from taxkg_assets.extraction.pdf.paint_log import read_paint_log, read_printed_text
from taxkg_assets.extraction.pdf.paint_order import PaintOrder
from taxkg_assets.extraction.pdf.rendered_text import are_same_letters


class FormXObjects:
    """The form XObjects of a page, rendered without the page's own text."""

    def __init__(self, page: Any, wordless_content: bytes, *, clip: Any, flags: int) -> None:
        """Render the form XObjects.

        Args:
            page: Open page of PyMuPDF.
            wordless_content: The page's content stream without its text.
            clip: Rectangle of the page whose text is read.
            flags: MuPDF's flags for reading text.
        """
        with with_content_stream(page, wordless_content):
            self._text_page = page.get_textpage(clip=clip, flags=flags)
            self.display_list = page.get_displaylist()
        self.log = read_paint_log(self.display_list)
        self.order = PaintOrder((), ())

    def are_letters_visible(self, *, flags: int) -> bool:
        """Return whether all letters of the form XObjects are visible.

        Args:
            flags: MuPDF's flags for reading printed text.
        """
        return are_same_letters(self._text_page.extractText(), read_printed_text(self.display_list, flags=flags))

    @cached_property
    def boxes(self) -> frozenset[Corners]:
        """Return the rectangles of all spans in the form XObjects, in page coordinates."""
        blocks = self._text_page.extractDICT()["blocks"]
        return frozenset(span["bbox"] for block in blocks for line in block["lines"] for span in line["spans"])

    def place_occluders(self, occluders: Sequence[Occluder]) -> tuple[Occluder, ...] | None:
        """Determine the painting order of the page's occluders relative to everything except its own text.

        Args:
            occluders: Occluders of the page, in the order of painting.

        Returns:
            The occluders with their positions in the painting order; None if the log is incomplete.
        """
        if not all(
            occluder.order < len(self.log) and self.log[occluder.order][0].endswith("-path") for occluder in occluders
        ):
            return None
        self.order = PaintOrder.read(self.log, [(occluder.order, occluder.box) for occluder in occluders])
        text_orders = [order for order, _ in self.order.written]
        return tuple(
            replace(occluder, order=occluder.order - bisect_left(text_orders, occluder.order)) for occluder in occluders
        )
