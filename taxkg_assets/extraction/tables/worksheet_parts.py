"""What the rows of a worksheet hold besides its lines: answers, steps, headers over amounts, tables with headers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from taxkg_assets.extraction.layout.text_runs import Run, find_lines, is_amount, is_line_number, is_note, join_text
from taxkg_assets.extraction.tables.cells import PATH_SEPARATOR
from taxkg_assets.extraction.tables.row_cells import CellRow, RowCell, bounding_box_of
from taxkg_assets.rules.models.tables import load_tables


def strip_number_marks(number: str) -> str:
    """Return the number of a line without punctuation.

    Args:
        number: Number or letter as printed.
    """
    return number.strip("(). ")


def is_answer(text: str) -> bool:
    """Return whether a text begins with the answer to a question.

    Args:
        text: Text of a cell or line.
    """
    return load_tables().answers.matches(text)


@dataclass(frozen=True, slots=True)
class AmountColumns:
    """Columns of amounts under printed headers; empty for a worksheet with one column and no header.

    Attributes:
        row_ixs: Rows of the headers.
        cells: Cells of the headers.
        edges: Left edge of each column, in points.
    """

    row_ixs: frozenset[int] = frozenset()
    cells: tuple[RowCell, ...] = ()
    names: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()

    def locate(self, cell: RowCell) -> tuple[int, str]:
        """Find the amount column of a cell by its horizontal position.

        Args:
            cell: Cell right of the words of its line.

        Returns:
            Number of the column in the worksheet, from 2, and its header; "" left of all headers.
        """
        box = bounding_box_of(cell.runs)
        center = (box.x0 + box.x1) / 2
        found = max((ix for ix, edge in enumerate(self.edges) if edge <= center), default=-1)
        return (2 + found, self.names[found]) if found >= 0 else (2, "")


def find_amount_columns(rows: Sequence[CellRow]) -> AmountColumns:
    """Find the column headers printed above the amounts of a worksheet.

    Args:
        rows: Rows of the worksheet, from top to bottom.

    Returns:
        Columns; none where fewer than two headers are next to each other.
    """
    first = next((ix for ix, row in enumerate(rows) if row[0].is_numbered), 0)
    lines = [row for row in rows[first:] if row[0].is_numbered and len(row) > 1]
    amounts = [bounding_box_of(cell.runs).x0 for row in lines for cell in row[2:]]
    left = min(amounts) if amounts else max((bounding_box_of(row[1].runs).x1 for row in lines), default=0.0)
    found: list[tuple[int, list[RowCell]]] = []
    for ix in range(first - 1, -1, -1):
        heads = [cell for cell in rows[ix] if _center(cell) > left and _is_worded(cell.text)]
        if len(heads) < 2:
            break
        found.insert(0, (ix, heads))
    if not found:
        return AmountColumns()
    base = max((heads for _, heads in found), key=len)
    names = [
        PATH_SEPARATOR.join(min(heads, key=lambda head: abs(_center(head) - _center(cell))).text for _, heads in found)
        for cell in base
    ]
    boxes = [bounding_box_of(cell.runs) for cell in base]
    edges = (left, *((a.x1 + b.x0) / 2 for a, b in pairwise(boxes)))
    cells = tuple(cell for _, heads in found for cell in heads)
    return AmountColumns(frozenset(ix for ix, _ in found), cells, tuple(names), edges)


def _center(cell: RowCell) -> float:
    box = bounding_box_of(cell.runs)
    return (box.x0 + box.x1) / 2


def _is_worded(text: str) -> bool:
    """Decide whether a text can head a column: neither a blank to fill in nor an amount nor a line's number."""
    return any(map(str.isalnum, text)) and not is_amount(text) and not is_line_number(text)


def is_group(rows: Sequence[CellRow], row_ix: int, *, begins: Callable[[CellRow], bool]) -> bool:
    """Return whether a row without a line number heads the lines below it: a step, or a short bold title.

    Args:
        rows: Rows of the worksheet.
        row_ix: Number of the row, which begins no line.
        begins: Decides whether a row begins a line.

    Returns:
        True for a numbered step, and for a short bold name that is no instruction.
    """
    row = rows[row_ix]
    text = " ".join(cell.text for cell in row)
    if not all(cell.is_bold for cell in row) or len(text) > load_tables().tagged.title_chars:
        return False
    below = next((other for other in rows[row_ix + 1 :] if not all(cell.is_bold for cell in other)), None)
    if below is None or not begins(below):
        return False
    if load_tables().worksheet_steps.matches(text):
        return True
    is_short = len(text.split()) <= load_tables().tagged.group_words
    return len(row) == 1 and is_short and not load_tables().instructions.matches(text) and not is_note(text)


def split_answers(rows: Sequence[CellRow]) -> list[CellRow]:
    """Split answers from the questions they share a cell with, into rows and cells of their own.

    Args:
        rows: Rows of the worksheet.

    Returns:
        Rows in the same order.
    """
    parted: list[CellRow] = []
    has_question = False
    for row in rows:
        ix = next((ix for ix, cell in enumerate(row) if not cell.is_numbered), None)
        if ix is None:
            parted.append(row)
            continue
        if ix:
            has_question = False
        question, answers = _split_cell(row[ix], has_question=has_question)
        has_question = bool(answers) or row[ix].text.endswith("?") or (has_question and is_answer(row[ix].text))
        if not answers:
            parted.append(row)
        elif question:
            parted += [[*row[:ix], replace(row[ix], spans=[], runs=question), *row[ix + 1 :]], *answers]
        else:
            parted += [[*row[:ix], *answers[0], *row[ix + 1 :]], *answers[1:]]
    return parted


def _split_cell(cell: RowCell, *, has_question: bool) -> tuple[list[Run], list[CellRow]]:
    """Split a cell into the runs of its question and a row for each answer; no rows where it has no answers."""
    question: list[Run] = []
    answers: list[list[Run]] = []
    for line in find_lines(cell.runs):
        is_open = bool(answers) or (has_question and not question) or join_text(question).endswith("?")
        if is_open and is_answer(join_text(line)):
            answers.append(list(line))
        else:
            (answers[-1] if answers else question).extend(line)
    return question, [_split_answer(cell, runs) for runs in answers]


def _split_answer(cell: RowCell, runs: Sequence[Run]) -> CellRow:
    """Split an answer into its word and what follows it."""
    ix = next(ix for ix, run in enumerate(runs) if any(map(str.isalpha, run.text)))
    run = runs[ix]
    found = next(match for rule in load_tables().answer_words if (match := rule.pattern.match(run.text)))
    words = run.text[found.end() :].strip()
    at = run.x0 + (run.x1 - run.x0) * found.end() / len(run.text)
    mark = [*runs[:ix], replace(run, text=found.group().strip(), x1=at if words else run.x1)]
    rest = [replace(run, text=words, x0=at)] if words else []
    rest += runs[ix + 1 :]
    if rest and not rest[0].text[:1].isalnum():
        # The stop after the word may be set in another font.
        rest[0] = replace(rest[0], text=rest[0].text.lstrip(".:,—– "))
        rest = [one for one in rest if one.text]
    row = [replace(cell, number=1, spans=[], runs=mark)]
    return [*row, replace(cell, number=2, spans=[], runs=rest)] if rest else row


def find_inner_tables(rows: Sequence[CellRow]) -> list[range]:
    """Find tables with headers inside a worksheet.

    Args:
        rows: Rows of the worksheet, from top to bottom.

    Returns:
        Rows of each table, its headers included.
    """
    return list(_iterate_inner(rows))


def _iterate_inner(rows: Sequence[CellRow]) -> Iterator[range]:
    start = 0
    while start < len(rows):
        body = start
        while body < len(rows) and _is_header_row(rows[body]):
            body += 1
        end = body
        while end < len(rows) and (is_amount_row(rows[end]) or (end > body and _is_note_row(rows[end]))):
            end += 1
        count = sum(map(is_amount_row, rows[body:end]))
        if body > start and count >= load_tables().tagged.inner_rows:
            last = max(ix for ix in range(body, end) if is_amount_row(rows[ix]))
            yield range(start, last + 1)
        start = max(end, start + 1)


def _is_header_row(row: CellRow) -> bool:
    return len(row) > 1 and not any(cell.is_numbered for cell in row) and all(_is_worded(cell.text) for cell in row)


def is_amount_row(row: CellRow) -> bool:
    """Return whether a row ends with an amount and is not a numbered line.

    Args:
        row: Cells of the row.
    """
    has_digit = any(map(str.isdigit, row[-1].text))
    return len(row) > 1 and not row[0].is_numbered and not row[-1].is_numbered and has_digit and is_amount(row[-1].text)


def _is_note_row(row: CellRow) -> bool:
    return len(row) == 1 and is_note(row[0].text)
