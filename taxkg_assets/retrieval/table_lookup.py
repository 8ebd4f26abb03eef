"""From a question to a cell: the table, row and column whose headers say what the question says, or nothing.

Nothing is counted by position: a row or column is chosen because its own header names the number, range, period,
status or words of the question. What no header tells apart is listed, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from taxkg_assets.retrieval.facts import PassageFacts
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.retrieval.table_entry import SEPARATOR, TableCatalogue, TableEntry, continues_rule, leaf_of
from taxkg_assets.retrieval.table_question import Question, read_question
from taxkg_assets.retrieval.table_scores import CellWeights, weigh_cell
from taxkg_assets.rules.loader import load_family


@dataclass(frozen=True, slots=True)
class CellMatch:
    """One cell that a question may ask for, with how well its headers fit."""

    score: float
    table_id: str
    title: str
    row_path: str
    col_path: str
    value: str
    cell: Mapping[str, Any]
    row: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """The cell in words: what it is called and what it holds."""
        named = " | ".join(part for part in (self.title, self.row_path, self.col_path) if part)
        return f"{named}: {self.value}"


def find_cells(
    question: str,
    catalogue: TableCatalogue,
    *,
    k: int = 5,
    forms: Iterable[str] = (),
    names_place: bool = False,
    priors: Mapping[str, float] | None = None,
) -> list[CellMatch]:
    """Find the cells that a question asks for, best first; none where no headers fit.

    Args:    forms: forms that the question names. names_place: it asks about a state or city.
             priors: what another search thinks of each table, 0 to 1.
    """
    asked = _with_sections(read_question(question), catalogue.rarity)
    asked = replace(asked, forms=frozenset(forms), names_place=names_place)
    limits = load_family("table_lookup")["limits"]
    matches: list[CellMatch] = []
    for entry in _nearest_tables(asked, catalogue, priors or {}):
        prior = None if priors is None else priors.get(entry.row["table_id"], 0.0)
        matches += _match_table(entry, _weigh_cells(asked, entry, catalogue), prior=prior)
    newest = {entry.row["table_id"]: max(entry.context.years, default=0) for entry in catalogue.entries}
    matches.sort(
        key=lambda match: (
            -match.score,
            -newest[match.table_id],
            match.table_id,
            match.cell["row_ix"],
            match.cell["col_ix"],
        )
    )
    return [match for match in matches[:k] if match.score >= limits["least_score"]]


def _with_sections(asked: Question, known: Mapping[str, float]) -> Question:
    """Read a bare number as the section of the code that some table names: people say "the 1202 exclusion"."""
    bare = [n for n in asked.numbers if not (n.is_money or n.is_percent) and n.value >= 100 and n.value % 1 == 0]
    sections = {number: f"sec_{number.value:.0f}" for number in bare if f"sec_{number.value:.0f}" in known}
    numbers = tuple(number for number in asked.numbers if number not in sections)
    return replace(asked, words=asked.words | frozenset(sections.values()), numbers=numbers)


def _nearest_tables(asked: Question, catalogue: TableCatalogue, priors: Mapping[str, float]) -> list[TableEntry]:
    """The tables whose own words, or whose surroundings, say most of the question."""
    limits = load_family("table_lookup")["limits"]
    rarity = catalogue.rarity
    scored = []
    for entry in catalogue.entries:
        held = sum(rarity[word] for word in asked.words & entry.words)
        held += 0.5 * sum(rarity[word] for word in asked.lay_words & entry.words)
        scored.append((held + priors.get(entry.row["table_id"], 0.0), entry))
    best = max((score for score, _ in scored), default=0.0)
    near = [pair for pair in scored if pair[0] > 0 and pair[0] >= limits["near"] * best]
    near.sort(key=lambda pair: (-pair[0], pair[1].row["table_id"]))
    return [entry for _, entry in near[: limits["tables"]]]


def _weigh_cells(asked: Question, entry: TableEntry, catalogue: TableCatalogue) -> tuple[CellWeights, ...]:
    """What the headers of each cell that can be an answer say of a question."""
    return catalogue.remember(
        (entry.row["table_id"], asked.key),
        lambda: tuple(weigh_cell(asked, entry, cell, rarity=catalogue.rarity) for cell in entry.answers),
    )


def _match_table(entry: TableEntry, weighed: Sequence[CellWeights], *, prior: float | None) -> list[CellMatch]:
    """Score the cells of one table, the best ones only."""
    found = [(own.score(prior), cell) for own, cell in zip(weighed, entry.answers, strict=True)]
    found.sort(key=lambda pair: (-pair[0], pair[1]["row_ix"], pair[1]["col_ix"]))
    weights = load_family("table_lookup")["weights"]
    alike = {cell["text"] for score, cell in found if score >= found[0][0] - weights["alike_within"]}
    doubt = weights["alike"] * min(len(alike) - 1, weights["alike_most"])
    return [_as_match(score - doubt, cell, entry) for score, cell in found[:3]]


def _as_match(score: float, cell: Mapping[str, Any], entry: TableEntry) -> CellMatch:
    row = entry.by_row[cell["row_ix"]]
    beside = tuple((other["col_path"], other["text"]) for other in row if other is not cell)
    return CellMatch(
        score=round(score, 4),
        table_id=entry.row["table_id"],
        title=entry.row["title"],
        row_path=cell["row_path"],
        col_path=cell["col_path"],
        value=_whole_value(cell, row),
        cell=cell,
        row=beside,
    )


def _whole_value(cell: Mapping[str, Any], row: Sequence[Mapping[str, Any]]) -> str:
    """A cell's text with the cells to its right whose headers go on with the same rule: "plus ...", "of the excess"."""
    value: str = cell["text"]
    for other in row[row.index(cell) + 1 :]:
        leaf = leaf_of(other["col_path"])
        if other["row_path"] != cell["row_path"] or not continues_rule(leaf):
            break
        value += f" {leaf[:1].lower()}{leaf[1:]} {other['text']}"
    return value


def score_tables(ranking: Ranking, *, facts: PassageFacts) -> dict[str, float]:
    """What a search thinks of each table, as a share of the table it likes best."""
    found: dict[str, float] = {}
    for candidate in ranking.candidates:
        if (table_id := facts.tables.get(candidate.row)) is not None:
            found[table_id] = max(found.get(table_id, 0.0), candidate.score)
    best = max(found.values(), default=0.0)
    return {table_id: score / best for table_id, score in found.items()} if best > 0 else {}


def find_unit(match: CellMatch, *, facts: PassageFacts) -> int | None:
    """The row of the index that prints a cell's row; the table's first where that cannot be told."""
    named = [piece for piece in (*match.row_path.split(SEPARATOR), match.cell["text"]) if piece]
    rows = facts.find_table(match.table_id)
    facts.prefetch(rows, ("text",))
    for row in rows:
        if any(all(piece in line for piece in named) for line in facts.columns["text"][row].splitlines()):
            return row
    return next(iter(rows), None)
