"""Text normalization for rules and checks: content words, figures and keys, negation, numbers in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from taxkg_assets.prompts.contract import Block, Evidence
from taxkg_assets.rules.models.claims import load_claims
from taxkg_assets.rules.models.llm import load_llm
from taxkg_assets.rules.models.polarity import load_polarity

_OTHER_WORDS = re.compile(r"\b(?!(?:and|or|to|through|nos?)\b)[^\W\d]{2,}")
"""Between a kind and the keys of its list stand nothing but these words."""
_TELLING = re.compile(r"[^\W\d_][^\W\d_'’-]*(?:-[^\W\d_]+)*|\d[\d,.]*\d[a-z]?\b|\d[a-z]?\b")
_WORD = re.compile(r"[^\W\d_][\w'’-]*|\d[\d,.]*\d|\d")
Words = frozenset[str]


def content_stems(text: str) -> frozenset[str]:
    """Return the prefix stems of a text's content words.

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
    words = (match[0].casefold() for match in _TELLING.finditer(text))
    return frozenset(find_stem(word) for word in words if word not in stop)


def find_stem(word: str) -> str:
    """Return the stem of a word, or of its synonym.

    Args:
        word: Word in lower case.
    """
    return _alike().get(word) or _alike().get(_cut(word)) or _cut(word)


@cache
def _alike() -> Mapping[str, str]:
    """Return the first word of its group of synonyms for each word and stem."""
    return {spelt: group[0] for group in load_claims().alike for w in group for spelt in (w, _cut(w))}


@cache
def _cut(word: str) -> str:
    """Return a word without its ending, as long as enough of it remains."""
    rules = load_claims()
    if not word[:1].isalpha():
        return word.replace(",", "")
    ending = next((e for e in rules.endings if word.endswith(e) and len(word) - len(e) >= rules.shortest_stem), "")
    stem = word.removesuffix(ending) + ("y" if ending in ("ies", "ied") else "")
    is_doubled = ending in ("ed", "ing") and stem[-1:] == stem[-2:-1] and stem[-1:] not in "ls"
    return stem[:-1] if is_doubled else stem


def list_stems(text: str) -> list[str]:
    """Return the stems of a text's content words in order, with repetitions.

    Args:
        text: The text.
    """
    return [next(iter(stem)) for match in _TELLING.finditer(text) if (stem := find_stems(match[0]))]


def find_figures(text: str) -> frozenset[str]:
    """Extract numbers, amounts and keys such as 1a or 1099-DIV, normalized.

    Args:
        text: The text.

    Returns:
        The normalized figures.
    """
    pattern = load_llm().figures.number_or_key.pattern
    return frozenset(_one_spelling(match[0]) for match in pattern.finditer(text))


def _one_spelling(figure: str) -> str:
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
    named = sorted([(m.start(), "kind", m[0]) for m in kinds.finditer(text)] + _figures_at(text, figures))
    keys: set[tuple[str, str]] = set()
    kind, last = "", 0
    for start, sort, word in named:
        if sort == "kind":
            kind = word.casefold().rstrip(".").removesuffix("es" if word.casefold().startswith("box") else "s")
        elif kind and not _OTHER_WORDS.search(text[last:start]):
            keys.add((kind, _one_spelling(word)))
        else:
            kind = ""
        last = start + len(word)
    return frozenset(keys)


def _figures_at(text: str, pattern: re.Pattern[str]) -> list[tuple[int, str, str]]:
    return [(match.start(), "figure", match[0]) for match in pattern.finditer(text)]


def split_clauses(text: str) -> list[str]:
    """Split a text into clauses that are negated or affirmed separately.

    Args:
        text: The text.

    Returns:
        The clauses, in order.
    """
    pattern = load_llm().clause_ends.ends_a_clause.pattern
    return [part for part in pattern.split(text) if part and content_stems(part)]


def score_coverage(wanted: frozenset[str], present: frozenset[str]) -> float:
    """Return the share of wanted words in a text, 0 to 1; 0 if none is wanted.

    Args:
        wanted: Wanted words.
        present: Words of the text.
    """
    return len(wanted & present) / len(wanted) if wanted else 0.0


def quote_opening(block: Block) -> Evidence:
    """Quote a block's first words as evidence.

    Args:
        block: The block.

    Returns:
        The evidence.
    """
    most, least = load_llm().words.opening, load_llm().evidence.least_words
    start = len(block.text) - len(block.text.lstrip())
    end = start
    for number, word in enumerate(re.finditer(r"\S+", block.text)):
        beginning = block.text[start:end]
        if number >= most and len(content_stems(beginning) | find_figures(beginning)) >= least:
            break
        end = word.end()
    place = f"{block.element_id}:{block.start + start}-{block.start + end}"
    return Evidence(pointer=place, quote=block.text[start:end])


def normalize_spelling(text: str) -> str:
    """Normalize the spelling of numbers as digits, with currency signs before amounts and percent signs after rates.

    Args:
        text: The text.

    Returns:
        The normalized text.
    """
    text = _number_run().sub(lambda match: _figure_of(match[0]), text)
    for rule in load_claims().spellings:
        text = rule.pattern.sub(rule.written, text)
    return text


@cache
def _number_run() -> re.Pattern[str]:
    numbers = load_claims().numbers
    word = "|".join([*numbers.units, *numbers.scales])
    return re.compile(rf"(?i)\b(?:{word})(?:(?:[\s-]+|\s+and\s+)(?:{word}))*\b")


def _figure_of(run: str) -> str:
    """Return the number that a run of number words names; a word that usually is none stays as it is."""
    numbers = load_claims().numbers
    words = [word for word in re.split(r"[\s-]+", run.casefold()) if word != "and"]
    if len(words) == 1 and (words[0] in numbers.alone or words[0] in numbers.scales):
        return run
    total, part = 0, 0
    for word in words:
        if word in numbers.units:
            part += numbers.units[word]
        elif numbers.scales[word] == min(numbers.scales.values()):
            part = max(1, part) * numbers.scales[word]
        else:
            total, part = total + max(1, part) * numbers.scales[word], 0
    return str(total + part)
