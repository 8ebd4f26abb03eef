"""Words and values of passages, as the comparison with a claim needs them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

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
    """Parses words and values of passages, with a cache."""

    def __init__(self, language: Language, forms: Mapping[str, Sequence[str]]) -> None:
        """Take the functions that read words, and the short names of each document's forms."""
        self.language = language
        self.aligner = Aligner(language)
        self._forms = forms
        self.wording_of = lru_cache(maxsize=_MOST_KEPT)(lambda text: read_wording(text, language=language))
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}
        self._wordings: dict[tuple[str, str, str], tuple[Wording, Words]] = {}

    def words_of(self, passage: Passage) -> tuple[Wording, Words]:
        """Return the words of a passage by clause, and the words of its headings.

        Args:
            passage: The passage.
        """
        key = (passage.node_id, passage.lead_in, passage.text)  # a pair begins as its first sentence does
        if key not in self._wordings:
            if len(self._wordings) >= _MOST_KEPT:
                self._wordings.clear()
            wording = read_wording(passage.labeled, language=self.language)
            self._wordings[key] = wording, find_words(passage.context, language=self.language)
        return self._wordings[key]

    def forms_of(self, document_id: str) -> Sequence[str]:
        """Return the short names of a document's forms.

        Args:
            document_id: The document.
        """
        return self._forms.get(document_id, ())

    @property
    def has_encoder(self) -> bool:
        """Return whether an encoder is available to compare texts by meaning."""
        return self.language.encode is not None

    def compare_meaning(self, text: str, others: Sequence[str]) -> list[float]:
        """Return the cosine similarities of a text with others, at least 0; each text is encoded once.

        Args:
            text: Words of a claim.
            others: Words of passages.

        Returns:
            Cosines, 0 to 1; zeros without an encoder.
        """
        if self.language.encode is None or not others:
            return [0.0] * len(others)
        lacking = [own for own in dict.fromkeys([text, *others]) if own not in self._vectors]
        if len(self._vectors) + len(lacking) > _MOST_KEPT:
            self._vectors.clear()
            lacking = list(dict.fromkeys([text, *others]))
        if lacking:
            self._vectors |= dict(zip(lacking, np.asarray(self.language.encode(lacking)), strict=True))
        cosines = np.stack([self._vectors[own] for own in others]) @ self._vectors[text]
        return [float(cosine) for cosine in np.clip(cosines, 0.0, 1.0)]

    def values_of(self, passage: Passage) -> list[Value]:
        """Return the values, keys and forms in the text of a passage, without its headings.

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
        if passage.kind == "cell":  # a table prints amounts without their sign
            own = [replace(one, kind="number") if _is_amount(one, passage) else one for one in own]
        return [*own, *named]

    def place_values_of(self, passage: Passage) -> list[Value]:
        """Return the values, keys and forms in a passage's headings.

        Args:
            passage: The passage.
        """
        text = " . ".join((*passage.headings, passage.label))
        named = sorted(passage.keys | _find_lettered(passage))
        keys = [Value(key.split("_")[0], key, "", "", "", "", 0, 0) for key in named]
        forms = [Value("form", name, "", "", "", "", 0, 0) for name in self.forms_of(passage.document_id)]
        return [*find_values(text), *find_keys_and_forms(text, language=self.language), *keys, *forms]


def _is_amount(value: Value, passage: Passage) -> bool:
    return value.kind == "count" and value.start >= passage.value_start


def _find_lettered(passage: Passage) -> frozenset[str]:
    """Return the key of an item that is printed with its letter alone: `(b) Fee` below step 3 is step 3b."""
    letter = _LETTERED.match(passage.text)
    numbered = [key for key in passage.keys if _NUMBERED.fullmatch(key)]
    return frozenset({f"{numbered[0]}{letter[1]}"}) if letter and len(numbered) == 1 else frozenset()
