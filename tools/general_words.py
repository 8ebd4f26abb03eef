"""Class and synonyms of common English words, from WordNet: `python -m tools.general_words FOLDER` writes them.

FOLDER holds WordNet's database files (`index.sense`, `data.verb`, …). Here: what is taken from it. Not here: how the
draft checker uses it (`taxkg_assets/rules/general_words.py`).
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "taxkg_assets" / "rules" / "general_words.csv"
FILES = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
CLASSES = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
MOST_SENSES = {"n": 3, "v": 4, "a": 3, "r": 3}
"""Senses of a word, the most frequent first, whose synonyms are taken."""

NEAR_SENSES = 2
"""Senses of a verb whose wider and narrower verbs are taken, too."""

RARE_CLASS = 0.1
"""Share of a word's uses below which a part of speech is left out."""

_PLAIN = re.compile(r"[a-z]{3,}")
_MARKER = re.compile(r"\(.*\)")


@dataclass(frozen=True, slots=True)
class Synset:
    """One sense: its words, and what it points at.

    Attributes:
        words: Words of the sense.
        pointers: Symbol, class and offset of the target, number of the own word and of the target's, 0 for all.
    """

    words: tuple[str, ...]
    pointers: tuple[tuple[str, tuple[str, str], int, int], ...]


def read_synsets(folder: Path) -> dict[tuple[str, str], Synset]:
    """Read all senses, by class and offset."""
    found = {}
    for name, kind in FILES.items():
        for line in (folder / f"data.{name}").read_text(encoding="latin1").splitlines():
            if line.startswith("  "):
                continue
            parts = line.split("|")[0].split()
            count = int(parts[3], 16)
            words = tuple(_MARKER.sub("", parts[4 + 2 * number]).lower() for number in range(count))
            first = 5 + 2 * count
            pointers = tuple(
                (symbol, ("a" if target == "s" else target, offset), int(ends[:2], 16), int(ends[2:], 16))
                for symbol, offset, target, ends in (
                    parts[at : at + 4] for at in range(first, first + 4 * int(parts[first - 1]), 4)
                )
            )
            found[kind, parts[0]] = Synset(words, pointers)
    return found


def list_words(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """List the words that occur in WordNet's counted texts, each with its part of speech and its synonyms."""
    synsets = read_synsets(folder)
    counts: Counter[tuple[str, str]] = Counter()
    senses: dict[str, list[tuple[str, int, str, int]]] = defaultdict(list)
    for line in (folder / "index.sense").read_text(encoding="latin1").splitlines():
        key, place, order, times = line.split()
        word, rest = key.split("%")
        counts[word, CLASSES[rest[0]]] += int(times)
        senses[word].append((CLASSES[rest[0]], int(order), place, int(times)))
    total: Counter[str] = Counter()
    for (word, _), count in counts.items():
        total[word] += count
    for word in sorted(word for word, count in total.items() if count and _PLAIN.fullmatch(word)):
        found: set[str] = set()
        for kind, number, offset, uses in senses[word]:
            is_common = number == 1 or uses
            if is_common and number <= MOST_SENSES[kind] and counts[word, kind] >= RARE_CLASS * total[word]:
                found |= set(_list_related(word, synsets[kind, offset], synsets, kind=kind, number=number))
        related = sorted(own for own in found if own != word and _PLAIN.fullmatch(own) and total[own])
        yield word, max("nvar", key=lambda kind: counts[word, kind]), related


def _list_related(
    word: str, sense: Synset, synsets: dict[tuple[str, str], Synset], *, kind: str, number: int
) -> Iterator[str]:
    yield from sense.words
    own = sense.words.index(word) + 1 if word in sense.words else 0
    for symbol, target, start, end in sense.pointers:
        words = synsets[target].words
        if (symbol == "+" and start in (0, own)) or symbol == "\\":
            yield words[end - 1] if end else words[0]
        elif (symbol == "&" and kind == "a") or (symbol in "@~" and kind == "v" and number <= NEAR_SENSES):
            yield from words


def write_words(folder: Path) -> int:
    """Write the file, and return the number of its words."""
    rows = list(list_words(folder))
    with TARGET.open("w", encoding="utf8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(["word", "class", "synonyms"])
        writer.writerows([word, kind, " ".join(related)] for word, kind, related in rows)
    return len(rows)


if __name__ == "__main__":
    print(write_words(Path(sys.argv[1])), "words")
