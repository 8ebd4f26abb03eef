"""Rule family `answers`.

Which statements of the first passages make an answer in the documents' own words, and what each needs to be
understood.
"""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Codes(Section):
    """Values of `codes`."""

    rows: int
    least: int
    note: str


class Tables(Section):
    """Cells of the tables among the first candidates.

    Attributes:
        candidates: Number of candidates among which tables are looked for.
        read: Largest number of tables whose headers are compared with the question.
        within: How much less apt than the best table's cell a second one may be.
        least_score: Least fit of the headers of a cell, up to 1.
        least_closed: Least fit where the question is for yes or no.
        most: Largest number of tables.
        cells: Largest number of cells of one table, whose headers fit alike.
        row_words: Largest number of words of a row that is quoted with its cell.
        whole_rows: Largest number of rows of a table that is quoted with the sentence that announces it.
    """

    candidates: int
    read: int
    within: float
    least_score: float
    least_closed: float
    most: int
    cells: int
    row_words: int
    whole_rows: int


class Gains(Section):
    """What a statement gains after others.

    `terms` for all words of the question, as far as none before it has them; `passage` where none before it is of
    its passage. What it loses: `repeated` of its worth if all its words were said before, and `length` for each
    hundred words.
    """

    terms: float
    passage: float
    repeated: float
    length: float


class Lists(Section):
    """A list is quoted whole up to `whole_words` where it follows its lead-in or says something only as a whole, up to
    `item_context_words` around one item; in a line up to `inline_items`. Where a list begins is looked for in
    `rows_before` passages, in up to `rows_of_list` of a list that is under way there. A list of codes is whole
    up to `code_words`. An item up to `item_words` is one statement; one without a mark has at most
    `plain_words`.
    """

    whole_words: int
    item_context_words: int
    inline_items: int
    rows_before: int
    rows_of_list: int
    rows_after: int
    item_words: int
    plain_words: int
    code_words: int


class HeadingRule(Rule):
    """Rule for a heading.

    Attributes:
        is_bare: It applies only where no heading is below.
    """

    is_bare: bool = False


class Answers(Family):
    """Content of `rules/answers.yaml`."""

    passages: int
    most_changes: int
    most_parts: int
    most_other_words: int
    line_frame: str
    most_destinations: int
    destination_words: dict[str, str]
    weighty_changes: tuple[str, ...]
    cell_share: float
    tables: Tables
    codes: Codes
    label_share: float
    change_share: float
    units: int
    words: int
    candidates: int
    least_words: int
    most_words: int
    most_figures: float
    least_share: float
    early: dict[str, float]
    worth: dict[str, float]
    liked_reach: float
    full_words: int
    whole_change_words: int
    same_unit_share: float
    same_share: float
    gains: Gains
    least_coverage: float
    look_back: int
    paragraph_words: int
    section_words: int
    certain_side: float
    gap_words: int
    exception_words: int
    unasked_share: float
    lists: Lists
    marks: RuleList[Rule]
    first_marks: RuleList[Rule]
    lead_ins: RuleList[Rule]
    wholes: RuleList[Rule]
    leaning: RuleList[Rule]
    exceptions: RuleList[Rule]
    illustrations: RuleList[Rule]
    expired: RuleList[Rule]
    denials: RuleList[Rule]
    values: RuleList[Rule]
    codes_within: RuleList[Rule]
    code_questions: RuleList[Rule]
    box_questions: RuleList[Rule]
    line_questions: RuleList[Rule]
    destination_questions: RuleList[Rule]
    source_questions: RuleList[Rule]
    changes: RuleList[Rule]
    furniture: RuleList[Rule]
    examples: RuleList[Rule]
    unasked: RuleList[HeadingRule]
    announcements: RuleList[Rule]
    worked_tables: RuleList[Rule]
    pointers: RuleList[Rule]


@cache
def load_answers() -> Answers:
    """Return the rules that decide which statements make an answer, and which context each needs."""
    return load_model("answers", Answers)
