"""Rule family `table_lookup`: how a question is matched with the headers of a table."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Weights(Section):
    """Values of `weights`.

    Attributes:
        number: A number of the question that a header contains.
        facet: A value of the question, such as a filing status, that a header contains.
        year: The year of the question.
        form: The form of the question is that of the document.
        form_named: The document is about another form, but the table or its headings name the form of the question.
        unknown_word: A word of the question that no table, title or heading prints.
        row: A word of the question in the header of the row or column.
        title: A word of the question in the title of the table.
        heading: A word of the question in the headings above the table.
        mention: A word of the question in a sentence that mentions the table.
        same_row: A word of the question in another cell of the row.
        lay: Share of the weight of a word that only its everyday equivalent matches.
        prior: Rank of the table in the search.
        other_place: The question is about a state or city, but the document is federal.
        name: A number of the question that is only the number of a form in a header or title.
        unmet_number: A number of the question that is nowhere.
        other_unit: The question asks for a share, but the cell is none.
        other_count: A header that counts the same thing as the question, with another number.
        alike: Each other value of the table with an equal match.
        continuation: A column that continues the column before.
        unasked_number: A row or column whose header has a number that the question lacks.
        noun_missing: A number with another noun than in the header.
        bound: A header with a single number, if the question asks for what is over or under a number.
        open_range: Share of the weight of a number in a range with one end only.
        denied: A title that denies what the question states, or the reverse.
        example: A table that is filled in for an example.
        count_as_money: A small number without a unit in the question, and a range of dollars in the header.
        noun_share: A number of the question that counts only part of what the header counts.
        least_words: Least share of the question's words in title and headers, whatever numbers match.
    """

    number: float
    facet: float
    year: float
    form: float
    form_named: float
    unknown_word: float
    row: float
    title: float
    heading: float
    mention: float
    same_row: float
    lay: float
    prior: float
    contradiction: float
    other_place: float
    name: float
    unmet_number: float
    other_unit: float
    other_count: float
    alike: float
    alike_within: float
    alike_most: int
    continuation: float
    unasked_number: float
    unasked_word: float
    noun_missing: float
    noun_unknown: float
    bound: float
    open_range: float
    denied: float
    example: float
    count_as_money: float
    noun_share: float
    least_words: float


class Limits(Section):
    """Values of `limits`.

    Attributes:
        least_score: Least score of a cell.
        near: Least score of a table whose cells are compared, relative to the best table.
        statuses: Maximum number of rows for filing statuses that are listed where a question leaves the status open.
    """

    least_score: float
    tables: int
    near: float
    noun_window: int
    statuses: int


class Aptness(Section):
    """Values of `aptness`: the probability that a question asks for the cell with the best match.

    Attributes:
        bias: Log odds without any signal.
        weights: Weights of the signals in log odds.
        leading: Least probability of a cell that opens an answer.
        least: Least probability of a cell that is shown.
        anchored: Least share of the question's words that title, row and column of a leading cell print.
        long_value: Words from which a value is a text.
        others: Maximum number of other cells of a row that are shown where the question selects no column.
    """

    bias: float
    weights: dict[str, float]
    leading: float
    least: float
    anchored: float
    long_value: int
    others: int


class Range(Rule):
    """Rule for a range of figures.

    Attributes:
        low_in: Whether the lower end belongs to the range.
        high_in: Whether the upper end belongs to the range.
    """

    low_in: bool = False
    high_in: bool = False


class Comparative(Rule):
    """Rule for words that compare with a figure.

    Attributes:
        side: 1 for more, −1 for less.
    """

    side: int


class Share(Rule):
    """Rule for the name of a share.

    Attributes:
        is_printed: Whether the rule is for headers of tables and not for questions.
    """

    is_printed: bool = False


class Household(Rule):
    """Rule for a number of persons that is named in parts.

    Attributes:
        noun: What is counted.
        two: Pattern of words for two adults; empty for none.
    """

    noun: str
    two: str = ""


class CountWord(Rule):
    """Rule for a word that is a number.

    Attributes:
        number: The number.
    """

    number: int


class Facet(Rule):
    """Rule for one of several values that exclude each other.

    Attributes:
        facet: Name of the property, such as `frequency`.
    """

    facet: str


class Numbers(RuleList[Rule]):
    """Rules of `numbers`."""

    amount: Rule


class TableLookup(Family):
    """Content of `rules/table_lookup.yaml`."""

    number_words: dict[str, int]
    number_scales: dict[str, int]
    ordinals: dict[str, int]
    families: tuple[tuple[str, ...], ...]
    noise: tuple[str, ...]
    weights: Weights
    limits: Limits
    aptness: Aptness
    ranges: RuleList[Range]
    lower_ends: RuleList[Rule]
    upper_ends: RuleList[Rule]
    numbers: Numbers
    labels: RuleList[Rule]
    days: RuleList[Rule]
    comparatives: RuleList[Comparative]
    shares: RuleList[Share]
    sums: RuleList[Household]
    count_words: RuleList[CountWord]
    facets: RuleList[Facet]
    may: RuleList[Rule]
    dates: RuleList[Rule]
    conditions: RuleList[Rule]
    continuations: RuleList[Rule]


@cache
def load_table_lookup() -> TableLookup:
    """Return the rules that decide which headers of a table a question names."""
    return load_model("table_lookup", TableLookup)
