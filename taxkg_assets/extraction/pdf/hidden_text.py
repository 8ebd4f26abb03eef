"""Invisible text of a page, which is reported and left out: why it is invisible, and where it is."""

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
    """Invisible text of a page, or visible text that instructs a program.

    Attributes:
        page: Number of the page, from 1.
        kind: Why the text is invisible: one of `HIDDEN_KINDS`; `printed` for visible text.
        text: The text.
        box: Rectangle of the text, in points.
        is_order: Whether the text instructs a program (a prompt injection).
    """

    page: int
    kind: str
    text: str
    box: Corners
    is_order: bool = False
