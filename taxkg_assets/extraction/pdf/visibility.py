"""What of a page's text a person can see. Text that only a program would read is no content, and is reported.

Whether text is lost on its background, or is under what was painted later, is judged on the page as it is drawn: what
the file states about colors and order can be made to lie.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from taxkg_assets.extraction.pdf.content_stream import with_content_stream
from taxkg_assets.extraction.pdf.form_xobjects import FormXObjects
from taxkg_assets.extraction.pdf.geometry import (
    Corners,
    Floats,
    find_area,
    find_areas,
    find_intersections,
    find_overlaps,
    find_shared_areas,
    have_centers_inside,
    holds,
    split_rows,
)
from taxkg_assets.extraction.pdf.hidden_text import COVERED, GROUND, OFF_PAGE, TINY, UNPAINTED
from taxkg_assets.extraction.pdf.occluders import NAMED_PART, Occluder
from taxkg_assets.extraction.pdf.paint_log import read_paint_log, read_printed_text
from taxkg_assets.extraction.pdf.paint_order import PaintOrder
from taxkg_assets.extraction.pdf.pixels import count_pixels_near, draw_gray, find_brightness
from taxkg_assets.rules.models.hidden_text import load_hidden_text

FAR_PT = 20_000.0
"""How far outside a page text is looked for: farther than a page can be wide."""

_FILLED_OR_STROKED = 16 | 32
# Pixels a point.
_MOST_ZOOM = 2.0
# Size, color and manner of painting: a page has a few of each.
_MANNER = itemgetter("size", "color", "char_flags", "alpha")
_EVERYWHERE = (-math.inf, -math.inf, math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Background:
    """What a page paints besides text.

    Attributes:
        painters: Operators that paint XObjects, `SLIT`, or `MASK` if something is painted through a mask.
        wordless: The instructions of the page without text, if occluders were counted without text.
        xobjects: Its form XObjects, if nothing else prints text.
    """

    fills: Sequence[Any]
    occluders: Sequence[Occluder]
    has_pictures: bool
    painters: frozenset[str] = frozenset()
    wordless: bytes | None = None
    xobjects: FormXObjects | None = None


class VisibilityChecker:
    """Determines which spans of an open page are invisible; renders the page only if a span requires it."""

    def __init__(self, page: Any, *, width: float, height: float, background: Background) -> None:
        self._page, self._background = page, background
        self._fills, self._occluders, self._has_images = background.fills, background.occluders, background.has_pictures
        self._width, self._height = width, height
        self._limits = load_hidden_text().limits
        self._backgrounds: dict[int, list[Corners]] = {}
        self._boxes: Sequence[Corners] = ()
        self._drawn = 0

    def find_reasons(
        self, raws: Sequence[dict[str, Any]], stored: Sequence[Corners], *, shown: Sequence[Corners]
    ) -> list[str]:
        """Return for each span why it is invisible; empty if it is visible.

        Args:
            raws: Spans as MuPDF returns them.
            stored: Rectangle of each span before page rotation, in points.
            shown: Rectangle of each span after page rotation, in points.

        Returns:
            One reason per span; empty for one that can be seen.
        """
        if not raws:
            return []
        boxes = np.fromiter(chain.from_iterable(stored), dtype=float, count=4 * len(stored)).reshape(-1, 4)
        self._boxes = stored
        placed = boxes if stored is shown else np.array(shown, dtype=float)
        reasons = [""] * len(raws)
        for ix in self._find_doubtful(raws, boxes, shown=placed):
            reasons[ix] = self._find_reason(raws[ix], shown[ix])
        under = [ix for ix in self._find_under(boxes) if not reasons[ix]]
        for ix, is_hid in zip(under, self._find_painted_over(boxes[under]), strict=True):
            if is_hid or (is_hid is None and not self._shows_ink(shown[ix])):
                reasons[ix] = COVERED
        for ix in self._find_overprinted(raws, boxes):
            if not reasons[ix] and not self._shows_own_color(raws[ix], shown[ix]):
                reasons[ix] = COVERED
        return reasons

    def _find_overprinted(self, raws: Sequence[dict[str, Any]], boxes: Floats) -> list[int]:
        """Spans on which words of another color are printed, as far as rectangles tell."""
        colors = [raw["color"] for raw in raws]
        kinds = Counter(colors)
        if len(kinds) == 1:
            return []
        usual = max(kinds, key=kinds.__getitem__)
        if all(raw["text"].isspace() for raw, color in zip(raws, colors, strict=True) if color != usual):
            return []
        painted = np.array(colors)
        is_text = np.array([not raw["text"].isspace() for raw in raws])
        rare = np.flatnonzero((painted != usual) & is_text)
        shared = np.zeros(len(boxes))
        # Words of the usual color can be met by rare ones alone, so that each pair is inspected once.
        for some in split_rows(rare, len(boxes)):
            may_meet = (painted[some][:, None] != painted) & is_text
            ours, others, areas = find_intersections(boxes[some], boxes, may_meet)
            shared += np.bincount(others, areas * (painted[others] == usual), minlength=len(boxes))
            shared[some] = np.bincount(ours, areas, minlength=len(some))
        found: list[int] = np.flatnonzero(self._is_most(shared, boxes)).tolist()
        return found

    def _find_doubtful(self, raws: Sequence[dict[str, Any]], boxes: Floats, *, shown: Floats) -> Sequence[int]:
        """The spans about which there is anything by which they might not be seen: most pages have none such."""
        if self._is_patterned:
            return range(len(raws))
        limits = self._limits
        x0, y0, x1, y1 = shown.T
        width, height = x1 - x0, y1 - y0
        least = limits.narrow_pt * np.array([len(raw["text"]) for raw in raws])
        is_doubtful = (np.maximum(width, height) < least) | (np.minimum(width, height) < limits.heaped_pt)
        is_doubtful |= (x1 <= 0) | (y1 <= 0) | (x0 >= self._width) | (y0 >= self._height)
        manners = [*map(_MANNER, raws)]
        kinds = set(manners)
        lost = {kind for kind in kinds if kind[0] < limits.tiny_pt or self._is_unpainted(*kind[2:])}
        if lost:
            is_doubtful |= np.array([manner in lost for manner in manners])
        is_doubtful |= have_centers_inside(boxes, self._pictures)
        for color in {kind[1] for kind in kinds}:
            if backgrounds := self._backgrounds_of(color):
                is_doubtful |= np.array([manner[1] == color for manner in manners]) & have_centers_inside(
                    boxes, backgrounds
                )
        found: list[int] = np.flatnonzero(is_doubtful).tolist()
        return found

    def _find_reason(self, raw: dict[str, Any], shown: Corners) -> str:
        x0, y0, x1, y1 = shown
        text, narrow = raw["text"], self._limits.narrow_pt
        across = min(x1 - x0, y1 - y0)
        is_heaped = across <= 0 or (across < self._limits.heaped_pt and len(text.strip()) > 1)
        is_tiny = raw["size"] < self._limits.tiny_pt or (is_heaped and not text.isspace())
        if max(x1 - x0, y1 - y0) < narrow * len(text):
            # Blanks around the words count for nothing.
            is_tiny = is_tiny or max(x1 - x0, y1 - y0) < narrow * len(text.strip())
        if x1 <= 0 or y1 <= 0 or x0 >= self._width or y0 >= self._height:
            return OFF_PAGE
        if is_tiny:
            return TINY
        if self._is_unpainted(raw["char_flags"], raw["alpha"]):
            return UNPAINTED
        if (self._is_patterned or self._may_be_lost(raw)) and not self._is_distinct(raw, shown):
            return GROUND
        is_lost = self._is_patterned and text.strip() and not self._shows_own_color(raw, shown)
        return COVERED if is_lost else ""

    def _is_unpainted(self, flags: int, alpha: int) -> bool:
        return bool(not flags & _FILLED_OR_STROKED or alpha < self._limits.clear_alpha)

    def is_ocr_layer(self, visible: Sequence[Any], invisible: Sequence[Any]) -> bool:
        """Return whether the invisible text is the OCR layer of a scan.

        An image covers the page and almost no text is visible.

        Args:
            visible: Visible spans of the page.
            invisible: Spans that cannot be seen.
        """
        least = self._limits.scan_share * self._width * self._height
        if not any(find_area(picture) >= least for picture in self._pictures):
            return False
        visible_chars, invisible_chars = (
            sum(len(span.text.strip()) for span in spans) for spans in (visible, invisible)
        )
        return bool(visible_chars <= self._limits.scan_seen * invisible_chars)

    def _may_be_lost(self, raw: dict[str, Any]) -> bool:
        return any(holds(background, raw["bbox"]) for background in self._backgrounds_of(raw["color"])) or any(
            holds(picture, raw["bbox"]) for picture in self._pictures
        )

    def _backgrounds_of(self, color: int) -> list[Corners]:
        backgrounds = self._backgrounds.get(color)
        if backgrounds is None:
            backgrounds = self._backgrounds[color] = self._find_backgrounds(find_brightness(color))
        return backgrounds

    def _find_backgrounds(self, light: float) -> list[Corners]:
        """Where text of a brightness may be lost: on shaded areas that are nearly as bright; if light, everywhere."""
        if light >= self._limits.light:
            return [_EVERYWHERE]
        near = self._limits.like_ground
        fills = [fill for fill in self._fills if abs(find_brightness(fill.color) - light) < near]
        occluders = [
            occluder.box for occluder in self._occluders if abs(find_brightness(occluder.color) - light) < near
        ]
        return [*((fill.x0, fill.y0, fill.x1, fill.y1) for fill in fills), *occluders]

    def _is_distinct(self, raw: dict[str, Any], shown: Corners) -> bool:
        light, xobjects = find_brightness(raw["color"]), self._find_xobjects(shown)
        if xobjects is not None:
            # Words of the page that touch a word of an XObject can change no other pixels of it.
            pixels = self._draw_part(xobjects.display_list, shown)
            if self._differs_enough(pixels, light, changed=self._count_touched(shown)):
                return True
        return self._differs_enough(self._draw(shown), light)

    def _differs_enough(self, pixels: bytes, light: float, *, changed: int = 0) -> bool:
        """Whether pixels show a color apart from their ground, however some of them may be changed."""
        differing = len(pixels) - changed - count_pixels_near(pixels, light, most=self._limits.contrast)
        return bool(pixels) and differing >= float(self._limits.ground_share) * len(pixels)

    def _shows_own_color(self, raw: dict[str, Any], shown: Corners) -> bool:
        own, most = find_brightness(raw["color"]), self._limits.contrast
        pixels = self._draw(shown)
        same = count_pixels_near(pixels, own, most=most)
        return bool(same >= self._limits.own_share * len(pixels))

    @cached_property
    def _is_patterned(self) -> bool:
        """Whether something is painted that does not tell where it ends, or a clip is as narrow as a slit."""
        named = self._background.painters
        is_shaded = NAMED_PART in named and any(kind == "fill-shade" for kind, _ in self._drawn_log)
        return is_shaded or bool(named - {NAMED_PART})

    @cached_property
    def _pictures(self) -> list[Corners]:
        return [box for kind, box in self._drawn_log if kind == "fill-image"] if self._has_images else []

    def _find_under(self, boxes: Floats) -> list[int]:
        """The rectangles over or under which something solid is."""
        solid = [*self._pictures, *(occluder.box for occluder in self._occluders)]
        if not solid:
            return []
        found: list[int] = np.flatnonzero(self._are_mostly_shared(boxes, np.array(solid, dtype=float))).tolist()
        return found

    def _are_mostly_shared(self, boxes: Floats, others: Floats) -> npt.NDArray[np.bool_]:
        """Whether rectangles share most of their area with others, all of these together."""
        shared = np.zeros(len(boxes))
        for some in split_rows(others, len(boxes)):
            shared += find_shared_areas(boxes, some).sum(axis=0)
        return self._is_most(shared, boxes)

    def _is_most(self, shared: Floats, boxes: Floats) -> npt.NDArray[np.bool_]:
        """Whether a shared area is most of a rectangle."""
        mostly: npt.NDArray[np.bool_] = (shared > 0) & (shared >= self._limits.covered_share * find_areas(boxes))
        return mostly

    def _find_painted_over(self, boxes: Floats) -> list[bool | None]:
        """Whether something solid was painted over each text; None where it hides the text only if no ink shows."""
        share = self._limits.covered_share
        found: list[bool | None] = [False] * len(boxes)
        is_open = np.ones(len(boxes), dtype=bool)
        if self._background.xobjects is not None:
            # If nothing covers a word of an XObject later, nothing covers the XObject's last word either.
            is_written, is_over, _ = self._background.xobjects.order.compare(boxes, share=share)
            is_open = ~is_written | is_over
        if is_open.any():
            _, is_over, by_picture = self._order.compare(boxes[is_open], share=share)
            for ix, may_be, is_hid in zip(np.flatnonzero(is_open), is_over, by_picture, strict=True):
                if may_be:
                    found[ix] = True if is_hid and not self._has_clear_images else None
        return found

    def _shows_ink(self, shown: Corners) -> bool:
        pixels = self._draw(shown)
        if not pixels:
            return False
        background, least = Counter(pixels).most_common(1)[0][0], self._limits.contrast
        differing = len(pixels) - count_pixels_near(pixels, background, most=least)
        return bool(differing >= self._limits.ink_share * len(pixels))

    @cached_property
    def _log(self) -> list[tuple[str, Corners]]:
        """What was painted, in order."""
        if not self._page.rotation:
            log = read_paint_log(self._drawing)
            if self._counts_covers(log):
                return log
        found: list[tuple[str, Corners]] = self._page.get_bboxlog()
        return found

    def _counts_covers(self, log: Sequence[tuple[str, Corners]]) -> bool:
        """Whether occluders have the places in a log that they were counted with: it may lack what has no area."""
        is_wordless = self._background.wordless is not None
        kinds = [kind for kind, _ in log if not is_wordless or not kind.endswith("-text")]
        return all(
            occluder.order < len(kinds) and kinds[occluder.order].endswith("-path") for occluder in self._occluders
        )

    def read_printed_text(self, flags: int) -> str | None:
        """Return the text of the rendered glyphs; None on a rotated page.

        Args:
            flags: MuPDF's flags with which the text is read.
        """
        return None if self._page.rotation else read_printed_text(self._drawing, flags=flags)

    @cached_property
    def _drawn_log(self) -> list[tuple[str, Corners]]:
        """What was painted besides text, in order; where words can be left out that takes a fraction of the time."""
        if self._background.wordless is None:
            return [row for row in self._log if not row[0].endswith("-text")]
        if self._background.xobjects is not None:
            return self._background.xobjects.log
        with with_content_stream(self._page, self._background.wordless):
            found: list[tuple[str, Corners]] = self._page.get_bboxlog()
        return found

    @cached_property
    def _order(self) -> PaintOrder:
        if self._background.wordless is None:
            return PaintOrder.read(self._log, [(occluder.order, occluder.box) for occluder in self._occluders])
        drawn = [order for order, (kind, _) in enumerate(self._log) if not kind.endswith("-text")]
        return PaintOrder.read(self._log, [(drawn[occluder.order], occluder.box) for occluder in self._occluders])

    @cached_property
    def _has_clear_images(self) -> bool:
        """Whether a picture of the page has a mask, so that what is under it may show."""
        return any(image[1] for image in self._page.get_images())

    def _draw(self, shown: Corners) -> bytes:
        """The brightness of the pixels of a rectangle."""
        xobjects = self._find_xobjects(shown)
        if xobjects is not None and not self._count_touched(shown):
            return self._draw_part(xobjects.display_list, shown)
        self._drawn += 1
        if self._drawn <= self._limits.drawn_alone:
            return self._draw_part(self._drawing, shown)
        x0, y0, x1, y1 = self._crop(shown)
        if x1 <= x0 or y1 <= y0:
            return b""
        samples, width, zoom = self._whole
        left, right = int(x0 * zoom), max(int(x0 * zoom) + 1, int(x1 * zoom))
        rows = range(int(y0 * zoom), max(int(y0 * zoom) + 1, int(y1 * zoom)))
        return b"".join(samples[row * width + left : row * width + min(right, width)] for row in rows)

    def _draw_part(self, drawing: Any, shown: Corners) -> bytes:
        x0, y0, x1, y1 = clip = self._crop(shown)
        if x1 <= x0 or y1 <= y0:
            return b""
        return draw_gray(drawing, zoom=self._find_zoom((x1 - x0) * (y1 - y0)), clip=clip)[0]

    def _crop(self, shown: Corners) -> Corners:
        """The part of a rectangle that is on the page."""
        return max(0.0, shown[0]), max(0.0, shown[1]), min(self._width, shown[2]), min(self._height, shown[3])

    def _find_zoom(self, area: float) -> float:
        return float(min(_MOST_ZOOM, (self._limits.most_pixels / max(1.0, area)) ** 0.5))

    @cached_property
    def _whole(self) -> tuple[bytes, int, float]:
        zoom = self._find_zoom(self._width * self._height)
        samples, width = draw_gray(self._drawing, zoom=zoom, clip=None)
        return samples, width, width / self._width

    def _find_xobjects(self, shown: Corners) -> FormXObjects | None:
        """The page's form XObjects, without its own words, if one of them alone prints the word of a rectangle."""
        xobjects = self._background.xobjects
        return xobjects if xobjects and shown in xobjects.boxes and self._boxes.count(shown) == 1 else None

    def _count_touched(self, shown: Corners) -> int:
        """The most pixels of a rectangle that the page's own words can change."""
        x0, y0, x1, y1 = self._own_boxes.T
        width, height = find_overlaps(x0, x1, shown[0], shown[2]), find_overlaps(y0, y1, shown[1], shown[3])
        # Both ends of what they share may lie within a pixel.
        pixels = (_MOST_ZOOM * width + 2) * (_MOST_ZOOM * height + 2)
        return int(pixels[(width > 0) & (height > 0)].sum())

    @cached_property
    def _own_boxes(self) -> Floats:
        """The rectangles of the page's own words, as far as its XObjects have words of their own."""
        others = self._background.xobjects.boxes if self._background.xobjects is not None else frozenset()
        return np.array([box for box in self._boxes if box not in others], dtype=float).reshape(-1, 4)

    @cached_property
    def _drawing(self) -> Any:
        """The page's instructions carried out once, for all rectangles that are drawn of it."""
        return self._page.get_displaylist()
