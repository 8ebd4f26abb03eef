"""Rule family `subject_sections`: questions whether a thing is deductible or taxed, and the sections on that thing."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class KindRule(Rule):
    """Rule for one kind of question.

    Attributes:
        kind: Kind of the question: `deduct`, `tax`, `exclude` or `how`.
    """

    kind: str


class SubjectSections(Family):
    """Content of `rules/subject_sections.yaml`.

    Attributes:
        frame: Words of such questions that a section need not say.
        generic: Words that a question or a heading may add to a thing.
        candidates: Number of passages of the question that are read.
        documents: Number of their documents, the best first, whose sections may open an answer.
        most: Largest number of sections; a thing that more are on is not settled by any.
        words: Largest number of words of a section that are quoted.
        most_heading_words: Largest number of words of a heading that names a thing.
    """

    frame: str
    generic: str
    candidates: int
    documents: int
    most: int
    words: int
    most_heading_words: int
    questions: RuleList[KindRule]
    tails: RuleList[Rule]
    procedures: RuleList[Rule]
    says: RuleList[KindRule]


@cache
def load_subject_sections() -> SubjectSections:
    """Return the rules of `subject_sections`, read once per process."""
    return load_model("subject_sections", SubjectSections)
