"""Which line of an older revision a line continues: by its words and key, its words alone, similar words.

`registry` follows boxes alone; this module follows all numbered fields of a form.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TypedDict

from taxkg_assets.graph.names import expand, fold_name
from taxkg_assets.records import LineRecord
from taxkg_assets.rules.models.lines import load_lines

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MOST_WORDS = 8
LineId = tuple[str, str, str]
"""Document, part and key."""


class NumberedRecord(TypedDict):
    """Columns of a row of `lines`, or of `fields`, that identify the line."""

    document_id: str
    part: str
    key: str


class LabeledRecord(TypedDict):
    """Columns of a row of `lines` by which lines of two revisions are paired."""

    part: str
    key: str
    kind: str
    label: str


def find_histories(rows: Sequence[LineRecord], *, drafts: Collection[str]) -> dict[LineId, list[str]]:
    """List the names that each line has in older revisions of its form, newest first.

    Args:
        rows: Rows of `lines` of all documents; their history is not read.
        drafts: Documents that no later revision continues.

    Returns:
        For each line its names `<form>/<revision>/<part>/<key>`; empty if it is new.
    """
    by_form: dict[str, dict[tuple[str, str], list[LineRecord]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_form[row["form"]][row["revision"], row["document_id"]].append(row)
    histories: dict[LineId, list[str]] = {}
    for of_form in by_form.values():
        older: list[LineRecord] = []
        before: list[LineRecord] = []
        revision = ""
        for (own_revision, document_id), lines in sorted(of_form.items()):
            if own_revision != revision:
                older, revision = before, own_revision
            pairs = pair_lines(older, lines)
            for at, line in enumerate(lines):
                past = older[pairs[at]] if at in pairs else None
                histories[id_of(line)] = [] if past is None else [name_of(past), *histories[id_of(past)]]
            if document_id not in drafts:
                before = lines
    return histories


def assign_stable_ids(rows: Sequence[LineRecord]) -> dict[LineId, str]:
    """Assign each line an id that is stable across revisions: its form and its label in the oldest revision.

    All documents with the same change then produce the same id.

    Args:
        rows: Rows of `lines` of all documents with their history, of one document in the order in which it prints them.

    Returns:
        For each line `<form>/<words>`, the same for all lines of one history and for no two lines of a document; words
        that several lines of the oldest revision share are followed by part and key.
    """
    by_document: dict[str, list[LineRecord]] = defaultdict(list)
    for row in rows:
        by_document[row["document_id"]].append(row)
    slugs: dict[str, str] = {}
    for lines in by_document.values():
        words = ["-".join(label.split()[:_MOST_WORDS]) for label in _qualify_repeated(lines)]
        counts = Counter(words)
        for line, slug in zip(lines, words, strict=True):
            is_clear = slug and counts[slug] == 1
            slugs[name_of(line)] = f"{line['form']}/{slug}" if is_clear else _with_place(f"{line['form']}/{slug}", line)
    oldest = {id_of(row): (row["history"] or [name_of(row)])[-1] for row in rows}
    names = {slug: slugs[first] for slug, first in oldest.items()}
    return _part_shared(names, oldest)


def _with_place(name: str, line: LineRecord) -> str:
    return "/".join((name.rstrip("/"), *([line["part"]] if line["part"] else []), line["key"]))


def _part_shared(names: dict[LineId, str], oldest: Mapping[LineId, str]) -> dict[LineId, str]:
    """Add the oldest name where two lines of a document would have one name, to the one that began later."""
    counts: dict[tuple[str, str], set[str]] = defaultdict(set)
    for line_id, name in names.items():
        counts[line_id[0], name].add(oldest[line_id])
    later = {first for firsts in counts.values() for first in sorted(firsts, key=_revision_of)[1:]}
    return {
        line_id: f"{name}@{oldest[line_id].partition('/')[2]}" if oldest[line_id] in later else name
        for line_id, name in names.items()
    }


def _revision_of(name: str) -> tuple[str, str]:
    return name.split("/")[1], name


def pair_lines(older: Sequence[LabeledRecord], newer: Sequence[LabeledRecord]) -> dict[int, int]:
    """Pair the lines of two revisions, each at most once.

    Args:
        older: Lines of the older revision.
        newer: Lines of the newer one.

    Returns:
        Position of the older line by position of the newer one.
    """
    pairs: dict[int, int] = {}
    old_words, new_words = _qualify_repeated(older), _qualify_repeated(newer)
    places = {(row["part"], row["key"]): ix for ix, row in enumerate(older)}
    paired = set[int]()
    for newer_ix, row in enumerate(newer):
        older_ix = places.get((row["part"], row["key"]))
        if older_ix is not None and older_ix not in paired and old_words[older_ix] == new_words[newer_ix]:
            pairs[newer_ix] = older_ix
            paired.add(older_ix)
    _pair_by_words(pairs, [(row["kind"], words) for row, words in zip(older, old_words, strict=True)], newer, new_words)
    least = load_lines().limits.similar_words
    paired_older = set(pairs.values())
    for newer_ix, row in enumerate(newer):
        older_ix = places.get((row["part"], row["key"]))
        if newer_ix in pairs or older_ix is None or older_ix in paired_older:
            continue
        if _jaccard(old_words[older_ix], new_words[newer_ix]) >= least or _begins_with(
            old_words[older_ix], new_words[newer_ix]
        ):
            pairs[newer_ix] = older_ix
            paired_older.add(older_ix)
    _pair_by_similarity(pairs, older, newer, words=(old_words, new_words), least=least)
    return pairs


def _pair_by_similarity(
    pairs: dict[int, int],
    older: Sequence[LabeledRecord],
    newer: Sequence[LabeledRecord],
    *,
    words: tuple[Sequence[str], Sequence[str]],
    least: float,
) -> None:
    """Pair what is left over in one part with the most similar words, the most similar lines first."""
    paired_older = set(pairs.values())
    fewest = load_lines().limits.fewest_words
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for at, row in enumerate(older):
        if at not in paired_older and len(set(words[0][at].split())) >= fewest:
            groups[row["part"], row["kind"]].append(at)
    scored = []
    for at, row in enumerate(newer):
        if at not in pairs and len(set(words[1][at].split())) >= fewest:
            for before in groups.get((row["part"], row["kind"]), ()):
                score = _jaccard(words[0][before], words[1][at])
                scored += [(-score, abs(at - before), at, before)] if score >= least else []
    for _, _, at, before in sorted(scored):
        if at not in pairs and before not in paired_older:
            pairs[at] = before
            paired_older.add(before)


def _pair_by_words(
    pairs: dict[int, int], old: Sequence[tuple[str, str]], newer: Sequence[LabeledRecord], new_words: Sequence[str]
) -> None:
    """Pair lines whose words occur once in each revision, under any key."""
    new = [(row["kind"], words) for row, words in zip(newer, new_words, strict=True)]
    old_counts, new_counts = Counter(old), Counter(new)
    places = {line: at for at, line in enumerate(old)}
    paired_older = set(pairs.values())
    for at, line in enumerate(new):
        if (
            line[1]
            and at not in pairs
            and old_counts[line] == new_counts[line] == 1
            and places[line] not in paired_older
        ):
            pairs[at] = places[line]


def _qualify_repeated(rows: Sequence[LabeledRecord]) -> list[str]:
    """Fold the labels of a revision; put the label of the number's first line before a label that several lines share.

    "Taxable amount" is the label of lines 4b, 5b and 6b; what is taxable is the label of lines 4a, 5a and 6a.
    """
    words = [fold_label(row["label"]) for row in rows]
    counts = Counter(words)
    firsts = {(row["part"], row["key"]): word for row, word in zip(rows, words, strict=True)}
    numbers = [row["key"].rstrip(_LETTERS) for row in rows]
    heads = [
        (row["part"], f"{number}a" if number[-1:].isdigit() else "") for row, number in zip(rows, numbers, strict=True)
    ]
    return [
        f"{firsts.get(head, '')} {word}".strip() if counts[word] > 1 else word
        for head, word in zip(heads, words, strict=True)
    ]


def _begins_with(label: str, other_label: str) -> bool:
    """Decide whether one of two labels only adds words to the other: `Taxable interest. Attach Schedule B`."""
    short, long = sorted((label, other_label), key=len)
    return bool(short) and long.startswith(f"{short} ")


def _jaccard(label: str, other_label: str) -> float:
    """Jaccard similarity of the words of two labels; 1 where neither has any."""
    left, right = set(label.split()), set(other_label.split())
    return len(left & right) / len(left | right) if left | right else 1.0


def fold_label(label: str) -> str:
    """Reduce a label to the words that identify its line, without directions, years and keys of other lines.

    Args:
        label: Label as printed.

    Returns:
        Words separated by blanks.
    """
    for rule in load_lines().asides:
        label = rule.pattern.sub(" ", label)
    return re.sub(r"\s+", " ", fold_name(expand(label))).strip()


def name_of(line: LineRecord) -> str:
    """Return the name of a line within its form and revision: `<form>/<revision>/<part>/<key>`.

    Args:
        line: Row of `lines`.
    """
    parts = [line["part"]] if line["part"] else []
    return "/".join((line["form"], line["revision"], *parts, line["key"]))


def id_of(line: NumberedRecord) -> LineId:
    """Return the identifying columns of a line in the library.

    Args:
        line: Row of `lines` or `fields`.
    """
    return line["document_id"], line["part"], line["key"]
