"""Passages that say the same: one paragraph in two years, or in the instructions of two forms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from taxkg_assets.rules.loader import load_family

_WORD = re.compile(r"[a-z0-9]+(?:[.,]\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")

Shingles = frozenset[int]


@dataclass(frozen=True, slots=True)
class Said:
    """A passage's text, the key of the box or line that it is about, and its document."""

    text: str
    key: str
    document_id: str


def find_twins(texts: Mapping[str, Said]) -> dict[str, str]:
    """Give passages that say the same one group, named after the first of them; one without a twin is its own group.

    Years do not count, keys do: what is said of box 2e is not said of box 2f. In one document the same words with other
    figures are another row of a table or another case, so that there more has to agree.
    """
    rules = load_family("training")["twins"]
    shingles = {name: find_shingles(said.text, size=rules["words"]) for name, said in texts.items()}
    group = {name: name for name in texts}
    order = {name: place for place, name in enumerate(texts)}
    for one, other in sorted(_find_candidates(shingles, texts, buckets=rules["buckets"], crowd=rules["crowd"])):
        is_here = texts[one].document_id == texts[other].document_id
        least = rules["least_overlap_in_document" if is_here else "least_overlap"]
        if score_overlap(shingles[one], shingles[other]) >= least:
            first, second = sorted((_first(group, one), _first(group, other)), key=lambda name: order[name])
            group[second] = first
    return {name: _first(group, name) for name in texts}


def find_shingles(text: str, *, size: int) -> Shingles:
    """Runs of words as numbers; of a text shorter than one run, the text itself."""
    words = _WORD.findall(_YEAR.sub("", text.lower()))
    runs = [" ".join(words[n : n + size]) for n in range(max(1, len(words) - size + 1))]
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode(), digest_size=6).digest()) for run in runs)


def score_overlap(one: Shingles, other: Shingles) -> float:
    """Share of the runs of words that two texts have in common."""
    return len(one & other) / len(one | other)


def _find_candidates(
    shingles: Mapping[str, Shingles], texts: Mapping[str, Said], *, buckets: int, crowd: int
) -> set[tuple[str, str]]:
    """Passages with the same key that share one of their smallest shingles: near-duplicates nearly always do."""
    held: dict[tuple[str, int], list[str]] = {}
    for name, runs in shingles.items():
        for run in sorted(runs)[:buckets]:
            held.setdefault((texts[name].key, run), []).append(name)
    found: set[tuple[str, str]] = set()
    for names in held.values():
        if len(names) <= crowd:
            found.update(combinations(names, 2))
        else:
            found.update((names[0], name) for name in names[1:])
    return found


def _first(group: dict[str, str], name: str) -> str:
    while group[name] != name:
        group[name] = group[group[name]]
        name = group[name]
    return name
