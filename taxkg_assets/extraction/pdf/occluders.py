"""What a page paints besides text: paths that may cover text, and operators that paint a named object."""

from __future__ import annotations

from dataclasses import dataclass

from taxkg_assets.extraction.pdf.geometry import Corners

NAMED_PART, SLIT, MASK = "Do", "slit", "mask"


@dataclass(frozen=True, slots=True)
class Occluder:
    """A filled path or thick line that may cover text.

    Attributes:
        order: Position in the painting order.
        box: Rectangle around the path, in points.
        color: Color as 0xRRGGBB.
    """

    order: int
    box: Corners
    color: int
