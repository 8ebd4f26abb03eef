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
    """The words of a corpus as they are written, which show what is a name or an abbreviation.

    Args:
        corpus: Passages.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._words = frozenset(word for passage in corpus.passages.values() for word in _WORD.findall(passage.text))

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
        first, _, rest = _NAME.sub(self._lower_run, heading).partition(" ")
        function_words = load_scenarios().limits.small_words
        return " ".join([first, *(word.lower() if word in function_words else word for word in rest.split())])

    def _lower_run(self, run: re.Match[str]) -> str:
        """Return capitalized words in lower case except names; a word before a name belongs to it (`New York`)."""
        words = run[0].split(" ")
        are_names = [self._is_name(word) for word in words]
        return " ".join(
            word if is_name or precedes_name else word.lower()
            for word, is_name, precedes_name in zip(words, are_names, [*are_names[1:], False], strict=True)
        )

    def _is_name(self, word: str) -> bool:
        """Return whether the corpus never writes a word, or its singular or first part, in lower case."""
        lowered = word.lower()
        return not ({lowered, lowered.removesuffix("s"), lowered.partition("-")[0]} & self._words)


def is_subject(heading: str) -> bool:
    """Return whether a question can be about what a heading names.

    Args:
        heading: Heading without its key.
    """
    excluded = [
        *load_training().empty_headings,
        *load_scenarios().not_subjects,
        *load_scenarios().headings,
    ]
    is_short = 0 < len(heading.split()) <= load_scenarios().limits.subject_words
    return is_short and not any(rule.pattern.search(heading) for rule in excluded)


def find_head(phrase: str) -> str:
    """Return the head of a noun phrase, its last word before the first preposition; parentheses are ignored.

    Args:
        phrase: Noun phrase.
    """
    words = _BRACKETS.sub("", phrase).split()
    prepositions = load_scenarios().limits.prepositions
    end = next((ix for ix, word in enumerate(words) if ix and word in prepositions), len(words))
    return words[end - 1] if words else ""


def agree(phrase: str) -> dict[str, str]:
    """Return the forms of `is` and `do` that agree with a noun phrase.

    Args:
        phrase: Noun phrase.

    Returns:
        `is` or `are` under "is", `do` or `does` under "do".
    """
    head = find_head(phrase)
    is_plural = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return {"is": "are", "do": "do"} if is_plural else {"is": "is", "do": "does"}


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
