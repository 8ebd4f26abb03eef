"""Near-duplicate passages: one paragraph in two years, or in the instructions of two forms."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from taxkg_assets.rules.models.training import load_training

_WORD = re.compile(r"[a-z0-9]+(?:[.,]\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")

Shingles = frozenset[int]


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage's text, the key of its box or line, and its document."""

    text: str
    key: str
    document_id: str


def group_near_duplicates(texts: Mapping[str, PassageText]) -> dict[str, str]:
    """Group near-duplicate passages, ignoring years but not keys.

    Passages about boxes 2e and 2f are never near-duplicates. Within one document the threshold is higher, because the
    same words with other figures are another row of a table or another case.

    Args:
        texts: Passages by id.

    Returns:
        Group of each passage, named after its first member; a passage without near-duplicates is its own group.
    """
    rules = load_training().near_duplicates
    shingles = {name: find_shingles(passage.text, size=rules.shingle_words) for name, passage in texts.items()}
    group = {name: name for name in texts}
    order = {name: ix for ix, name in enumerate(texts)}
    candidates = _find_candidates(shingles, texts, hashes=rules.min_hashes, max_bucket=rules.max_bucket_size)
    for one, other in sorted(candidates):
        is_one_document = texts[one].document_id == texts[other].document_id
        threshold = rules.min_jaccard_in_document if is_one_document else rules.min_jaccard
        if score_jaccard(shingles[one], shingles[other]) >= threshold:
            first, second = sorted((_root(group, one), _root(group, other)), key=lambda name: order[name])
            group[second] = first
    return {name: _root(group, name) for name in texts}


def find_shingles(text: str, *, size: int) -> Shingles:
    """Return the hashed word n-grams of a text without years.

    Args:
        text: The text.
        size: Words in an n-gram; a shorter text is one n-gram.
    """
    words = _WORD.findall(_YEAR.sub("", text.lower()))
    runs = [" ".join(words[n : n + size]) for n in range(max(1, len(words) - size + 1))]
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode(), digest_size=6).digest()) for run in runs)


def score_jaccard(one: Shingles, other: Shingles) -> float:
    """Return the Jaccard similarity of two sets of shingles, 0 to 1.

    Args:
        one: Shingles of one text.
        other: Shingles of another text.
    """
    return len(one & other) / len(one | other)


def _find_candidates(
    shingles: Mapping[str, Shingles], texts: Mapping[str, PassageText], *, hashes: int, max_bucket: int
) -> set[tuple[str, str]]:
    """Return pairs of passages with the same key that share one of their smallest shingles."""
    buckets: dict[tuple[str, int], list[str]] = {}
    for name, runs in shingles.items():
        for run in sorted(runs)[:hashes]:
            buckets.setdefault((texts[name].key, run), []).append(name)
    candidates: set[tuple[str, str]] = set()
    for names in buckets.values():
        if len(names) <= max_bucket:
            candidates.update(combinations(names, 2))
        else:
            candidates.update((names[0], name) for name in names[1:])
    return candidates


def _root(group: dict[str, str], name: str) -> str:
    while group[name] != name:
        group[name] = group[group[name]]
        name = group[name]
    return name
