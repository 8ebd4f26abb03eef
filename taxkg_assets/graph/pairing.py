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
            links += [
                ((old_ix,), (new_ix,), False) for old_ix, new_ix in zip(range(i0, i1), range(j0, j1), strict=True)
            ]
        elif op == "replace":
            links += [(old_ixs, new_ixs, False) for old_ixs, new_ixs in _pair_gap(old, new, (i0, i1, j0, j1))]
    links = _pair_sections(before, after, links)
    links = _pair_form_lines(old, new, links)
    links += _pair_moved(old, new, links)
    links += _pair_keyed(old, new, links)
    links += _pair_headings(before, after, links)
    paired_old = {old_ix for old_ixs, _, _ in links for old_ix in old_ixs}
    paired_new = {new_ix for _, new_ixs, _ in links for new_ix in new_ixs}
    links += [((old_ix,), (), False) for old_ix in range(len(old)) if old_ix not in paired_old]
    links += [((), (new_ix,), False) for new_ix in range(len(new)) if new_ix not in paired_new]
    place = {
        old_ix: new_ixs[0] for old_ixs, new_ixs, is_moved in links if new_ixs and not is_moved for old_ix in old_ixs
    }
    links.sort(key=lambda link: _order(link[0], link[1], place))
    return [
        Pair(tuple(old[old_ix] for old_ix in old_ixs), tuple(new[new_ix] for new_ix in new_ixs), is_moved)
        for old_ixs, new_ixs, is_moved in links
    ]


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
    old = {ix for old_ixs, _, _ in pairs for ix in old_ixs}
    new = {ix for _, new_ixs, _ in pairs for ix in new_ixs}
    kept = [link for link in links if old.isdisjoint(link[0]) and new.isdisjoint(link[1])]
    return [*kept, *pairs]


def _pair_form_lines(old: Sequence[Passage], new: Sequence[Passage], links: Sequence[_Link]) -> list[_Link]:
    """Pair the lines of forms as their histories do, in place of the pairs that their place among others would give."""
    equal = [
        (old_ix, new_ix)
        for old_ixs, new_ixs, _ in links
        for old_ix in old_ixs
        for new_ix in new_ixs
        if _are_equal_lines(old[old_ix], new[new_ix])
    ]
    loose_old = [
        ix for ix, passage in enumerate(old) if passage.kind == LINE and ix not in {old_ix for old_ix, _ in equal}
    ]
    loose_new = [
        ix for ix, passage in enumerate(new) if passage.kind == LINE and ix not in {new_ix for _, new_ix in equal}
    ]
    sides = [[old[ix] for ix in loose_old], [new[ix] for ix in loose_new]]
    repeated = {number for side in sides for number, count in Counter(map(_number, side)).items() if count > 1}
    lines = [[_line(passage, has_worksheet=_number(passage) in repeated) for passage in side] for side in sides]
    parts = [{_place(passage) for passage in side if passage.kind == LINE} for side in (old, new)]
    joined = {(old_ix, new_ix) for old_ixs, new_ixs, _ in links for old_ix in old_ixs for new_ix in new_ixs}
    pairs: list[_Link] = []
    for new_ix, old_ix in pair_lines(*lines).items():
        if (loose_old[old_ix], loose_new[new_ix]) in joined:
            continue
        places = [_place(passage) for passage in (sides[0][old_ix], sides[1][new_ix])]
        # A part that has got another name, or is new, has moved no line.
        is_moved = places[0] != places[1] and places[0] in parts[1] and places[1] in parts[0]
        pairs.append(((loose_old[old_ix],), (loose_new[new_ix],), is_moved))
    return _with_continuations(old, new, pairs, links=_put_first(pairs, links))


def _with_continuations(
    old: Sequence[Passage], new: Sequence[Passage], pairs: Sequence[_Link], *, links: Sequence[_Link]
) -> list[_Link]:
    """Add to each line the text below it that the other revision prints in the line itself."""
    free = [set(ixs) for ixs in _left_over(old, new, links)]
    extended: list[_Link] = []
    for (old_ix,), (new_ix,), is_moved in pairs:
        before = (
            (old_ix, old_ix + 1)
            if old_ix + 1 in free[0] and _continues(old[old_ix], old[old_ix + 1], new[new_ix])
            else (old_ix,)
        )
        after = (
            (new_ix, new_ix + 1)
            if new_ix + 1 in free[1] and _continues(new[new_ix], new[new_ix + 1], old[old_ix])
            else (new_ix,)
        )
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
    shared = _shared(joined, one.bag)
    words = joined.total() + total
    # A merge has to explain clearly more than its best part would alone.
    gain = (2 * shared - limits.pair_similarity * words) * limits.merge_discount
    return gain if 2 * shared >= limits.merge_overlap * words else 0.0


def _is_fixed(passage: Passage) -> bool:
    """Return whether a passage is never merged: a keyed heading or line, or text in a margin."""
    return passage.kind == ADDRESS or (bool(passage.owner.key) and passage.kind in (HEADING, LINE))


def _similarity_gain(passage: Passage, other: Passage, limits: Limits) -> float:
    words = passage.bag.total() + other.bag.total()
    if (passage.kind == ADDRESS) != (other.kind == ADDRESS):
        return 0.0
    if (passage.kind == HEADING) != (other.kind == HEADING):
        return words * 0.1 if passage.words == other.words else 0.0
    least = limits.pair_similarity
    if passage.kind == HEADING:
        if passage.owner.key and other.owner.key and passage.owner.key != other.owner.key:
            return 0.0
        least = (
            limits.keyed_similarity if passage.owner.key and passage.place == other.place else limits.heading_similarity
        )
    elif passage.place == other.place:
        least = limits.keyed_similarity if passage.owner.key else limits.placed_similarity
        if (
            passage.kind == other.kind == ROW
            and passage.parts[0].text == other.parts[0].text
            and len(passage.parts) == len(other.parts)
        ):
            return 0.2 * words
    # No two bags share more than the smaller one contains.
    if 2 * min(passage.bag.total(), other.bag.total()) < least * words:
        return 0.0
    shared = 2 * _shared(passage.bag, other.bag)
    bonus = 0.1 * words if passage.place == other.place else 0.0
    return shared - least * words + bonus + 0.01 if shared >= least * words else 0.0


def _shared(bag: Counter[str], other_bag: Counter[str]) -> int:
    small, large = (bag, other_bag) if len(bag) <= len(other_bag) else (other_bag, bag)
    return sum(min(count, large[word]) for word, count in small.items() if word in large)


# ----------------------------------------------------------------------------------------------------- elsewhere


def _pair_moved(old: Sequence[Passage], new: Sequence[Passage], links: Sequence[_Link]) -> list[_Link]:
    """Pair what is left over with what is left over elsewhere: the same words first, then the most similar."""
    limits = load_revisions().limits
    loose_old, loose_new = _left_over(old, new, links)
    pairs: list[_Link] = []
    by_words: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for new_ix in loose_new:
        by_words[new[new_ix].words].append(new_ix)
    for old_ix in loose_old:
        if same := by_words.get(old[old_ix].words):
            new_ix = same.pop(0)
            pairs.append(((old_ix,), (new_ix,), True))
    loose_old, loose_new = _left_over(old, new, [*links, *pairs])
    shingled: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for new_ix in loose_new:
        for shingle in _shingles(new[new_ix], limits.shingle):
            shingled[shingle].add(new_ix)
    taken: set[int] = set()
    for old_ix in loose_old:
        if len(old[old_ix].words) < limits.moved_words or old[old_ix].kind == HEADING:
            continue
        votes: Counter[int] = Counter()
        for shingle in _shingles(old[old_ix], limits.shingle):
            votes.update(shingled.get(shingle, ()))
        for new_ix, _ in votes.most_common(5):
            words = old[old_ix].bag.total() + new[new_ix].bag.total()
            if new_ix not in taken and 2 * _shared(old[old_ix].bag, new[new_ix].bag) >= limits.moved_similarity * words:
                taken.add(new_ix)
                pairs.append(((old_ix,), (new_ix,), True))
                break
    return pairs


def _shingles(passage: Passage, length: int) -> set[tuple[str, ...]]:
    words = passage.words
    return {words[k : k + length] for k in range(max(0, len(words) - length) + 1)}


def _pair_keyed(old: Sequence[Passage], new: Sequence[Passage], links: Sequence[_Link]) -> list[_Link]:
    """Pair what is left under one box or line of both: its text was rewritten."""
    loose_old, loose_new = _left_over(old, new, links)
    sides: dict[tuple[str, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, passages, indices in ((0, old, loose_old), (1, new, loose_new)):
        for ix in indices:
            if passages[ix].owner.key and passages[ix].kind != HEADING:
                sides[passages[ix].place][side].append(ix)
    return [(tuple(old_ixs), tuple(new_ixs), False) for old_ixs, new_ixs in sides.values() if old_ixs and new_ixs]


def _pair_headings(before: ComparableDocument, after: ComparableDocument, links: Sequence[_Link]) -> list[_Link]:
    """Pair headings whose first paragraphs belong together: reworded from end to end, or given another key."""
    old, new = before.passages, after.passages
    loose_old, loose_new = _left_over(old, new, links)
    new_ix_by_old_ix = {old_ixs[0]: new_ixs[0] for old_ixs, new_ixs, _ in links if old_ixs and new_ixs}
    unpaired_new = set(loose_new)
    pairs: list[_Link] = []
    for old_ix in loose_old:
        new_ix = new_ix_by_old_ix.get(old_ix + 1, 0) - 1
        if (
            new_ix not in unpaired_new
            or not old[old_ix].kind == new[new_ix].kind == HEADING
            or old[old_ix].is_keyed != new[new_ix].is_keyed
        ):
            continue
        if old[old_ix].is_keyed and (old[old_ix].place in after.keys or new[new_ix].place in before.keys):
            continue
        unpaired_new.remove(new_ix)
        pairs.append(((old_ix,), (new_ix,), False))
    return pairs


def _left_over(old: Sequence[Passage], new: Sequence[Passage], links: Sequence[_Link]) -> tuple[list[int], list[int]]:
    paired_old = {old_ix for old_ixs, _, _ in links for old_ix in old_ixs}
    paired_new = {new_ix for _, new_ixs, _ in links for new_ix in new_ixs}
    return (
        [old_ix for old_ix in range(len(old)) if old_ix not in paired_old],
        [new_ix for new_ix in range(len(new)) if new_ix not in paired_new],
    )
