"""Rule family `aliases`: other names of the boxes of information returns."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Thresholds(Section):
    """Values of `thresholds`.

    Attributes:
        least_initials: Least number of words whose initials make an abbreviation.
        most_initials: Maximum number of such words.
        shared_prefix_letters: Two words that begin with this many equal letters and end otherwise may be one.
        min_single_word_alias_letters: Least number of letters of a single word that names a box in the instructions of
            its form.
        shared_words_frac: Least share of the words of a label that the heading of another document must contain to
            name the same field.
    """

    least_initials: int
    most_initials: int
    shared_prefix_letters: int
    min_single_word_alias_letters: int
    shared_words_frac: float


class Spelling(Rule):
    """Rule with the name that it abbreviates or writes out.

    Attributes:
        alias: Name to write instead of what the rule matches.
    """

    alias: str


class Headings(RuleList[Rule]):
    """Rules of `headings`."""

    box_lead: Rule


class Remarks(RuleList[Rule]):
    """Rules of `remarks`."""

    trailing_remark: Rule


class Initialled(RuleList[Rule]):
    """Rules of `initialled`."""

    plain_words: Rule


class InParentheses(RuleList[Rule]):
    """Rules of `in_parentheses`."""

    abbreviation: Rule


class Aliases(Family):
    """Content of `rules/aliases.yaml`."""

    question_words: tuple[str, ...]
    initialism_stopwords: tuple[str, ...]
    small_words: tuple[str, ...]
    thresholds: Thresholds
    expansions: RuleList[Spelling]
    initials: RuleList[Spelling]
    headings: Headings
    remarks: Remarks
    usage: RuleList[Rule]
    printed_abbreviations: RuleList[Rule]
    capitals: RuleList[Rule]
    initialled: Initialled
    in_parentheses: InParentheses
    question_keys: RuleList[Rule]
    continued_terms: RuleList[Rule]


@cache
def load_aliases() -> Aliases:
    """Return the rules that decide which other names and abbreviations a box has."""
    return load_model("aliases", Aliases)
