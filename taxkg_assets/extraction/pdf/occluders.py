"""What a page paints besides text: the paths that may lie over text, and the operators that paint by a name."""

from __future__ import annotations

from dataclasses import dataclass

from taxkg_assets.extraction.pdf.geometry import Corners

NAMED_PART, SLIT, MASK = "Do", "slit", "mask"


@dataclass(frozen=True, slots=True)
class Occluder:
    """A filled path or thick line that may cover text: its position in the painting order and its rectangle."""

    order: int
    box: Corners
    color: int
