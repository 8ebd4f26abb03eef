"""Alignment of sections: which section of the next revision continues each section of a document.

The publisher's own numbers decide first, then the same words at the same place, then similar words; what is left over
is searched for anywhere in the other revision. The numbered lines of a form's face are aligned in `line_history`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from taxkg_assets.graph.text_diff import find_masked_words
from taxkg_assets.records import AnchorRecord, iter_records
from taxkg_assets.rules.models.revisions import load_revisions

MOVED, RENAMED, RENUMBERED, SPLIT = "moved", "renamed", "renumbered", "split"
_SMALL_WORD = 3
_SHINGLE = 3
_OPENING = 6
"""Words at the beginning of a text that distinguish it from its neighbors."""
_KEY_WORD = re.compile(r"^(?:lines?|box(?:es)?|parts?|codes?|steps?|columns?|\d+[a-z]*|[ivx]+|[a-z]{1,2})$")


@dataclass(frozen=True)
class Section:
    """A heading of a document with the text directly below it, for alignment across revisions.

    Attributes:
        anchor_id: Heading.
        key: Key of a box, line, part or code; empty where it has none.
        words: Words of the heading as they are compared across years.
        publisher_id: The publisher's id of the section; empty if unknown.
        parent: Index of the section above it in the document; -1 at the top.
        path: Words of the headings above it, the outermost first.
        text: Text directly below the heading.
    """

    anchor_id: str
    key: str
    words: tuple[str, ...]
    publisher_id: str
    parent: int
    path: tuple[tuple[str, ...], ...]
    text: str = field(repr=False)

    @cached_property
    def title(self) -> tuple[str, ...]:
        """Return the words of the heading without its key."""
        start = next((ix for ix, word in enumerate(self.words) if not _KEY_WORD.match(word)), len(self.words))
        return self.words[start:] if self.key else self.words

    @cached_property
    def text_words(self) -> tuple[str, ...]:
        """Return the words of the text in the form compared across years."""
        return find_masked_words(self.text)

    @cached_property
    def bag(self) -> Counter[str]:
        """Return the distinctive words of the text with their counts."""
        return _distinctive(self.text_words)

    @cached_property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        """Return the runs of three words in the text."""
        words = self.text_words
        return frozenset(words[at : at + _SHINGLE] for at in range(len(words) - _SHINGLE + 1))


@dataclass(frozen=True, slots=True)
class Continuation:
    """The sections of the next revision that continue a section.

    Attributes:
        before: Heading in the older revision.
        after: Headings in the newer revision, the main one first; none where the section was dropped.
        changes: `moved`, `renamed`, `renumbered` and `split`, those that apply; empty where nothing changed.
    """

    before: str
    after: tuple[str, ...]
    changes: tuple[str, ...]


def build_sections(anchors: pl.DataFrame, sections: pl.DataFrame) -> list[Section]:
    """Build the sections of one document for alignment, in reading order.

    Args:
        anchors: Anchors of the document.
        sections: Content elements of the document.

    Returns:
        One section per heading; lines, columns and boxes of a form's face are left out.
    """
    texts: dict[str, list[str]] = defaultdict(list)
    for anchor_id, text in sections.sort("paragraph_ix").select("anchor_id", "text").iter_rows():
        texts[anchor_id or ""].append(text)
    rows = {row["anchor_id"]: row for row in iter_records(anchors.sort("anchor_id"), AnchorRecord)}
    kept = [row for row in rows.values() if not _is_numbered_field(row)]
    places = {row["anchor_id"]: place for place, row in enumerate(kept)}
    words = {anchor_id: find_masked_words(row["heading"]) for anchor_id, row in rows.items()}
    result = []
    for row in kept:
        above = _anchors_above(row, rows)
        result.append(
            Section(
                anchor_id=row["anchor_id"],
                key=row["key"] or "",
                words=words[row["anchor_id"]],
                publisher_id=row["publisher_id"] or "",
                parent=next((places[ancestor] for ancestor in above if ancestor in places), -1),
                path=tuple(words[ancestor] for ancestor in reversed(above)),
                text="\n".join(texts[row["anchor_id"]]),
            )
        )
    return result


def _is_numbered_field(row: AnchorRecord) -> bool:
    return row["perspective"] == "face" and row["kind"] in ("line", "column", "box", "box_group")


def _anchors_above(row: AnchorRecord, rows: Mapping[str, AnchorRecord]) -> list[str]:
    above: list[str] = []
    parent_id = row["parent_anchor_id"]
    while parent_id is not None and parent_id in rows and parent_id not in above:
        above.append(parent_id)
        parent_id = rows[parent_id]["parent_anchor_id"]
    return above


def align_sections(older: Sequence[Section], newer: Sequence[Section]) -> list[Continuation]:
    """Align the sections of a document with those of its next revision.

    Args:
        older: Sections of the older revision.
        newer: Sections of the newer one.

    Returns:
        One continuation per older section, in its order. Newer sections in no continuation are new.
    """
    aligner = _Aligner(older, newer)
    aligner.pair_published()
    aligner.pair_unique(lambda section: (section.words, section.path))
    aligner.pair_unique(lambda section: (section.words, section.path[-1:]))
    aligner.pair_unique(lambda section: section.words if len(section.title) > 1 else None)
    while aligner.pair_children() + aligner.pair_parents():
        pass
    aligner.pair_elsewhere()
    aligner.pair_openings(range(len(older)), range(len(newer)))
    while aligner.pair_children() + aligner.pair_parents():
        pass
    return aligner.list_continuations()


class _Aligner:
    """Pairs of sections while they are found: each step pairs only what the steps before it left over."""

    def __init__(self, old: Sequence[Section], new: Sequence[Section]) -> None:
        self.old, self.new = old, new
        self.became: dict[int, int] = {}
        self.was: dict[int, int] = {}
        self.limits: dict[str, float] = load_revisions().sections

    def pair(self, old: int, new: int) -> None:
        """Pair two sections."""
        self.became[old], self.was[new] = new, old

    def pair_published(self) -> None:
        """Pair sections with the same publisher id, unless neither heading nor text agrees."""
        least = self.limits["published"]
        for i, j in self._unique_matches(lambda section: section.publisher_id or None):
            old, new = self.old[i], self.new[j]
            heading = _share(_distinctive(old.words), _distinctive(new.words))
            if old.words == new.words or heading >= least or _share(old.bag, new.bag) >= least:
                self.pair(i, j)

    def pair_unique(self, name: Callable[[Section], Hashable]) -> None:
        """Pair sections by names that occur once in each revision."""
        for i, j in self._unique_matches(name):
            self.pair(i, j)

    def _unique_matches(self, name: Callable[[Section], Hashable]) -> list[tuple[int, int]]:
        places: tuple[dict[Hashable, list[int]], ...] = (defaultdict(list), defaultdict(list))
        for side, sections, done in ((0, self.old, self.became), (1, self.new, self.was)):
            for ix, section in enumerate(sections):
                if ix not in done and (section_name := name(section)) is not None:
                    places[side][section_name].append(ix)
        return [
            (mine[0], theirs[0])
            for section_name, mine in places[0].items()
            if len(mine) == 1 and len(theirs := places[1].get(section_name, [])) == 1
        ]

    def pair_children(self) -> int:
        """Pair the remaining sections under paired parents, most similar first, and return the number of new pairs."""
        groups: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for i, section in enumerate(self.old):
            above = self.became.get(section.parent, -2) if section.parent >= 0 else -1
            if i not in self.became and above != -2:
                groups[above][0].append(i)
        for j, section in enumerate(self.new):
            if j not in self.was and section.parent in groups:
                groups[section.parent][1].append(j)
        before = len(self.became)
        for mine, theirs in groups.values():
            scored = [
                (self._score(i, j), -abs(a - b), -i, -j) for a, i in enumerate(mine) for b, j in enumerate(theirs)
            ]
            for score, _, i, j in sorted(scored, reverse=True):
                if score > 0 and -i not in self.became and -j not in self.was:
                    self.pair(-i, -j)
            self.pair_openings(mine, theirs)
        return len(self.became) - before

    def pair_openings(self, mine: Sequence[int], theirs: Sequence[int]) -> None:
        """Pair remaining sections whose texts begin with the same distinctive words."""
        places: tuple[dict[tuple[str, ...], list[int]], ...] = (defaultdict(list), defaultdict(list))
        for side, sections, indices in ((0, self.old, mine), (1, self.new, theirs)):
            for ix in indices:
                if len(opening := sections[ix].text_words[:_OPENING]) == _OPENING:
                    places[side][opening].append(ix)
        for opening, olds in places[0].items():
            news = places[1].get(opening, [])
            if len(olds) == len(news) == 1 and olds[0] not in self.became and news[0] not in self.was:
                self.pair(olds[0], news[0])

    def _score(self, i: int, j: int) -> float:
        """Score how well two sections under one parent go together; 0 where they do not."""
        old, new = self.old[i], self.new[j]
        text = _share(old.bag, new.bag)
        if old.words == new.words:
            return 2 + text
        heading = _dice(old.title, new.title)
        if old.key and new.key and old.key != new.key:
            is_same = (bool(old.title) and old.title == new.title) or text >= self.limits["text"]
            return 0.5 + text if is_same else 0.0
        if old.key and old.key == new.key and (not old.title or not new.title or text >= self.limits["keyed"]):
            return 1 + text
        least = self.limits["keyed"] if old.key and old.key == new.key else self.limits["heading"]
        return heading + text if heading >= least or text >= self.limits["text"] else 0.0

    def pair_parents(self) -> int:
        """Pair old sections with new ones that contain most of their subsections; return how many were paired."""
        votes: dict[int, Counter[int]] = defaultdict(Counter)
        for i, j in self.became.items():
            old_parent, new_parent = self.old[i].parent, self.new[j].parent
            if old_parent >= 0 and new_parent >= 0 and old_parent not in self.became and new_parent not in self.was:
                votes[old_parent][new_parent] += 1
        before = len(self.became)
        children = Counter(section.parent for section in self.old)
        for old_parent, new_sections in sorted(votes.items()):
            new_parent, count = new_sections.most_common(1)[0]
            if 2 * count > children[old_parent] and new_parent not in self.was:
                self.pair(old_parent, new_parent)
        return len(self.became) - before

    def pair_elsewhere(self) -> None:
        """Pair each remaining section with the section that contains most of its text, anywhere in the document."""
        left = [i for i in range(len(self.old)) if i not in self.became]
        loose = [j for j in range(len(self.new)) if j not in self.was]
        for i, j in _find_overlaps(self.old, self.new, left, loose, limits=self.limits, limit="elsewhere"):
            if i not in self.became and j not in self.was:
                self.pair(i, j)

    def find_splits(self) -> dict[int, list[int]]:
        """Find new sections that contain part of an old section whose main part is elsewhere.

        A section with unchanged text was not split. Otherwise only text that occurs in one section of each revision
        counts.
        """
        loose = [j for j in range(len(self.new)) if j not in self.was]
        edited = [i for i, j in self.became.items() if self.old[i].text != self.new[j].text]
        if not loose:
            return {}
        printed = [self.old[i] for i in edited], [self.new[j] for j in (*loose, *(self.became[i] for i in edited))]
        counts = [Counter(run for section in side for run in section.shingles) for side in printed]
        parts: dict[int, list[int]] = defaultdict(list)
        taken: set[int] = set()
        for j, i in _find_overlaps(self.new, self.old, loose, edited, limits=self.limits, limit="part"):
            shared_runs = {
                run for run in self.new[j].shingles & self.old[i].shingles if counts[0][run] == counts[1][run] == 1
            }
            is_below = not self.new[j].key and self._is_below(j, self.became[i])
            if j not in taken and not is_below and len(shared_runs) >= self.limits["part"] * len(self.new[j].shingles):
                taken.add(j)
                parts[i].append(j)
        return parts

    def _is_below(self, j: int, above: int) -> bool:
        """Decide whether a new section is under another one: its text was given a heading of its own."""
        while j >= 0 and j != above:
            j = self.new[j].parent
        return j == above

    def list_continuations(self) -> list[Continuation]:
        """List the continuation of each old section."""
        parts = self.find_splits()
        moved = self._find_moved()
        continuations = []
        for i, old in enumerate(self.old):
            if i not in self.became:
                continuations.append(Continuation(old.anchor_id, (), ()))
                continue
            targets = [self.became[i], *sorted(parts.get(i, ()))]
            new = self.new[targets[0]]
            is_renumbered = bool(old.key and new.key) and old.key != new.key
            changes = [
                (SPLIT, len(targets) > 1),
                (RENUMBERED, is_renumbered),
                (RENAMED, old.title != new.title or (old.words != new.words and not is_renumbered)),
                (MOVED, i in moved),
            ]
            after = tuple(self.new[j].anchor_id for j in targets)
            continuations.append(
                Continuation(old.anchor_id, after, tuple(name for name, applies in changes if applies))
            )
        return continuations

    def _find_moved(self) -> set[int]:
        """Find the sections that are under another parent, or out of the order of their siblings."""
        moved = set()
        siblings: dict[int, list[int]] = defaultdict(list)
        for i, j in self.became.items():
            above, new_parent = self.old[i].parent, self.new[j].parent
            if (self.became.get(above, -2) if above >= 0 else -1) == new_parent:
                siblings[above].append(i)
            else:
                moved.add(i)
        for sibling in siblings.values():
            sibling.sort()
            order = [self.became[i] for i in sibling]
            kept = _longest_rise(order)
            moved |= {i for i, j in zip(sibling, order, strict=True) if j not in kept}
        return moved


def _find_overlaps(
    sections: Sequence[Section],
    others: Sequence[Section],
    own: Iterable[int],
    theirs: Iterable[int],
    *,
    limits: Mapping[str, float],
    limit: str,
) -> list[tuple[int, int]]:
    """Find pairs of which the second prints a share of the first one's text; the largest share first."""
    printed: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in theirs:
        for shingle in others[j].shingles:
            printed[shingle].append(j)
    overlaps = []
    for i in own:
        shingles = sections[i].shingles
        if len(shingles) < limits["least_shingles"]:
            continue
        counts = Counter(j for shingle in shingles for j in printed.get(shingle, ()))
        overlaps += [
            (count / len(shingles), -i, -j) for j, count in counts.items() if count >= limits[limit] * len(shingles)
        ]
    return [(-i, -j) for _, i, j in sorted(overlaps, reverse=True)]


def _distinctive(words: Sequence[str]) -> Counter[str]:
    """Count the words that tell texts apart; all words where there are no others."""
    return Counter([word for word in words if len(word) > _SMALL_WORD or not word.isalpha()] or words)


def _share(one: Counter[str], other: Counter[str]) -> float:
    """Dice similarity of two bags of words; 0 where either is empty."""
    total = one.total() + other.total()
    if not one or not other:
        return 0.0
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return 2 * sum(min(count, large[word]) for word, count in small.items() if word in large) / total


def _dice(one: Sequence[str], other: Sequence[str]) -> float:
    return _share(Counter(one), Counter(other))


def _longest_rise(order: Sequence[int]) -> set[int]:
    """Return the longest rising subsequence of distinct numbers."""
    ends: list[int] = []
    tails: list[int] = []
    before: dict[int, int | None] = {}
    for value in order:
        at = bisect_left(ends, value)
        before[value] = tails[at - 1] if at else None
        ends[at : at + 1] = [value]
        tails[at : at + 1] = [value]
    kept: set[int] = set()
    last: int | None = tails[-1] if tails else None
    while last is not None:
        kept.add(last)
        last = before[last]
    return kept
