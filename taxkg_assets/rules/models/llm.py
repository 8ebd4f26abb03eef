"""Rule family `llm`: limits of the rules that replace a language model, and of the checks of its replies."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Words(Section):
    """Stems and stop words."""

    stem_letters: int
    opening: int
    stop: frozenset[str]


class Reading(Section):
    """Values of `reading`.

    Attributes:
        passages: Number of passages that a model reads for an answer.
        opinion_share: Weight of the model's relevance grade, 0 to 1.
        hyde_share: Weight of a hypothetical passage in the query, 0 to 1.
    """

    passages: int
    opinion_share: float
    hyde_share: float


class Evidence(Section):
    """Fewest content words of a quote."""

    least_words: int


class Support(Section):
    """Share of a sentence's words that its quotes must contain, 0 to 1."""

    least_share: float


class References(Section):
    """Share of common words for a target, and its lead over the next one, 0 to 1."""

    least_share: float
    least_margin: float


class Boundaries(Section):
    """Weights of the logistic rule for boundaries between blocks."""

    weights: dict[str, float]
    usual_similarity: float
    heading_roles: frozenset[str]


class HeadingLevels(Section):
    """Ratios of type size for the first two levels of headings."""

    first: float
    second: float


class Parts(Section):
    """Limits for the part of a text that a block is."""

    heading_words: int
    artifact_words: int
    heading_ratio: float
    levels: HeadingLevels
    least_letters: float
    run_in_level: int


class Metadata(Section):
    """Most tags, words and entities of a chunk's metadata."""

    tags: int
    title_words: int
    entities: int
    name_words: int


class Quality(Section):
    """Limits and weights of the quality of a chunk."""

    least_words: int
    most_words: int
    least_similarity: float
    accept: float
    reject: float
    weights: dict[str, float]


class Pairs(Section):
    """Share of the question's words that a valid pair's passage contains, 0 to 1."""

    least_share: float


class Negatives(Section):
    """Limits of the judge of negatives, shares 0 to 1."""

    least_share: float
    of_positive: float
    alike: float
    same: float


class Grades(Section):
    """Weights of a relevance grade, and the share of words from which a grade may count as an answer."""

    best_sentence: float
    all: float
    least_share: float


class Hyde(Section):
    """Size of a hypothetical passage."""

    terms: int
    most_words: int


class Verdicts(Section):
    """How far a model's verdict may be from the rule's."""

    sure: float
    most_apart: float
    most_apart_grade: float


class QuestionLimits(Section):
    """Length of a generated question in words, and least number of content words that it shares with its quotes."""

    least_words: int
    most_words: int
    least_shared: int


class Summaries(Section):
    """Weight of a sentence's position, and the length of sentences in words."""

    position: float
    most_words: int
    least_words: int


class Answers(Section):
    """Share of the question's words that an answer needs, and its most sentences."""

    least_share: float
    sentences: int


class Confidence(Section):
    """Confidence of a rule's proposal, 0 to 1."""

    rule: float


class Figures(RuleList[Rule]):
    """Rules of `figures`."""

    number_or_key: Rule


class KeyKinds(RuleList[Rule]):
    """Rules of `key_kinds`."""

    names_a_key: Rule


class ClauseEnds(RuleList[Rule]):
    """Rules of `clause_ends`."""

    ends_a_clause: Rule


class Llm(Family):
    """Content of `rules/llm.yaml`."""

    words: Words
    reading: Reading
    evidence: Evidence
    support: Support
    references: References
    boundaries: Boundaries
    parts: Parts
    metadata: Metadata
    quality: Quality
    pairs: Pairs
    negatives: Negatives
    grades: Grades
    questions: tuple[str, ...]
    hyde: Hyde
    verdicts: Verdicts
    question_limits: QuestionLimits
    summaries: Summaries
    answers: Answers
    characters_per_token: float
    reply_tokens: int
    retry_shares: tuple[float, ...]
    confidence: Confidence
    figures: Figures
    limits_of_rules: RuleList[Rule]
    key_kinds: KeyKinds
    clause_ends: ClauseEnds
    opening_cues: RuleList[Rule]
    continuation_cues: RuleList[Rule]
    run_ins: RuleList[Rule]
    list_marks: RuleList[Rule]
    notes: RuleList[Rule]
    artifacts: RuleList[Rule]
    entities: RuleList[Rule]
    instructions: RuleList[Rule]
    given: RuleList[Rule]
    own_keys: RuleList[Rule]
    context_lines: RuleList[Rule]


@cache
def load_llm() -> Llm:
    """Return the rules that decide what replaces a language model, and whether its replies are accepted."""
    return load_model("llm", Llm)
