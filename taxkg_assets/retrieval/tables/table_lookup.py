"""Table lookup: from a question to a cell by the table, row and column whose headers match it, or to nothing.

Nothing is counted by position: a row or column is chosen because its own header names the number, range, period, status
or words of the question. What no header distinguishes is listed, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from taxkg_assets.records import CellRecord
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.results import Ranking
from taxkg_assets.retrieval.tables.table_entry import TableCatalogue, TableEntry
from taxkg_assets.retrieval.tables.table_headers import HEADER_END, SEPARATOR, continues_rule, innermost_header
from taxkg_assets.retrieval.tables.table_question import STATUS, Question, read_question
from taxkg_assets.retrieval.tables.table_scores import CellWeights, score_cell
from taxkg_assets.rules.models.table_lookup import load_table_lookup


@dataclass(frozen=True, slots=True)
class CellMatch:
    """A table cell that a question may ask for, with the score of its headers."""

    score: float
    table_id: str
    title: str
    row_path: str
    col_path: str
    value: str
    cell: CellRecord
    row: tuple[tuple[str, str], ...]
    conditions: tuple[str, ...] = ()
    """Other cells of its row that tell it from rows with the same headers."""
    assumes_status: bool = False
    """Whether its row is for some filing statuses, and the question leaves its status open."""
    aptness: float = 1.0
    """Probability that the question asks for it, where it was rated."""
    leads: bool = True
    """Whether it may open an answer."""
    others: tuple[str, ...] = ()
    """Cells of its row in words, after their column headers, where nothing in the question selects a column."""

    @property
    def words(self) -> str:
        """Return the cell as text: title, headers and value."""
        row = SEPARATOR.join(part for part in (self.row_path, *self.conditions) if part)
        named = " | ".join(part for part in (self.title, row, self.col_path) if part)
        return f"{named.rstrip(HEADER_END)}: {self.value}"


def find_cells(
    question: str,
    catalogue: TableCatalogue,
    *,
    k: int = 5,
    forms: Iterable[str] = (),
    names_place: bool = False,
    priors: Mapping[str, float] | None = None,
) -> list[CellMatch]:
    """Find the table cells that a question asks for.

    Args:
        question: Words of the user.
        catalogue: Tables of the corpus.
        k: Largest number of cells.
        forms: Forms that the question names.
        names_place: Whether it names a state or city.
        priors: Score of each table by another search, 0 to 1; None for none.

    Returns:
        Matches, best first; none where no headers fit.
    """
    parsed = read_table_question(question, catalogue)
    parsed = replace(parsed, forms=frozenset(forms), names_place=names_place)
    limits = load_table_lookup().limits
    matches: list[CellMatch] = []
    for entry in _nearest_tables(parsed, catalogue, priors or {}):
        prior = None if priors is None else priors.get(entry.row["table_id"], 0.0)
        matches += _match_table(entry, _score_cells(parsed, entry, catalogue), prior=prior)
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
    return [match for match in matches[:k] if match.score >= limits.least_score]


def find_table_cells(
    question: str, catalogue: TableCatalogue, *, tables: Sequence[str], forms: Iterable[str] = ()
) -> list[list[CellMatch]]:
    """Find the cells that a question asks for in given tables.

    Args:
        question: Words of the user.
        catalogue: Tables of the corpus.
        tables: Ids of the tables.
        forms: Forms that the question names.

    Returns:
        For each table its best match, followed by equally good matches in other rows.
    """
    parsed = replace(read_table_question(question, catalogue), forms=frozenset(forms))
    entries = (catalogue.by_id[table_id] for table_id in tables if table_id in catalogue.by_id)
    table_cells = [_match_table(entry, _score_cells(parsed, entry, catalogue), prior=None) for entry in entries]
    within = load_table_lookup().weights.alike_within
    return [
        [match for match in matches if match.score >= matches[0].score - within] for matches in table_cells if matches
    ]


def read_table_question(question: str, catalogue: TableCatalogue) -> Question:
    """Parse a question about tables.

    A bare number that is also the number of a form may name the form: "my 99999".

    Args:
        question: Words of the user.
        catalogue: Tables of the corpus.

    Returns:
        The parsed question.
    """
    parsed = _with_sections(read_question(question), catalogue.rarity)
    numbers = (
        replace(number, may_name=not (number.is_money or number.is_percent) and number.value in catalogue.form_numbers)
        for number in parsed.numbers
    )
    return replace(parsed, numbers=tuple(numbers))


def _with_sections(parsed: Question, known: Mapping[str, float]) -> Question:
    """Read a bare number as the section of the code that some table names: users write "the 1202 exclusion"."""
    bare = [n for n in parsed.numbers if not (n.is_money or n.is_percent) and n.value >= 100 and n.value % 1 == 0]
    sections = {number: f"sec_{number.value:.0f}" for number in bare if f"sec_{number.value:.0f}" in known}
    numbers = tuple(number for number in parsed.numbers if number not in sections)
    return replace(parsed, words=parsed.words | frozenset(sections.values()), numbers=numbers)


def _nearest_tables(parsed: Question, catalogue: TableCatalogue, priors: Mapping[str, float]) -> list[TableEntry]:
    """Return the tables whose own words, or whose context, cover most of the question."""
    limits = load_table_lookup().limits
    rarity = catalogue.rarity
    scored = []
    for entry in catalogue.entries:
        score = sum(rarity[word] for word in parsed.words & entry.words)
        score += 0.5 * sum(rarity[word] for word in parsed.lay_words & entry.words)
        scored.append((score + priors.get(entry.row["table_id"], 0.0), entry))
    best = max((score for score, _ in scored), default=0.0)
    near = [pair for pair in scored if pair[0] > 0 and pair[0] >= limits.near * best]
    near.sort(key=lambda pair: (-pair[0], pair[1].row["table_id"]))
    return [entry for _, entry in near[: limits.tables]]


def _score_cells(parsed: Question, entry: TableEntry, catalogue: TableCatalogue) -> tuple[CellWeights, ...]:
    """Return the scores of all cells of a table that can be an answer."""
    return catalogue.remember(
        (entry.row["table_id"], parsed.key),
        lambda: tuple(score_cell(parsed, entry, cell, rarity=catalogue.rarity) for cell in entry.answers),
    )


def _match_table(entry: TableEntry, scored_cells: Sequence[CellWeights], *, prior: float | None) -> list[CellMatch]:
    """Score the cells of one table, the best ones only; without a prior those whose own headers name something."""
    found = [
        (scored_cell.score(prior), cell, scored_cell.assumes_status)
        for scored_cell, cell in zip(scored_cells, entry.answers, strict=True)
        if scored_cell.is_named or prior is not None
    ]
    if not found:
        return []
    found.sort(key=lambda own: (-own[0], own[1]["row_ix"], own[1]["col_ix"]))
    weights = load_table_lookup().weights
    alike = {cell["text"] for score, cell, _ in found if score >= found[0][0] - weights.alike_within}
    doubt = weights.alike * min(len(alike) - 1, weights.alike_most)
    return [
        _as_match(score - doubt, cell, entry, assumes_status=assumes_status)
        for score, cell, assumes_status in found[:3]
    ]


def list_statuses(match: CellMatch, entry: TableEntry) -> list[CellMatch]:
    """List the cells of a column for each filing status, for a question that does not name a status.

    Args:
        match: Cell whose row is for some statuses.
        entry: Its table.

    Returns:
        Cells of the rows for a status, in order; empty where there are more than the table rules allow.
    """
    cells = [
        cell for cell in entry.answers if cell["col_path"] == match.col_path and STATUS in entry.row_header(cell).facets
    ]
    if len(cells) > load_table_lookup().limits.statuses:
        return []
    return [_as_match(match.score, cell, entry, assumes_status=True) for cell in cells]


def _as_match(score: float, cell: CellRecord, entry: TableEntry, *, assumes_status: bool) -> CellMatch:
    row = entry.by_row[cell["row_ix"]]
    nearby = tuple((other["col_path"], other["text"]) for other in row if other is not cell)
    return CellMatch(
        score=round(score, 4),
        table_id=entry.row["table_id"],
        title=entry.row["title"],
        row_path=cell["row_path"],
        col_path=cell["col_path"],
        value=_whole_value(cell, row),
        cell=cell,
        row=nearby,
        conditions=tuple(_find_conditions(cell, entry)),
        assumes_status=assumes_status,
    )


def _find_conditions(cell: CellRecord, entry: TableEntry) -> Iterator[str]:
    """Yield the cells left of a cell that tell its row from others with the same headers: IF one thing, AND another."""
    alike = entry.rows_of_path.get((cell["row_path"], cell["col_path"]), frozenset()) - {cell["row_ix"]}
    others = {(other["col_ix"], other["text"]) for row_ix in alike for other in entry.by_row[row_ix]}
    path = cell["row_path"].split(SEPARATOR)
    for other in entry.by_row[cell["row_ix"]] if alike else ():
        is_left = other["col_ix"] < cell["col_ix"] and other["text"] not in path
        if is_left and (other["col_ix"], other["text"]) not in others:
            yield str(other["text"])


def _whole_value(cell: CellRecord, row: Sequence[CellRecord]) -> str:
    """Return a cell's text with the cells to its right that continue its rule: "plus ...", "of the excess"."""
    value: str = cell["text"]
    for other in row[row.index(cell) + 1 :]:
        leaf = innermost_header(other["col_path"])
        if other["row_path"] != cell["row_path"] or not continues_rule(leaf):
            break
        value += f" {leaf[:1].lower()}{leaf[1:]} {other['text']}"
    return value


def score_tables(ranking: Ranking, *, facts: PassageFacts) -> dict[str, float]:
    """Score each table by its best passage in a ranking, relative to the best table.

    Args:
        ranking: Ranked candidates.
        facts: Columns of passages.

    Returns:
        Best score of each table as a share of the best table's, 0 to 1.
    """
    found = score_shares(ranking, facts=facts)
    best = max(found.values(), default=0.0)
    return {table_id: score / best for table_id, score in found.items()} if best > 0 else {}


def score_shares(ranking: Ranking, *, facts: PassageFacts) -> dict[str, float]:
    """Score each table by its best passage in a ranking, relative to the first passage.

    Args:
        ranking: Ranked candidates.
        facts: Columns of passages.

    Returns:
        Best score of each table among the candidates; none where the first passage scores 0 or less.
    """
    first = ranking.candidates[0].score if ranking.candidates else 0.0
    found: dict[str, float] = {}
    for candidate in ranking.candidates if first > 0 else ():
        if (table_id := facts.tables.get(candidate.row)) is not None:
            found[table_id] = max(found.get(table_id, 0.0), candidate.score / first)
    return found


def find_unit(match: CellMatch, *, facts: PassageFacts) -> int | None:
    """Find the index row that prints a cell's table row.

    Args:
        match: The cell.
        facts: Columns of passages.

    Returns:
        Row number; the table's first row where no row is certain, None where the index lacks the table.
    """
    named = [piece for piece in (*match.row_path.split(SEPARATOR), match.cell["text"]) if piece]
    rows = facts.find_rows_of_table(match.table_id)
    facts.prefetch(rows, ("text",))
    for row in rows:
        if any(all(piece in line for piece in named) for line in facts.columns["text"][row].splitlines()):
            return row
    return next(iter(rows), None)
