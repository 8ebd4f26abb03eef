"""Rule family `sentences`: where sentences end, and which paragraphs are dense."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Dense(Section):
    """When the sentences of a paragraph become nodes of the graph.

    Attributes:
        sentences: Least number of sentences.
        speakers: Least number of sentences with a reference.
    """

    sentences: int
    speakers: int


class Sentences(Family):
    """Content of `rules/sentences.yaml`, without its lists of patterns.

    Attributes:
        most_characters: Length of the longest sentence; what is longer is cut at blanks.
        openings: Regular expression of the words that begin a sentence after an abbreviation.
    """

    dense: Dense
    most_characters: int
    openings: str
    ends: RuleList[Rule]
    abbreviations: RuleList[Rule]
    ends_anyway: RuleList[Rule]
    labeled_letters: RuleList[Rule]
    breaks: RuleList[Rule]


@cache
def load_sentences() -> Sentences:
    """Return the rules that decide where sentences end, and which paragraphs are dense."""
    return load_model("sentences", Sentences)
