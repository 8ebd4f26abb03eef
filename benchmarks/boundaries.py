"""How well the beginnings of chunks agree with labeled headings: F1 of boundaries, and WindowDiff."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CLOSE = 15
"""Letters between a heading and a boundary that still meets it."""
STEP = 20
"""Letters of a cell of the grid that WindowDiff counts on."""
FAR = 20_000
"""Letters ahead in which a text is looked for: farther on, the same words are another place."""
OPENING = 60
"""Letters by which a text is found again."""


@dataclass(frozen=True, slots=True)
class BoundaryScore:
    """Agreement of one chunker with the headings of one document."""

    headings: int
    boundaries: int
    precision: float
    recall: float
    window_diff: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def letters_of(text: str) -> str:
    """A text without all that layout changes."""
    return "".join(character for character in text.casefold() if character.isalnum())


def find_places(texts: Iterable[str], whole: str) -> list[int]:
    """Where texts begin in the whole, one after the other; what cannot be found after the last one is passed over."""
    places: list[int] = []
    at = 0
    for text in texts:
        opening = letters_of(text)[:OPENING]
        found = whole.find(opening, at, at + FAR) if opening else -1
        if found >= 0:
            places.append(found)
            at = found
    return sorted(set(places))


def score_boundaries(found: Sequence[int], wanted: Sequence[int], *, length: int) -> BoundaryScore:
    """Compare boundaries with headings in a text of `length` letters; each heading is met once."""
    open_places = list(found)
    met = 0
    for place in wanted:
        near = bisect_left(open_places, place - CLOSE)
        if near < len(open_places) and open_places[near] <= place + CLOSE:
            open_places.pop(near)
            met += 1
    return BoundaryScore(
        headings=len(wanted),
        boundaries=len(found),
        precision=met / max(1, len(found)),
        recall=met / max(1, len(wanted)),
        window_diff=score_window_diff(found, wanted, length=length),
    )


def score_window_diff(found: Sequence[int], wanted: Sequence[int], *, length: int) -> float:
    """Share of windows that hold another number of boundaries (Pevzner and Hearst 2002); 0 is perfect.

    The window is half the mean distance of headings.
    """
    cells = length // STEP + 1
    window = max(2, round(cells / max(1, len(wanted)) / 2))
    counts = [_cumulate({place // STEP for place in places}, cells) for places in (found, wanted)]
    windows = range(max(1, cells - window))
    differing = sum(
        (counts[0][min(cells, start + window)] - counts[0][start])
        != (counts[1][min(cells, start + window)] - counts[1][start])
        for start in windows
    )
    return differing / len(windows)


def _cumulate(marked: set[int], cells: int) -> list[int]:
    total = [0]
    for cell in range(cells):
        total.append(total[-1] + (cell in marked))
    return total
