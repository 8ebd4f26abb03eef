"""Text normalization for rules and checks: content words, figures and keys, negations, numbers in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from taxkg_assets.prompts.contract import Block, Evidence
from taxkg_assets.rules.models.claims import load_claims
from taxkg_assets.rules.models.llm import load_llm
from taxkg_assets.rules.models.polarity import load_polarity

_OTHER_WORDS = re.compile(r"\b(?!(?:and|or|to|through|nos?)\b)[^\W\d]{2,}")
"""Words that end a list of keys, as in `boxes 1a and 2b of Form 1040`; all but `and`, `or`, `to`, `through`, `no`."""
_WORD_OR_NUMBER = re.compile(r"[^\W\d_][^\W\d_'’-]*(?:-[^\W\d_]+)*|\d[\d,.]*\d[a-z]?\b|\d[a-z]?\b")
_WORD = re.compile(r"[^\W\d_][\w'’-]*|\d[\d,.]*\d|\d")
Words = frozenset[str]


def content_stems(text: str) -> frozenset[str]:
    """Return the first letters of a text's content words.

    Args:
        text: The text.
    """
    rules = load_llm().words
    words = (match[0].casefold() for match in _WORD.finditer(text))
    return frozenset(word[: rules.stem_letters] for word in words if word not in rules.stop)


def find_stems(text: str) -> Words:
    """Return the stems of a text's content words; synonyms share one stem.

    Args:
        text: The text.
    """
    stop = load_llm().words.stop
    words = (match[0].casefold() for match in _WORD_OR_NUMBER.finditer(text))
    return frozenset(find_stem(word) for word in words if word not in stop)


def find_stem(word: str) -> str:
    """Return the stem of a word, or of its synonym.

    Args:
        word: Word in lower case.
    """
    return _read_synonyms().get(word) or _read_synonyms().get(_cut_ending(word)) or _cut_ending(word)


@cache
def _read_synonyms() -> Mapping[str, str]:
    """Return the first synonym of its group, by word and by stem."""
    return {
        spelling: group[0] for group in load_claims().alike for word in group for spelling in (word, _cut_ending(word))
    }


@cache
def _cut_ending(word: str) -> str:
    """Return a word without its ending, if enough of it remains, and a number without commas."""
    rules = load_claims()
    if not word[:1].isalpha():
        return word.replace(",", "")
    endings = (ending for ending in rules.endings if word.endswith(ending))
    ending = next((ending for ending in endings if len(word) - len(ending) >= rules.shortest_stem), "")
    stem = word.removesuffix(ending) + ("y" if ending in ("ies", "ied") else "")
    is_doubled = ending in ("ed", "ing") and stem[-1:] == stem[-2:-1] and stem[-1:] not in "ls"
    return stem[:-1] if is_doubled else stem


def list_stems(text: str) -> list[str]:
    """Return the stems of a text's content words in order, with repetitions.

    Args:
        text: The text.
    """
    return [next(iter(stem)) for match in _WORD_OR_NUMBER.finditer(text) if (stem := find_stems(match[0]))]


def find_figures(text: str) -> frozenset[str]:
    """Extract numbers, amounts and keys such as 1a or 1099-DIV, normalized.

    Args:
        text: The text.

    Returns:
        The normalized figures.
    """
    pattern = load_llm().figures.number_or_key.pattern
    return frozenset(_normalize_figure(match[0]) for match in pattern.finditer(text))


def _normalize_figure(figure: str) -> str:
    return figure.casefold().replace(",", "").rstrip(".-")


def is_negative(text: str) -> bool:
    """Return whether a text contains a negation or prohibition.

    Args:
        text: The text.
    """
    return count_negations(text) > 0


def count_negations(text: str) -> int:
    """Return the number of negations and prohibitions in a text.

    Args:
        text: The text.
    """
    for rule in load_polarity().weak_negations:
        text = rule.pattern.sub(" ", text)
    return sum(1 for rule in load_polarity().negations for _ in rule.pattern.finditer(text))


def is_limited(text: str) -> bool:
    """Return whether a text contains conditions or exceptions.

    Args:
        text: The text.
    """
    return load_llm().limits_of_rules.matches(text)


def find_keys(text: str) -> frozenset[tuple[str, str]]:
    """Extract numbers with the kind of item that they identify: `boxes 1a and 2b` names two boxes.

    Args:
        text: The text.

    Returns:
        Pairs of kind and number.
    """
    kinds = load_llm().key_kinds.names_a_key.pattern
    figures = load_llm().figures.number_or_key.pattern
    matches = [(match.start(), False, match[0]) for match in figures.finditer(text)]
    matches += [(match.start(), True, match[0]) for match in kinds.finditer(text)]
    keys: set[tuple[str, str]] = set()
    kind, last_end = "", 0
    for start, is_kind, word in sorted(matches):
        if is_kind:
            kind = word.casefold().rstrip(".").removesuffix("es" if word.casefold().startswith("box") else "s")
        elif kind and not _OTHER_WORDS.search(text[last_end:start]):
            keys.add((kind, _normalize_figure(word)))
        else:
            kind = ""
        last_end = start + len(word)
    return frozenset(keys)


def split_clauses(text: str) -> list[str]:
    """Split a text into clauses that are negated or affirmed separately.

    Args:
        text: The text.

    Returns:
        The clauses, in order.
    """
    pattern = load_llm().clause_ends.ends_a_clause.pattern
    return [clause for clause in pattern.split(text) if clause and content_stems(clause)]


def score_coverage(words: frozenset[str], text_words: frozenset[str]) -> float:
    """Return the share of words that a text has, 0 to 1; 0 if there are no words.

    Args:
        words: Words to look for.
        text_words: Words of the text.
    """
    return len(words & text_words) / len(words) if words else 0.0


def quote_opening(block: Block) -> Evidence:
    """Quote a block's first words as evidence, as many as evidence needs.

    Args:
        block: The block.

    Returns:
        The evidence.
    """
    usual_length, min_content = load_llm().words.opening, load_llm().evidence.least_words
    start = len(block.text) - len(block.text.lstrip())
    end = start
    content: set[str] = set()
    for number, word in enumerate(re.finditer(r"\S+", block.text)):
        if number >= usual_length and len(content) >= min_content:
            break
        end = word.end()
        content |= content_stems(word[0]) | find_figures(word[0])
    pointer = f"{block.element_id}:{block.start + start}-{block.start + end}"
    return Evidence(pointer=pointer, quote=block.text[start:end])


def normalize_spelling(text: str) -> str:
    """Write numbers as digits, currency signs before amounts, and percent signs after rates.

    Args:
        text: The text.

    Returns:
        The normalized text.
    """
    text = _number_words().sub(lambda run: _convert_number(run[0]), text)
    for rule in load_claims().spellings:
        text = rule.pattern.sub(rule.written, text)
    return text


@cache
def _number_words() -> re.Pattern[str]:
    numbers = load_claims().numbers
    word = "|".join([*numbers.units, *numbers.scales])
    return re.compile(rf"(?i)\b(?:{word})(?:(?:[\s-]+|\s+and\s+)(?:{word}))*\b")


def _convert_number(run: str) -> str:
    """Return the number that a run of number words names; a word that usually is no number stays as it is."""
    numbers = load_claims().numbers
    words = [word for word in re.split(r"[\s-]+", run.casefold()) if word != "and"]
    if len(words) == 1 and (words[0] in numbers.alone or words[0] in numbers.scales):
        return run
    return str(numbers.read(words))
