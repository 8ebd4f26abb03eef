"""What was painted over the text of a page, found by the painting order and by rectangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from taxkg_assets.extraction.pdf.geometry import CELLS, Corners, Floats, find_areas, find_shared_areas

_LEAST_AREA = 1e-6


@dataclass(frozen=True)
class PaintOrder:
    """The painting order of a page's texts and of what may cover them.

    Attributes:
        written: Position in the painting order, and rectangle, of each text.
        painted: Position, rectangle, and whether it is an image, of each opaque path or image.
    """

    written: Sequence[tuple[int, Corners]]
    painted: Sequence[tuple[int, Corners, bool]]

    @classmethod
    def read(cls, log: Sequence[tuple[str, Corners]], occluders: Sequence[tuple[int, Corners]]) -> PaintOrder:
        """Build the painting order from a paint log and opaque paths.

        Args:
            log: Operation and rectangle of each painted item, in order.
            occluders: Position in the log and rectangle of each opaque path.

        Returns:
            The painting order.
        """
        texts = [(order, box) for order, (kind, box) in enumerate(log) if kind.endswith("-text")]
        images = [(order, box, True) for order, (kind, box) in enumerate(log) if kind == "fill-image"]
        return cls(texts, [*images, *((order, box, False) for order, box in occluders)])

    def compare(self, boxes: Floats, *, least_share: float) -> npt.NDArray[np.bool_]:
        """Determine for each text rectangle whether text was painted there, and whether it was covered later.

        Args:
            boxes: Rectangles of text, shape (n, 4), in points.
            least_share: Minimum covered share of a rectangle, 0 to 1.

        Returns:
            Booleans of shape (3, n): whether text was painted there, whether something opaque covers it, and whether
            images alone cover the share.
        """
        if not len(boxes) or not self.written or not self.painted:
            return np.zeros((3, len(boxes)), dtype=bool)
        step = max(1, CELLS // max(len(self.written), len(self.painted)))
        batches = [self._compare(boxes[at : at + step], least_share=least_share) for at in range(0, len(boxes), step)]
        return np.concatenate(batches, axis=1)

    def _compare(self, boxes: Floats, *, least_share: float) -> npt.NDArray[np.bool_]:
        text_orders, texts = self._texts
        cover_orders, covers, is_image = self._covers
        x0, y0, x1, y1 = boxes.T
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        left, top, right, bottom = texts.T[:, :, None]
        last_orders = np.where((left <= x) & (x <= right) & (top <= y) & (y <= bottom), text_orders, -1).max(axis=0)
        shared_areas = find_shared_areas(boxes, covers) * (cover_orders > last_orders)
        least_areas = least_share * find_areas(boxes)
        is_over = (last_orders >= 0) & (shared_areas.sum(axis=0) >= np.maximum(least_areas, _LEAST_AREA))
        return np.stack([last_orders >= 0, is_over, shared_areas[is_image].sum(axis=0) >= least_areas])

    @cached_property
    def _texts(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """Positions of the texts in the painting order, n × 1, and rectangles of the texts, n × 4."""
        return np.array([[order] for order, _ in self.written]), np.array([box for _, box in self.written])

    @cached_property
    def _covers(self) -> tuple[npt.NDArray[np.int64], Floats, npt.NDArray[np.bool_]]:
        """Positions of paths and images, n × 1, their rectangles, n × 4, and whether each is an image."""
        places, boxes, are_images = zip(*self.painted, strict=True)
        return np.array(places)[:, None], np.array(boxes), np.array(are_images)
