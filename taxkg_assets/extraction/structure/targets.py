"""What a point of a document names: the heading, table or paragraph that begins there, and who owns it.

A point has a height and, in most files, no distance from the left. Where several columns have something at that height,
the words decide that links and bookmarks use for the place; where they do not, the point names nothing for sure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import polars as pl

from taxkg_assets.extraction.pdf.navigation import Place
from taxkg_assets.extraction.structure.target_lines import TargetLine, collect_lines
from taxkg_assets.rules.models.navigation import load_navigation

_NO_LETTER = re.compile(r"[\W_]+")
_WORD = re.compile(r"[A-Za-z0-9]{3,}")
_LARGEST_PT = 40.0
_COMPARED_CHARS = 200
_MARGIN_PT = 12.0
_PAD_PT = 2.0


# Not frozen: a booklet's points meet thousands of them.
@dataclass(slots=True)
class Target:
    """The element that a link's point may mean.

    Attributes:
        anchor_id: Heading, or the heading that owns the element.
        element_id: Element.
        table_id: Table, if the element is its caption.
        is_heading: Whether the element is a heading.
        is_start: Whether the element begins at the point, not only one of its lines.
        words: Words of the heading or element.
        y0: Top in points.
        x0: Left edge in points.
        x1: Right edge in points.
        size: Type size in points.
    """

    anchor_id: str | None
    element_id: str
    table_id: str | None
    is_heading: bool
    is_start: bool
    words: str
    y0: float
    x0: float
    x1: float
    size: float

    @property
    def key(self) -> str:
        """Return the id that equal targets have in common: of the heading, else of the element."""
        return f"#{self.anchor_id}" if self.is_heading else self.element_id


class PrintedLine(NamedTuple):
    """One printed line of an element: its text range (−1 for a heading) and its horizontal extent."""

    element_id: str
    start: int
    end: int
    x0: float
    x1: float


class TargetFinder:
    """Finds the elements at link targets in one document; its lines are collected on first use."""

    def __init__(self, anchors: pl.DataFrame, *, sections: pl.DataFrame, elements: pl.DataFrame) -> None:
        """Take the tables of the document, its pages upright."""
        limits = load_navigation().targets
        self._limits = limits
        self._anchors, self._sections, self._elements = anchors, sections, elements
        self._at_point: dict[tuple[int, float], Sequence[Target]] = {}
        self._found: dict[tuple[Place, tuple[str, ...], str], Target | None] = {}
        self._above = limits.text_above_sizes

    @cached_property
    def headings(self) -> dict[str, str]:
        """Return the words of each heading."""
        return dict(self._anchors.select("anchor_id", "heading").iter_rows())

    @cached_property
    def texts(self) -> dict[str, str]:
        """Return the text of each element."""
        return dict(self._sections.select("element_id", "text").iter_rows())

    @cached_property
    def _first_text(self) -> dict[str, str]:
        rows_under_headings = self._sections.filter(pl.col("anchor_id").is_not_null())
        first_rows = rows_under_headings.unique("anchor_id", keep="first", maintain_order=True)
        return dict(first_rows.select("anchor_id", "text").iter_rows())

    @cached_property
    def _rows(self) -> list[TargetLine]:
        lines = collect_lines(self._anchors, sections=self._sections, elements=self._elements)
        return list(map(TargetLine._make, lines.iter_rows()))

    @cached_property
    def _heights(self) -> list[float]:
        return [row.y0 for row in self._rows]

    @cached_property
    def _pages(self) -> dict[int, tuple[int, int]]:
        """Where the rows of each page begin and end."""
        ends = {row.page: ix + 1 for ix, row in enumerate(self._rows)}
        return {page: (start, end) for start, (page, end) in zip([0, *ends.values()], ends.items(), strict=False)}

    def find(self, place: Place, *, titles: Sequence[str] = (), hints: str = "") -> Target | None:
        """Find the heading, paragraph or table that begins at a point.

        Args:
            place: The point.
            titles: Titles that links and bookmarks give this point.
            hints: Other words that describe the target, such as the entry of an index.

        Returns:
            The target; None if nothing begins there, or several elements do and no words distinguish them.
        """
        # Many links lead to one place, whose name has been looked up before.
        key = place, tuple(titles), hints
        if key not in self._found:
            self._found[key] = self._find(place, titles=titles, hints=hints)
        return self._found[key]

    def _find(self, place: Place, *, titles: Sequence[str], hints: str) -> Target | None:
        targets_at_point = self._find_at(place)
        min_letters = self._limits.title_letters
        names = [name for name in map(fold_words, titles) if len(name) >= min_letters and not name.isdigit()]
        if names:
            titled_targets = self._find_titled(targets_at_point, names, place)
            if titled_targets:
                # A table's title is its own row, and a paragraph where it is printed.
                return _choose_only(
                    [target for target in titled_targets if target.table_id is not None] or titled_targets, place
                )
            if any(rule.pattern.search(title) for title in titles for rule in load_navigation().chapters):
                return _find_chapter(targets_at_point)
        if names or hints:
            return self._find_by_words(targets_at_point, place, " ".join([*titles, hints]), is_sure=bool(names))
        for group in (
            [target for target in targets_at_point if target.is_heading],
            [target for target in targets_at_point if target.is_start],
            targets_at_point,
        ):
            if group:
                return _choose_only(group, place)
        return None

    def find_captioned(self, page: int, words: str) -> Target | None:
        """Find the numbered table, worksheet or figure on a page that a link's words name.

        Args:
            page: 1-based page.
            words: Words of the link.

        Returns:
            The table; None for none.
        """
        number = find_number(words)
        if not number:
            return None
        start, end = self._pages.get(page, (0, 0))
        captioned_targets = [
            target
            for target in (self._target(row) for row in self._rows[start:end] if row.is_start)
            if find_number(target.words) == number and fold_words(target.words).startswith(fold_words(words))
        ]
        return min(
            captioned_targets,
            key=lambda target: (target.table_id is None, not target.is_heading, target.y0),
            default=None,
        )

    def find_chapter(self, place: Place, words: str) -> Target | None:
        """Find the heading of a numbered chapter at or around a point.

        Args:
            place: The point.
            words: Words of a link, such as `chapter 4`.

        Returns:
            The heading; None for other words, or without a heading of that number.
        """
        if not load_navigation().chapters.matches(words):
            return None
        number = re.compile(rf"(?:chapter\s+)?{re.escape(words.split()[-1])}[.:—]?(?:\s|$)", re.IGNORECASE)
        start, end = self._pages.get(place.page, (0, 0))
        rows = [row for row in self._rows[start:end] if row.is_heading and row.y0 <= place.y <= row.y1]
        return _choose_only([target for target in map(self._target, rows) if number.match(target.words)], place)

    def find_namesake(self, place: Place, words: str, *, is_taken: bool) -> Target | None:
        """Find the only heading near a point, or on its page, with exactly these words.

        Args:
            place: The point.
            words: Words of a link.
            is_taken: Whether something else begins at the point. Then only a heading next to the point counts, else
                any on its page.

        Returns:
            The heading; None if none or several have the words.
        """
        name = fold_words(words)
        if len(name) < self._limits.title_letters:
            return None
        first_row, last_row = self._pages.get(place.page, (0, 0))
        if is_taken:
            distance = self._limits.adjacent_pt
            first_row, last_row = (
                bisect_left(self._heights, y, first_row, last_row) for y in (place.y - distance, place.y + distance)
            )
        headings = [target for target in map(self._target, self._rows[first_row:last_row]) if target.is_heading]
        return _choose_only([target for target in headings if fold_words(target.words) == name], place)

    def find_lines_at(self, page: int, x: float, y: float) -> list[PrintedLine]:
        """Find the printed lines at a point.

        Args:
            page: 1-based page.
            x: Horizontal position in points.
            y: Vertical position in points.

        Returns:
            Lines that contain the point, text before headings, those whose middle is nearest first.
        """
        first, last = self._pages.get(page, (0, 0))
        low = bisect_left(self._heights, y - _LARGEST_PT, first, last)
        high = bisect_left(self._heights, y, first, last)
        lines = []
        for row in self._rows[low:high]:
            if row.x0 - _PAD_PT <= x <= row.x1 + _PAD_PT and y <= row.y1:
                distance = abs(y - (row.y0 + row.y1) / 2)
                lines.append(
                    (
                        row.start < 0,
                        distance,
                        row.element_id,
                        PrintedLine(row.element_id, row.start, row.end, row.x0, row.x1),
                    )
                )
        return [line for *_, line in sorted(lines, key=lambda sort_row: sort_row[:3])]

    def _find_titled(self, targets_at_point: Sequence[Target], names: Sequence[str], place: Place) -> list[Target]:
        """Find what has the words of a place: a heading at the point or not far below it, else a text or a table."""
        titled_targets = [target for target in targets_at_point if target.is_heading and _is_titled(target, names)]
        if titled_targets:
            return titled_targets
        below = self._find_near(place, below=self._limits.near_pt)
        for group in (
            [target for target in below if target.is_heading],
            [target for target in targets_at_point if target.is_start],
            [target for target in below if target.is_start],
        ):
            titled_targets = [target for target in group if _is_titled(target, names)]
            if titled_targets:
                return titled_targets
        return []

    def _find_at(self, place: Place) -> Sequence[Target]:
        """Return what begins at a point, or so near above or below it that the point means it, as many links do."""
        key = place.page, place.y
        targets = self._at_point.get(key)
        if targets is None:
            near_rows = self._find_rows(place, below=_LARGEST_PT * self._limits.below_sizes)
            targets = self._at_point[key] = [self._target(row) for row in near_rows if self._is_at(row, place.y)]
        return targets

    def _find_near(self, place: Place, *, below: float) -> list[Target]:
        """Return what begins near a point, or at most a given distance below it."""
        return [self._target(row) for row in self._find_rows(place, below=below)]

    def _find_rows(self, place: Place, *, below: float) -> list[TargetLine]:
        """Return the rows of what begins near a point, or at most a given distance below it."""
        start, end = self._pages.get(place.page, (0, 0))
        limits = self._limits
        above = limits.above_sizes
        low = bisect_left(self._heights, place.y - _LARGEST_PT * above, start, end)
        high = bisect_left(self._heights, place.y + below, start, end)
        return [row for row in self._rows[low:high] if row.y0 - place.y >= -above * row.size]

    def _target(self, row: TargetLine) -> Target:
        words = self.headings[row.anchor_id] if row.is_heading else self.texts[row.element_id]
        return Target(
            row.anchor_id,
            row.element_id,
            row.table_id,
            row.is_heading,
            row.is_start,
            words,
            row.y0,
            row.x0,
            row.x1,
            row.size,
        )

    def _is_at(self, row: TargetLine, y: float) -> bool:
        gap = (row.y0 - y) / (row.size or 1.0)
        if row.is_heading:
            return bool(gap <= self._limits.below_sizes)
        return bool(-self._above[1] <= gap <= -self._above[0])

    def _find_by_words(self, candidates: Sequence[Target], place: Place, words: str, *, is_sure: bool) -> Target | None:
        """Choose what shares most words with those of a place; where nothing does, what alone is there.

        `is_sure`: the words are the place's own title, so that only a heading that shares half of them can be meant.
        """
        stem_length = int(self._limits.hint_letters)
        stems = {word.lower()[:stem_length] for word in _WORD.findall(words)}
        if is_sure:
            candidates = [target for target in candidates if target.is_heading]
        scores = [self._count_shared(target, stems, is_alone=is_sure) for target in candidates]
        best_score = max(scores, default=0)
        if is_sure and 2 * best_score < max(1, len(stems)):
            return None
        if not best_score:
            return _choose_only(candidates, place)
        best_candidates = [target for target, score in zip(candidates, scores, strict=True) if score == best_score]
        return _choose_only([target for target in best_candidates if target.is_heading] or best_candidates, place)

    def _count_shared(self, target: Target, stems: Iterable[str], *, is_alone: bool) -> int:
        """Count the words that a target shares; with those of a heading count, unless it is alone, what it opens."""
        text = target.words
        if target.is_heading and not is_alone:
            text = f"{text} {self._first_text.get(target.anchor_id or '', '')}"
        text = text.lower()
        return sum(stem in text for stem in stems)


@lru_cache(maxsize=4096)
def fold_words(text: str) -> str:
    """Normalize a text to letters and digits for comparison.

    Args:
        text: The words.

    Returns:
        Lower-case letters and digits, without blanks.
    """
    return _NO_LETTER.sub("", text).casefold()


def find_number(words: str) -> str:
    """Parse the number at the beginning of a caption: `Table A-2`; empty for other text.

    Args:
        words: Words of a caption or link.

    Returns:
        Kind and number.
    """
    for rule in load_navigation().caption_numbers:
        match = rule.pattern.match(words)
        if match is not None:
            return " ".join(match["number"].split()).replace("–", "-")
    return ""


def _is_titled(target: Target, names: Iterable[str]) -> bool:
    words = fold_words(target.words[:_COMPARED_CHARS])
    if not target.is_heading:
        return any(words.startswith(name) for name in names)
    least_letters = load_navigation().targets.title_letters
    if len(words) < least_letters:
        return words in names
    # A chapter's heading is printed without its number, which its title has.
    return any(words.startswith(name) or name.startswith(words) or name.endswith(words) for name in names)


def _find_chapter(targets: Iterable[Target]) -> Target | None:
    """Find the title of a chapter that is called by its number alone: the one heading of far the largest type."""
    headings = sorted((target for target in targets if target.is_heading), key=lambda target: -target.size)
    least_size = load_navigation().targets.chapter_pt
    if (
        not headings
        or headings[0].size < least_size
        or (len(headings) > 1 and headings[1].size > headings[0].size - 2.0)
    ):
        return None
    return headings[0]


def _choose_only(candidates: Sequence[Target], place: Place) -> Target | None:
    """Return the one target at a place; None where several remain."""
    if place.x is not None and len(candidates) > 1:
        x = place.x
        candidates = [target for target in candidates if target.x0 - _MARGIN_PT <= x <= target.x1] or candidates
    keys = {target.key for target in candidates}
    return candidates[0] if len(keys) == 1 else None
