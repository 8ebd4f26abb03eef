"""Plain documents: one font, one column, no headings that the layout shows; and vectors that need no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

LINE_PT, WIDTH_PT = 12.0, 500.0

RENT = (
    "Rent received.",
    "Enter the rent that the owner was paid during the year, whether it was due then or before.",
    "Rent that was paid late counts for the year in which the owner got the money from the tenant.",
    "Enter the rent before any fee that an agent kept, since the agent acts for the owner of the house.",
)
DEPOSITS = (
    "Deposits held.",
    "A deposit is money that secures the lease and goes back to the tenant when the keys are returned.",
    "Do not enter a deposit while it may have to be returned, even where it lies in the owner's account.",
    "Once the deposit pays for damage, it is income of that year and goes with the other amounts.",
)
CARS = (
    "Parking places",
    "A parking place that is let with the flat follows the flat, and nothing is entered for it alone.",
    "A garage that is let to a stranger has its own line, with the number of months it was let.",
)


def section_of(lines: Sequence[str], *, number: int = 1) -> dict[str, Any]:
    """One element whose text is these printed lines, each as wide as its letters."""
    text = " ".join(lines)
    pieces, start = [], 0
    for row, line in enumerate(lines):
        end = start + len(line)
        right = 50.0 + min(WIDTH_PT, 5.0 * len(line))
        top = 60.0 + LINE_PT * row
        place = {"x0_pt": 50.0, "y0_pt": top, "x1_pt": right, "y1_pt": top + 10.0}
        pieces.append({"start": start, "end": end, "page": number, **place})
        start = end + 1
    return {
        "element_id": f"d:p{number:04d}:e0001", "anchor_id": None, "document_id": "d", "page": number,
        "paragraph_ix": number, "source": "layout", "role": "BodyText", "table_id": None, "text": text,
        "element_ids": [f"d:p{number:04d}:e0001"], "pieces": pieces,
    }  # fmt: skip


def encode(texts: Sequence[str]) -> np.ndarray:
    """Unit vectors of word counts: texts that share words are near."""
    vectors = np.full((len(texts), 256), 1e-3)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            if len(word) > 3:
                vectors[row, sum(map(ord, word[:5])) % 256] += 1.0
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
