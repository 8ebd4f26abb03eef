"""Class and synonyms of common English words, from WordNet: `python -m tools.general_words FOLDER` writes them.

FOLDER holds WordNet's database files (`index.sense`, `data.verb`, …). Here: what is taken from it. Not here: how the
draft checker uses it (`taxkg_assets/rules/general_words.py`).
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from taxkg_assets.rules.general_words import list_regular_bases

TARGET = Path(__file__).resolve().parents[1] / "taxkg_assets" / "rules" / "general_words.csv"
FILES = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
CLASSES = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
MOST_SENSES = {"n": 3, "v": 4, "a": 3, "r": 3}
"""Senses of a word, the most frequent first, whose synonyms are taken."""

NEAR_SENSES = 2
"""Senses of a verb whose wider and narrower verbs are taken, too."""

RARE_CLASS = 0.1
"""Share of a word's uses below which a part of speech is left out."""

FUNCTION_WORDS = Path(__file__).with_name("function_words.yaml")

FUNCTION_CLASS, PERSON_CLASS = "f", "h"
EXCEPTIONS = {"noun": "n", "verb": "v"}
PERSONS = "18"
"""WordNet's file of nouns for persons."""

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
    persons = _list_persons(folder)
    for word in sorted(word for word, count in total.items() if count and _PLAIN.fullmatch(word)):
        found: set[str] = set()
        for kind, number, offset, uses in senses[word]:
            is_common = number == 1 or uses
            if is_common and number <= MOST_SENSES[kind] and counts[word, kind] >= RARE_CLASS * total[word]:
                found |= set(_list_related(word, synsets[kind, offset], synsets, kind=kind, number=number))
        related = sorted(own for own in found if own != word and _PLAIN.fullmatch(own) and total[own])
        kind = max("nvar", key=lambda kind: counts[word, kind])
        yield word, PERSON_CLASS if kind == "n" and word in persons else kind, related


def _list_persons(folder: Path) -> frozenset[str]:
    """List the nouns whose most frequent sense is a person."""
    keys = (line.split() for line in (folder / "index.sense").read_text(encoding="latin1").splitlines())
    return frozenset(
        key.split("%")[0] for key, _, order, _ in keys if order == "1" and key.split("%")[1].startswith(f"1:{PERSONS}:")
    )


def list_irregular(folder: Path, known: Mapping[str, tuple[str, list[str]]]) -> Iterator[tuple[str, str, list[str]]]:
    """List irregular forms, such as `kept` of `keep`, each with the class of its base, and the base as a synonym.

    Args:
        folder: WordNet's database files.
        known: Class and synonyms of each word that is listed already.
    """
    for name, kind in EXCEPTIONS.items():
        for line in (folder / f"{name}.exc").read_text(encoding="latin1").splitlines():
            form, base, *_ = line.split()
            if form in known or base not in known or not _PLAIN.fullmatch(form) or base in list_regular_bases(form):
                continue
            of_base = known[base][0] if kind == "n" else kind
            yield form, of_base, sorted({base, *known[base][1]} - {form})


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
    known = {word: (kind, related) for word, kind, related in list_words(folder)}
    known |= {word: (kind, related) for word, kind, related in list_irregular(folder, known)}
    closed: list[str] = yaml.safe_load(FUNCTION_WORDS.read_text(encoding="utf8"))["words"]
    known |= {word: (FUNCTION_CLASS, known.get(word, ("", []))[1]) for word in closed}
    rows = [(word, *known[word]) for word in sorted(known)]
    with TARGET.open("w", encoding="utf8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(["word", "class", "synonyms"])
        writer.writerows([word, kind, " ".join(related)] for word, kind, related in rows)
    return len(rows)


if __name__ == "__main__":
    print(write_words(Path(sys.argv[1])), "words")
