"""Rule family `naming`: when two headings, keys or targets name the same thing."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Thresholds(Section):
    """Limits in letters, words, characters, or as shares 0 to 1; see the comments in the file."""

    prefix_letters: int
    prefix_share: float
    label_f1: float
    evidence_share: float
    last_header_share: float
    path_share: float
    path_factor: int
    path_extra_words: int
    fragment_letters: int
    runin_characters: int
    runin_rest_letters: int
    role_share: float


class Target(Rule):
    """Rule for a target as labelers write it.

    Attributes:
        write: Replacement for what the rule matches.
    """

    write: str


class Words(RuleList[Rule]):
    """Rules of `words`."""

    word_of_a_name: Rule


class Aside(RuleList[Rule]):
    """Rules of `aside`."""

    labellers_name: Rule


class Naming(Family):
    """Content of `rules/naming.yaml`, without its patterns."""

    thresholds: Thresholds
    words: Words
    targets: RuleList[Target]
    aside: Aside


@cache
def load_naming() -> Naming:
    """Return the rules that decide when two headings, keys or targets name the same thing."""
    return load_model("naming", Naming)
