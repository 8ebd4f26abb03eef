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
    heading_rows = [row for row in rows.values() if not _is_numbered_field(row)]
    places = {row["anchor_id"]: place for place, row in enumerate(heading_rows)}
    words = {anchor_id: find_masked_words(row["heading"]) for anchor_id, row in rows.items()}
    result = []
    for row in heading_rows:
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

    def pair(self, old_ix: int, new_ix: int) -> None:
        """Pair two sections."""
        self.became[old_ix], self.was[new_ix] = new_ix, old_ix

    def pair_published(self) -> None:
        """Pair sections with the same publisher id, unless neither heading nor text agrees."""
        least = self.limits["published"]
        for old_ix, new_ix in self._unique_matches(lambda section: section.publisher_id or None):
            old, new = self.old[old_ix], self.new[new_ix]
            heading = _share(_distinctive(old.words), _distinctive(new.words))
            if old.words == new.words or heading >= least or _share(old.bag, new.bag) >= least:
                self.pair(old_ix, new_ix)

    def pair_unique(self, name_section: Callable[[Section], Hashable]) -> None:
        """Pair sections by names that occur once in each revision."""
        for old_ix, new_ix in self._unique_matches(name_section):
            self.pair(old_ix, new_ix)

    def _unique_matches(self, name_section: Callable[[Section], Hashable]) -> list[tuple[int, int]]:
        places: tuple[dict[Hashable, list[int]], ...] = (defaultdict(list), defaultdict(list))
        for side, sections, done in ((0, self.old, self.became), (1, self.new, self.was)):
            for ix, section in enumerate(sections):
                if ix not in done and (section_name := name_section(section)) is not None:
                    places[side][section_name].append(ix)
        return [
            (old_ixs[0], new_ixs[0])
            for section_name, old_ixs in places[0].items()
            if len(old_ixs) == 1 and len(new_ixs := places[1].get(section_name, [])) == 1
        ]

    def pair_children(self) -> int:
        """Pair the remaining sections under paired parents, most similar first, and return the number of new pairs."""
        groups: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for old_ix, section in enumerate(self.old):
            new_parent = self.became.get(section.parent, -2) if section.parent >= 0 else -1
            if old_ix not in self.became and new_parent != -2:
                groups[new_parent][0].append(old_ix)
        for new_ix, section in enumerate(self.new):
            if new_ix not in self.was and section.parent in groups:
                groups[section.parent][1].append(new_ix)
        pairs_before = len(self.became)
        for old_ixs, new_ixs in groups.values():
            scored = [
                (self._score(old_ix, new_ix), -abs(old_rank - new_rank), -old_ix, -new_ix)
                for old_rank, old_ix in enumerate(old_ixs)
                for new_rank, new_ix in enumerate(new_ixs)
            ]
            for score, _, old_ix, new_ix in sorted(scored, reverse=True):
                if score > 0 and -old_ix not in self.became and -new_ix not in self.was:
                    self.pair(-old_ix, -new_ix)
            self.pair_openings(old_ixs, new_ixs)
        return len(self.became) - pairs_before

    def pair_openings(self, old_ixs: Sequence[int], new_ixs: Sequence[int]) -> None:
        """Pair remaining sections whose texts begin with the same distinctive words."""
        places: tuple[dict[tuple[str, ...], list[int]], ...] = (defaultdict(list), defaultdict(list))
        for side, sections, indices in ((0, self.old, old_ixs), (1, self.new, new_ixs)):
            for ix in indices:
                if len(opening := sections[ix].text_words[:_OPENING]) == _OPENING:
                    places[side][opening].append(ix)
        for opening, matching_old in places[0].items():
            matching_new = places[1].get(opening, [])
            if (
                len(matching_old) == len(matching_new) == 1
                and matching_old[0] not in self.became
                and matching_new[0] not in self.was
            ):
                self.pair(matching_old[0], matching_new[0])

    def _score(self, old_ix: int, new_ix: int) -> float:
        """Score how well two sections under one parent go together; 0 where they do not."""
        old, new = self.old[old_ix], self.new[new_ix]
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
        for old_ix, new_ix in self.became.items():
            old_parent, new_parent = self.old[old_ix].parent, self.new[new_ix].parent
            if old_parent >= 0 and new_parent >= 0 and old_parent not in self.became and new_parent not in self.was:
                votes[old_parent][new_parent] += 1
        pairs_before = len(self.became)
        children = Counter(section.parent for section in self.old)
        for old_parent, new_sections in sorted(votes.items()):
            new_parent, count = new_sections.most_common(1)[0]
            if 2 * count > children[old_parent] and new_parent not in self.was:
                self.pair(old_parent, new_parent)
        return len(self.became) - pairs_before

    def pair_elsewhere(self) -> None:
        """Pair each remaining section with the section that contains most of its text, anywhere in the document."""
        unpaired_old = [old_ix for old_ix in range(len(self.old)) if old_ix not in self.became]
        unpaired_new = [new_ix for new_ix in range(len(self.new)) if new_ix not in self.was]
        for old_ix, new_ix in _find_overlaps(
            self.old, self.new, unpaired_old, unpaired_new, limits=self.limits, limit="elsewhere"
        ):
            if old_ix not in self.became and new_ix not in self.was:
                self.pair(old_ix, new_ix)

    def find_splits(self) -> dict[int, list[int]]:
        """Find new sections that contain part of an old section whose main part is elsewhere.

        A section with unchanged text was not split. Otherwise only text that occurs in one section of each revision
        counts.
        """
        unpaired_new = [new_ix for new_ix in range(len(self.new)) if new_ix not in self.was]
        edited = [old_ix for old_ix, new_ix in self.became.items() if self.old[old_ix].text != self.new[new_ix].text]
        if not unpaired_new:
            return {}
        printed = (
            [self.old[old_ix] for old_ix in edited],
            [self.new[new_ix] for new_ix in (*unpaired_new, *(self.became[old_ix] for old_ix in edited))],
        )
        counts = [Counter(run for section in side for run in section.shingles) for side in printed]
        parts: dict[int, list[int]] = defaultdict(list)
        split_off: set[int] = set()
        for new_ix, old_ix in _find_overlaps(
            self.new, self.old, unpaired_new, edited, limits=self.limits, limit="part"
        ):
            shared_runs = {
                run
                for run in self.new[new_ix].shingles & self.old[old_ix].shingles
                if counts[0][run] == counts[1][run] == 1
            }
            is_below = not self.new[new_ix].key and self._is_below(new_ix, self.became[old_ix])
            if (
                new_ix not in split_off
                and not is_below
                and len(shared_runs) >= self.limits["part"] * len(self.new[new_ix].shingles)
            ):
                split_off.add(new_ix)
                parts[old_ix].append(new_ix)
        return parts

    def _is_below(self, new_ix: int, above_ix: int) -> bool:
        """Decide whether a new section is under another one: its text was given a heading of its own."""
        while new_ix >= 0 and new_ix != above_ix:
            new_ix = self.new[new_ix].parent
        return new_ix == above_ix

    def list_continuations(self) -> list[Continuation]:
        """List the continuation of each old section."""
        parts = self.find_splits()
        moved = self._find_moved()
        continuations = []
        for old_ix, old in enumerate(self.old):
            if old_ix not in self.became:
                continuations.append(Continuation(old.anchor_id, (), ()))
                continue
            targets = [self.became[old_ix], *sorted(parts.get(old_ix, ()))]
            new = self.new[targets[0]]
            is_renumbered = bool(old.key and new.key) and old.key != new.key
            changes = [
                (SPLIT, len(targets) > 1),
                (RENUMBERED, is_renumbered),
                (RENAMED, old.title != new.title or (old.words != new.words and not is_renumbered)),
                (MOVED, old_ix in moved),
            ]
            after = tuple(self.new[new_ix].anchor_id for new_ix in targets)
            continuations.append(
                Continuation(old.anchor_id, after, tuple(name for name, applies in changes if applies))
            )
        return continuations

    def _find_moved(self) -> set[int]:
        """Find the sections that are under another parent, or out of the order of their siblings."""
        moved = set()
        siblings: dict[int, list[int]] = defaultdict(list)
        for old_ix, new_ix in self.became.items():
            above, new_parent = self.old[old_ix].parent, self.new[new_ix].parent
            if (self.became.get(above, -2) if above >= 0 else -1) == new_parent:
                siblings[above].append(old_ix)
            else:
                moved.add(old_ix)
        for sibling in siblings.values():
            sibling.sort()
            order = [self.became[old_ix] for old_ix in sibling]
            in_order = _longest_rise(order)
            moved |= {old_ix for old_ix, new_ix in zip(sibling, order, strict=True) if new_ix not in in_order}
        return moved


def _find_overlaps(
    sections: Sequence[Section],
    others: Sequence[Section],
    section_ixs: Iterable[int],
    other_ixs: Iterable[int],
    *,
    limits: Mapping[str, float],
    limit: str,
) -> list[tuple[int, int]]:
    """Find pairs of which the second prints a share of the first one's text; the largest share first."""
    printed: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for other_ix in other_ixs:
        for shingle in others[other_ix].shingles:
            printed[shingle].append(other_ix)
    overlaps = []
    for ix in section_ixs:
        shingles = sections[ix].shingles
        if len(shingles) < limits["least_shingles"]:
            continue
        counts = Counter(other_ix for shingle in shingles for other_ix in printed.get(shingle, ()))
        overlaps += [
            (count / len(shingles), -ix, -other_ix)
            for other_ix, count in counts.items()
            if count >= limits[limit] * len(shingles)
        ]
    return [(-ix, -other_ix) for _, ix, other_ix in sorted(overlaps, reverse=True)]


def _distinctive(words: Sequence[str]) -> Counter[str]:
    """Count the words that tell texts apart; all words where there are no others."""
    return Counter([word for word in words if len(word) > _SMALL_WORD or not word.isalpha()] or words)


def _share(bag: Counter[str], other_bag: Counter[str]) -> float:
    """Dice similarity of two bags of words; 0 where either is empty."""
    total = bag.total() + other_bag.total()
    if not bag or not other_bag:
        return 0.0
    small, large = (bag, other_bag) if len(bag) <= len(other_bag) else (other_bag, bag)
    return 2 * sum(min(count, large[word]) for word, count in small.items() if word in large) / total


def _dice(words: Sequence[str], other_words: Sequence[str]) -> float:
    return _share(Counter(words), Counter(other_words))


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
    rising: set[int] = set()
    last: int | None = tails[-1] if tails else None
    while last is not None:
        rising.add(last)
        last = before[last]
    return rising
