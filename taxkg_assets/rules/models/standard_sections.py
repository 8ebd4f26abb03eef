"""Rule family `standard_sections`: the sections that every booklet of instructions has, and questions for them."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, load_model
from taxkg_assets.rules.loader import Rule


class HeadingRule(Rule):
    """Rule for the heading of a standard section.

    Attributes:
        kind: Kind of the section, the id of a rule of `questions`, or `purpose`.
        is_whole: Whether such a section answers a question of its kind completely.
    """

    kind: str
    is_whole: bool = True


class StandardSections(Family):
    """Content of `rules/standard_sections.yaml`.

    Attributes:
        frame: Words of such questions that a section need not contain.
        form_frame: Further words of a question for a form.
        most: Largest number of sections of one kind that an answer quotes.
        words: Largest number of words of a section that are quoted.
        parts: Largest number of inner headings whose text is quoted.
        rows: Largest number of rows of the table that a section begins with.
        note: Note after a section that continues.
        purpose_words: Number of words of a purpose that must contain the words of a question for a form.
        documents: Number of documents whose purposes are compared with a question for a form.
        most_other_words: Largest number of words of the question that neither frame nor section has.
    """

    frame: str
    form_frame: str
    most: int
    words: int
    parts: int
    rows: int
    note: str
    purpose_words: int
    documents: int
    most_other_words: int
    form_questions: RuleList[Rule]
    barred: RuleList[Rule]
    questions: RuleList[Rule]
    headings: RuleList[HeadingRule]


@cache
def load_standard_sections() -> StandardSections:
    """Return the rules that decide which sections of instructions are standard, and which questions ask for them."""
    return load_model("standard_sections", StandardSections)
