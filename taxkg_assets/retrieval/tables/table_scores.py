"""Scores of a cell: how much of a question its headers cover, and what contradicts it (rules/table_lookup.yaml)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taxkg_assets.records import CellRecord
from taxkg_assets.retrieval.tables.table_entry import TableEntry
from taxkg_assets.retrieval.tables.table_headers import Header
from taxkg_assets.retrieval.tables.table_question import STATUS, Question, find_states, find_words
from taxkg_assets.retrieval.tables.table_ranges import Number, Range, can_mean
from taxkg_assets.rules.models.table_lookup import load_table_lookup

_BARE_NUMBER = re.compile(r"\s*[\d.]+\s*")
_YEAR = "year"
"""Search term of years."""


@dataclass(frozen=True, slots=True)
class CellWeights:
    """How well a cell's headers match a question, independent of other searches.

    Attributes:
        said: Share of the question that they cover, 0 to 1.
        against: Penalty for contradictions.
        unasked: Share of their words that the question does not contain, 0 to 1.
        is_named: Whether its own headers match the question, not only the title and the surroundings.
        assumes_status: Whether its row applies to certain filing statuses although the question names none.
    """

    said: float
    against: float
    unasked: float
    is_named: bool = True
    assumes_status: bool = False

    def score(self, prior: float | None) -> float:
        """Return the cell's score from coverage, penalty and the prior score of its table.

        Args:
            prior: Score of the table by another search, 0 to 1; None for none.

        Returns:
            Score of the cell; the higher, the better.
        """
        weights, score = load_table_lookup().weights, self.said
        if prior is not None:
            score += weights.prior * (prior - score)
        score -= self.against
        return float(score - weights.unasked_word * self.unasked)


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
    weights = load_table_lookup().weights
    row, column = entry.row_header(cell), entry.headers[cell["col_path"]]
    spoken = said = 0.0
    for word in question.words:
        weight = rarity.get(word, weights.unknown_word)
        spoken += weight
        said += weight * _find_word(word, entry, cell, row=row, column=column)
    total, got = spoken, said
    lay = [rarity[word] for word in question.lay_words & (row.own | column.own | entry.title_words) if word in rarity]
    got += weights.lay * min(sum(lay), spoken - said)
    shares, others = _number_shares(question, entry, cell, row=row, column=column)
    total += sum(weight for _, weight in shares)
    got += sum(weight * share for share, weight in shares)
    against = weights.other_count * others
    is_named = any(share > 0 for share, _ in shares[: len(question.numbers)])
    is_named |= not question.words.isdisjoint((row.words | column.words) - entry.common_words)
    against += weights.unmet_number * sum(share == 0 < weight for share, weight in shares[: len(question.numbers)])
    against += _score_other_cases(question, entry, cell, row=row, column=column)
    met = zip(question.numbers, shares, strict=False)
    has_amount = any(share > 0 and not number.is_count for number, (share, _) in met)
    for facet, values in question.facets.items():
        total += weights.facet
        share = _facet_share(values, facet, entry, row=row, column=column)
        got += weights.facet * max(0.0, share)
        if share > 0 and has_amount:  # a status and an amount choose row and column, whatever the words
            spoken, said = spoken + weights.facet, said + weights.facet
        against += weights.contradiction if share < 0 else 0.0
        is_named |= share > 0 and facet in {*row.facets, *column.facets}
    if question.years:
        share = _year_share(question, entry, row=row, column=column)
        total += weights.year
        got += weights.year * share
    if question.forms:
        total += weights.form
        share = score_entry_form(question.forms, entry)
        got += weights.form * share
        spoken, said = spoken + weights.form, said + weights.form * share
    if question.wants_share:
        is_share = _is_share(cell, entry)
        is_named |= is_share
        against += 0.0 if is_share else weights.other_unit
    # The other states of a list say nothing against the one in question.
    is_list = bool(question.states) and not find_states(cell["row_path"]).isdisjoint(question.states)
    own = column.own if is_list else (row.own - entry.common_words) | column.own
    for header in (row, column):
        if not header.months.isdisjoint(question.words):  # the ends of a range say nothing against a month within it
            own -= header.months
    score = got / total if total else 0.0
    if said < weights.least_words * spoken:
        score *= said / (weights.least_words * spoken)
    unasked_share = _score_unasked(own, question, rarity)
    assumes_status = STATUS in row.facets and STATUS not in question.facets
    return CellWeights(score, against, unasked_share, is_named, assumes_status)


def _score_unasked(words: frozenset[str], question: Question, rarity: Mapping[str, float]) -> float:
    """Return the share of some words, by their rarity, that a question does not contain."""
    unasked = sum(rarity.get(word, 0.0) for word in words - question.words - question.lay_words)
    return unasked / (1 + sum(rarity.get(word, 0.0) for word in words))


def _score_other_cases(
    question: Question, entry: TableEntry, cell: CellRecord, *, row: Header, column: Header
) -> float:
    """Score what says that a cell is for another case: another state or year, people who are not, an example."""
    weights = load_table_lookup().weights
    against = weights.other_place if question.names_place and entry.context.is_federal else 0.0
    named = find_states(cell["row_path"]) if question.states else frozenset()
    is_other = bool(named) and named.isdisjoint(question.states)
    is_other |= bool(question.years) and _names_other_years(question, [*row.years, *column.years])
    against += weights.contradiction * is_other
    if entry.denied_words or question.denied:
        is_denied = (question.words - question.denied) & entry.denied_words or question.denied & entry.affirmed_words
        against += weights.denied * bool(is_denied)
    against += weights.example * entry.is_example
    return float(against + weights.continuation * (cell["col_path"] in entry.continued))


def _is_share(cell: CellRecord, entry: TableEntry) -> bool:
    """Return whether a cell is a share: by its own words, by those over it, or as a number under a share."""
    if cell["col_path"] in entry.share_columns and _BARE_NUMBER.fullmatch(cell["text"]):
        return True
    return any(rule.pattern.search(f"{cell['col_path']} {cell['text']}") for rule in load_table_lookup().shares)


def _find_word(word: str, entry: TableEntry, cell: CellRecord, *, row: Header, column: Header) -> float:
    """Return the weight of a question's word by where it is printed: the nearer to the cell, the more it counts."""
    weights = load_table_lookup().weights
    if word in row.words or word in column.words:
        return float(weights.row)
    if word in entry.title_words:
        return float(weights.title)
    if word in entry.heading_words:
        return float(weights.heading)
    if word in entry.mention_words:
        return float(weights.mention)
    return float(weights.same_row) if entry.is_nearby(word, cell) else 0.0


def _number_shares(
    question: Question, entry: TableEntry, cell: CellRecord, *, row: Header, column: Header
) -> tuple[list[tuple[float, float]], int]:
    """Score how well each number of the question is matched, with its weight; a range is matched by one number only.

    A range that no number of the question selects counts against the cell. Counted separately: headers that count the
    same thing as a number of the question and have another value.
    """
    weights = load_table_lookup().weights
    open_ranges = [*row.ranges, *column.ranges]
    pairs = sorted(
        ((_fit(number, found, nouns), i, k) for i, number in enumerate(question.numbers)
         for k, (found, nouns) in enumerate(open_ranges)),
        key=lambda item: (-item[0], item[1], item[2]),
    )  # fmt: skip
    met: dict[int, float] = {}
    used: set[int] = set()
    for fit, i, k in pairs:
        if fit > 0 and i not in met and k not in used:
            met[i] = fit
            used.add(k)
    shares = []
    for i, number in enumerate(question.numbers):
        share = met.get(i, 0.0)
        if not share:
            outside = max((_fit(number, found, nouns) for found, nouns in entry.outer_ranges), default=0.0)
            is_nearby = any(can_mean(number, found, frozenset()) for found in entry.singles[cell["row_ix"]])
            is_other = _is_outside_columns(number, entry, cell)
            share = max(0.6 * outside, weights.same_row if is_nearby or is_other else 0.0)
        is_bare = not (share or number.is_money or number.is_percent)
        if is_bare and number.value in entry.header_forms:
            share = weights.name * (number.value in row.forms or number.value in column.forms)
        elif is_bare:  # the number of a form, or a word that may count nothing
            may_mean_nothing = number.is_word or number.may_name or number.value in entry.outer_forms
            shares.append((share, 0.0 if may_mean_nothing else weights.number))
            continue
        shares.append((share, weights.number))
    unused = [pair for k, pair in enumerate(open_ranges) if k not in used]
    if unused:
        shares.append((0.0, weights.unasked_number * len(unused)))
    missed = [number for i, number in enumerate(question.numbers) if i not in met]
    others = sum(any(_counts_other(number, *pair) for pair in unused) for number in missed)
    return shares, others


def _is_outside_columns(number: Number, entry: TableEntry, cell: CellRecord) -> bool:
    """Return whether other columns are for counts of the same thing that exclude the number: it is for the rest."""
    if number.is_month or not number.is_count or not entry.bounds or entry.headers[cell["col_path"]].ranges:
        return False
    if any(found.holds(number) for header in entry.headers.values() for found, _ in header.ranges):
        return False
    return any(_counts_other(number, found, nouns) for found, nouns in entry.bounds)


def _fit(number: Number, found: Range, nouns: frozenset[str]) -> float:
    """Score how well a number matches a header's number: it must be within it, and should count the same thing."""
    weights = load_table_lookup().weights
    if not can_mean(number, found, nouns):
        return 0.0
    return _fit_within(number, found, nouns) * (weights.open_range if found.is_open else 1.0)


def _fit_within(number: Number, found: Range, nouns: frozenset[str]) -> float:
    """Score how well a number counts what the numbers of a range count."""
    weights = load_table_lookup().weights
    if number.beyond and found.is_single:  # a column for 10 is not for what is over 10, unless nothing else is
        return float(weights.bound)
    shared = sum(1 / (1 + distance) for noun, distance in number.nouns if noun in nouns)
    if shared:
        missing = 1 - shared / sum(1 / (1 + distance) for _, distance in number.nouns)
        return 1.0 - float(weights.noun_share) * missing
    is_count = not (number.is_percent or number.is_money or number.value > 100)
    if found.is_money and is_count:
        return float(weights.count_as_money)
    if number.nouns and nouns and is_count:
        return float(weights.noun_missing)
    return float(weights.noun_unknown)


def score_entry_form(forms: frozenset[str], entry: TableEntry) -> float:
    """Score whether a table belongs to one of the forms in a question.

    Args:
        forms: Forms that the question names.
        entry: The table.

    Returns:
        1 where its document is one of the forms, less where the table or its headings only name one, else 0.
    """
    if forms & set(entry.context.forms):
        return 1.0
    named = any(find_words(form) and find_words(form) <= entry.words for form in forms)
    return float(load_table_lookup().weights.form_named) if named else 0.0


def _counts_other(number: Number, found: Range, nouns: frozenset[str]) -> bool:
    """Return whether a header counts the same thing as a number and has another value: a family of 4, not of 9."""
    if found.names_year and number.is_count:  # "30 years old" is no other year than 2013
        return False
    reach = 2.0 if any(noun == _YEAR and distance < 1 for noun, distance in number.nouns) else 1.0  # "30 years old"
    nearest = [noun for noun, distance in number.nouns if distance < reach]
    return found.is_percent == number.is_percent and any(noun in nouns for noun in nearest)


def _facet_share(values: frozenset[str], facet: str, entry: TableEntry, *, row: Header, column: Header) -> float:
    """Return 1 where the headers name a requested value, -1 where they name others only, 0 where they name none."""
    for named in (row.facets.get(facet), column.facets.get(facet), entry.title_facets.get(facet)):
        if named:
            return 1.0 if named & values else -1.0
    return 0.0


def _names_other_years(question: Question, named: Sequence[Range]) -> bool:
    """Return whether headers name years, and none of the question's: the limits of other years."""
    years = [Number(float(year)) for year in question.years]
    return bool(named) and not any(found.holds(year) for found in named for year in years)


def _year_share(question: Question, entry: TableEntry, *, row: Header, column: Header) -> float:
    """Score how well the question's years are matched by the table's document, or by ranges of years in its context."""
    headers = (*row.years, *column.years, *entry.outer_years)
    matched = 0.0
    for year in question.years:
        number = Number(float(year))
        if year in entry.context.years or any(header.holds(number) for header in headers):
            matched += 1.0
        elif entry.mentioned_years:
            shares = [sum(r.holds(number) for r in ranges) / len(ranges) for ranges in entry.mentioned_years]
            matched += sum(shares) / len(shares)
    return matched / len(question.years)
