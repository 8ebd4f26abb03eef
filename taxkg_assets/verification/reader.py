"""Words and values of passages, as the comparison with a claim needs them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from taxkg_assets.verification.alignment import Aligner
from taxkg_assets.verification.claims import find_keys_and_forms
from taxkg_assets.verification.clause_words import Wording, Words, find_words, read_wording
from taxkg_assets.verification.evidence import Passage
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.values import Value, find_values

_MOST_KEPT = 50_000
_LETTERED = re.compile(r"\(([a-z])\)\s")
_NUMBERED = re.compile(r"(?:step|line)_\d+")


class PassageReader:
    """Reads words and values of passages, and keeps the words of those that were read."""

    def __init__(self, language: Language, forms: Mapping[str, Sequence[str]]) -> None:
        """Take the functions that read words, and the short names of each document's forms."""
        self.language = language
        self.aligner = Aligner(language)
        self._forms = forms
        self._wordings: dict[tuple[str, str, int], tuple[Wording, Words]] = {}

    def words_of(self, passage: Passage) -> tuple[Wording, Words]:
        """Return the wording of a passage, and the words of its place.

        Args:
            passage: The passage.
        """
        key = (passage.node_id, passage.text[:40], passage.start)
        if key not in self._wordings:
            if len(self._wordings) >= _MOST_KEPT:
                self._wordings.clear()
            own = read_wording(passage.labeled, language=self.language)
            self._wordings[key] = own, find_words(passage.context, language=self.language)
        return self._wordings[key]

    def values_of(self, passage: Passage) -> list[Value]:
        """Return the values, keys and forms in the text of a passage; `place_values_of` returns those of its headings.

        Args:
            passage: The passage.
        """
        text = passage.spoken
        named = find_keys_and_forms(text, language=self.language)
        spans = [(value.start, value.end) for value in named]
        own = [
            value
            for value in find_values(text)
            if not any(start < value.end and value.start < end for start, end in spans)
        ]
        return [*own, *named]

    def place_values_of(self, passage: Passage) -> list[Value]:
        """Return the values, keys and forms of a passage's place.

        Args:
            passage: The passage.
        """
        text = " . ".join((*passage.headings, passage.label))
        named = sorted(passage.keys | _find_lettered(passage))
        keys = [Value(key.split("_")[0], key, "", "", "", "", 0, 0) for key in named]
        forms = [Value("form", name, "", "", "", "", 0, 0) for name in self._forms.get(passage.document_id, ())]
        return [*find_values(text), *find_keys_and_forms(text, language=self.language), *keys, *forms]


def _find_lettered(passage: Passage) -> frozenset[str]:
    """Return the key of an item that is printed with its letter alone: `(b) Fee` below step 3 is step 3b."""
    letter = _LETTERED.match(passage.text)
    numbered = [key for key in passage.keys if _NUMBERED.fullmatch(key)]
    return frozenset({f"{numbered[0]}{letter[1]}"}) if letter and len(numbered) == 1 else frozenset()
