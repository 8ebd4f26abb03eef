"""The line of a form that a question is about, in the words printed for it on the form itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from taxkg_assets.records import LineRecord, iter_records
from taxkg_assets.retrieval.answering.stated import find_row_of_words, lead_with, name_edition, read_line
from taxkg_assets.retrieval.answering.units import Piece, Unit
from taxkg_assets.retrieval.index.lines import open_contexts
from taxkg_assets.retrieval.query.router import Route, covers_key, find_kind
from taxkg_assets.retrieval.ranking.search import Searcher
from taxkg_assets.retrieval.results import Ranking, Result
from taxkg_assets.rules.forms import split_forms
from taxkg_assets.rules.models.answers import load_answers

_LINE = "line"


def asks_for_line(question: str, route: Route) -> bool:
    """Return whether a question is about what one line of a form is, or how it is figured.

    Boxes are left out: a booklet explains each of them, and the words printed for them are names.

    Args:
        question: Words of the user.
        route: Its route.
    """
    is_line = len(route.forms) == 1 and len(route.keys) == 1 and find_kind(route.keys[0]) == _LINE
    return is_line and load_answers().line_questions.matches(question)


def quote_printed_line(
    searcher: Searcher, question: str, ranking: Ranking, *, results: Sequence[Result], document: str | None = None
) -> tuple[list[Result], list[Unit]]:
    """Quote the words printed for the line of a question.

    Args:
        searcher: Opened search, with the lines of the home.
        question: Words of the user.
        ranking: Ranking of the question.
        results: Passages of the question, best first.
        document: Lines of this document only.

    Returns:
        The passages with that of the form before them, renumbered, and a unit for the line in each part that has it;
        the same passages and no unit where the home does not know the line.
    """
    if searcher.open_lines is None or not asks_for_line(question, ranking.route):
        return list(results), []
    lines = choose_lines(searcher.open_lines(), ranking.route, document=document)
    found = [
        (line, find_row_of_words(searcher, line["label"], document_id=line["document_id"], page=line["page"]))
        for line in lines
    ]
    placed = [(line, row) for line, row in found if row is not None]
    merged, rank_of = lead_with(searcher, ranking, [row for _, row in placed], results=results)
    return merged, [_quote(searcher, line, row, rank=rank_of[row]) for line, row in placed]


def choose_lines(lines: pl.DataFrame, route: Route, *, document: str | None = None) -> list[LineRecord]:
    """Choose the line of a question in the newest revision of its form, or in that of a requested year.

    Args:
        lines: Table `lines`.
        route: Route of the question.
        document: Lines of this document only.

    Returns:
        Rows of `lines`: one, or one for each part that has a line of this number.
    """
    forms = [form for form in lines["form"].unique() if set(split_forms(form)) & set(route.forms)]
    rows = lines.filter(pl.col("form").is_in(forms) & (pl.col("label") != ""))
    if document is not None:
        rows = rows.filter(pl.col("document_id") == document)
    found = [row for row in iter_records(rows, LineRecord) if covers_key(row["key"], route.keys)]
    if route.years:
        found = [
            row for row in found if set(map(int, re.findall(r"(?:19|20)\d\d", row["revision"]))) & set(route.years)
        ]
    newest = max((row["revision"] for row in found), default="")
    kept = [row for row in found if row["revision"] == newest]
    return sorted(kept, key=lambda row: row["line_ix"])[: load_answers().most_parts]


def _quote(searcher: Searcher, line: LineRecord, row: int, *, rank: int) -> Unit:
    """Quote a line as the form prints it, below its name."""
    form = line["form"] if line["form"].startswith("Schedule") else f"Form {line['form']}"
    part = f", Part {line['part']}" if line["part"] else ""
    label = f"{form}{part}, {line['key'].replace('_', ' ')}"
    context = open_contexts([row], searcher.passages)[row]
    edition = name_edition(searcher, line["document_id"])
    title = Piece(role="label", text=f"{label} ({edition})", chunk_id=searcher.passages.columns["chunk_id"][row])
    printed = read_line(line["label"], context) or Piece(role="sentence", text=line["label"], chunk_id=title.chunk_id)
    return Unit(rank=rank, label=label, pieces=[title, printed])
