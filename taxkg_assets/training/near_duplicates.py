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
    merged_into = {name: name for name in texts}
    order = {name: ix for ix, name in enumerate(texts)}
    candidates = _find_candidates(shingles, texts, hashes=rules.min_hashes, max_bucket=rules.max_bucket_size)
    for name, other in sorted(candidates):
        is_same_document = texts[name].document_id == texts[other].document_id
        threshold = rules.min_jaccard_in_document if is_same_document else rules.min_jaccard
        if score_jaccard(shingles[name], shingles[other]) >= threshold:
            first, second = sorted((_root(merged_into, name), _root(merged_into, other)), key=order.__getitem__)
            merged_into[second] = first
    return {name: _root(merged_into, name) for name in texts}


def find_shingles(text: str, *, size: int) -> Shingles:
    """Return the hashed word n-grams of a text without years.

    Args:
        text: The text.
        size: Words in an n-gram; a shorter text is one n-gram.
    """
    words = _WORD.findall(_YEAR.sub("", text.lower()))
    ngrams = [" ".join(words[start : start + size]) for start in range(max(1, len(words) - size + 1))]
    return frozenset(int.from_bytes(hashlib.blake2b(ngram.encode(), digest_size=6).digest()) for ngram in ngrams)


def score_jaccard(first: Shingles, second: Shingles) -> float:
    """Return the Jaccard similarity of two sets of shingles, 0 to 1.

    Args:
        first: Shingles of one text.
        second: Shingles of another text.
    """
    return len(first & second) / len(first | second)


def _find_candidates(
    shingles: Mapping[str, Shingles], texts: Mapping[str, PassageText], *, hashes: int, max_bucket: int
) -> set[tuple[str, str]]:
    """Return pairs of passages with the same key that share one of their smallest hashes.

    Of the passages in a large bucket, only the first is compared with the others.
    """
    buckets: dict[tuple[str, int], list[str]] = {}
    for name, hashed_ngrams in shingles.items():
        for ngram in sorted(hashed_ngrams)[:hashes]:
            buckets.setdefault((texts[name].key, ngram), []).append(name)
    candidates: set[tuple[str, str]] = set()
    for names in buckets.values():
        if len(names) <= max_bucket:
            candidates.update(combinations(names, 2))
        else:
            candidates.update((names[0], name) for name in names[1:])
    return candidates


def _root(merged_into: dict[str, str], name: str) -> str:
    """Return the passage that a passage was merged into, after all merges; shortens the chain on the way."""
    while merged_into[name] != name:
        merged_into[name] = merged_into[merged_into[name]]
        name = merged_into[name]
    return name
