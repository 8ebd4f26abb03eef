"""Words of a text by clause, with the polarity of each clause, and how the words of two texts are aligned."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from taxkg_assets.rules.models.verification import load_verification
from taxkg_assets.verification.language import Language
from taxkg_assets.verification.values import fold

_SHORTEST_STEM = 5
_REACH_WORDS = 3
_LONGEST_PHRASE = 4
_BLANK = re.compile(r" (?!\()")  # `501 (c)` is one key
_BLANKED = "   "
_MOST_KEPT = 100_000
_NO = "no"
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_COMMA = re.compile(r",\s+(?:then )?")
_LISTED = re.compile(r"(?i)(?:and|or)\b")
Words = frozenset[str]
_NO_WORDS: Words = frozenset()


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its content words and whether it is negated.

    Attributes:
        words: Stems of its content words; synonyms share one.
        is_negative: Whether it is negated.
        heads: Words right after a negation, `deduct` of `can't deduct rent`.
        reach: The following words, `rent`.
        opposites: Its words that have an antonym.
        force: `must`, `may`, or empty.
        has_verb: Whether it is a statement of its own.
        is_condition: Whether it is a condition.
        is_exception: Whether it names an exception.
        is_concession: Whether it is a concession or a reason, as in `even if it is small`.
        is_mixed: Whether it has two verbs, so that a negation may be of one alone.
    """

    words: Words
    is_negative: bool
    heads: Words = frozenset()
    reach: Words = frozenset()
    opposites: Words = frozenset()
    force: str = ""
    has_verb: bool = False
    is_condition: bool = False
    is_exception: bool = False
    is_concession: bool = False
    is_mixed: bool = False

    @property
    def is_aside(self) -> bool:
        """Return whether it is a condition, an exception, a concession or a reason rather than an assertion."""
        return self.is_condition or self.is_exception or self.is_concession


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one text, clause by clause.

    Attributes:
        clauses: Clauses in their order; those without content words are left out.
        words: All content words.
    """

    clauses: tuple[Clause, ...]
    words: Words


def read_wording(text: str, *, language: Language) -> Wording:
    """Split a text into clauses with their content words and negations.

    Args:
        text: A sentence, or a lead-in and its list item.
        language: Functions that read words.

    Returns:
        The clauses.

    Source:
        rules/verification.yaml: `rewrites`, `no_denials`, `denials`, `clause_ends`, `alike`.
    """
    plain, rules = fold(text), load_verification()
    for rule in rules.rewrites:
        plain = rule.pattern.sub(rule.written, plain)
    for aside in rules.no_denials:
        plain = aside.pattern.sub(" ", plain)
    clauses = []
    for part in split_clauses(plain):
        spoken = frozenset(_WORD.findall(part.casefold())) & find_opposites().keys()
        force, has_verb = _read_force(part), rules.predicates.verb.pattern.search(part) is not None
        denials = _count_denials(part, language=language)
        is_condition = rules.conditions.case.pattern.match(part) is not None
        is_exception = rules.conditions.exception.pattern.match(part) is not None
        is_concession = rules.conditions.concession.pattern.match(part) is not None
        is_mixed = len(rules.predicates.finite.pattern.findall(part)) > 1
        heads, reach = _find_denied(part, language=language)
        part = rules.denials.negative_word.pattern.sub(" ", part)
        words = find_words(part, language=language)
        if words:
            clauses.append(
                Clause(
                    words,
                    denials % 2 == 1 or len(heads) > 1,
                    frozenset(heads),
                    reach,
                    spoken,
                    force,
                    has_verb,
                    is_condition,
                    is_exception,
                    is_concession,
                    is_mixed,
                )
            )
    every = frozenset().union(*(clause.words for clause in clauses)) if clauses else frozenset()
    return Wording(tuple(clauses), every)


def find_words(text: str, *, language: Language) -> Words:
    """Return the stems of a text's content words, without figures and keys; synonyms share one stem.

    Args:
        text: Any text.
        language: Functions that read words.
    """
    read = _word_reader(language.find_terms)
    return _NO_WORDS.union(*map(read, _BLANK.split(text)))


@cache
def _word_reader(find_terms: Callable[[str], Sequence[str]]) -> Callable[[str], Words]:
    """Return a function that reads the words of a part of a text without blanks; a library repeats these often."""
    language = Language(find_terms=find_terms, read_weight=lambda _: 0.0, find_mentions=lambda _: ())
    return lru_cache(maxsize=_MOST_KEPT)(lambda part: frozenset(_list_words(part, language=language)))


def _list_words(text: str, *, language: Language) -> Iterator[str]:
    alike = _alike(language.find_terms)
    for term in language.find_terms(text):
        if term.replace("-", "").replace("'", "").isalpha():
            yield alike.get(term, term)


def match_word(word: str, words: Words) -> bool:
    """Return whether a stem, or a longer or shorter form of it, is among some stems.

    Args:
        word: The stem.
        words: Stems of the other text.
    """
    if word in words:
        return True
    if len(word) < _SHORTEST_STEM:
        return False
    return any(len(other) >= _SHORTEST_STEM and (other.startswith(word) or word.startswith(other)) for other in words)


def _find_denied(part: str, *, language: Language) -> tuple[list[str], Words]:
    """Find the first content word after each denial that counts, and the next one; a repeated one counts again."""
    heads: list[str] = []
    reach: set[str] = set()
    verb = load_verification().predicates.verb.pattern
    for match in _find_denials(part, language=language):
        rest = part[match.end() :]
        if rest.startswith(_BLANKED):  # a form or a key is denied: `files no Form 9999`
            continue
        after = _list_reached(rest, language=language)
        if match[0].casefold() == _NO and (said := verb.search(rest)):
            after = _turn_to_noun(list(_list_words(rest[: said.start()], language=language))) or after
        heads += after[:1]
        reach |= set(after[1:])
    return heads, frozenset(reach)


def _find_denials(part: str, *, language: Language) -> Iterator[re.Match[str]]:
    """Find the denials of a clause that no other one right after them cancels.

    `May never be excluded`, read as `may never be not included`, and `never denied` deny nothing; `not, and never was,
    denied` neither: coordinated denials are canceled together.
    """
    rules = load_verification()
    denials = sorted(rules.word_denials.not_.pattern.finditer(part), key=lambda match: match.start())
    forbidding_words = list(rules.denials.forbidding_word.pattern.finditer(part))
    canceled: set[int] = set()
    for ix, match in enumerate(denials):
        if ix in canceled:
            continue
        if ix + 1 < len(denials) and _cancels(match, denials[ix + 1], part, language=language):
            canceled |= {ix, ix + 1}
        elif any(_cancels(match, word, part, language=language) for word in forbidding_words):
            canceled.add(ix)
    for ix in reversed(range(len(denials) - 1)):
        if ix + 1 in canceled and _is_coordinated(denials[ix], denials[ix + 1], part, language=language):
            canceled.add(ix)
    return (match for ix, match in enumerate(denials) if ix not in canceled)


def _count_denials(part: str, *, language: Language) -> int:
    """Count the denials of a clause; coordinated ones, as in `is not, and never was, due`, count once."""
    rules = load_verification().denials
    negative_words = list(rules.negative_word.pattern.finditer(part))
    coordinated = sum(_is_coordinated(one, other, part, language=language) for one, other in pairwise(negative_words))
    return sum(len(rule.pattern.findall(part)) for rule in rules) - coordinated


def _cancels(match: re.Match[str], other: re.Match[str], part: str, *, language: Language) -> bool:
    """Return whether a denial is right before another one that it denies."""
    return _is_next(match, other, part, language=language) and not _is_joined(match, other, part)


def _is_coordinated(match: re.Match[str], other: re.Match[str], part: str, *, language: Language) -> bool:
    """Return whether two denials deny the same word."""
    return _is_next(match, other, part, language=language) and _is_joined(match, other, part)


def _is_joined(match: re.Match[str], other: re.Match[str], part: str) -> bool:
    """Return whether two denials are joined, as `not, and never`; a pair of commas encloses an aside.

    A comma before a verb that forbids closes an aside: `never was, denied`.
    """
    between = part[match.end() : other.start()]
    if load_verification().clause_ends.coordinator.pattern.search(between + other[0]):
        return True
    is_verb = load_verification().denials.forbidding_word.pattern.match(other[0]) is not None
    return not is_verb and between.count(",") % 2 == 1


def _is_next(match: re.Match[str], other: re.Match[str], part: str, *, language: Language) -> bool:
    """Return whether no content word is between two matches."""
    return match.end() <= other.start() and not find_words(part[match.end() : other.start()], language=language)


def _list_reached(rest: str, *, language: Language) -> list[str]:
    """Return the first content words after a denial, as far as the comma behind the first one."""
    found: list[str] = []
    for part in rest.split(","):
        found += list(_list_words(part, language=language))
        if found:
            break
    return found[:_REACH_WORDS]


def _turn_to_noun(phrase: Sequence[str]) -> list[str]:
    """Return the words of `no small boat fee` with the last one first: it names what there is none of."""
    return [phrase[-1], *phrase[:-1]] if 1 < len(phrase) <= _LONGEST_PHRASE else list(phrase)


def _read_force(part: str) -> str:
    found = [rule.id for rule in load_verification().forces if rule.pattern.search(part)]
    return found[0] if found else ""


def split_clauses(text: str) -> list[str]:
    """Split a text into clauses, separating conditions from consequences.

    Args:
        text: A text, folded.

    Returns:
        Clauses in their order, each with the word that opens it.
    """
    pattern = load_verification().clause_ends.joint.pattern
    parts, start = [], 0
    for match in pattern.finditer(text):
        parts.append(text[start : match.start()])
        word = next((place for place, letter in enumerate(match[0]) if letter.isalpha()), None)
        start = match.end() if word is None else match.start() + word
    return [own for part in _join_relatives([*parts, text[start:]]) for own in _split_condition(part)]


def _split_condition(part: str) -> list[str]:
    """Split a clause such as `if the fee is due, enter it` into its condition and what holds in that case."""
    if not load_verification().conditions.case.pattern.match(part):
        return [part]
    verb = load_verification().predicates.verb.pattern
    order = load_verification().imperatives.order.pattern
    for comma in _COMMA.finditer(part):
        rest = part[comma.end() :]
        said = rest.split(",", maxsplit=1)[0]
        is_listed = _LISTED.match(said) is not None  # `the fee, or the rent that is due`
        if order.match(rest) or (not is_listed and verb.search(said)):
            return [part[: comma.start()], rest]
    return [part]


def _join_relatives(parts: Sequence[str]) -> list[str]:
    """Join a relative clause without a denial of its own to the clause that it belongs to: one polarity holds both.

    What follows a relative clause belongs to the words before it: `the fee / that you owe / is not due`.
    """
    relative = load_verification().relatives.which_one.pattern
    verb = load_verification().predicates.verb.pattern
    joined: list[str] = []
    for part in parts:
        if not joined or not relative.match(part):
            joined.append(part)
            continue
        own, predicate = part, ""
        if not verb.search(joined[-1]):
            own, predicate = _split_relative(part)
        if predicate and _denies_first(own):
            joined[-1] = f"{joined[-1]} {predicate.strip()}"
            joined.append(own)
        elif predicate or not _denies_first(part):
            joined[-1] = f"{joined[-1]} {part.strip()}"
        else:
            joined.append(part)
    return joined


def _split_relative(part: str) -> tuple[str, str]:
    """Split a relative clause from the predicate of the clause that it interrupts; empty where there is none."""
    found = list(load_verification().predicates.finite.pattern.finditer(part))
    first = load_verification().relatives.own_verb.pattern.match(part)
    rest = [match for match in found if first is None or match.start() >= first.end()]
    return (part[: rest[0].start()], part[rest[0].start() :]) if rest else (part, "")


def _denies_first(part: str) -> bool:
    """Return whether a relative clause denies its own verb; a later one is that of the main clause."""
    verb = load_verification().predicates.verb.pattern.search(part)
    found = [match for rule in load_verification().denials if (match := rule.pattern.search(part))]
    return any(verb is None or match.start() <= verb.end() + 1 for match in found)


@cache
def _alike(find_terms: Callable[[str], Sequence[str]]) -> Mapping[str, str]:
    """Return the first stem of its group for each stem that has synonyms."""
    found: dict[str, str] = {}
    for group in load_verification().alike:
        stems = [stem for word in group for stem in find_terms(word)]
        for stem in stems:
            found.setdefault(stem, stems[0])
    return found


@cache
def find_opposites() -> Mapping[str, frozenset[str]]:
    """Return the antonyms of each word that has some (rules/verification.yaml, `opposites`)."""
    found: dict[str, set[str]] = {}
    pairs: Sequence[Sequence[str]] = load_verification().opposites
    for one, other in pairs:
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


@cache
def find_rivals() -> Mapping[str, frozenset[str]]:
    """Return the words that contradict a word: antonyms, and alternatives such as `weekly, monthly`."""
    found: dict[str, frozenset[str]] = dict(find_opposites())
    for row in load_verification().rows:
        for word in row:
            found[word] = found.get(word, frozenset()) | (frozenset(row) - {word})
    return found


def read_weights(words: Iterable[str], *, language: Language) -> dict[str, float]:
    """Return the weight of each word, that of its most frequent synonym; unknown words count as the rarest.

    Args:
        words: Stems.
        language: Functions that read words.
    """
    members = _members(language.find_terms)
    weights = {}
    for word in words:
        known = [weight for own in members.get(word, (word,)) if (weight := language.read_weight(own)) > 0]
        weights[word] = min(known, default=language.unknown_weight)
    return weights


@cache
def _members(find_terms: Callable[[str], Sequence[str]]) -> Mapping[str, tuple[str, ...]]:
    """Return the stems of each group of synonyms by its first one."""
    found: dict[str, list[str]] = {}
    for stem, first in _alike(find_terms).items():
        found.setdefault(first, []).append(stem)
    return {first: tuple(stems) for first, stems in found.items()}
