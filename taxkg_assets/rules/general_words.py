"""Part of speech and synonyms of common English words, from WordNet 3.0.

`tools/general_words.py` takes the words from WordNet; synonyms in tax forms are in `verification.yaml`, `alike`.
License of the data: general_words_license.txt.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files

_NOUN = "n"
_ENDINGS = (("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""))
_PAST = "ed"
_SHORTEST = 2
_MOST_KEPT = 20_000


@cache
def _load() -> Mapping[str, tuple[str, str]]:
    """Return part of speech and synonyms of each word, read once per process."""
    with files("taxkg_assets.rules").joinpath("general_words.csv").open(encoding="utf8") as file:
        return {row["word"]: (row["class"], row["synonyms"]) for row in csv.DictReader(file)}


@lru_cache(maxsize=_MOST_KEPT)
def find_synonyms(word: str) -> frozenset[str]:
    """Return the synonyms of a word in its frequent senses.

    Args:
        word: Word as written, in lower case.
    """
    known_words = _load()
    return frozenset(synonym for base in _list_bases(word) for synonym in known_words[base][1].split())


@lru_cache(maxsize=_MOST_KEPT)
def is_noun(word: str) -> bool:
    """Return whether a word is mostly used as a noun.

    An unknown word is a noun, unless its ending makes it the past of a known verb: `handed`.

    Args:
        word: Word as written, in lower case.
    """
    kinds = [_load()[base][0] for base in _list_bases(word)]
    is_past_verb = word not in _load() and word.endswith(_PAST)
    return not kinds or (kinds[0] == _NOUN and not is_past_verb)


def _list_bases(word: str) -> Iterator[str]:
    """Find the known words of which a word may be a form: `tie` for `tied`."""
    known_words = _load()
    if word in known_words:
        yield word
    for ending, base in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST:
            if f"{stem}{base}" in known_words:
                yield f"{stem}{base}"
            if not base and stem[-1:] == stem[-2:-1] and stem[:-1] in known_words:
                yield stem[:-1]
