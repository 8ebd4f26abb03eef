"""Score a cell by how much of a question its headers cover, and by what contradicts it (rules/table_lookup.yaml)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from taxkg_assets.records import CellRecord
from taxkg_assets.retrieval.tables.table_entry import TableEntry
from taxkg_assets.retrieval.tables.table_headers import Header
from taxkg_assets.retrieval.tables.table_question import STATUS, Question, find_states, find_words
from taxkg_assets.retrieval.tables.table_ranges import Number, Range, can_mean
from taxkg_assets.rules.models.table_lookup import load_table_lookup

_BARE_NUMBER = re.compile(r"\s*[\d.]+\s*")
_YEAR = "year"
"""Stem of the noun of years."""


@dataclass(frozen=True, slots=True)
class CellWeights:
    """How well a cell's headers match a question, independent of other searches.

    Attributes:
        coverage: Share of the question that the headers cover, 0 to 1.
        penalty: Penalty for contradictions.
        unasked_share: Share of the headers' words that the question does not contain, 0 to 1.
        has_header_match: Whether the row or column header matches the question, not only title and surroundings.
        assumes_status: Whether the row applies to certain filing statuses although the question names none.
    """

    coverage: float
    penalty: float
    unasked_share: float
    has_header_match: bool = True
    assumes_status: bool = False

    def score(self, prior: float | None) -> float:
        """Return the cell's score from coverage, penalty and the prior score of its table.

        Args:
            prior: Score of the table by another search, 0 to 1; None for none.

        Returns:
            Score of the cell; the higher, the better.
        """
        weights, score = load_table_lookup().weights, self.coverage
        if prior is not None:
            score += weights.prior * (prior - score)
        score -= self.penalty
        return float(score - weights.unasked_word * self.unasked_share)


def score_cell(question: Question, entry: TableEntry, cell: CellRecord, *, rarity: Mapping[str, float]) -> CellWeights:
    """Score how much of a question a cell's headers cover, and how much they contradict it.

    Args:
        question: Parsed question.
        entry: Table of the cell.
        cell: Cell of the table.
        rarity: Rarity of words over all tables.

    Returns:
        Coverage and penalties.
    """
    row, column = entry.row_header(cell), entry.headers[cell["col_path"]]
    comparison = _Comparison(question, entry, cell, row=row, column=column)
    comparison.add_words(rarity)
    comparison.add_numbers()
    comparison.penalty += _score_other_cases(question, entry, cell, row=row, column=column)
    comparison.add_facets()
    comparison.add_years()
    comparison.add_forms()
    comparison.add_unit()
    return CellWeights(
        coverage=comparison.coverage,
        penalty=comparison.penalty,
        unasked_share=_score_unasked(_list_header_words(question, entry, cell), question, rarity),
        has_header_match=comparison.has_header_match,
        assumes_status=STATUS in row.facets and STATUS not in question.facets,
    )


class _Comparison:
    """Comparison of a question with the headers of a cell: weights of the question's parts, summed part by part.

    The weights of the words alone are kept as well: a cell that covers few words scores low, whatever its numbers.

    Attributes:
        question_weight: Weight of all parts of the question.
        covered_weight: Weight of the parts that the cell covers.
        question_word_weight: Weight of the question's words.
        covered_word_weight: Weight of the words that the cell covers.
        penalty: Penalty for contradictions.
        has_header_match: Whether the row or column header matches a part.
    """

    def __init__(self, question: Question, entry: TableEntry, cell: CellRecord, *, row: Header, column: Header) -> None:
        self._question, self._entry, self._cell = question, entry, cell
        self._row, self._column = row, column
        self._weights = load_table_lookup().weights
        self._has_amount = False
        self.question_weight = self.covered_weight = self.question_word_weight = self.covered_word_weight = (
            self.penalty
        ) = 0.0
        self.has_header_match = False

    @property
    def coverage(self) -> float:
        """Return the covered share of the question, lowered where the cell covers few of its words."""
        coverage = self.covered_weight / self.question_weight if self.question_weight else 0.0
        least_covered = self._weights.least_words * self.question_word_weight
        if self.covered_word_weight < least_covered:
            coverage *= self.covered_word_weight / least_covered
        return coverage

    def add_words(self, rarity: Mapping[str, float]) -> None:
        """Add the words of the question, and document terms for its everyday terms up to the weight that is missing."""
        question, row, column, weights = self._question, self._row, self._column, self._weights
        for word in question.words:
            weight = rarity.get(word, weights.unknown_word)
            self.question_word_weight += weight
            self.covered_word_weight += weight * _find_word(word, self._entry, self._cell, row=row, column=column)
        self.question_weight, self.covered_weight = self.question_word_weight, self.covered_word_weight
        nearby_words = row.innermost_words | column.innermost_words | self._entry.title_words
        lay_weight = sum(rarity[word] for word in question.lay_words & nearby_words if word in rarity)
        self.covered_weight += weights.lay * min(lay_weight, self.question_word_weight - self.covered_word_weight)
        self.has_header_match = not question.words.isdisjoint((row.words | column.words) - self._entry.common_words)

    def add_numbers(self) -> None:
        """Add the numbers of the question; headers with other numbers count against the cell."""
        numbers, weights = self._question.numbers, self._weights
        shares, other_counts = _number_shares(
            self._question, self._entry, self._cell, row=self._row, column=self._column
        )
        self.question_weight += sum(weight for _, weight in shares)
        self.covered_weight += sum(weight * share for share, weight in shares)
        number_shares = shares[: len(numbers)]
        self.penalty += weights.other_count * other_counts
        self.penalty += weights.unmet_number * sum(share == 0 < weight for share, weight in number_shares)
        self.has_header_match |= any(share > 0 for share, _ in number_shares)
        self._has_amount = any(
            share > 0 and not number.is_count for number, (share, _) in zip(numbers, number_shares, strict=True)
        )

    def add_facets(self) -> None:
        """Add the attribute values of the question; headers with other values count against the cell."""
        weights = self._weights
        for facet, values in self._question.facets.items():
            share = _facet_share(values, facet, self._entry, row=self._row, column=self._column)
            self.question_weight += weights.facet
            self.covered_weight += weights.facet * max(0.0, share)
            if share > 0 and self._has_amount:  # a status and an amount choose row and column, whatever the words
                self.question_word_weight += weights.facet
                self.covered_word_weight += weights.facet
            self.penalty += weights.contradiction if share < 0 else 0.0
            self.has_header_match |= share > 0 and facet in {*self._row.facets, *self._column.facets}

    def add_years(self) -> None:
        """Add the years of the question, if it names any."""
        if self._question.years:
            share = _year_share(self._question, self._entry, row=self._row, column=self._column)
            self.question_weight += self._weights.year
            self.covered_weight += self._weights.year * share

    def add_forms(self) -> None:
        """Add the forms of the question, if it names any; they also count as words."""
        if self._question.forms:
            weight = self._weights.form
            share = score_entry_form(self._question.forms, self._entry)
            self.question_weight += weight
            self.covered_weight += weight * share
            self.question_word_weight += weight
            self.covered_word_weight += weight * share

    def add_unit(self) -> None:
        """Compare the unit of the cell with a requested percentage."""
        if self._question.wants_percentage:
            is_percentage = _is_percentage(self._cell, self._entry)
            self.has_header_match |= is_percentage
            self.penalty += 0.0 if is_percentage else self._weights.other_unit


def _list_header_words(question: Question, entry: TableEntry, cell: CellRecord) -> frozenset[str]:
    """Return the words of a cell's innermost headers that speak against the cell where the question lacks them."""
    row, column = entry.row_header(cell), entry.headers[cell["col_path"]]
    words = column.innermost_words
    # A row may list states: the others in the list do not speak against the requested one.
    lists_states = bool(question.states) and not find_states(cell["row_path"]).isdisjoint(question.states)
    if not lists_states:
        words = (row.innermost_words - entry.common_words) | words
    for header in (row, column):
        if not header.months.isdisjoint(question.words):  # nor do the ends of a range around a requested month
            words -= header.months
    return words


def _score_unasked(words: frozenset[str], question: Question, rarity: Mapping[str, float]) -> float:
    """Return the share of some words, by their rarity, that a question does not contain."""
    unasked = sum(rarity.get(word, 0.0) for word in words - question.words - question.lay_words)
    return unasked / (1 + sum(rarity.get(word, 0.0) for word in words))


def _score_other_cases(
    question: Question, entry: TableEntry, cell: CellRecord, *, row: Header, column: Header
) -> float:
    """Return the penalty for a cell for another case: other states or years, a negated condition, an example."""
    weights = load_table_lookup().weights
    penalty = weights.other_place if question.names_place and entry.context.is_federal else 0.0
    row_states = find_states(cell["row_path"]) if question.states else frozenset()
    is_other_case = bool(row_states) and row_states.isdisjoint(question.states)
    is_other_case |= bool(question.years) and _names_other_years(question, [*row.years, *column.years])
    penalty += weights.contradiction * is_other_case
    if entry.denied_words or question.negated_words:
        is_negated = (
            question.words - question.negated_words
        ) & entry.denied_words or question.negated_words & entry.affirmed_words
        penalty += weights.denied * bool(is_negated)
    penalty += weights.example * entry.is_example
    return float(penalty + weights.continuation * (cell["col_path"] in entry.continuing_columns))


def _is_percentage(cell: CellRecord, entry: TableEntry) -> bool:
    """Return whether a cell is a percentage by its text, by its column header, or by the first cell of its column."""
    if cell["col_path"] in entry.percent_columns and _BARE_NUMBER.fullmatch(cell["text"]):
        return True
    return any(rule.pattern.search(f"{cell['col_path']} {cell['text']}") for rule in load_table_lookup().shares)


def _find_word(word: str, entry: TableEntry, cell: CellRecord, *, row: Header, column: Header) -> float:
    """Return the weight of a question's word by where the table prints it: the nearer to the cell, the higher."""
    weights = load_table_lookup().weights
    if word in row.words or word in column.words:
        return float(weights.row)
    if word in entry.title_words:
        return float(weights.title)
    if word in entry.heading_words:
        return float(weights.heading)
    if word in entry.mention_words:
        return float(weights.mention)
    return float(weights.same_row) if entry.is_in_other_cell(word, cell) else 0.0


class _NumberShares(NamedTuple):
    """How well the numbers of a question are matched by the headers of a cell.

    Attributes:
        shares: (share, weight) of each number of the question, and one more pair for header ranges that no number
            selects, which counts against the cell.
        other_counts: Number of headers that count the same thing as a number of the question, but another count of it.
    """

    shares: list[tuple[float, float]]
    other_counts: int


def _number_shares(
    question: Question, entry: TableEntry, cell: CellRecord, *, row: Header, column: Header
) -> _NumberShares:
    """Score how well each number of the question is matched by the headers of a cell.

    Args:
        question: The question.
        entry: The table.
        cell: The cell.
        row: Header of its row.
        column: Header of its column.
    """
    weights = load_table_lookup().weights
    header_ranges = [*row.ranges, *column.ranges]
    fits, used_ixs = _assign_ranges(question.numbers, header_ranges)
    shares = []
    for number_ix, number in enumerate(question.numbers):
        share, weight = fits.get(number_ix, 0.0) or _fit_around(number, entry, cell), float(weights.number)
        is_bare = not (share or number.is_money or number.is_percent)
        if is_bare and number.value in entry.header_forms:
            share = weights.name * (number.value in row.forms or number.value in column.forms)
        elif is_bare and (number.is_word or number.may_be_form or number.value in entry.outer_forms):
            weight = 0.0  # the number of a form, or a word that may count nothing
        shares.append((share, weight))
    unused = [header_range for ix, header_range in enumerate(header_ranges) if ix not in used_ixs]
    if unused:
        shares.append((0.0, weights.unasked_number * len(unused)))
    unmatched = [number for ix, number in enumerate(question.numbers) if ix not in fits]
    other_counts = sum(any(_counts_other(number, *header_range) for header_range in unused) for number in unmatched)
    return _NumberShares(shares, other_counts)


def _assign_ranges(
    numbers: Sequence[Number], header_ranges: Sequence[tuple[Range, frozenset[str]]]
) -> tuple[dict[int, float], set[int]]:
    """Assign each range to the number that fits it best; return the fit by number index, and the used range indices."""
    candidates = sorted(
        ((_fit(number, found, nouns), number_ix, range_ix) for number_ix, number in enumerate(numbers)
         for range_ix, (found, nouns) in enumerate(header_ranges)),
        key=lambda item: (-item[0], item[1], item[2]),
    )  # fmt: skip
    fits: dict[int, float] = {}
    used_ixs: set[int] = set()
    for fit, number_ix, range_ix in candidates:
        if fit > 0 and number_ix not in fits and range_ix not in used_ixs:
            fits[number_ix] = fit
            used_ixs.add(range_ix)
    return fits, used_ixs


def _fit_around(number: Number, entry: TableEntry, cell: CellRecord) -> float:
    """Score how well a number without a fitting header fits the title, the row, or a column for all other counts."""
    weights = load_table_lookup().weights
    title_fit = max((_fit(number, found, nouns) for found, nouns in entry.outer_ranges), default=0.0)
    is_in_row = any(can_mean(number, found, frozenset()) for found in entry.single_numbers[cell["row_ix"]])
    is_rest = _is_outside_columns(number, entry, cell)
    return max(0.6 * title_fit, weights.same_row if is_in_row or is_rest else 0.0)


def _is_outside_columns(number: Number, entry: TableEntry, cell: CellRecord) -> bool:
    """Return whether a cell's column is for all other counts: columns "1 child" and "2 children", a number of 3."""
    if number.is_month or not number.is_count or not entry.one_sided_ranges or entry.headers[cell["col_path"]].ranges:
        return False
    if any(header_range.holds(number) for header in entry.headers.values() for header_range, _ in header.ranges):
        return False
    return any(_counts_other(number, header_range, nouns) for header_range, nouns in entry.one_sided_ranges)


def _fit(number: Number, header_range: Range, nouns: frozenset[str]) -> float:
    """Score how well a number fits the range of a header: 0 outside the range, more if both count the same thing."""
    weights = load_table_lookup().weights
    if not can_mean(number, header_range, nouns):
        return 0.0
    return _fit_within(number, header_range, nouns) * (weights.open_range if header_range.is_open else 1.0)


def _fit_within(number: Number, header_range: Range, nouns: frozenset[str]) -> float:
    """Score whether a number within a range counts the same thing as the range."""
    weights = load_table_lookup().weights
    if (
        number.direction and header_range.is_single
    ):  # a column for 10 is not for what is over 10, unless nothing else is
        return float(weights.bound)
    shared_nouns = sum(1 / (1 + distance) for noun, distance in number.nouns if noun in nouns)
    if shared_nouns:
        missing_share = 1 - shared_nouns / sum(1 / (1 + distance) for _, distance in number.nouns)
        return 1.0 - float(weights.noun_share) * missing_share
    is_count = not (number.is_percent or number.is_money or number.value > 100)
    if header_range.is_money and is_count:
        return float(weights.count_as_money)
    if number.nouns and nouns and is_count:
        return float(weights.noun_missing)
    return float(weights.noun_unknown)


def score_entry_form(forms: frozenset[str], entry: TableEntry) -> float:
    """Score whether a table belongs to one of the forms that a question names.

    Args:
        forms: Forms that the question names.
        entry: The table.

    Returns:
        1 if its document is about one of the forms, less if only the table or its headings name one, else 0.
    """
    if forms & set(entry.context.forms):
        return 1.0
    is_named = any(find_words(form) and find_words(form) <= entry.words for form in forms)
    return float(load_table_lookup().weights.form_named) if is_named else 0.0


def _counts_other(number: Number, header_range: Range, nouns: frozenset[str]) -> bool:
    """Return whether a header counts the same thing as a number but has another value: a family of 4, not of 9."""
    if header_range.names_year and number.is_count:  # "30 years old" is no other year than 2013
        return False
    max_distance = (
        2.0 if any(noun == _YEAR and distance < 1 for noun, distance in number.nouns) else 1.0
    )  # "30 years old"
    nearest_nouns = [noun for noun, distance in number.nouns if distance < max_distance]
    return header_range.is_percent == number.is_percent and any(noun in nouns for noun in nearest_nouns)


def _facet_share(values: frozenset[str], facet: str, entry: TableEntry, *, row: Header, column: Header) -> float:
    """Return 1 if the headers or the title name a requested value, -1 if they name only others, 0 if they name none."""
    for header_values in (row.facets.get(facet), column.facets.get(facet), entry.title_facets.get(facet)):
        if header_values:
            return 1.0 if header_values & values else -1.0
    return 0.0


def _names_other_years(question: Question, year_ranges: Sequence[Range]) -> bool:
    """Return whether headers name years, but none of the question's years."""
    years = [Number(float(year)) for year in question.years]
    return bool(year_ranges) and not any(year_range.holds(year) for year_range in year_ranges for year in years)


def _year_share(question: Question, entry: TableEntry, *, row: Header, column: Header) -> float:
    """Return the share of the question's years that the table's document, headers or context match."""
    header_years = (*row.years, *column.years, *entry.outer_years)
    matched_years = 0.0
    for year in question.years:
        number = Number(float(year))
        if year in entry.context.years or any(header.holds(number) for header in header_years):
            matched_years += 1.0
        elif entry.mentioned_years:
            shares = [
                sum(year_range.holds(number) for year_range in sentence_years) / len(sentence_years)
                for sentence_years in entry.mentioned_years
            ]
            matched_years += sum(shares) / len(shares)
    return matched_years / len(question.years)
