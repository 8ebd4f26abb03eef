"""What of a page was painted over its text, by the order of painting and by rectangles."""

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
    """The painting order of a page's texts and of what may cover them."""

    written: Sequence[tuple[int, Corners]]
    painted: Sequence[tuple[int, Corners, bool]]

    @classmethod
    def read(cls, log: Sequence[tuple[str, Corners]], occluders: Sequence[tuple[int, Corners]]) -> PaintOrder:
        """Build the painting order from a paint log and opaque paths.

        Args:
            log: Operation and rectangle of each painted item, in order.
            occluders: Position in the log and rectangle of each opaque path.

        Returns:
            The order of painting.
        """
        written = [(order, box) for order, (kind, box) in enumerate(log) if kind.endswith("-text")]
        images = [(order, box, True) for order, (kind, box) in enumerate(log) if kind == "fill-image"]
        return cls(written, [*images, *((order, box, False) for order, box in occluders)])

    def compare(self, boxes: Floats, *, share: float) -> npt.NDArray[np.bool_]:
        """Determine for each text rectangle whether text was painted there, and whether it was covered later.

        Args:
            boxes: Rectangles of text, shape (n, 4), in points.
            share: Minimum covered share of a rectangle, 0 to 1.

        Returns:
            Booleans of shape (3, n): whether text was painted there, whether something opaque covers it, and whether
            images alone cover the share.
        """
        if not len(boxes) or not self.written or not self.painted:
            return np.zeros((3, len(boxes)), dtype=bool)
        step = max(1, CELLS // max(len(self.written), len(self.painted)))
        parts = [self._compare(boxes[at : at + step], share=share) for at in range(0, len(boxes), step)]
        return np.concatenate(parts, axis=1)

    def _compare(self, boxes: Floats, *, share: float) -> npt.NDArray[np.bool_]:
        written, texts = self._texts
        painted, over, is_image = self._covers
        x0, y0, x1, y1 = boxes.T
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        left, top, right, bottom = texts.T[:, :, None]
        last = np.where((left <= x) & (x <= right) & (top <= y) & (y <= bottom), written, -1).max(axis=0)
        shared = find_shared_areas(boxes, over) * (painted > last)
        least = share * find_areas(boxes)
        is_over = (last >= 0) & (shared.sum(axis=0) >= np.maximum(least, _LEAST_AREA))
        return np.stack([last >= 0, is_over, shared[is_image].sum(axis=0) >= least])

    @cached_property
    def _texts(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """Places of the texts in the order of painting, n × 1, and their rectangles, n × 4."""
        return np.array([[order] for order, _ in self.written]), np.array([box for _, box in self.written])

    @cached_property
    def _covers(self) -> tuple[npt.NDArray[np.int64], Floats, npt.NDArray[np.bool_]]:
        """Places of what may cover them, n × 1, its rectangles, n × 4, and whether it is a picture."""
        places, boxes, are_images = zip(*self.painted, strict=True)
        return np.array(places)[:, None], np.array(boxes), np.array(are_images)
