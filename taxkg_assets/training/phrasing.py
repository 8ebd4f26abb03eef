"""Headings in running text: capitalization, grammatical number, and whether a question can be about them."""

from __future__ import annotations

import re

from taxkg_assets.rules.models.scenarios import load_scenarios
from taxkg_assets.rules.models.training import load_training
from taxkg_assets.training.corpus import Corpus

_WORD = re.compile(r"[A-Za-z][\w'’-]*")
_BRACKETS = re.compile(r"\s*\([^)]*\)")
_DETERMINED = re.compile(r"(?i)(?:an?|the|my|your|his|her|their|its|any|each|no|all|two|one|\d)\b|[^ ]+ (?:and|or) ")
_VOWEL = re.compile(r"(?!(?i:uni|use|usu|one|eu))(?i:[aeiou])|[FHLMNRSX](?=[A-Z -])")
_TITLED = r"[A-Z][a-z'’]+(?:-[A-Z]?[a-z]+)?(?![\w’'])(?! (?:\d|[A-Z]\b|[A-Z]{2}))"
_NAME = re.compile(rf"\b{_TITLED}(?: {_TITLED})*")


class CorpusVocabulary:
    """The vocabulary of the corpus, with the words that are written in lower case."""

    def __init__(self, corpus: Corpus) -> None:
        self._words = frozenset(word for p in corpus.passages.values() for word in _WORD.findall(p.text))

    def contains(self, word: str) -> bool:
        """Return whether a word occurs in the corpus with exactly this capitalization.

        Args:
            word: A word, e.g. an abbreviation.
        """
        return word in self._words

    def to_sentence_case(self, heading: str) -> str:
        """Convert a heading to sentence case, keeping names and abbreviations capitalized.

        Args:
            heading: Heading as printed.

        Returns:
            The heading.
        """
        first, _, rest = _NAME.sub(self._soften_run, heading).partition(" ")
        small = load_scenarios().limits.small_words
        return " ".join([first, *(word.lower() if word in small else word for word in rest.split())])

    def _soften_run(self, run: re.Match[str]) -> str:
        """Return capitalized words in a row; a word before a name belongs to the name (`New York`)."""
        words = run[0].split(" ")
        is_name = [self._is_name(word) for word in words]
        kept = [name or after for name, after in zip(is_name, [*is_name[1:], False], strict=True)]
        return " ".join(word if keep else word.lower() for word, keep in zip(words, kept, strict=True))

    def _is_name(self, word: str) -> bool:
        small = word.lower()
        return not ({small, small.removesuffix("s"), small.partition("-")[0]} & self._words)


def is_subject(heading: str) -> bool:
    """Return whether a heading names a possible subject of a question.

    Args:
        heading: Heading without its key.
    """
    rules = [
        *load_training().empty_headings,
        *load_scenarios().not_subjects,
        *load_scenarios().headings,
    ]
    is_short = 0 < len(heading.split()) <= load_scenarios().limits.subject_words
    return is_short and not any(rule.pattern.search(heading) for rule in rules)


def find_head(phrase: str) -> str:
    """Return the head of a noun phrase: the word before its first preposition, ignoring parentheses.

    Args:
        phrase: Noun phrase.
    """
    words, prepositions = _BRACKETS.sub("", phrase).split(), load_scenarios().limits.prepositions
    stop = next((n for n, word in enumerate(words) if n and word in prepositions), len(words))
    return words[stop - 1] if words else ""


def agree(phrase: str) -> dict[str, str]:
    """Return the forms of `is` and `do` that agree with a noun phrase.

    Args:
        phrase: Noun phrase.
    """
    head = find_head(phrase)
    is_many = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return {"is": "are", "do": "do"} if is_many else {"is": "is", "do": "does"}


def add_article(phrase: str) -> str:
    """Add an indefinite article to a noun phrase with a countable head: `a refund of tax`.

    Args:
        phrase: Noun phrase.

    Returns:
        The phrase with its article.
    """
    head = find_head(phrase)
    if head not in load_scenarios().limits.counted or _DETERMINED.match(phrase):
        return phrase
    return f"{'an' if _VOWEL.match(phrase) else 'a'} {phrase}"
