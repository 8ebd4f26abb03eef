"""Table lookup: find the cell that a question asks for by the headers of table, row and column.

A row or column is never chosen by its position, only because its header names a number, range, period, status or word
of the question. Cells that no header distinguishes are listed, none is guessed.
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
    """A table cell that a question may ask for, with the score of its headers.

    `row` has the column header and the text of each other cell of its row.
    """

    score: float
    table_id: str
    title: str
    row_path: str
    col_path: str
    value: str
    cell: CellRecord
    row: tuple[tuple[str, str], ...]
    conditions: tuple[str, ...] = ()
    """Texts of other cells of the row that tell it from rows with the same headers."""
    assumes_status: bool = False
    """Whether the row is for some filing statuses, and the question names none."""
    aptness: float = 1.0
    """Probability that the question asks for this cell; 1 before `rate_cell` estimates it."""
    may_open_answer: bool = True
    """Whether an answer may begin with this cell."""
    other_cells: tuple[str, ...] = ()
    """Other cells of the row as "header: text", if nothing in the question selects a column."""

    @property
    def words(self) -> str:
        """Return the cell as text: title, headers and value."""
        row_headers = SEPARATOR.join(part for part in (self.row_path, *self.conditions) if part)
        headers = " | ".join(part for part in (self.title, row_headers, self.col_path) if part)
        return f"{headers.rstrip(HEADER_END)}: {self.value}"


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
        k: Maximum number of cells.
        forms: Forms that the question names.
        names_place: Whether the question names a state or city.
        priors: Score of each table by another search, 0 to 1; None to use headers only.

    Returns:
        Matches, best first; empty where no headers fit.
    """
    parsed = read_table_question(question, catalogue)
    parsed = replace(parsed, forms=frozenset(forms), names_place=names_place)
    limits = load_table_lookup().limits
    matches: list[CellMatch] = []
    for entry in _find_nearest_tables(parsed, catalogue, priors or {}):
        prior = None if priors is None else priors.get(entry.row["table_id"], 0.0)
        matches += _match_table(entry, _score_cells(parsed, entry, catalogue), prior=prior)
    newest_year = {entry.row["table_id"]: max(entry.context.years, default=0) for entry in catalogue.entries}
    matches.sort(
        key=lambda match: (
            -match.score,
            -newest_year[match.table_id],
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
        For each table with a match, its best match and then the matches in other rows that are about as good.
    """
    parsed = replace(read_table_question(question, catalogue), forms=frozenset(forms))
    entries = (catalogue.by_id[table_id] for table_id in tables if table_id in catalogue.by_id)
    matches_by_table = [_match_table(entry, _score_cells(parsed, entry, catalogue), prior=None) for entry in entries]
    max_difference = load_table_lookup().weights.alike_within
    return [
        [match for match in matches if match.score >= matches[0].score - max_difference]
        for matches in matches_by_table
        if matches
    ]


def read_table_question(question: str, catalogue: TableCatalogue) -> Question:
    """Parse a question about tables.

    A bare number that is also a form number may name the form: "my 99999".

    Args:
        question: Words of the user.
        catalogue: Tables of the corpus.

    Returns:
        The parsed question.
    """
    parsed = _read_code_sections(read_question(question), catalogue.rarity)
    numbers = (
        replace(
            number, may_be_form=not (number.is_money or number.is_percent) and number.value in catalogue.form_numbers
        )
        for number in parsed.numbers
    )
    return replace(parsed, numbers=tuple(numbers))


def _read_code_sections(parsed: Question, rarity: Mapping[str, float]) -> Question:
    """Read a bare number as a section of the tax code if some table names that section: "the 1202 exclusion"."""
    whole_numbers = [
        number
        for number in parsed.numbers
        if not (number.is_money or number.is_percent) and number.value >= 100 and number.value % 1 == 0
    ]
    sections = {number: f"sec_{number.value:.0f}" for number in whole_numbers if f"sec_{number.value:.0f}" in rarity}
    numbers = tuple(number for number in parsed.numbers if number not in sections)
    return replace(parsed, words=parsed.words | frozenset(sections.values()), numbers=numbers)


def _find_nearest_tables(parsed: Question, catalogue: TableCatalogue, priors: Mapping[str, float]) -> list[TableEntry]:
    """Return the tables whose words cover most of the question, best first."""
    limits = load_table_lookup().limits
    rarity = catalogue.rarity
    scored_tables = []
    for entry in catalogue.entries:
        score = sum(rarity[word] for word in parsed.words & entry.words)
        score += 0.5 * sum(rarity[word] for word in parsed.lay_words & entry.words)
        scored_tables.append((score + priors.get(entry.row["table_id"], 0.0), entry))
    best = max((score for score, _ in scored_tables), default=0.0)
    nearest = [
        scored_table for scored_table in scored_tables if scored_table[0] > 0 and scored_table[0] >= limits.near * best
    ]
    nearest.sort(key=lambda scored_table: (-scored_table[0], scored_table[1].row["table_id"]))
    return [entry for _, entry in nearest[: limits.tables]]


def _score_cells(parsed: Question, entry: TableEntry, catalogue: TableCatalogue) -> tuple[CellWeights, ...]:
    """Return the scores of all cells of a table that can be an answer."""
    return catalogue.remember(
        (entry.row["table_id"], parsed.key),
        lambda: tuple(score_cell(parsed, entry, cell, rarity=catalogue.rarity) for cell in entry.answer_cells),
    )


def _match_table(entry: TableEntry, scored_cells: Sequence[CellWeights], *, prior: float | None) -> list[CellMatch]:
    """Return the three best cells of a table; without a prior only cells whose headers match a word or value."""
    scored_matches = [
        (scored_cell.score(prior), cell, scored_cell.assumes_status)
        for scored_cell, cell in zip(scored_cells, entry.answer_cells, strict=True)
        if scored_cell.has_header_match or prior is not None
    ]
    if not scored_matches:
        return []
    scored_matches.sort(
        key=lambda scored_match: (-scored_match[0], scored_match[1]["row_ix"], scored_match[1]["col_ix"])
    )
    weights = load_table_lookup().weights
    top_texts = {
        cell["text"] for score, cell, _ in scored_matches if score >= scored_matches[0][0] - weights.alike_within
    }
    ambiguity_penalty = weights.alike * min(len(top_texts) - 1, weights.alike_most)
    return [
        _make_match(score - ambiguity_penalty, cell, entry, assumes_status=assumes_status)
        for score, cell, assumes_status in scored_matches[:3]
    ]


def list_statuses(match: CellMatch, entry: TableEntry) -> list[CellMatch]:
    """List the cells of a column for each filing status, for a question that does not name a status.

    Args:
        match: A cell whose row is for some statuses.
        entry: The table of the cell.

    Returns:
        Cells of the rows for a status, in reading order; empty where the table has too many of them.
    """
    cells = [
        cell
        for cell in entry.answer_cells
        if cell["col_path"] == match.col_path and STATUS in entry.row_header(cell).facets
    ]
    if len(cells) > load_table_lookup().limits.statuses:
        return []
    return [_make_match(match.score, cell, entry, assumes_status=True) for cell in cells]


def _make_match(score: float, cell: CellRecord, entry: TableEntry, *, assumes_status: bool) -> CellMatch:
    row = entry.cells_by_row[cell["row_ix"]]
    nearby = tuple((other["col_path"], other["text"]) for other in row if other is not cell)
    return CellMatch(
        score=round(score, 4),
        table_id=entry.row["table_id"],
        title=entry.row["title"],
        row_path=cell["row_path"],
        col_path=cell["col_path"],
        value=_join_value(cell, row),
        cell=cell,
        row=nearby,
        conditions=tuple(_find_conditions(cell, entry)),
        assumes_status=assumes_status,
    )


def _find_conditions(cell: CellRecord, entry: TableEntry) -> Iterator[str]:
    """Yield the texts left of a cell that tell its row from other rows with the same headers: its IF and AND cells."""
    same_header_rows = entry.rows_by_path.get((cell["row_path"], cell["col_path"]), frozenset()) - {cell["row_ix"]}
    texts_of_other_rows = {
        (row_cell["col_ix"], row_cell["text"]) for row_ix in same_header_rows for row_cell in entry.cells_by_row[row_ix]
    }
    path = cell["row_path"].split(SEPARATOR)
    for row_cell in entry.cells_by_row[cell["row_ix"]] if same_header_rows else ():
        is_left = row_cell["col_ix"] < cell["col_ix"] and row_cell["text"] not in path
        if is_left and (row_cell["col_ix"], row_cell["text"]) not in texts_of_other_rows:
            yield str(row_cell["text"])


def _join_value(cell: CellRecord, row: Sequence[CellRecord]) -> str:
    """Return a cell's text with the cells to its right that continue it: "$50 plus 10% of the excess over $900"."""
    value: str = cell["text"]
    for next_cell in row[row.index(cell) + 1 :]:
        header = innermost_header(next_cell["col_path"])
        if next_cell["row_path"] != cell["row_path"] or not continues_rule(header):
            break
        value += f" {header[:1].lower()}{header[1:]} {next_cell['text']}"
    return value


def score_tables(ranking: Ranking, *, facts: PassageFacts) -> dict[str, float]:
    """Score each table by its best passage in a ranking, divided by the score of the best table.

    Args:
        ranking: Ranked candidates.
        facts: Columns of passages.

    Returns:
        Scores by table id, 0 to 1; empty where no passage scores above 0.
    """
    shares = score_shares(ranking, facts=facts)
    best = max(shares.values(), default=0.0)
    return {table_id: score / best for table_id, score in shares.items()} if best > 0 else {}


def score_shares(ranking: Ranking, *, facts: PassageFacts) -> dict[str, float]:
    """Score each table by its best passage in a ranking, divided by the score of the first passage.

    Args:
        ranking: Ranked candidates.
        facts: Columns of passages.

    Returns:
        Scores by table id; empty where the first passage scores 0 or less.
    """
    first_score = ranking.candidates[0].score if ranking.candidates else 0.0
    shares: dict[str, float] = {}
    for candidate in ranking.candidates if first_score > 0 else ():
        if (table_id := facts.tables.get(candidate.row)) is not None:
            shares[table_id] = max(shares.get(table_id, 0.0), candidate.score / first_score)
    return shares


def find_row_of_cell(match: CellMatch, *, facts: PassageFacts) -> int | None:
    """Find the row of the index that prints the table row of a cell.

    Args:
        match: The cell.
        facts: Columns of passages.

    Returns:
        Row number; the first row of the table where none is certain, None where the index lacks the table.
    """
    cell_texts = [piece for piece in (*match.row_path.split(SEPARATOR), match.cell["text"]) if piece]
    rows = facts.find_rows_of_table(match.table_id)
    facts.prefetch(rows, ("text",))
    for row in rows:
        if any(all(piece in line for piece in cell_texts) for line in facts.columns["text"][row].splitlines()):
            return row
    return next(iter(rows), None)
