"""Rule family `table_lookup`: how a question is matched with the headers of a table."""

from __future__ import annotations

from functools import cache

from taxkg_assets.rules.families import Family, RuleList, Section, load_model
from taxkg_assets.rules.loader import Rule


class Weights(Section):
    """Values of `weights`.

    Attributes:
        form_named: The document is about another form, the table or its headings name this one.
        unknown_word: A word that no table, title or heading prints.
        row: Where a word of the question is found.
        mention: In a sentence that mentions the table.
        same_row: In another cell of the row.
        lay: Share of a word that only its everyday equivalent matches.
        prior: Of the search's own ranking of tables.
        other_place: A federal document, requested about a state or city.
        name: A bare number that is the number of a form in a header or title.
        unmet_number: A number of the question that is nowhere.
        other_unit: A cell that is no share where the question asks for one.
        other_count: A header that counts the same thing and comes to another number.
        alike: For each other value of the table that fits as well ….
        continuation: A column that continues with the rule of the one before.
        unasked_number: A row or column chosen by number that the question does not give.
        noun_missing: A number whose noun is another than the header's.
        bound: A single number, requested for what is over or under it.
        open_range: Share of a number's worth in a range with one end only.
        denied: A title that denies what the question says, or the reverse.
        example: A table that is filled in for an invented case.
        count_as_money: A small bare number and a bracket of dollars.
        noun_share: … or counts only in part what the header counts.
        least_words: Below this share of its words a question is not about the cell, whatever its numbers.
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
        least_score: Below, nothing matches.
        near: Share of the best table's words that a table must reach to be read.
        statuses: Most rows for filing statuses that are listed where a question leaves the status open.
    """

    least_score: float
    tables: int
    near: float
    noun_window: int
    statuses: int


class Aptness(Section):
    """Values of `aptness`: whether a question asks for the cell that fits it best.

    Attributes:
        bias: Log odds without any signal.
        weights: Weights of the signals in log odds.
        leading: Least probability of a cell that opens an answer.
        least: Least probability of a cell that is shown.
        anchored: Least share of the question's words that title, row and column of a leading cell print.
        long_value: Words from which a value is a text.
        others: Most other cells of a row that are shown where the question selects no column.
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
        low_in: The lower end belongs to it.
        high_in: The upper end belongs to it.
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
        is_printed: It reads headers of tables, not questions.
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
        facet: What they are values of, such as `frequency`.
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
