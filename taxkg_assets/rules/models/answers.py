"""Rule family `answers`: which sentences of the first passages make an answer, and which context they need."""

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
        candidates: Number of candidates among which tables are searched.
        read: Largest number of tables whose headers are compared with the question.
        within: Largest difference between the score of the best table's cell and that of a second table.
        least_score: Least score of a cell's headers, up to 1.
        least_closed: Least score for a yes-no question.
        most: Largest number of tables.
        cells: Largest number of cells of one table with equal scores.
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
    """Changes of a sentence's score that depend on the sentences already chosen.

    Attributes:
        terms: Gain if the sentence has all words of the question and no chosen sentence has any.
        passage: Gain if no chosen sentence is of the same passage.
        repeated: Share of the score that is lost if the chosen sentences have all its words.
        length: Loss for each hundred words.
    """

    terms: float
    passage: float
    repeated: float
    length: float


class Lists(Section):
    """Limits for quoting lists.

    Attributes:
        whole_words: Maximum number of words of a list that is quoted whole with the sentence before it.
        shown_share: Share of its items from which a list is quoted whole, up to `whole_words`.
        short_words: Maximum number of words of a list that is quoted whole though fewer of its items are quoted.
        item_context_words: Maximum number of words of a list that is quoted around one item.
        inline_items: Maximum number of items of a list inside a sentence.
        rows_before: Passages before an item in which the beginning of its list is searched.
        rows_of_list: The same, if these passages are items of the list.
        rows_after: Passages after an item in which the end of its list is searched.
        item_words: Maximum number of words of an item that counts as one statement.
        plain_words: Maximum number of words of an item without a list mark.
        code_words: Maximum number of words of a list of codes that is quoted whole.
    """

    whole_words: int
    shown_share: float
    short_words: int
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
        is_bare: Whether the rule applies only to a heading without headings below.
    """

    is_bare: bool = False


class Answers(Family):
    """Content of `rules/answers.yaml`."""

    passages: int
    most_changes: int
    most_parts: int
    most_other_words: int
    line_frame: str
    further_requests: str
    interrogatives: str
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
    least_share_elsewhere: float
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
