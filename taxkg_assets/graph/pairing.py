"""Pairing: which passage of one revision became which passage of the other.

Headings are paired by the alignment of sections. Then sequence: what both print in the same order fixes the rest.
Between those fixed points passages pair by the words they share, and one may have become two; what is left over is
searched for anywhere else in the document. The cost grows with the length of the documents and the size of the gaps,
not with their product.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from taxkg_assets.graph.line_history import LabeledRecord, pair_lines
from taxkg_assets.graph.passages import ADDRESS, HEADING, LINE, ROW, TEXT, ComparableDocument, Passage
from taxkg_assets.graph.section_alignment import MOVED, align_sections
from taxkg_assets.rules.models.revisions import Limits, load_revisions


@dataclass(frozen=True, slots=True)
class Pair:
    """Corresponding passages of two revisions; an empty side means that the other was added or removed."""

    before: tuple[Passage, ...]
    after: tuple[Passage, ...]
    is_moved: bool = False


_Gap = tuple[int, int, int, int]
_Link = tuple[tuple[int, ...], tuple[int, ...], bool]
"""Places of passages on both sides, and whether they were found elsewhere than in their sequence."""


def find_pairs(before: ComparableDocument, after: ComparableDocument) -> list[Pair]:
    """Pair the corresponding passages of two documents; every passage is in exactly one pair.

    Args:
        before: Older document.
        after: Newer document.

    Returns:
        Pairs in the order of the newer document; removed passages follow their predecessors.
    """
    old, new = before.passages, after.passages
    matcher = SequenceMatcher(None, [_sign(p) for p in old], [_sign(p) for p in new], autojunk=False)
    links: list[_Link] = []
    for op, i0, i1, j0, j1 in matcher.get_opcodes():
        if op == "equal":
            links += [((i,), (j,), False) for i, j in zip(range(i0, i1), range(j0, j1), strict=True)]
        elif op == "replace":
            links += [(i, j, False) for i, j in _pair_gap(old, new, (i0, i1, j0, j1))]
    links = _pair_sections(before, after, links)
    links = _pair_form_lines(old, new, links)
    links += _pair_moved(old, new, links)
    links += _pair_keyed(old, new, links)
    links += _pair_headings(before, after, links)
    paired_old = {i for side, _, _ in links for i in side}
    paired_new = {j for _, side, _ in links for j in side}
    links += [((i,), (), False) for i in range(len(old)) if i not in paired_old]
    links += [((), (j,), False) for j in range(len(new)) if j not in paired_new]
    place = {i: j[0] for side, j, is_moved in links if j and not is_moved for i in side}
    links.sort(key=lambda link: _order(link[0], link[1], place))
    return [Pair(tuple(old[i] for i in a), tuple(new[j] for j in b), moved) for a, b, moved in links]


def _pair_sections(before: ComparableDocument, after: ComparableDocument, links: Sequence[_Link]) -> list[_Link]:
    """Pair headings as their sections are aligned, in place of the pairs that their words alone would give."""
    places = [
        {p.parts[0].source_id: ix for ix, p in enumerate(document.passages) if p.kind == HEADING}
        for document in (before, after)
    ]
    pairs: list[_Link] = []
    for section in align_sections(before.sections, after.sections):
        targets = tuple(places[1][continuation_id] for continuation_id in section.after if continuation_id in places[1])
        if section.before in places[0] and targets:
            pairs.append(((places[0][section.before],), targets, MOVED in section.changes))
    return _put_first(pairs, links)


def _put_first(pairs: Sequence[_Link], links: Sequence[_Link]) -> list[_Link]:
    """Add pairs, and leave out the links that contain a passage of them."""
    old = {ix for mine, _, _ in pairs for ix in mine}
    new = {ix for _, theirs, _ in pairs for ix in theirs}
    kept = [link for link in links if old.isdisjoint(link[0]) and new.isdisjoint(link[1])]
    return [*kept, *pairs]


def _pair_form_lines(old: Sequence[Passage], new: Sequence[Passage], links: Sequence[_Link]) -> list[_Link]:
    """Pair the lines of forms as their histories do, in place of the pairs that their place among others would give."""
    equal = [(i, j) for mine, theirs, _ in links for i in mine for j in theirs if _are_equal_lines(old[i], new[j])]
    left = [ix for ix, passage in enumerate(old) if passage.kind == LINE and ix not in {i for i, _ in equal}]
    right = [ix for ix, passage in enumerate(new) if passage.kind == LINE and ix not in {j for _, j in equal}]
    sides = [[old[ix] for ix in left], [new[ix] for ix in right]]
    repeated = {number for side in sides for number, count in Counter(map(_number, side)).items() if count > 1}
    lines = [[_line(passage, has_worksheet=_number(passage) in repeated) for passage in side] for side in sides]
    parts = [{_place(passage) for passage in side if passage.kind == LINE} for side in (old, new)]
    joined = {(i, j) for mine, theirs, _ in links for i in mine for j in theirs}
    pairs: list[_Link] = []
    for j, i in pair_lines(*lines).items():
        if (left[i], right[j]) in joined:
            continue
        places = [_place(passage) for passage in (sides[0][i], sides[1][j])]
        # A part that has got another name, or is new, has moved no line.
        is_moved = places[0] != places[1] and places[0] in parts[1] and places[1] in parts[0]
        pairs.append(((left[i],), (right[j],), is_moved))
    return _with_continuations(old, new, pairs, links=_put_first(pairs, links))


def _with_continuations(
    old: Sequence[Passage], new: Sequence[Passage], pairs: Sequence[_Link], *, links: Sequence[_Link]
) -> list[_Link]:
    """Add to each line the text below it that the other revision prints in the line itself."""
    free = [set(ixs) for ixs in _left_over(old, new, links)]
    extended: list[_Link] = []
    for (i,), (j,), is_moved in pairs:
        before = (i, i + 1) if i + 1 in free[0] and _continues(old[i], old[i + 1], new[j]) else (i,)
        after = (j, j + 1) if j + 1 in free[1] and _continues(new[j], new[j + 1], old[i]) else (j,)
        if len(before) + len(after) > 2:
            extended.append((before, after, is_moved))
    return _put_first(extended, links)


def _continues(line: Passage, text: Passage, other: Passage) -> bool:
    """Decide whether most words of a text below a line are in the same line of the other revision."""
    if text.kind != TEXT or text.owner != line.owner:
        return False
    return _shared(text.bag, other.bag) >= load_revisions().limits.merge_overlap * text.bag.total()


def _are_equal_lines(old: Passage, new: Passage) -> bool:
    """Return whether two lines have the same words, number and place: a document may print several of one number."""
    return old.kind == new.kind == LINE and _sign(old) == _sign(new) and _place(old) == _place(new)


def _place(passage: Passage) -> tuple[str, tuple[str, ...]]:
    return passage.owner.part, passage.owner.above


def _number(passage: Passage) -> tuple[str, str]:
    """Return the part and the number of a line; worksheets of a document may use the same numbers."""
    return passage.owner.part, passage.owner.key


def _line(passage: Passage, *, has_worksheet: bool) -> LabeledRecord:
    """Return what the line of a passage is paired by."""
    owner = passage.owner
    worksheet = owner.above if has_worksheet else ()
    part = " ".join((owner.perspective, owner.form, owner.part, *worksheet))
    return {"part": part, "key": owner.key, "kind": owner.kind, "label": owner.heading}


def _sign(passage: Passage) -> tuple[str, ...]:
    """Return what two passages must share to be equal without a comparison: the words, and of a line its key."""
    return (*passage.words, "#", {LINE: passage.owner.key, ADDRESS: ADDRESS}.get(passage.kind, ""))


def _order(old: tuple[int, ...], new: tuple[int, ...], place: dict[int, int]) -> tuple[int, int, int]:
    """Return a sort key: the newer document's order; removed passages follow the nearest kept passage before them."""
    if new:
        return new[0], 0, 0
    above = next((place[i] for i in range(old[0] - 1, -1, -1) if i in place), -1)
    return above, 1, old[0]


# ------------------------------------------------------------------------------------------------- in their place


def _pair_gap(
    old: Sequence[Passage], new: Sequence[Passage], gap: _Gap
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pair the passages between two fixed points, keeping their order, so that the shared words add up to most."""
    i0, i1, j0, j1 = gap
    rows, columns = i1 - i0, j1 - j0
    if rows * columns > load_revisions().limits.gap_cells:
        return []
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    step = [[(0, 0)] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows + 1):
        for j in range(columns + 1):
            choices = [(best[i - 1][j], (1, 0))] if i else []
            choices += [(best[i][j - 1], (0, 1))] if j else []
            for di, dj in ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3)):
                if i >= di and j >= dj:
                    gain = _gain(old[i0 + i - di : i0 + i], new[j0 + j - dj : j0 + j])
                    if gain > 0:
                        choices.append((best[i - di][j - dj] + gain, (di, dj)))
            if choices:
                best[i][j], step[i][j] = max(choices, key=lambda choice: choice[0])
    pairs = []
    i, j = rows, columns
    while i or j:
        di, dj = step[i][j]
        if di and dj:
            pairs.append((tuple(range(i0 + i - di, i0 + i)), tuple(range(j0 + j - dj, j0 + j))))
        i, j = i - di, j - dj
    return pairs


def _gain(old: Sequence[Passage], new: Sequence[Passage]) -> float:
    """Return the words that pairing these passages would explain; 0 where they do not belong together."""
    limits = load_revisions().limits
    if len(old) == len(new) == 1:
        return _similarity_gain(old[0], new[0], limits)
    many, one = (old, new[0]) if len(new) == 1 else (new, old[0])
    total = one.bag.total()
    for part in many:
        if part.bag.total() >= total or _is_fixed(part) or _is_fixed(one):
            return 0.0
        if _shared(part.bag, one.bag) < limits.merge_overlap * part.bag.total():
            return 0.0
    joined: Counter[str] = sum((part.bag for part in many), Counter())
    shared, words = _shared(joined, one.bag), joined.total() + total
    # A merge has to explain clearly more than its best part would alone.
    gain = (2 * shared - limits.pair_similarity * words) * limits.merge_discount
    return gain if 2 * shared >= limits.merge_overlap * words else 0.0


def _is_fixed(passage: Passage) -> bool:
    """Return whether a passage is never merged: a keyed heading or line, or text in a margin."""
    return passage.kind == ADDRESS or (bool(passage.owner.key) and passage.kind in (HEADING, LINE))


def _similarity_gain(a: Passage, b: Passage, limits: Limits) -> float:
    words = a.bag.total() + b.bag.total()
    if (a.kind == ADDRESS) != (b.kind == ADDRESS):
        return 0.0
    if (a.kind == HEADING) != (b.kind == HEADING):
        return words * 0.1 if a.words == b.words else 0.0
    least = limits.pair_similarity
    if a.kind == HEADING:
        if a.owner.key and b.owner.key and a.owner.key != b.owner.key:
            return 0.0
        least = limits.keyed_similarity if a.owner.key and a.place == b.place else limits.heading_similarity
    elif a.place == b.place:
        least = limits.keyed_similarity if a.owner.key else limits.placed_similarity
        if a.kind == b.kind == ROW and a.parts[0].text == b.parts[0].text and len(a.parts) == len(b.parts):
            return 0.2 * words
    # No two bags share more than the smaller one contains.
    if 2 * min(a.bag.total(), b.bag.total()) < least * words:
        return 0.0
    shared = 2 * _shared(a.bag, b.bag)
    bonus = 0.1 * words if a.place == b.place else 0.0
    return shared - least * words + bonus + 0.01 if shared >= least * words else 0.0


def _shared(a: Counter[str], b: Counter[str]) -> int:
    small, large = (a, b) if len(a) <= len(b) else (b, a)
    return sum(min(count, large[word]) for word, count in small.items() if word in large)


# ----------------------------------------------------------------------------------------------------- elsewhere


def _pair_moved(old: Sequence[Passage], new: Sequence[Passage], links: Sequence[_Link]) -> list[_Link]:
    """Pair what is left over with what is left over elsewhere: the same words first, then the most similar."""
    limits = load_revisions().limits
    left, right = _left_over(old, new, links)
    pairs: list[_Link] = []
    by_words: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for j in right:
        by_words[new[j].words].append(j)
    for i in left:
        if same := by_words.get(old[i].words):
            j = same.pop(0)
            pairs.append(((i,), (j,), True))
    left, right = _left_over(old, new, [*links, *pairs])
    shingled: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for j in right:
        for shingle in _shingles(new[j], limits.shingle):
            shingled[shingle].add(j)
    taken: set[int] = set()
    for i in left:
        if len(old[i].words) < limits.moved_words or old[i].kind == HEADING:
            continue
        votes: Counter[int] = Counter()
        for shingle in _shingles(old[i], limits.shingle):
            votes.update(shingled.get(shingle, ()))
        for j, _ in votes.most_common(5):
            words = old[i].bag.total() + new[j].bag.total()
            if j not in taken and 2 * _shared(old[i].bag, new[j].bag) >= limits.moved_similarity * words:
                taken.add(j)
                pairs.append(((i,), (j,), True))
                break
    return pairs


def _shingles(passage: Passage, length: int) -> set[tuple[str, ...]]:
    words = passage.words
    return {words[k : k + length] for k in range(max(0, len(words) - length) + 1)}


def _pair_keyed(old: Sequence[Passage], new: Sequence[Passage], links: Sequence[_Link]) -> list[_Link]:
    """Pair what is left under one box or line of both: its text was rewritten."""
    left, right = _left_over(old, new, links)
    sides: dict[tuple[str, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, passages, indices in ((0, old, left), (1, new, right)):
        for ix in indices:
            if passages[ix].owner.key and passages[ix].kind != HEADING:
                sides[passages[ix].place][side].append(ix)
    return [(tuple(a), tuple(b), False) for a, b in sides.values() if a and b]


def _pair_headings(before: ComparableDocument, after: ComparableDocument, links: Sequence[_Link]) -> list[_Link]:
    """Pair headings whose first paragraphs belong together: reworded from end to end, or given another key."""
    old, new = before.passages, after.passages
    left, right = _left_over(old, new, links)
    became = {a[0]: b[0] for a, b, _ in links if a and b}
    loose = set(right)
    pairs: list[_Link] = []
    for i in left:
        j = became.get(i + 1, 0) - 1
        if j not in loose or not old[i].kind == new[j].kind == HEADING or old[i].is_keyed != new[j].is_keyed:
            continue
        if old[i].is_keyed and (old[i].place in after.keys or new[j].place in before.keys):
            continue
        loose.remove(j)
        pairs.append(((i,), (j,), False))
    return pairs


def _left_over(old: Sequence[Passage], new: Sequence[Passage], links: Sequence[_Link]) -> tuple[list[int], list[int]]:
    paired_old = {i for side, _, _ in links for i in side}
    paired_new = {j for _, side, _ in links for j in side}
    return (
        [i for i in range(len(old)) if i not in paired_old],
        [j for j in range(len(new)) if j not in paired_new],
    )
