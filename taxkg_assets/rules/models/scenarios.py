"""Rule family `scenarios`: how questions are generated from headings and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Limits(Section):
    """Limits of generated questions.

    Attributes:
        passage_words: Fewest words of a passage that a question can be about.
        most_words: Maximum number of words of a question.
        least_words: Fewest words of a question.
        subject_words: Maximum number of words of a heading that a question can be about.
        of_passage: Maximum number of questions of one passage.
        of_rule: Maximum number of questions of one rule in one register.
        worst_rank: Rank of the passage that each retriever must reach.
        most_rank: Rank of the passage that the better retriever must reach.
        prepositions: Words before which the head of a noun phrase ends.
        stem_letters: Letters by which two forms of a word are compared.
        small_words: Capitalized words of headings that are lower case in running text.
        counted: Nouns that take an article.
        keywords: Maximum number of keywords of a passage.
        keyword_letters: Fewest letters of a keyword.
        model_passages: Passages for which a language model proposes questions.
    """

    passage_words: int
    most_words: int
    least_words: int
    subject_words: int
    of_passage: int
    of_rule: int
    worst_rank: int
    most_rank: int
    prepositions: frozenset[str]
    stem_letters: int
    small_words: frozenset[str]
    counted: frozenset[str]
    keywords: int
    keyword_letters: int
    model_passages: int


class Asking(Rule):
    """Rule for a passage that answers questions.

    Attributes:
        asks: Questions by register; named groups of the rule in braces.
        verbs: Verbs by their gerund.
    """

    asks: dict[str, list[str]]
    verbs: Mapping[str, str] = MappingProxyType({})


class LayWord(Rule):
    """Rule for a word of the documents.

    Attributes:
        lay: Everyday word with the same meaning.
    """

    lay: str


class Person(Rule):
    r"""Rule for words of the second person.

    Attributes:
        to: Words in the first person; `\g<NAME>` is a group of the rule.
    """

    to: str


class Scenarios(Family):
    """Content of `rules/scenarios.yaml`, without its patterns.

    Attributes:
        registers: Registers of questions: plain, lay, terse, professional.
    """

    limits: Limits
    registers: tuple[str, ...]
    headings: RuleList[Asking]
    sentences: RuleList[Asking]
    subjects: RuleList[Asking]
    lay: RuleList[LayWord]
    person: RuleList[Person]
    examples: RuleList[Rule]
    anaphors: RuleList[Rule]
    not_subjects: RuleList[Rule]
    abbreviations: RuleList[Rule]
    broken: RuleList[Rule]
    conditions: RuleList[Rule]


@cache
def load_scenarios() -> Scenarios:
    """Return the rules that decide which questions are generated from headings and sentences."""
    return load_model("scenarios", Scenarios)
