"""Text of a page that is reported and not read: why it is hidden, and where it is."""

from __future__ import annotations

from dataclasses import dataclass

from taxkg_assets.extraction.pdf.geometry import Corners

TINY, OFF_PAGE, UNPAINTED, GROUND, COVERED, CLIPPED, REPLACED, PRINTED = (
    "tiny",
    "off page",
    "unpainted",
    "like its background",
    "covered",
    "clipped",
    "other glyphs",
    "printed",
)
HIDDEN_KINDS = (TINY, OFF_PAGE, UNPAINTED, GROUND, COVERED, CLIPPED, REPLACED)


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Invisible text of a page, or text that instructs a program (`printed` if it is visible)."""

    page: int
    kind: str
    text: str
    box: Corners
    is_order: bool = False
