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
    """Return the number of a line without punctuation: "2a" for "(2a)."

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
        names: Header path of each column.
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
        column_ix = max((ix for ix, edge in enumerate(self.edges) if edge <= center), default=-1)
        return (2 + column_ix, self.names[column_ix]) if column_ix >= 0 else (2, "")


def find_amount_columns(rows: Sequence[CellRow]) -> AmountColumns:
    """Find the column headers printed above the amounts of a worksheet.

    Args:
        rows: Rows of the worksheet, from top to bottom.

    Returns:
        Columns; none where fewer than two headers are next to each other.
    """
    first_ix = next((ix for ix, row in enumerate(rows) if row[0].is_numbered), 0)
    line_rows = [row for row in rows[first_ix:] if row[0].is_numbered and len(row) > 1]
    amount_edges = [bounding_box_of(cell.runs).x0 for row in line_rows for cell in row[2:]]
    amounts_x0 = (
        min(amount_edges) if amount_edges else max((bounding_box_of(row[1].runs).x1 for row in line_rows), default=0.0)
    )
    header_rows: list[tuple[int, list[RowCell]]] = []
    for ix in range(first_ix - 1, -1, -1):
        heads = [cell for cell in rows[ix] if _center(cell) > amounts_x0 and _is_worded(cell.text)]
        if len(heads) < 2:
            break
        header_rows.insert(0, (ix, heads))
    if not header_rows:
        return AmountColumns()
    widest_row = max((heads for _, heads in header_rows), key=len)
    names = [
        PATH_SEPARATOR.join(
            min(heads, key=lambda head: abs(_center(head) - _center(cell))).text for _, heads in header_rows
        )
        for cell in widest_row
    ]
    boxes = [bounding_box_of(cell.runs) for cell in widest_row]
    edges = (amounts_x0, *((a.x1 + b.x0) / 2 for a, b in pairwise(boxes)))
    cells = tuple(cell for _, heads in header_rows for cell in heads)
    return AmountColumns(frozenset(ix for ix, _ in header_rows), cells, tuple(names), edges)


def _center(cell: RowCell) -> float:
    box = bounding_box_of(cell.runs)
    return (box.x0 + box.x1) / 2


def _is_worded(text: str) -> bool:
    """Decide whether a text can head a column: neither a blank to fill in nor an amount nor a line's number."""
    return any(map(str.isalnum, text)) and not is_amount(text) and not is_line_number(text)


def is_group(rows: Sequence[CellRow], row_ix: int, *, begins_line: Callable[[CellRow], bool]) -> bool:
    """Return whether a row without a line number heads the lines below it: a step, or a short bold title.

    Args:
        rows: Rows of the worksheet.
        row_ix: Number of the row, which must not begin a line itself.
        begins_line: Decides whether a row begins a line of the worksheet.

    Returns:
        True for a numbered step, and for a short bold name that is no instruction.
    """
    row = rows[row_ix]
    text = " ".join(cell.text for cell in row)
    if not all(cell.is_bold for cell in row) or len(text) > load_tables().tagged.title_chars:
        return False
    row_below = next((other for other in rows[row_ix + 1 :] if not all(cell.is_bold for cell in other)), None)
    if row_below is None or not begins_line(row_below):
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
    split_rows: list[CellRow] = []
    has_question = False
    for row in rows:
        ix = next((ix for ix, cell in enumerate(row) if not cell.is_numbered), None)
        if ix is None:
            split_rows.append(row)
            continue
        if ix:
            has_question = False
        question, answers = _split_cell(row[ix], has_question=has_question)
        has_question = bool(answers) or row[ix].text.endswith("?") or (has_question and is_answer(row[ix].text))
        if not answers:
            split_rows.append(row)
        elif question:
            split_rows += [[*row[:ix], replace(row[ix], spans=[], runs=question), *row[ix + 1 :]], *answers]
        else:
            split_rows += [[*row[:ix], *answers[0], *row[ix + 1 :]], *answers[1:]]
    return split_rows


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
    """Split an answer into its first word, such as "Yes", and the words after it."""
    ix = next(ix for ix, run in enumerate(runs) if any(map(str.isalpha, run.text)))
    run = runs[ix]
    word_match = next(match for rule in load_tables().answer_words if (match := rule.pattern.match(run.text)))
    words = run.text[word_match.end() :].strip()
    words_x0 = run.x0 + (run.x1 - run.x0) * word_match.end() / len(run.text)
    answer_runs = [*runs[:ix], replace(run, text=word_match.group().strip(), x1=words_x0 if words else run.x1)]
    runs_after = [replace(run, text=words, x0=words_x0)] if words else []
    runs_after += runs[ix + 1 :]
    if runs_after and not runs_after[0].text[:1].isalnum():
        # The stop after the word may be set in another font.
        runs_after[0] = replace(runs_after[0], text=runs_after[0].text.lstrip(".:,—– "))
        runs_after = [run_after for run_after in runs_after if run_after.text]
    row = [replace(cell, number=1, spans=[], runs=answer_runs)]
    return [*row, replace(cell, number=2, spans=[], runs=runs_after)] if runs_after else row


def find_inner_tables(rows: Sequence[CellRow]) -> list[range]:
    """Find tables with headers inside a worksheet.

    Args:
        rows: Rows of the worksheet, from top to bottom.

    Returns:
        Row numbers of each table, its header rows included.
    """
    return list(_iterate_inner(rows))


def _iterate_inner(rows: Sequence[CellRow]) -> Iterator[range]:
    start_ix = 0
    while start_ix < len(rows):
        body_ix = start_ix
        while body_ix < len(rows) and _is_header_row(rows[body_ix]):
            body_ix += 1
        end_ix = body_ix
        while end_ix < len(rows) and (is_amount_row(rows[end_ix]) or (end_ix > body_ix and _is_note_row(rows[end_ix]))):
            end_ix += 1
        count = sum(map(is_amount_row, rows[body_ix:end_ix]))
        if body_ix > start_ix and count >= load_tables().tagged.inner_rows:
            last_ix = max(ix for ix in range(body_ix, end_ix) if is_amount_row(rows[ix]))
            yield range(start_ix, last_ix + 1)
        start_ix = max(end_ix, start_ix + 1)


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
