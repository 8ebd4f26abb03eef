"""Which text of a page is visible to a person. Invisible text is left out and reported.

Whether text has the color of its background, or is covered, is judged by the rendered page: the colors and the order
that a file states may be misleading.
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
"""Text is read up to this distance outside a page: farther than a page can be wide."""

_FILLED_OR_STROKED = 16 | 32
# Pixels per point.
_MOST_ZOOM = 2.0
# Values of a span on which its visibility depends: a page has only a few different ones.
_MANNER = itemgetter("size", "color", "char_flags", "alpha")
_WHOLE_PLANE = (-math.inf, -math.inf, math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Background:
    """What a page paints besides text.

    Attributes:
        fills: Filled rectangles.
        occluders: Paths that may cover text.
        has_pictures: Whether the page has images.
        painters: Operators that paint XObjects or shadings, `SLIT` for a narrow clip, `MASK` for a soft mask.
        wordless: Content stream of the page without text, if the occluders were counted without text; otherwise None.
        xobjects: Form XObjects of the page, if no other text is printed by them or over them; otherwise None.
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
        self._drawn_count = 0

    def find_reasons(
        self, raw_spans: Sequence[dict[str, Any]], stored_boxes: Sequence[Corners], *, shown_boxes: Sequence[Corners]
    ) -> list[str]:
        """Find the invisible spans of a page, and why each of them is invisible.

        Args:
            raw_spans: Spans as MuPDF returns them.
            stored_boxes: Rectangle of each span before page rotation, in points.
            shown_boxes: Rectangle of each span after page rotation, in points.

        Returns:
            One reason per span, of `HIDDEN_KINDS`; empty for a visible span.
        """
        if not raw_spans:
            return []
        boxes = np.fromiter(chain.from_iterable(stored_boxes), dtype=float, count=4 * len(stored_boxes)).reshape(-1, 4)
        self._boxes = stored_boxes
        shown_array = boxes if stored_boxes is shown_boxes else np.array(shown_boxes, dtype=float)
        reasons = [""] * len(raw_spans)
        for ix in self._find_doubtful(raw_spans, boxes, shown_array=shown_array):
            reasons[ix] = self._find_reason(raw_spans[ix], shown_boxes[ix])
        covered_ixs = [ix for ix in self._find_covered(boxes) if not reasons[ix]]
        # None: only the pixels tell whether the text is hidden.
        for ix, is_hidden in zip(covered_ixs, self._find_painted_over(boxes[covered_ixs]), strict=True):
            if is_hidden or (is_hidden is None and not self._shows_ink(shown_boxes[ix])):
                reasons[ix] = COVERED
        for ix in self._find_overprinted(raw_spans, boxes):
            if not reasons[ix] and not self._shows_own_color(raw_spans[ix], shown_boxes[ix]):
                reasons[ix] = COVERED
        return reasons

    def _find_overprinted(self, raw_spans: Sequence[dict[str, Any]], boxes: Floats) -> list[int]:
        """Find the spans whose rectangles are mostly covered by text of another color."""
        colors = [raw_span["color"] for raw_span in raw_spans]
        color_counts = Counter(colors)
        if len(color_counts) == 1:
            return []
        usual_color = max(color_counts, key=color_counts.__getitem__)
        if all(
            raw_span["text"].isspace()
            for raw_span, color in zip(raw_spans, colors, strict=True)
            if color != usual_color
        ):
            return []
        color_array = np.array(colors)
        is_text = np.array([not raw_span["text"].isspace() for raw_span in raw_spans])
        rare_ixs = np.flatnonzero((color_array != usual_color) & is_text)
        shared_areas = np.zeros(len(boxes))
        # Text of the usual color is compared with text of rare colors only, so that each pair is inspected once.
        for rare_batch in split_rows(rare_ixs, len(boxes)):
            may_meet = (color_array[rare_batch][:, None] != color_array) & is_text
            rare_rows, other_rows, areas = find_intersections(boxes[rare_batch], boxes, may_meet)
            shared_areas += np.bincount(
                other_rows, areas * (color_array[other_rows] == usual_color), minlength=len(boxes)
            )
            shared_areas[rare_batch] = np.bincount(rare_rows, areas, minlength=len(rare_batch))
        overprinted_ixs: list[int] = np.flatnonzero(self._are_mostly_covered(shared_areas, boxes)).tolist()
        return overprinted_ixs

    def _find_doubtful(
        self, raw_spans: Sequence[dict[str, Any]], boxes: Floats, *, shown_array: Floats
    ) -> Sequence[int]:
        """Find the spans that may be invisible, by size, position, color or way of painting; most pages have none."""
        if self._is_patterned:
            return range(len(raw_spans))
        limits = self._limits
        x0, y0, x1, y1 = shown_array.T
        width, height = x1 - x0, y1 - y0
        least_lengths = limits.narrow_pt * np.array([len(raw_span["text"]) for raw_span in raw_spans])
        is_doubtful = (np.maximum(width, height) < least_lengths) | (np.minimum(width, height) < limits.heaped_pt)
        is_doubtful |= (x1 <= 0) | (y1 <= 0) | (x0 >= self._width) | (y0 >= self._height)
        manners = [*map(_MANNER, raw_spans)]
        manner_kinds = set(manners)
        doubtful_kinds = {kind for kind in manner_kinds if kind[0] < limits.tiny_pt or self._is_unpainted(*kind[2:])}
        if doubtful_kinds:
            is_doubtful |= np.array([manner in doubtful_kinds for manner in manners])
        is_doubtful |= have_centers_inside(boxes, self._pictures)
        for color in {kind[1] for kind in manner_kinds}:
            if backgrounds := self._backgrounds_of(color):
                is_doubtful |= np.array([manner[1] == color for manner in manners]) & have_centers_inside(
                    boxes, backgrounds
                )
        doubtful_ixs: list[int] = np.flatnonzero(is_doubtful).tolist()
        return doubtful_ixs

    def _find_reason(self, raw_span: dict[str, Any], shown_box: Corners) -> str:
        x0, y0, x1, y1 = shown_box
        text, narrow_pt = raw_span["text"], self._limits.narrow_pt
        shorter_side = min(x1 - x0, y1 - y0)
        is_heaped = shorter_side <= 0 or (shorter_side < self._limits.heaped_pt and len(text.strip()) > 1)
        is_tiny = raw_span["size"] < self._limits.tiny_pt or (is_heaped and not text.isspace())
        if max(x1 - x0, y1 - y0) < narrow_pt * len(text):
            # Blanks around the words do not count.
            is_tiny = is_tiny or max(x1 - x0, y1 - y0) < narrow_pt * len(text.strip())
        if x1 <= 0 or y1 <= 0 or x0 >= self._width or y0 >= self._height:
            return OFF_PAGE
        if is_tiny:
            return TINY
        if self._is_unpainted(raw_span["char_flags"], raw_span["alpha"]):
            return UNPAINTED
        if (self._is_patterned or self._may_be_lost(raw_span)) and not self._is_distinct(raw_span, shown_box):
            return GROUND
        is_lost = self._is_patterned and text.strip() and not self._shows_own_color(raw_span, shown_box)
        return COVERED if is_lost else ""

    def _is_unpainted(self, flags: int, alpha: int) -> bool:
        return bool(not flags & _FILLED_OR_STROKED or alpha < self._limits.clear_alpha)

    def is_ocr_layer(self, visible_spans: Sequence[Any], invisible_spans: Sequence[Any]) -> bool:
        """Return whether the invisible text is the OCR layer of a scan.

        An image covers the page and almost no text is visible.

        Args:
            visible_spans: Visible spans of the page.
            invisible_spans: Invisible spans of the page.
        """
        least_area = self._limits.scan_share * self._width * self._height
        if not any(find_area(picture) >= least_area for picture in self._pictures):
            return False
        visible_chars, invisible_chars = (
            sum(len(span.text.strip()) for span in spans) for spans in (visible_spans, invisible_spans)
        )
        return bool(visible_chars <= self._limits.scan_seen * invisible_chars)

    def _may_be_lost(self, raw_span: dict[str, Any]) -> bool:
        return any(
            holds(background, raw_span["bbox"]) for background in self._backgrounds_of(raw_span["color"])
        ) or any(holds(picture, raw_span["bbox"]) for picture in self._pictures)

    def _backgrounds_of(self, color: int) -> list[Corners]:
        backgrounds = self._backgrounds.get(color)
        if backgrounds is None:
            backgrounds = self._backgrounds[color] = self._find_backgrounds(find_brightness(color))
        return backgrounds

    def _find_backgrounds(self, brightness: float) -> list[Corners]:
        """Find the areas with about the brightness of a text: shaded areas; for light text, the whole page."""
        if brightness >= self._limits.light:
            return [_WHOLE_PLANE]
        max_difference = self._limits.like_ground
        fills = [fill for fill in self._fills if abs(find_brightness(fill.color) - brightness) < max_difference]
        occluders = [
            occluder.box
            for occluder in self._occluders
            if abs(find_brightness(occluder.color) - brightness) < max_difference
        ]
        return [*((fill.x0, fill.y0, fill.x1, fill.y1) for fill in fills), *occluders]

    def _is_distinct(self, raw_span: dict[str, Any], shown_box: Corners) -> bool:
        brightness = find_brightness(raw_span["color"])
        xobjects = self._find_xobjects(shown_box)
        if xobjects is not None:
            # Text of the page that touches the text of an XObject can change only the pixels that they share.
            pixels = self._draw_part(xobjects.display_list, shown_box)
            if self._differs_enough(pixels, brightness, changed_count=self._count_touched(shown_box)):
                return True
        return self._differs_enough(self._draw(shown_box), brightness)

    def _differs_enough(self, pixels: bytes, brightness: float, *, changed_count: int = 0) -> bool:
        """Return whether enough pixels differ from the brightness of a text, not counting `changed_count` pixels."""
        differing_count = (
            len(pixels) - changed_count - count_pixels_near(pixels, brightness, max_difference=self._limits.contrast)
        )
        return bool(pixels) and differing_count >= float(self._limits.ground_share) * len(pixels)

    def _shows_own_color(self, raw_span: dict[str, Any], shown_box: Corners) -> bool:
        own_brightness = find_brightness(raw_span["color"])
        max_difference = self._limits.contrast
        pixels = self._draw(shown_box)
        same_count = count_pixels_near(pixels, own_brightness, max_difference=max_difference)
        return bool(same_count >= self._limits.own_share * len(pixels))

    @cached_property
    def _is_patterned(self) -> bool:
        """Whether the page paints shadings or patterns, whose extent is unknown, or uses a narrow clip or a mask."""
        painters = self._background.painters
        is_shaded = NAMED_PART in painters and any(kind == "fill-shade" for kind, _ in self._drawn_log)
        return is_shaded or bool(painters - {NAMED_PART})

    @cached_property
    def _pictures(self) -> list[Corners]:
        return [box for kind, box in self._drawn_log if kind == "fill-image"] if self._has_images else []

    def _find_covered(self, boxes: Floats) -> list[int]:
        """Find the rectangles that images and opaque paths mostly cover, whether over or under the text."""
        opaque_boxes = [*self._pictures, *(occluder.box for occluder in self._occluders)]
        if not opaque_boxes:
            return []
        covered_ixs: list[int] = np.flatnonzero(
            self._are_mostly_shared(boxes, np.array(opaque_boxes, dtype=float))
        ).tolist()
        return covered_ixs

    def _are_mostly_shared(self, boxes: Floats, others: Floats) -> npt.NDArray[np.bool_]:
        """Return for each rectangle whether the other rectangles together cover most of its area."""
        shared_areas = np.zeros(len(boxes))
        for other_batch in split_rows(others, len(boxes)):
            shared_areas += find_shared_areas(boxes, other_batch).sum(axis=0)
        return self._are_mostly_covered(shared_areas, boxes)

    def _are_mostly_covered(self, shared_areas: Floats, boxes: Floats) -> npt.NDArray[np.bool_]:
        """Return for each rectangle whether a shared area is most of its area."""
        are_mostly_shared: npt.NDArray[np.bool_] = (shared_areas > 0) & (
            shared_areas >= self._limits.covered_share * find_areas(boxes)
        )
        return are_mostly_shared

    def _find_painted_over(self, boxes: Floats) -> list[bool | None]:
        """Return for each text whether an image or path was painted over it; None if only the pixels can tell."""
        least_share = self._limits.covered_share
        are_hidden: list[bool | None] = [False] * len(boxes)
        are_undecided = np.ones(len(boxes), dtype=bool)
        if self._background.xobjects is not None:
            # Text of an XObject that nothing covers later is visible, whatever the page itself paints.
            are_written, are_covered, _ = self._background.xobjects.order.compare(boxes, least_share=least_share)
            are_undecided = ~are_written | are_covered
        if are_undecided.any():
            _, are_covered, are_under_pictures = self._order.compare(boxes[are_undecided], least_share=least_share)
            for ix, is_covered, is_under_picture in zip(
                np.flatnonzero(are_undecided), are_covered, are_under_pictures, strict=True
            ):
                if is_covered:
                    are_hidden[ix] = True if is_under_picture and not self._has_clear_images else None
        return are_hidden

    def _shows_ink(self, shown_box: Corners) -> bool:
        pixels = self._draw(shown_box)
        if not pixels:
            return False
        ground_brightness = Counter(pixels).most_common(1)[0][0]
        least_contrast = self._limits.contrast
        differing_count = len(pixels) - count_pixels_near(pixels, ground_brightness, max_difference=least_contrast)
        return bool(differing_count >= self._limits.ink_share * len(pixels))

    @cached_property
    def _log(self) -> list[tuple[str, Corners]]:
        """What the page paints, in order."""
        if not self._page.rotation:
            log = read_paint_log(self._display_list)
            if self._has_occluders(log):
                return log
        stored_log: list[tuple[str, Corners]] = self._page.get_bboxlog()
        return stored_log

    def _has_occluders(self, log: Sequence[tuple[str, Corners]]) -> bool:
        """Return whether the occluders have their positions in a log, which may lack paths without an area."""
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
        return None if self._page.rotation else read_printed_text(self._display_list, flags=flags)

    @cached_property
    def _drawn_log(self) -> list[tuple[str, Corners]]:
        """What the page paints besides text, in order; read without the text, where possible, to save time."""
        if self._background.wordless is None:
            return [row for row in self._log if not row[0].endswith("-text")]
        if self._background.xobjects is not None:
            return self._background.xobjects.log
        with with_content_stream(self._page, self._background.wordless):
            log: list[tuple[str, Corners]] = self._page.get_bboxlog()
        return log

    @cached_property
    def _order(self) -> PaintOrder:
        if self._background.wordless is None:
            return PaintOrder.read(self._log, [(occluder.order, occluder.box) for occluder in self._occluders])
        drawn_orders = [order for order, (kind, _) in enumerate(self._log) if not kind.endswith("-text")]
        return PaintOrder.read(
            self._log, [(drawn_orders[occluder.order], occluder.box) for occluder in self._occluders]
        )

    @cached_property
    def _has_clear_images(self) -> bool:
        """Whether an image of the page has a mask, so that what is under the image may be visible."""
        return any(image[1] for image in self._page.get_images())

    def _draw(self, shown_box: Corners) -> bytes:
        """Return the brightness of each pixel of a rectangle."""
        xobjects = self._find_xobjects(shown_box)
        if xobjects is not None and not self._count_touched(shown_box):
            return self._draw_part(xobjects.display_list, shown_box)
        self._drawn_count += 1
        if self._drawn_count <= self._limits.drawn_alone:
            return self._draw_part(self._display_list, shown_box)
        x0, y0, x1, y1 = self._crop(shown_box)
        if x1 <= x0 or y1 <= y0:
            return b""
        samples, width, zoom = self._page_pixels
        left = int(x0 * zoom)
        right = max(int(x0 * zoom) + 1, int(x1 * zoom))
        rows = range(int(y0 * zoom), max(int(y0 * zoom) + 1, int(y1 * zoom)))
        return b"".join(samples[row * width + left : row * width + min(right, width)] for row in rows)

    def _draw_part(self, display_list: Any, shown_box: Corners) -> bytes:
        x0, y0, x1, y1 = clip = self._crop(shown_box)
        if x1 <= x0 or y1 <= y0:
            return b""
        return draw_gray(display_list, zoom=self._find_zoom((x1 - x0) * (y1 - y0)), clip=clip)[0]

    def _crop(self, shown_box: Corners) -> Corners:
        """Return the part of a rectangle that is on the page."""
        return (
            max(0.0, shown_box[0]),
            max(0.0, shown_box[1]),
            min(self._width, shown_box[2]),
            min(self._height, shown_box[3]),
        )

    def _find_zoom(self, area: float) -> float:
        return float(min(_MOST_ZOOM, (self._limits.most_pixels / max(1.0, area)) ** 0.5))

    @cached_property
    def _page_pixels(self) -> tuple[bytes, int, float]:
        zoom = self._find_zoom(self._width * self._height)
        samples, width = draw_gray(self._display_list, zoom=zoom, clip=None)
        return samples, width, width / self._width

    def _find_xobjects(self, shown_box: Corners) -> FormXObjects | None:
        """Return the form XObjects of the page if only one of them prints the text in a rectangle; otherwise None."""
        xobjects = self._background.xobjects
        return xobjects if xobjects and shown_box in xobjects.boxes and self._boxes.count(shown_box) == 1 else None

    def _count_touched(self, shown_box: Corners) -> int:
        """Return the largest number of pixels of a rectangle that the page's own text can change."""
        x0, y0, x1, y1 = self._own_boxes.T
        width = find_overlaps(x0, x1, shown_box[0], shown_box[2])
        height = find_overlaps(y0, y1, shown_box[1], shown_box[3])
        # A shared length may begin and end within a pixel.
        pixels = (_MOST_ZOOM * width + 2) * (_MOST_ZOOM * height + 2)
        return int(pixels[(width > 0) & (height > 0)].sum())

    @cached_property
    def _own_boxes(self) -> Floats:
        """Rectangles of the page's own text, without those of its form XObjects."""
        xobject_boxes = self._background.xobjects.boxes if self._background.xobjects is not None else frozenset()
        return np.array([box for box in self._boxes if box not in xobject_boxes], dtype=float).reshape(-1, 4)

    @cached_property
    def _display_list(self) -> Any:
        """Display list of the page, made once for all rectangles that are rendered."""
        return self._page.get_displaylist()
