"""List all codes of a box where each code has a heading of its own, as a quote of some codes would look complete."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.index.facts import PassageFacts
from taxkg_assets.retrieval.index.lines import find_mark
from taxkg_assets.retrieval.query.router import Route, covers_key, find_kind
from taxkg_assets.retrieval.results import Result
from taxkg_assets.rules.models.answers import load_answers
from taxkg_assets.rules.sentences import find_sentences

_CODE = "code"
_DASH = re.compile("[—–]")


def list_codes(question: str, results: Sequence[Result], *, route: Route, facts: PassageFacts) -> list[Unit]:
    """List the codes of the box that a question asks about.

    Args:
        question: Words of the user.
        results: Passages, best first.
        route: Route of the question.
        facts: Columns of passages.

    Returns:
        One unit with the codes in the order of the booklet; empty where the box has no such list.
    """
    boxes = [key for key in route.keys if find_kind(key) == "box"]
    if len(boxes) != 1 or not load_answers().code_questions.matches(question):
        return []
    limits = load_answers().codes
    for result in results:
        box_path = _find_box_path(result, boxes[0])
        if box_path is None:
            continue
        rows = list(_list_rows_under(facts.row_of_chunk[result.chunk_id], box_path, facts=facts, most=limits.rows))
        headings = {_last_heading(facts.columns["heading_path"][row]) for row in rows}
        if sum(find_mark(heading) == _CODE for heading in headings) < limits.least:
            continue
        # Of several explanations of one code, the first counts.
        piece_by_code: dict[str, Piece] = {}
        for piece in (piece for row in rows for piece in _read_codes(row, facts)):
            code = _DASH.split(piece.text)[0].strip()
            piece_by_code.setdefault(code, piece)
        label = _last_heading(box_path)
        pieces = [Piece(role="label", text=label), *piece_by_code.values(), Piece(role="note", text=limits.note)]
        return [Unit(rank=result.rank, label=label, pieces=pieces)]
    return []


def _last_heading(path: str) -> str:
    """Return the last heading of a path."""
    return path.rpartition(" > ")[2]


def _read_codes(row: int, facts: PassageFacts) -> Iterator[Piece]:
    """Yield the codes that a row explains: the heading of a code, or the first sentence of its line."""
    heading, text = facts.columns["heading_path"][row].rpartition(" > ")[2], facts.columns["text"][row]
    for match in (match for rule in load_answers().codes_within for match in rule.pattern.finditer(text)):
        line = text[match.start() :].splitlines()[0]
        start, end = find_sentences(line)[0]
        quoted = heading if line.startswith(heading) else line[start:end]
        yield Piece(role="item", text=quoted, chunk_id=facts.columns["chunk_id"][row])


def _find_box_path(result: Result, key: str) -> str | None:
    """Return the heading path of the box that contains a passage; None where the passage is of no such box."""
    headings = result.heading_path.split(" > ")
    for ix in range(len(headings) - 1, -1, -1):
        if headings[ix].casefold().startswith(key.replace("_", " ")):
            return " > ".join(headings[: ix + 1])
    return result.heading_path if covers_key(result.anchor_key, (key,)) else None


def _list_rows_under(row: int, path: str, *, facts: PassageFacts, most: int) -> Iterator[int]:
    """Yield the rows around a row that are below the same heading path, at most `most` before and after it."""
    near_rows = range(max(0, row - most), min(len(facts.document_number), row + most + 1))
    facts.prefetch(list(near_rows), ("heading_path", "chunk_id", "text"))
    paths = facts.columns["heading_path"]

    def is_under(other: int) -> bool:
        return bool(facts.document_number[other] == facts.document_number[row]) and (
            paths[other] == path or paths[other].startswith(f"{path} > ")
        )

    under_row = row
    while under_row - 1 in near_rows and is_under(under_row - 1):
        under_row -= 1
    while under_row in near_rows and is_under(under_row):
        yield under_row
        under_row += 1
