"""Rule family `levels`: units larger than a passage, their summaries and their scores."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Summaries(Section):
    """Sizes of summaries.

    Attributes:
        page_sentences: Maximum number of sentences of a page's summary.
        document_sentences: Maximum number of sentences of a document's summary.
        blocks: Maximum number of paragraphs that a summary is made from.
        leads: Kinds of headings whose first sentences a document's summary prefers.
    """

    page_sentences: int
    document_sentences: int
    blocks: int
    leads: tuple[str, ...]


class Weights(Section):
    """Weights of the evidence for a unit.

    Attributes:
        best: Weight of the score of the unit's best passage, relative to the best passage of all.
        mass: Weight of the sum of the scores of its ranked passages, relative to the best unit.
        vector: Weight of the cosine of the question with the mean vector of its passages.
        lexical: Weight of BM25 over its terms.
    """

    best: float
    mass: float
    vector: float
    lexical: float


class Intent(Rule):
    """Rule for the kind of answer that a question asks for.

    Attributes:
        level: Level of the units that answer the question.
        is_summary: Whether the question asks what a document is about.
        is_frame: Whether the matched words are no part of the topic.
    """

    level: str
    is_summary: bool = False
    is_frame: bool = False


class Levels(Family):
    """Content of `rules/levels.yaml`, without its patterns.

    Attributes:
        unit_words: Words of a section's text in its own row.
        unit_terms: Maximum number of terms of a unit in the lexical index.
        children: Passages of a unit that a result names.
    """

    summaries: Summaries
    unit_words: int
    unit_terms: int
    weights: Weights
    children: int
    intents: RuleList[Intent]


@cache
def load_levels() -> Levels:
    """Return the rules that decide which units are larger than a passage, and how they are summarized and scored."""
    return load_model("levels", Levels)
