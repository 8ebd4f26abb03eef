"""Correct typing errors: replace words of a question that no document contains by similar words of the documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase

from taxkg_assets.retrieval.encoding.encoder import Encoder
from taxkg_assets.retrieval.encoding.lexical import Vocabulary, find_terms
from taxkg_assets.rules.models.ranking import Typos, load_ranking

_ENDINGS = ("s", "es", "ed", "ing")
_WORD = re.compile(r"(?<![\w'-])[A-Za-z]+(?![\w'-])")


def correct_typos(query: str, *, vocabulary: Vocabulary, encoder: Encoder) -> tuple[str, dict[str, str]]:
    """Correct misspelled words in a question to the most frequent document word that differs by one edit.

    A word counts as misspelled if no document contains it and the encoder splits it into several tokens; a correct word
    is usually one token. Short words, and capitalized words inside the question, are kept.

    Args:
        query: Words of the user.
        vocabulary: Terms of the documents.
        encoder: Encoder of the index.

    Returns:
        The corrected question, and corrected words by misspelled word.

    Source:
        rules/ranking.yaml, `typos`.
    """
    limits = load_ranking().typos
    corrections: dict[str, str] = {}
    for match in _WORD.finditer(query):
        word, is_name = match[0], match[0] != match[0].lower() and match.start() > 0
        if len(word) < limits.letters or is_name or word in corrections:
            continue
        lower = word.lower()
        if _is_unknown(lower, vocabulary, encoder) and (corrected := _find_nearest(lower, vocabulary, encoder, limits)):
            corrections[word] = corrected
    if not corrections:
        return query, {}
    return _WORD.sub(lambda match: corrections.get(match[0], match[0]), query), corrections


def _is_unknown(word: str, vocabulary: Vocabulary, encoder: Encoder) -> bool:
    terms = find_terms(word)
    is_printed = len(terms) != 1 or vocabulary.find(terms[0]) is not None
    return not is_printed and not _is_one_token(word, encoder) and not _is_inflected(word, vocabulary, encoder)


def _is_inflected(word: str, vocabulary: Vocabulary, encoder: Encoder) -> bool:
    """Return whether a word is the plural or past tense of a correct word that no document contains, as "waiters"."""
    bases = (word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending))
    return any(
        _is_one_token(base, encoder) and vocabulary.find(find_terms(base)[0]) is None
        for base in bases
        if find_terms(base)
    )


def _is_one_token(word: str, encoder: Encoder) -> bool:
    return len(encoder.find_tokens([word])[0]) == 1


def _find_nearest(word: str, vocabulary: Vocabulary, encoder: Encoder, limits: Typos) -> str | None:
    """Return the word one edit away whose term is in most rows; for a short word only if it is one token."""
    best_word, best_frequency = None, limits.rows - 1
    for candidate in _change_once(word):
        terms = find_terms(candidate)
        ix = vocabulary.find(terms[0]) if len(terms) == 1 and len(candidate) >= limits.letters else None
        if ix is not None and (frequency := int(vocabulary.frequencies[ix])) > best_frequency:
            best_word, best_frequency = candidate, frequency
    is_long = len(word) >= limits.long
    return best_word if best_word is not None and (is_long or _is_one_token(best_word, encoder)) else None


def _change_once(word: str) -> Iterator[str]:
    """Yield the words that differ by one edit: two letters exchanged, one removed, one replaced or one added.

    The first letter is never changed.
    """
    for ix in range(1, len(word)):
        before, after = word[:ix], word[ix:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
            yield before + after[1:]
        for letter in ascii_lowercase:
            yield before + letter + after[1:]
            yield before + letter + after
    yield from (word + letter for letter in ascii_lowercase)
